package dev.throng;

import dev.throng.Message.Ask;
import java.lang.reflect.Field;
import java.util.List;
import org.apache.jmeter.engine.StandardJMeterEngine;
import org.apache.jmeter.testelement.TestStateListener;
import org.apache.jmeter.threads.AbstractThreadGroup;

/**
 * The engine that {@code ctx.getEngine()} and JMeter's static calls return. Stopping it requests the end of the test.
 */
final class HostedEngine extends StandardJMeterEngine {
    HostedEngine() {
        super();
    }

    /** Registers the groups for JMeter's static calls, which search threads by name. */
    @SuppressWarnings("unchecked")
    void know(HostedGroup[] groups) throws ReflectiveOperationException {
        Field field = StandardJMeterEngine.class.getDeclaredField("groups");
        field.setAccessible(true);
        List<AbstractThreadGroup> known = (List<AbstractThreadGroup>) field.get(this);
        known.clear();
        if (groups.length > 0) {
            // Each of the groups reaches every user.
            known.add(groups[0]);
        }
    }

    /** Returns the listeners that functions registered while they were parsed. */
    @SuppressWarnings("unchecked")
    static List<TestStateListener> registered() throws ReflectiveOperationException {
        Field field = StandardJMeterEngine.class.getDeclaredField("testList");
        field.setAccessible(true);
        return (List<TestStateListener>) field.get(null);
    }

    @Override
    public synchronized void stopTest() {
        stopTest(true);
    }

    @Override
    public synchronized void stopTest(boolean now) {
        Workers.askHere(now ? Ask.STOP_TEST_NOW : Ask.STOP_TEST);
    }

    @Override
    public void askThreadsToStop() {
        Workers.askHere(Ask.STOP_TEST);
    }

    @Override
    public boolean isActive() {
        return true;
    }
}
