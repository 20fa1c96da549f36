package dev.throng.jmeter;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/**
 * A process of Throng. Its output is read by threads of its own, so that it never waits for us, and it ends with JMeter: asked
 * first, killed after {@link #PATIENCE_MS}.
 */
final class Child {
    private static final long PATIENCE_MS = 5_000;
    private static final int BUFFER = 1 << 14;
    private static final Set<Child> ALIVE = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Child::endAll, "Throng's end"));
    }

    private final Process process;
    private final Thread[] readers = new Thread[2];

    /** What is done with output: bytes, and how many of them. */
    interface Reader extends BiConsumer<byte[], Integer> {
    }

    /**
     * Starts a process with nothing on standard input.
     *
     * @throws IOException with a sentence for the user
     */
    Child(List<String> line, File folder, Reader out, Reader err) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(line).directory(folder);
        builder.redirectInput(new File("/dev/null"));
        builder.environment().put("NO_COLOR", "1");
        try {
            process = builder.start();
        } catch (IOException error) {
            throw new IOException(line.get(0) + " cannot be started: " + error.getMessage(), error);
        }
        ALIVE.add(this);
        readers[0] = reader(process.getInputStream(), out);
        readers[1] = reader(process.getErrorStream(), err);
    }

    private static Thread reader(InputStream from, Reader to) {
        Thread thread = new Thread(() -> {
            byte[] buffer = new byte[BUFFER];
            try {
                for (int read = from.read(buffer); read >= 0; read = from.read(buffer)) {
                    to.accept(buffer, read);
                }
            } catch (IOException end) {
                // The process is gone.
            }
        }, "Throng's output");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Waits for the end and for all output; the exit code. */
    int await() throws InterruptedException {
        try {
            int code = process.waitFor();
            for (Thread reader : readers) {
                // A process that it has left behind may hold its output open.
                reader.join(PATIENCE_MS);
            }
            return code;
        } finally {
            ALIVE.remove(this);
        }
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Asks it to end, as Ctrl-C does. */
    void end() {
        process.destroy();
    }

    /** Ends it at once. */
    void kill() {
        process.destroyForcibly();
    }

    private static void endAll() {
        for (Child child : ALIVE) {
            child.process.destroy();
        }
        long until = System.currentTimeMillis() + PATIENCE_MS;
        for (Child child : ALIVE) {
            try {
                if (!child.process.waitFor(Math.max(1, until - System.currentTimeMillis()), TimeUnit.MILLISECONDS)) {
                    child.process.destroyForcibly();
                }
            } catch (InterruptedException hurry) {
                child.process.destroyForcibly();
            }
        }
    }

    /** Output that is kept up to a number of bytes, and beyond that only counted. */
    static final class Kept implements Reader {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final int most;
        private boolean isCut;

        Kept(int most) {
            this.most = most;
        }

        @Override
        public synchronized void accept(byte[] buffer, Integer read) {
            int room = Math.min(read, most - bytes.size());
            bytes.write(buffer, 0, room);
            isCut |= room < read;
        }

        synchronized byte[] bytes() {
            return bytes.toByteArray();
        }

        synchronized boolean isCut() {
            return isCut;
        }
    }
}
