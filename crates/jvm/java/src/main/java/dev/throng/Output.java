package dev.throng;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * Writes one message into a growing buffer that is reused: the counterpart of {@link Input}.
 */
final class Output {
    private static final VarHandle I32 = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle I64 = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    /** Largest buffer in bytes that is kept after a reply. */
    private static final int KEPT = 1 << 20;

    byte[] bytes = new byte[512];
    int length;

    void clear() {
        length = 0;
        if (bytes.length > KEPT) {
            bytes = new byte[512];
        }
    }

    private void room(int count) {
        if (bytes.length - length < count) {
            bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, length + count));
        }
    }

    void u8(int value) {
        room(1);
        bytes[length++] = (byte) value;
    }

    void bool(boolean value) {
        u8(value ? 1 : 0);
    }

    void u16(int value) {
        u8(value & 0xff);
        u8(value >> 8);
    }

    void i32(int value) {
        room(4);
        I32.set(bytes, length, value);
        length += 4;
    }

    void i64(long value) {
        room(8);
        I64.set(bytes, length, value);
        length += 8;
    }

    /** Writes a string; {@code null} is written as the empty string. */
    void str(String value) {
        if (value == null || value.isEmpty()) {
            i32(0);
        } else {
            blob(value.getBytes(StandardCharsets.UTF_8));
        }
    }

    void optStr(String value) {
        if (value == null) {
            u8(0);
        } else {
            u8(1);
            str(value);
        }
    }

    <T> void list(List<T> list, Consumer<T> each) {
        i32(list.size());
        list.forEach(each);
    }

    /** Writes a list that may be absent ({@code null}). */
    <T> void optList(List<T> list, Consumer<T> each) {
        bool(list != null);
        if (list != null) {
            list(list, each);
        }
    }

    void blob(byte[] value) {
        i32(value.length);
        raw(value, 0, value.length);
    }

    void raw(byte[] value, int from, int count) {
        room(count);
        System.arraycopy(value, from, bytes, length, count);
        length += count;
    }

    void raw(Output other) {
        raw(other.bytes, 0, other.length);
    }

    /** Reserves space for a number that {@link #patch} writes later. */
    int hole() {
        i32(0);
        return length - 4;
    }

    void patch(int hole, int value) {
        I32.set(bytes, hole, value);
    }

    boolean same(Output other) {
        return Arrays.equals(bytes, 0, length, other.bytes, 0, other.length);
    }

    byte[] take() {
        return Arrays.copyOf(bytes, length);
    }
}
