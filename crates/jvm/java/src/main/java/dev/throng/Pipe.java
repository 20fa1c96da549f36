package dev.throng;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The same messages over standard input and output, for a JVM in a separate process. Each thread of the other side has a
 * thread here, and the head of a frame contains the number of that thread. Output of scripts goes to standard error, so
 * that it is never between frames. The process ends when its input ends.
 */
public final class Pipe {
    private static final byte[] END = new byte[0];

    private final OutputStream out;
    private final Map<Integer, BlockingQueue<byte[]>> threads = new HashMap<>();

    private Pipe(OutputStream out) {
        this.out = out;
    }

    /** Serves messages until the input ends. */
    public static void main(String[] arguments) {
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        InputStream in = new BufferedInputStream(new FileInputStream(FileDescriptor.in), 1 << 16);
        System.setOut(System.err);
        System.setIn(InputStream.nullInputStream());
        int code = 0;
        try {
            new Pipe(out).serve(new DataInputStream(in));
        } catch (EOFException e) {
            // The other process has ended.
        } catch (Throwable e) {
            e.printStackTrace();
            code = 1;
        }
        // Neither threads of plug-ins nor their shutdown hooks may delay the end of the process.
        Runtime.getRuntime().halt(code);
    }

    private void serve(DataInputStream in) throws IOException {
        byte[] head = new byte[Records.FrameHead.SIZE];
        while (true) {
            in.readFully(head);
            Records.FrameHead frame = Records.FrameHead.of(new Input(head));
            int length = frame.length;
            int thread = frame.thread;
            byte[] message;
            try {
                message = new byte[length];
            } catch (OutOfMemoryError e) {
                skip(in, length);
                refuse(thread);
                continue;
            }
            in.readFully(message);
            switch (frame.kind) {
                case Message.Frame.BEGIN:
                    begin(thread, new String(message, StandardCharsets.UTF_8));
                    break;
                case Message.Frame.LEAVE:
                    threads.remove(thread).add(END);
                    break;
                default:
                    threads.get(thread).add(message);
            }
        }
    }

    /** Skips bytes by reading them, because a pipe supports no seek. */
    private static void skip(InputStream in, int length) throws IOException {
        byte[] some = new byte[8192];
        int left = length;
        while (left > 0) {
            int read = in.read(some, 0, Math.min(left, some.length));
            if (read < 0) {
                throw new EOFException();
            }
            left -= read;
        }
    }

    private void begin(int number, String name) {
        BlockingQueue<byte[]> messages = new LinkedBlockingQueue<>();
        threads.put(number, messages);
        Thread thread = new Thread(() -> work(number, messages), name);
        thread.setDaemon(true);
        thread.start();
    }

    private void work(int number, BlockingQueue<byte[]> messages) {
        Output own = new Output();
        own.i64(system());
        write(number, Message.Frame.BEGIN, own.take());
        while (true) {
            byte[] message;
            try {
                message = messages.take();
            } catch (InterruptedException e) {
                // The interruption came after the end of its job.
                continue;
            }
            if (message == END) {
                return;
            }
            try {
                write(number, Message.Frame.CALL, Host.call(message));
            } catch (OutOfMemoryError e) {
                refuse(number);
            }
        }
    }

    /** Returns the operating system's number of this thread; 0 if it is unknown. */
    private static long system() {
        try {
            return Long.parseLong(Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString());
        } catch (IOException | NumberFormatException e) {
            return 0;
        }
    }

    private void refuse(int thread) {
        write(thread, Message.Frame.NONE, "java.lang.OutOfMemoryError: the Java heap (--jvm-heap) has no room for a message".getBytes(StandardCharsets.UTF_8));
    }

    private void write(int thread, int kind, byte[] content) {
        Output frame = new Output();
        Records.FrameHead head = new Records.FrameHead();
        head.length = content.length;
        head.thread = thread;
        head.kind = kind;
        head.write(frame);
        frame.raw(content, 0, content.length);
        try {
            synchronized (out) {
                out.write(frame.bytes, 0, frame.length);
                out.flush();
            }
        } catch (IOException e) {
            // The other process no longer reads the replies.
            Runtime.getRuntime().halt(1);
        }
    }
}
