package dev.throng;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Exchanges the thread-locals of the current thread. JMeter's elements keep clients, connections and pools in thread-locals,
 * for there a thread is a user; here a user's jobs run on whichever worker is free, so what its elements left is put back
 * before each of them. Needs {@code --add-opens java.base/java.lang=ALL-UNNAMED}; without it nothing is exchanged.
 */
final class ThreadLocals {
    private static final VarHandle MAP = find();

    private ThreadLocals() {
    }

    private static VarHandle find() {
        try {
            MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup());
            Class<?> type = Class.forName("java.lang.ThreadLocal$ThreadLocalMap");
            return lookup.findVarHandle(Thread.class, "threadLocals", type);
        } catch (ReflectiveOperationException | RuntimeException e) {
            return null;
        }
    }

    static boolean available() {
        return MAP != null;
    }

    /** Puts these in place and returns those that were there. */
    static Object exchange(Object map) {
        if (MAP == null) {
            return null;
        }
        Thread thread = Thread.currentThread();
        Object before = MAP.get(thread);
        MAP.set(thread, map);
        return before;
    }
}
