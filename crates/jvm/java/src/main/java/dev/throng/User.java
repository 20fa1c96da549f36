package dev.throng;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLContext;
import org.apache.jmeter.testelement.TestElement;

/**
 * The state of a user in Java: objects of elements with state, objects in variables, and a context. Exists only for users
 * that need it. It is locked by one job at a time: native code waits for a job before it sends the user's next one,
 * except for listeners.
 */
final class User extends ReentrantLock {
    private static final long serialVersionUID = 1L;

    final long id;
    /** The user's object of each element that has one object per user. */
    transient TestElement[] clones;
    /** Variables that are no strings. */
    transient Map<String, Frame.Kept> objects;
    transient UserContext context;
    /** TLS context of the HTTPS connections that the user's scripts open. */
    transient SSLContext secure;
    transient Variables variables;
    /** The thread-locals that the user's elements have set. In JMeter they would remain in the user's thread. */
    transient Object threadLocals;
    /** Open questions to the user's controllers, each within the one before. */
    final transient ArrayDeque<Question> questions = new ArrayDeque<>();
    /** Objects that represent native samplers as children of controllers. */
    private transient Map<Long, GivenSampler> given;
    /** The last sample for which the objects below were used. */
    int sample = -1;
    /** The sampler that is configured for that sample. */
    transient Loaded.Owner configured;
    /** Number of objects used in that sample, and their indices. */
    int usedCount;
    int[] used;
    /** For each sampler index, true if another element has read and may have changed it; null if there are none. */
    boolean[] touched;

    User(long id) {
        this.id = id;
    }

    /** Returns the only object that represents a native sampler, or the sample of a transaction. */
    GivenSampler given(int kind, int id) {
        if (given == null) {
            given = new HashMap<>();
        }
        return given.computeIfAbsent((long) kind << 32 | id, key -> new GivenSampler(kind, id));
    }

    void keep(String name, Frame.Kept kept) {
        if (objects == null) {
            objects = new HashMap<>(4);
        }
        objects.put(name, kept);
    }

    void touch(int place) {
        if (touched == null) {
            touched = new boolean[clones.length];
        }
        touched[place] = true;
    }

    boolean isTouched(int place) {
        return touched != null && touched[place];
    }
}
