package dev.throng;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.jmeter.testelement.TestStateListener;

/**
 * The test of this process: the plan's Java-backed elements as {@link Setup} made them, and who runs in it.
 * Does not change after the start, but for the users that keep something.
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
    /** How many objects a user and a worker may have. */
    int userPlaces;
    int workerPlaces;
    /** What elements put into the variables when the test started, and what is no text. */
    final Map<String, Frame.Kept> objects = new HashMap<>();
    /** The plan reads variables whose names are made during the run, so that any object may be read as a text. */
    boolean readsAnyName;
    /** Elements of users that hear of their start. */
    final List<Element> starting = new ArrayList<>();
    final List<TestStateListener> stateListeners = new ArrayList<>();
    final Map<Long, User> users = new ConcurrentHashMap<>();
    /** Asked for outside of any job; the next reply tells it. */
    final AtomicInteger asked = new AtomicInteger();
    boolean started;

    /** A sampler that Java must know: its element and the config elements in its scope, in JMeter's merge order. */
    static final class Owner {
        final Element element;
        final Element[] configs;
        final boolean http;
        /** What {@link Natives#trace} writes of the sampler as the plan has it; made at the first use. */
        volatile Output asPlanned;

        Owner(Element element, Element[] configs, boolean http) {
            this.element = element;
            this.configs = configs;
            this.http = http;
        }

        /** Whether native code is told what scripts make of it. */
        boolean isFollowed() {
            return http || element.isNative;
        }
    }

    /** What native code is told of a variable that is no text; null where nothing there can read it. */
    String textOf(String name, Object value) {
        if (!readsAnyName && !slotOf.containsKey(name)) {
            return value instanceof Number || value instanceof Boolean || value instanceof Character
                    || value instanceof CharSequence ? value.toString() : null;
        }
        try {
            return value.toString();
        } catch (RuntimeException e) {
            // JMeter would throw where the variable is read.
            return null;
        }
    }

    void ask(int what) {
        asked.accumulateAndGet(what, Math::max);
    }
}
