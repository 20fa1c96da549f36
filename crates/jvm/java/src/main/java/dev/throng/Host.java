package dev.throng;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;

/**
 * The one entry: a message goes in, its reply comes out. Never throws; what the bridge itself fails at is a reply too.
 * No class of JMeter is touched before SETUP, for many read the properties when they are loaded.
 */
public final class Host {
    private static final int SETUP = 1;
    private static final int START = 2;
    private static final int JOB = 3;
    private static final int USER_END = 4;
    private static final int END = 5;
    private static final int INTERRUPT = 6;
    private static final int PROPERTIES = 7;

    private static final int AWAIT_EXIT = 8;
    private static final int ALLOW_EXIT = 9;
    private static final int LINGER = 10;
    private static final int EXIT_WITH = 11;

    private static final int FAILED = 1;

    private static volatile Loaded test;

    private Host() {
    }

    static Loaded test() {
        return test;
    }

    /** Answers a message, on whichever thread this is. */
    public static byte[] call(byte[] message) {
        try {
            switch (message[0]) {
                case JOB:
                    return Workers.here(test).run(message);
                case USER_END:
                    return Workers.here(test).end(in(message).i64());
                case INTERRUPT:
                    Input interrupt = in(message);
                    long user = interrupt.i64();
                    // A sample's timeout interrupts the sampler alone, as JMeter's does.
                    boolean samplerOnly = interrupt.at < message.length && interrupt.bool();
                    Workers.interrupt(user, samplerOnly);
                    return new byte[] {0};
                case PROPERTIES:
                    test.props.apply(in(message));
                    Output applied = new Output();
                    applied.u8(0);
                    applied.i32(0);
                    return applied.take();
                case AWAIT_EXIT:
                    Exit.guard();
                    Exit.await();
                    return new byte[] {0};
                case ALLOW_EXIT:
                    Exit.allow();
                    return new byte[] {0};
                case LINGER:
                    return ("\0" + Exit.linger()).getBytes(StandardCharsets.UTF_8);
                case EXIT_WITH:
                    bringLoader();
                    Exit.with(message[1] & 0xff);
                    return new byte[] {0};
                case SETUP:
                    Shown.install();
                    bringLoader();
                    Setup setup = new Setup(in(message));
                    byte[] reply = setup.run();
                    test = setup.loaded();
                    return reply;
                case START:
                    bringLoader();
                    return Life.start(test, in(message));
                case END:
                    bringLoader();
                    return Life.end(test);
                default:
                    throw new IllegalArgumentException("a message of kind " + message[0]);
            }
        } catch (Throwable e) {
            return failure(e);
        }
    }

    /** Threads that native code attached have no class loader of their own; elements look their classes up in it. */
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

    private static byte[] failure(Throwable e) {
        StringWriter trace = new StringWriter();
        e.printStackTrace(new PrintWriter(trace));
        Output out = new Output();
        out.u8(FAILED);
        out.str(trace.toString().stripTrailing());
        return out.take();
    }
}
