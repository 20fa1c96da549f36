package dev.throng.jmeter;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The console output of a run, line by line. If lines are not fetched in time, the oldest ones are dropped. */
final class Output implements Child.Reader {
    private static final int LINES_MOST = 2_000;
    private static final int LINE_MOST = 4_000;
    private static final Pattern CONTROL = Pattern.compile("\u001b\\[[0-9;]*[A-Za-z]|[\\p{Cntrl}&&[^\t]]|[\u202a-\u202e\u2066-\u2069]");
    private static final Pattern PAGE = Pattern.compile("Live page\\s+(https?://\\S+)");
    private static final Pattern RESULTS = Pattern.compile("Results:\\s+(.+)");

    private final Deque<String> waiting = new ArrayDeque<>();
    private final ByteArrayOutputStream begun = new ByteArrayOutputStream();
    private final Consumer<String> page;
    private volatile String results;
    private long leftOut;

    /** {@code page} receives the address of the live page, once. */
    Output(Consumer<String> page) {
        this.page = page;
    }

    @Override
    public synchronized void accept(byte[] buffer, Integer read) {
        for (int at = 0; at < read; at++) {
            if (buffer[at] == '\n') {
                end();
            } else if (begun.size() < LINE_MOST) {
                begun.write(buffer[at]);
            }
        }
    }

    private void end() {
        String line = CONTROL.matcher(new String(begun.toByteArray(), StandardCharsets.UTF_8)).replaceAll("");
        begun.reset();
        Matcher link = PAGE.matcher(line);
        if (link.lookingAt()) {
            page.accept(link.group(1));
        }
        Matcher folder = RESULTS.matcher(line);
        if (folder.matches()) {
            results = folder.group(1);
        }
        waiting.add(line);
        if (waiting.size() > LINES_MOST) {
            waiting.remove();
            leftOut++;
        }
    }

    /** Returns the run's folder, which the last lines name; null before them. */
    String results() {
        return results;
    }

    /** Returns the lines since the last call, with their line ends. */
    synchronized String take() {
        StringBuilder lines = new StringBuilder();
        if (leftOut > 0) {
            lines.append("… ").append(leftOut).append(" lines are left out\n");
            leftOut = 0;
        }
        for (String line : waiting) {
            lines.append(line).append('\n');
        }
        waiting.clear();
        return lines.toString();
    }
}
