package dev.throng;

import dev.throng.Message.Ask;
import org.apache.jmeter.threads.ThreadGroup;

/**
 * A thread group as elements see it: its name, its number of users, and its number of active users.
 */
public final class HostedGroup extends ThreadGroup {
    private static final long serialVersionUID = 1L;

    private transient volatile int active;

    /** Constructor for JMeter, which clones elements by it. */
    public HostedGroup() {
        super();
    }

    void setActive(int count) {
        if (active != count) {
            active = count;
        }
    }

    @Override
    public int getNumberOfThreads() {
        return active;
    }

    @Override
    public int numberOfActiveThreads() {
        return active;
    }

    @Override
    public boolean stopThread(String threadName, boolean now) {
        return Workers.askByName(threadName);
    }

    @Override
    public void stop() {
        Workers.askHere(Ask.STOP_TEST);
    }

    @Override
    public void tellThreadsToStop() {
        Workers.askHere(Ask.STOP_TEST_NOW);
    }
}
