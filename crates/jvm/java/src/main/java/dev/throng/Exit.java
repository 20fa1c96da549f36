package dev.throng;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.jmeter.util.JMeterUtils;

/**
 * The end of the process. Java's own is part of it: elements register for it what they have to clean up, files, browsers, what is still to be
 * sent, and threads of theirs may have something to finish before. After {@code System.exit} in a script the process ends by it, but not before the run has
 * come to its end and has written what it knows.
 */
final class Exit {
    private static final CountDownLatch ASKED = new CountDownLatch(1);
    private static final CountDownLatch ALLOWED = new CountDownLatch(1);

    private Exit() {
    }

    /** From here on, whoever ends the machine waits until that is allowed. */
    static void guard() {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            ASKED.countDown();
            try {
                ALLOWED.await();
            } catch (InterruptedException e) {
                // Then it ends now.
                Thread.currentThread().interrupt();
            }
        }, "throng exit"));
    }

    /** Waits until somebody ends the machine. */
    static void await() throws InterruptedException {
        ASKED.await();
    }

    /** The machine may end. */
    static void allow() {
        ALLOWED.countDown();
    }

    /**
     * Waits for threads without which Java would not end by itself, for as long as JMeter does before it complains of them.
     * What still runs then, in words; it is not waited for any longer, for a plug-in's connections may keep theirs for ever.
     */
    static String linger() throws InterruptedException {
        int pause = JMeterUtils.getPropDefault("jmeter.exit.check.pause", 2000);
        long until = System.nanoTime() + 1_000_000L * pause;
        while (true) {
            List<Thread> others = others();
            long left = (until - System.nanoTime()) / 1_000_000L;
            if (others.isEmpty()) {
                return "";
            }
            if (left <= 0) {
                return words(others, pause);
            }
            others.get(0).join(left);
        }
    }

    private static String words(List<Thread> others, int pause) {
        int shown = Math.min(3, others.size());
        List<String> names = others.subList(0, shown).stream().map(Thread::getName).toList();
        return "Throng does not wait longer than " + pause + " ms (jmeter.exit.check.pause) for threads that the plan started in Java: "
                + String.join(", ", names) + (others.size() > shown ? ", …" : "");
    }

    /** Threads that elements started, but for those that end with the process. */
    private static List<Thread> others() {
        List<Thread> others = new ArrayList<>();
        for (Map.Entry<Thread, StackTraceElement[]> entry : Thread.getAllStackTraces().entrySet()) {
            StackTraceElement[] calls = entry.getValue();
            // Native code attached those that were not begun by Java.
            boolean ours = calls.length == 0 || calls[calls.length - 1].getClassName().startsWith("dev.throng.");
            if (!ours && !entry.getKey().isDaemon()) {
                others.add(entry.getKey());
            }
        }
        return others;
    }

    /** Ends the process, with what is registered for that. */
    static void with(int code) {
        allow();
        Runtime.getRuntime().exit(code);
    }
}
