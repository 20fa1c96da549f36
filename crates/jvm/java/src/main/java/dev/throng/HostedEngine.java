package dev.throng;

import dev.throng.Message.Ask;
import java.lang.reflect.Field;
import java.util.List;
import org.apache.jmeter.engine.StandardJMeterEngine;
import org.apache.jmeter.testelement.TestStateListener;
import org.apache.jmeter.threads.AbstractThreadGroup;

/**
 * What {@code ctx.getEngine()} returns, and what JMeter's static calls reach: to stop it is to ask that the test be stopped.
 */
final class HostedEngine extends StandardJMeterEngine {
    HostedEngine() {
        super();
    }

    /** Makes the groups known to JMeter's static calls, which look for a thread by its name. */
    @SuppressWarnings("unchecked")
    void know(HostedGroup[] groups) throws ReflectiveOperationException {
        Field field = StandardJMeterEngine.class.getDeclaredField("groups");
        field.setAccessible(true);
        List<AbstractThreadGroup> known = (List<AbstractThreadGroup>) field.get(this);
        known.clear();
        if (groups.length > 0) {
            // Any of them reaches every user.
            known.add(groups[0]);
        }
    }

    /** The listeners that functions registered while they were parsed. */
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
