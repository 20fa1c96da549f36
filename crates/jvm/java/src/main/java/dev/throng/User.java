package dev.throng;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLContext;
import org.apache.jmeter.testelement.TestElement;

/**
 * What one user keeps in Java: objects of elements that have state, objects among the variables, a context of its own.
 * Exists only for users that need it. One job at a time holds it: native code waits for a job before it sends the user's next,
 * but not for listeners.
 */
final class User extends ReentrantLock {
    private static final long serialVersionUID = 1L;

    final long id;
    /** The user's object of each element that has one for each user. */
    transient TestElement[] clones;
    /** Variables that are no texts. */
    transient Map<String, Frame.Kept> objects;
    transient UserContext context;
    /** That of the HTTPS connections which its scripts open. */
    transient SSLContext secure;
    transient Variables variables;
    /** The thread-locals that the user's elements have set, as they would have stayed in a JMeter thread. */
    transient Object threadLocals;
    /** Questions to its controllers that are not answered yet, each asked inside of the one before. */
    final transient ArrayDeque<Question> questions = new ArrayDeque<>();
    /** What stands for samplers among what its controllers give. */
    private transient Map<Long, GivenSampler> given;
    /** The sample for which the clones below were used last. */
    int sample = -1;
    /** The sampler configured for that sample. */
    transient Loaded.Owner configured;
    /** How many of the clones were used in that sample, and which. */
    int usedCount;
    int[] used;
    /** Places of samplers that something else than they themselves has looked at, and may have changed; null if there are none. */
    boolean[] touched;

    User(long id) {
        this.id = id;
    }

    /** The one object that stands for a sampler, or for the sample of a transaction. */
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
