package dev.throng;

import dev.throng.Message.Ask;
import org.apache.jmeter.threads.JMeterThread;
import org.apache.jmeter.threads.ListenerNotifier;
import org.apache.jorphan.collections.ListedHashTree;

/**
 * The thread that {@code ctx.getThread()} returns. It reads the context; stopping it requests the end of the user.
 */
final class HostedThread extends JMeterThread {
    private final UserContext context;

    HostedThread(UserContext context) {
        super(new ListedHashTree(context.group), null, new ListenerNotifier());
        this.context = context;
        setThreadGroup(context.group);
        setEngine(context.test.engine);
    }

    @Override
    public String getThreadName() {
        return context == null ? "" : context.threadName;
    }

    @Override
    public int getThreadNum() {
        return context == null ? 0 : context.getThreadNum();
    }

    @Override
    public void stop() {
        context.ask(Ask.STOP_USER);
    }

    @Override
    public boolean interrupt() {
        return false;
    }

    @Override
    public void run() {
        throw new UnsupportedOperationException("this thread is run by Throng");
    }
}
