package dev.throng;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Output of scripts, which may contain a server's response. Characters that control a terminal or change the writing
 * direction are escaped, as on the console of the run. The encoding is UTF-8.
 */
final class Shown extends FilterOutputStream {
    /** Bytes of an incomplete character, or a carriage return that may belong to a line end. */
    private final byte[] begun = new byte[4];
    private int length;

    private Shown(OutputStream out) {
        super(out);
    }

    /** Replaces standard output and standard error, once. */
    static synchronized void install() {
        if (!(System.out instanceof Printer)) {
            System.setOut(new Printer(System.out));
        }
        if (!(System.err instanceof Printer)) {
            System.setErr(new Printer(System.err));
        }
    }

    /** The stream, as a class by which it is recognized. */
    private static final class Printer extends PrintStream {
        Printer(OutputStream out) {
            super(new Shown(out), true);
        }
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws IOException {
        int plain = from;
        int end = from + count;
        while (length == 0 && plain < end && isPlain(bytes[plain])) {
            plain++;
        }
        out.write(bytes, from, plain - from);
        for (int at = plain; at < end; at++) {
            write(bytes[at]);
        }
    }

    @Override
    public void write(int value) throws IOException {
        byte next = (byte) value;
        if (length > 0 && begun[0] == '\r') {
            length = 0;
            if (next != '\n') {
                escape('\r');
            }
        }
        boolean follows = (next & 0xC0) == 0x80;
        if (length > 0 && !follows) {
            // The character stays incomplete.
            out.write(begun, 0, length);
            length = 0;
        }
        int code = next & 0xFF;
        if (length == 0 && (isPlain(next) || follows && code >= 0xA0)) {
            out.write(next);
        } else if (length == 0 && next != '\r' && code < 0xA0) {
            escape(code);
        } else {
            begun[length++] = next;
            if (next != '\r' && length == size(begun[0])) {
                character();
            }
        }
    }

    private void character() throws IOException {
        int code = new String(begun, 0, length, StandardCharsets.UTF_8).codePointAt(0);
        boolean hidden = code < 0xA0 || code == 0x61C || code == 0x200E || code == 0x200F
                || code >= 0x2028 && code <= 0x202E || code >= 0x2066 && code <= 0x2069;
        if (hidden) {
            escape(code);
        } else {
            out.write(begun, 0, length);
        }
        length = 0;
    }

    private void escape(int code) throws IOException {
        String text = String.format(code < 0x100 ? "\\x%02x" : "\\u{%x}", code);
        out.write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static boolean isPlain(byte next) {
        return next >= ' ' && next != 0x7F || next == '\n' || next == '\t';
    }

    /** Returns the length in bytes of a character that begins with this byte. */
    private static int size(byte first) {
        return (first & 0xE0) == 0xC0 ? 2 : (first & 0xF0) == 0xE0 ? 3 : (first & 0xF8) == 0xF0 ? 4 : 1;
    }
}
