package dev.throng;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.jmeter.util.JMeterUtils;

/**
 * The end of the process. It includes Java's own shutdown: elements register shutdown hooks to delete files, close
 * browsers or send remaining data, and their threads may have to finish work first. After {@code System.exit} in a script,
 * the process ends, but only after the run has ended and has written its results.
 */
final class Exit {
    private static final CountDownLatch ASKED = new CountDownLatch(1);
    private static final CountDownLatch ALLOWED = new CountDownLatch(1);

    private Exit() {
    }

    /** After this call, a thread that ends the JVM waits until the end is allowed. */
    static void guard() {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            ASKED.countDown();
            try {
                ALLOWED.await();
            } catch (InterruptedException e) {
                // The waiting thread was interrupted, so the JVM ends now.
                Thread.currentThread().interrupt();
            }
        }, "throng exit"));
    }

    /** Waits until a thread ends the JVM. */
    static void await() throws InterruptedException {
        ASKED.await();
    }

    /** Allows the end of the JVM. */
    static void allow() {
        ALLOWED.countDown();
    }

    /**
     * Waits for threads that keep Java from ending, as long as JMeter does before it complains of them. Returns the names
     * of those that still run. They are not waited for, because plug-in connections may never end.
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

    /** Returns the threads that elements have started, except daemon threads. */
    private static List<Thread> others() {
        List<Thread> others = new ArrayList<>();
        for (Map.Entry<Thread, StackTraceElement[]> entry : Thread.getAllStackTraces().entrySet()) {
            StackTraceElement[] calls = entry.getValue();
            // Threads that Java did not start were attached by native code.
            boolean ours = calls.length == 0 || calls[calls.length - 1].getClassName().startsWith("dev.throng.");
            if (!ours && !entry.getKey().isDaemon()) {
                others.add(entry.getKey());
            }
        }
        return others;
    }

    /** Ends the process and runs the shutdown hooks. */
    static void with(int code) {
        allow();
        Runtime.getRuntime().exit(code);
    }
}
