package dev.throng;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Reads one message: little-endian numbers, and strings and bytes after their length.
 * Reading past the end throws an exception, as for any array. Strings are decoded only when they are requested.
 */
final class Input {
    private static final VarHandle I32 = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle I64 = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    byte[] bytes;
    int at;

    Input() {
    }

    Input(byte[] message) {
        reset(message);
    }

    void reset(byte[] message) {
        bytes = message;
        at = 0;
    }

    int u8() {
        return bytes[at++] & 0xff;
    }

    boolean bool() {
        return bytes[at++] != 0;
    }

    int u16() {
        return u8() | u8() << 8;
    }

    int i32() {
        int value = (int) I32.get(bytes, at);
        at += 4;
        return value;
    }

    long i64() {
        long value = (long) I64.get(bytes, at);
        at += 8;
        return value;
    }

    String str() {
        String value = strAt(bytes, at);
        skip();
        return value;
    }

    String optStr() {
        return bool() ? str() : null;
    }

    /** Reads a list of records. */
    <T> List<T> list(Supplier<T> each) {
        int count = i32();
        List<T> list = new ArrayList<>(Math.min(count, 1000));
        for (int i = 0; i < count; i++) {
            list.add(each.get());
        }
        return list;
    }

    byte[] blob() {
        int length = i32();
        byte[] value = new byte[length];
        System.arraycopy(bytes, at, value, 0, length);
        at += length;
        return value;
    }

    /** Skips a string or bytes. */
    void skip() {
        int length = i32();
        if (length < 0 || length > bytes.length - at) {
            throw new IndexOutOfBoundsException("invalid length " + length + " at byte " + (at - 4) + " of " + bytes.length);
        }
        at += length;
    }

    /** Returns the string whose length is at {@code offset}. */
    static String strAt(byte[] bytes, int offset) {
        int length = (int) I32.get(bytes, offset);
        return length == 0 ? "" : new String(bytes, offset + 4, length, StandardCharsets.UTF_8);
    }

    /** Writes a number into a message that was read. */
    static void patch(byte[] bytes, int offset, int value) {
        I32.set(bytes, offset, value);
    }

    /** Returns the end of the string whose length is at {@code offset}. */
    static int behindAt(byte[] bytes, int offset) {
        return offset + 4 + (int) I32.get(bytes, offset);
    }

    /** Returns true if the string at {@code offset} equals this one. ASCII strings are compared without decoding. */
    static boolean sameAt(byte[] bytes, int offset, String text) {
        int length = (int) I32.get(bytes, offset);
        if (length < text.length()) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            char one = text.charAt(i);
            if (one >= 0x80) {
                return strAt(bytes, offset).equals(text);
            }
            if (bytes[offset + 4 + i] != one) {
                return false;
            }
        }
        return length == text.length();
    }
}
