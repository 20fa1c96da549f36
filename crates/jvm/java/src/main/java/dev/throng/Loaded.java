package dev.throng;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.jmeter.testelement.TestStateListener;

/**
 * The test of this process: the plan's Java-backed elements as {@link Setup} created them, and its users.
 * After the start, only the set of users with state changes.
 */
final class Loaded {
    String[] slots = {};
    final Map<Object, Integer> slotOf = new HashMap<>();
    Element[] elements = {};
    Owner[] owners = {};
    final Map<Integer, Owner> ownerOf = new HashMap<>();
    Text[] texts = {};
    HostedGroup[] groups = {};
    Props props;
    HostedEngine engine;
    float timerFactor = 1;
    /** Maximum numbers of objects of a user and of a worker. */
    int userPlaces;
    int workerPlaces;
    /** Objects other than strings that elements stored in variables when the test started. */
    final Map<String, Frame.Kept> objects = new HashMap<>();
    /** True if the plan computes names of variables during the run, so that any object may be read as a string. */
    boolean readsAnyName;
    /** Elements that are notified when a user starts. */
    final List<Element> starting = new ArrayList<>();
    final List<TestStateListener> stateListeners = new ArrayList<>();
    final Map<Long, User> users = new ConcurrentHashMap<>();
    /** Request made outside of any job. The next reply contains it. */
    final AtomicInteger asked = new AtomicInteger();
    boolean started;

    /** A sampler that also exists in Java: its element and the config elements in its scope, in JMeter's merge order. */
    static final class Owner {
        final Element element;
        final Element[] configs;
        final boolean http;
        /** The output of {@link Natives#trace} for the unchanged sampler; created at the first use. */
        volatile Output asPlanned;

        Owner(Element element, Element[] configs, boolean http) {
            this.element = element;
            this.configs = configs;
            this.http = http;
        }

        /** Returns true if native code needs the changes that scripts make to the sampler. */
        boolean isFollowed() {
            return http || element.isNative;
        }
    }

    /** Returns the string that native code gets for an object in a variable; null if nothing native can read it. */
    String textOf(String name, Object value) {
        if (!readsAnyName && !slotOf.containsKey(name)) {
            return value instanceof Number || value instanceof Boolean || value instanceof Character
                    || value instanceof CharSequence ? value.toString() : null;
        }
        try {
            return value.toString();
        } catch (RuntimeException e) {
            // JMeter would throw an exception when the variable is read.
            return null;
        }
    }

    void ask(int what) {
        asked.accumulateAndGet(what, Math::max);
    }
}
