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
 * A process of Throng. Separate threads read its output, so that it never blocks. The process ends with JMeter: first by
 * a request, then, after {@link #PATIENCE_MS}, by a kill.
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

    /** Consumer of output: the bytes, and their number. */
    interface Reader extends BiConsumer<byte[], Integer> {
    }

    /**
     * Starts a process without standard input.
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
                // The process has ended.
            }
        }, "Throng's output");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Waits for the end of the process and of its output. Returns the exit code. */
    int await() throws InterruptedException {
        try {
            int code = process.waitFor();
            for (Thread reader : readers) {
                // A process started by this one may keep its output open.
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

    /** Asks the process to end, as Ctrl-C does. */
    void end() {
        process.destroy();
    }

    /** Kills the process. */
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

    /** Stores output up to a number of bytes, and only counts further bytes. */
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
