package dev.throng;

import dev.throng.Message.LogLevel;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Log lines that were not sent yet: those of each worker's job, and all others, which go with the next reply. This class
 * itself writes no output.
 */
public final class Logs {
    /** Maximum number of waiting lines, so that a script that logs endlessly does not fill the memory. */
    private static final int MOST = 10_000;
    private static final Map<Thread, Lines> OF_THREAD = new ConcurrentHashMap<>();
    private static final Lines OTHERS = new Lines();

    private Logs() {
    }

    /** Waiting lines of one thread, or of all threads without a job. */
    static final class Lines {
        /** True while a job runs on this thread. Its lines then belong to the job. */
        boolean open;
        private final Output text = new Output();
        private int count;
        private int lost;

        private void add(int level, String logger, String message) {
            if (count >= MOST) {
                lost++;
                return;
            }
            count++;
            Records.LogLine line = new Records.LogLine();
            line.level = level;
            line.atMs = System.currentTimeMillis();
            line.logger = logger;
            line.text = message;
            line.write(text);
        }

        private void moveTo(Output out) {
            if (lost > 0) {
                int many = lost;
                lost = 0;
                count--;
                add(LogLevel.WARN, "dev.throng.Logs", many + (many == 1 ? " log line was" : " log lines were") + " dropped: too many at once");
            }
            out.raw(text);
            text.clear();
            count = 0;
        }
    }

    static Lines ofThread() {
        OF_THREAD.keySet().removeIf(thread -> !thread.isAlive());
        return OF_THREAD.computeIfAbsent(Thread.currentThread(), thread -> new Lines());
    }

    /** From now on, the lines of this thread belong to the job of another thread. */
    static void lend(Lines lines) {
        OF_THREAD.put(Thread.currentThread(), lines);
    }

    static void takeBack() {
        OF_THREAD.remove(Thread.currentThread());
    }

    /** Adds a line from the slf4j binding. */
    public static void add(int level, String logger, String message, Throwable thrown) {
        String whole = thrown == null ? message : message + System.lineSeparator() + trace(thrown);
        Lines own = OF_THREAD.get(Thread.currentThread());
        if (own != null && own.open) {
            own.add(level, logger, whole);
        } else {
            synchronized (OTHERS) {
                OTHERS.add(level, logger, whole);
            }
        }
    }

    private static String trace(Throwable thrown) {
        StringWriter text = new StringWriter();
        thrown.printStackTrace(new PrintWriter(text));
        return text.toString().stripTrailing();
    }

    /** Writes the lines of a job, and the lines that belong to no job. */
    static void tell(Output out, Lines own) {
        int hole = out.hole();
        int count = 0;
        if (own != null && own.count > 0) {
            count = own.count;
            own.moveTo(out);
        }
        if (OTHERS.count > 0) {
            synchronized (OTHERS) {
                count += OTHERS.count;
                OTHERS.moveTo(out);
            }
        }
        out.patch(hole, count);
    }
}
