package dev.throng.jmeter;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Locale;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/**
 * The metrics of a run so far, from {@code seconds.jsonl}, which grows by one line per second. After some hours a new
 * file is started, and the old lines are moved to {@code seconds.1.jsonl}.
 */
final class Seconds {
    /** Maximum number of bytes of one read; further lines are read by the next call. */
    private static final int MOST = 1 << 20;
    private static final long MILLI = 1000;

    private final File file;
    private final File before;
    private final ObjectMapper json = new ObjectMapper();
    private final ByteArrayOutputStream begun = new ByteArrayOutputStream();
    /** Identity of the file from which bytes were read. */
    private Object key;
    private long read;
    private long firstMs;
    private long lastMs;

    long seconds;
    long users;
    long samples;
    long errors;
    long perSecond;
    double p95Ms;

    Seconds(File folder) {
        file = new File(folder, "seconds.jsonl");
        before = new File(folder, "seconds.1.jsonl");
    }

    /** Reads the lines written since the last call. */
    void read() throws IOException {
        if (!file.isFile()) {
            return;
        }
        Object now = keyOf(file);
        if (key != null && !key.equals(now)) {
            if (before.isFile() && key.equals(keyOf(before)) && readFrom(before)) {
                return;
            }
            read = 0;
            begun.reset();
        }
        key = now;
        readFrom(file);
    }

    private static Object keyOf(File file) throws IOException {
        return Files.readAttributes(file.toPath(), BasicFileAttributes.class).fileKey();
    }

    /** Reads a part of the lines written since the last call. Returns true if there are more. */
    private boolean readFrom(File file) throws IOException {
        byte[] more;
        boolean isMore;
        try (RandomAccessFile from = new RandomAccessFile(file, "r")) {
            long left = Math.max(0, from.length() - read);
            more = new byte[(int) Math.min(MOST, left)];
            isMore = left > MOST;
            from.seek(read);
            from.readFully(more);
        }
        read += more.length;
        for (byte one : more) {
            if (one == '\n') {
                add(new String(begun.toByteArray(), StandardCharsets.UTF_8));
                begun.reset();
            } else {
                begun.write(one);
            }
        }
        return isMore;
    }

    private void add(String line) throws IOException {
        JsonNode second = json.readTree(line);
        if (second == null || !second.isObject()) {
            return;
        }
        lastMs = second.path("at_ms").asLong(lastMs);
        firstMs = firstMs == 0 ? lastMs : firstMs;
        seconds = 1 + (lastMs - firstMs) / MILLI;
        users = second.path("users").asLong();
        perSecond = second.path("samples").asLong();
        samples += perSecond;
        errors += second.path("errors").asLong();
        p95Ms = second.path("p95_ms").asDouble();
    }

    /** Returns the metrics as one line: those of the last second, or after the run the means over the run. */
    String words(boolean isOver) {
        if (seconds == 0) {
            return " ";
        }
        String now = isOver ? String.format(Locale.ROOT, "mean %,.1f/s", (double) samples / seconds)
                : String.format(Locale.ROOT, "now %,d/s, p95 %s", perSecond, perSecond == 0 ? "-" : ms(p95Ms));
        return String.format(Locale.ROOT, "%d:%02d   users %,d   samples %,d   errors %,d   %s", seconds / 60, seconds % 60, users,
                samples, errors, now);
    }

    private static String ms(double ms) {
        String form = ms < 10 ? "%.2f ms" : ms < 100 ? "%.1f ms" : "%.0f ms";
        return String.format(Locale.ROOT, form, ms);
    }
}
