package dev.throng;

import dev.throng.Message.Kind;
import dev.throng.Message.Status;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;

/**
 * The only entry point: a message goes in, its reply comes out. Never throws; a failure of the bridge is a reply, too. No
 * class of JMeter is loaded before SETUP, because many classes read the properties when they are loaded.
 */
public final class Host {
    private static volatile Loaded test;

    private Host() {
    }

    static Loaded test() {
        return test;
    }

    /** Processes a message on the calling thread and returns its reply. */
    public static byte[] call(byte[] message) {
        try {
            switch (message[0]) {
                case Kind.JOB:
                    return Workers.here(test).run(message);
                case Kind.USER_END:
                    return Workers.here(test).end(in(message).i64());
                case Kind.INTERRUPT:
                    // A sample's timeout interrupts only the sampler, as in JMeter.
                    Records.Interruption interruption = Records.Interruption.of(in(message));
                    Workers.interrupt(interruption.user, interruption.samplerOnly);
                    return done();
                case Kind.PROPERTIES:
                    test.props.apply(in(message));
                    Output applied = new Output();
                    applied.u8(Status.WELL);
                    // The reply has no log lines.
                    applied.i32(0);
                    return applied.take();
                case Kind.AWAIT_EXIT:
                    Exit.guard();
                    Exit.await();
                    return done();
                case Kind.ALLOW_EXIT:
                    Exit.allow();
                    return done();
                case Kind.LINGER:
                    Output lingered = new Output();
                    lingered.u8(Status.WELL);
                    byte[] words = Exit.linger().getBytes(StandardCharsets.UTF_8);
                    lingered.raw(words, 0, words.length);
                    return lingered.take();
                case Kind.EXIT_WITH:
                    bringLoader();
                    Exit.with(in(message).u8());
                    return done();
                case Kind.MEMORY:
                    Output memory = new Output();
                    memory.u8(Status.WELL);
                    Heap.now().write(memory);
                    return memory.take();
                case Kind.SETUP:
                    Shown.install();
                    bringLoader();
                    Setup setup = new Setup(in(message));
                    byte[] reply = setup.run();
                    test = setup.loaded();
                    return reply;
                case Kind.START:
                    bringLoader();
                    return Life.start(test, in(message));
                case Kind.END:
                    bringLoader();
                    return Life.end(test);
                default:
                    throw new IllegalArgumentException("unknown kind of message: " + message[0]);
            }
        } catch (Throwable e) {
            return failure(e);
        }
    }

    /** Sets the class loader of a thread that native code attached. Elements need it to find classes. */
    static void bringLoader() {
        Thread thread = Thread.currentThread();
        if (thread.getContextClassLoader() == null) {
            thread.setContextClassLoader(Host.class.getClassLoader());
        }
    }

    private static Input in(byte[] message) {
        Input in = new Input(message);
        in.u8();
        return in;
    }

    /** Returns a reply that contains only the status "done". */
    private static byte[] done() {
        return new byte[] {Status.WELL};
    }

    private static byte[] failure(Throwable e) {
        StringWriter trace = new StringWriter();
        e.printStackTrace(new PrintWriter(trace));
        Output out = new Output();
        out.u8(Status.FAILED);
        out.str(trace.toString().stripTrailing());
        return out.take();
    }
}
