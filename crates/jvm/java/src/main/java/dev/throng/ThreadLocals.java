package dev.throng;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Exchanges the thread-locals of the current thread. JMeter's elements store clients and connections in thread-locals,
 * because a thread is a user in JMeter. Here any worker runs a user's job, so the user's thread-locals are restored
 * before each job. Requires {@code --add-opens java.base/java.lang=ALL-UNNAMED}; without it nothing is exchanged.
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

    /** Sets these thread-locals and returns the previous ones. */
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
