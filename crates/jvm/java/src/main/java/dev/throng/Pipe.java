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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The same messages over standard input and output, for a process of its own. A frame is a length (u32), a ticket (u64) and
 * the message; a reply carries the ticket of its message. What scripts print goes to standard error, so that it never
 * stands between frames. The process ends with its input.
 */
public final class Pipe {
    private static final int INTERRUPT = 6;

    private final OutputStream out;

    private Pipe(OutputStream out) {
        this.out = out;
    }

    /** The argument is the number of worker threads. */
    public static void main(String[] arguments) throws IOException {
        int threads = arguments.length > 0 ? Integer.parseInt(arguments[0]) : Runtime.getRuntime().availableProcessors();
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        InputStream in = new BufferedInputStream(new FileInputStream(FileDescriptor.in), 1 << 16);
        System.setOut(System.err);
        System.setIn(InputStream.nullInputStream());
        new Pipe(out).serve(in, threads);
        // Threads of plug-ins must not keep the process.
        Runtime.getRuntime().halt(0);
    }

    private void serve(InputStream in, int threads) throws IOException {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        DataInputStream data = new DataInputStream(in);
        while (true) {
            byte[] head = new byte[12];
            try {
                data.readFully(head);
            } catch (EOFException e) {
                break;
            }
            Input read = new Input(head);
            byte[] message = new byte[read.i32()];
            long ticket = read.i64();
            data.readFully(message);
            if (message.length > 0 && message[0] == INTERRUPT) {
                // Not behind the job that it interrupts.
                answer(ticket, message);
            } else {
                pool.execute(() -> answer(ticket, message));
            }
        }
        pool.shutdown();
    }

    private void answer(long ticket, byte[] message) {
        byte[] reply = Host.call(message);
        Output frame = new Output();
        frame.i32(reply.length);
        frame.i64(ticket);
        frame.raw(reply, 0, reply.length);
        try {
            synchronized (out) {
                out.write(frame.bytes, 0, frame.length);
                out.flush();
            }
        } catch (IOException e) {
            // Nobody reads the replies any more.
            Runtime.getRuntime().halt(1);
        }
    }
}
