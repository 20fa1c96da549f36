package dev.throng;

import java.util.concurrent.CountDownLatch;

/**
 * What becomes of {@code System.exit} in a script: the process ends by it, but not before the run has come to its end and has
 * written what it knows.
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
}
