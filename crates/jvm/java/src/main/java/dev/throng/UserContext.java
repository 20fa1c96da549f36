package dev.throng;

import dev.throng.Message.Ask;
import org.apache.jmeter.engine.StandardJMeterEngine;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.threads.AbstractThreadGroup;
import org.apache.jmeter.threads.JMeterThread;
import org.apache.jmeter.threads.OpenContext;

/**
 * JMeter's context as elements see it. Each worker has one for users without state, and each user with state has one.
 * Thread, group and engine are created at their first use. Requests to stop one of them are stored here.
 */
final class UserContext extends OpenContext {
    Loaded test;
    /** The worker that runs the current job. */
    Worker worker;
    HostedGroup group;
    String threadName = "";
    private HostedThread thread;
    private int asked;
    private Element previous;
    private Objects objects;

    /** Sets the sampler before the current one; null if native code does not name it. */
    void bindPrevious(Element sampler, Objects objects) {
        previous = sampler;
        this.objects = objects;
    }

    @Override
    public Sampler getPreviousSampler() {
        return previous == null ? super.getPreviousSampler() : (Sampler) objects.known(previous);
    }

    void ask(int what) {
        asked = Math.max(asked, what);
    }

    /** Returns the request made since the last call. */
    int takeAsked() {
        int what = asked;
        asked = 0;
        TestLogicalAction action = getTestLogicalAction();
        if (action != TestLogicalAction.CONTINUE) {
            setTestLogicalAction(TestLogicalAction.CONTINUE);
            what = Math.max(what, switch (action) {
                case BREAK_CURRENT_LOOP -> Ask.BREAK_LOOP;
                case START_NEXT_ITERATION_OF_CURRENT_LOOP -> Ask.NEXT_OF_LOOP;
                case START_NEXT_ITERATION_OF_THREAD -> Ask.NEXT_OF_THREAD;
                default -> Ask.NOTHING;
            });
        }
        return what;
    }

    @Override
    public JMeterThread getThread() {
        if (thread == null && group != null) {
            thread = new HostedThread(this);
        }
        return thread;
    }

    @Override
    public AbstractThreadGroup getThreadGroup() {
        return group;
    }

    @Override
    public StandardJMeterEngine getEngine() {
        return test == null ? null : test.engine;
    }
}
