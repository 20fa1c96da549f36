package dev.throng;

import java.util.HashMap;
import java.util.Map;
import org.apache.jmeter.testelement.TestElement;

/**
 * What one user keeps in Java: objects of elements that have state, objects among the variables, a context of its own.
 * Exists only for users that need it.
 */
final class User {
    final long id;
    /** The user's object of each element that has one for each user. */
    TestElement[] clones;
    /** Variables that are no texts. */
    Map<String, Frame.Kept> objects;
    UserContext context;
    Variables variables;
    /** The thread-locals that the user's elements have set, as they would have stayed in a JMeter thread. */
    Object threadLocals;
    /** The sample for which the clones below were used last. */
    int sample = -1;
    /** The sampler configured for that sample. */
    Loaded.Owner configured;
    /** How many of the clones were used in that sample, and which. */
    int usedCount;
    int[] used;

    User(long id) {
        this.id = id;
    }

    void keep(String name, Frame.Kept kept) {
        if (objects == null) {
            objects = new HashMap<>(4);
        }
        objects.put(name, kept);
    }
}
