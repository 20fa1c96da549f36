package dev.throng;

import java.util.concurrent.CountDownLatch;
import org.apache.jmeter.processor.PreProcessor;
import org.apache.jmeter.samplers.Entry;
import org.apache.jmeter.samplers.Interruptible;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.samplers.AbstractSampler;
import org.apache.jmeter.testelement.TestIterationListener;
import org.apache.jmeter.engine.event.LoopIterationEvent;
import org.apache.jmeter.testelement.AbstractTestElement;
import org.apache.jmeter.testelement.TestStateListener;
import org.apache.jmeter.testelement.ThreadListener;

/**
 * Test elements like those of plug-ins: with state per user, a thread-local, and listeners for all events.
 */
public final class Counting extends AbstractTestElement implements PreProcessor, ThreadListener, TestStateListener, TestIterationListener {
    private static final long serialVersionUID = 1L;
    private static final ThreadLocal<int[]> LOCAL = ThreadLocal.withInitial(() -> new int[1]);
    static volatile String events = "";

    private int uses;
    private int iterations;

    @Override
    public void process() {
        uses++;
        int local = ++LOCAL.get()[0];
        getThreadContext().getVariables().put("counted", uses + "," + local + "," + iterations + ","
                + getPropertyAsString("text") + "," + getThreadContext().getThread().getThreadName());
        setProperty("text", "changed");
    }

    @Override
    public void testIterationStart(LoopIterationEvent event) {
        iterations = event.getIteration();
    }

    @Override
    public void threadStarted() {
        events += "+";
    }

    @Override
    public void threadFinished() {
        events += "-" + LOCAL.get()[0];
    }

    @Override
    public void testStarted() {
        events += "[";
        getThreadContext().getVariables().putObject("pool", new StringBuilder("shared"));
        getThreadContext().getVariables().put("made", "text");
    }

    @Override
    public void testStarted(String host) {
        testStarted();
    }

    @Override
    public void testEnded() {
        events += "]";
    }

    @Override
    public void testEnded(String host) {
        testEnded();
    }

    /** A sampler that waits until it is interrupted. */
    public static final class Waiting extends AbstractSampler implements Interruptible {
        private static final long serialVersionUID = 1L;
        static volatile CountDownLatch begun = new CountDownLatch(1);
        private transient CountDownLatch over = new CountDownLatch(1);

        @Override
        public Object clone() {
            Waiting copy = (Waiting) super.clone();
            copy.over = new CountDownLatch(1);
            return copy;
        }

        @Override
        public SampleResult sample(Entry entry) {
            SampleResult result = new SampleResult();
            result.setSampleLabel(getName());
            result.sampleStart();
            begun.countDown();
            try {
                over.await();
            } catch (InterruptedException e) {
                result.setResponseMessage("thread interrupted");
            }
            result.sampleEnd();
            return result;
        }

        @Override
        public boolean interrupt() {
            over.countDown();
            return true;
        }
    }

    /** A client that {@code JavaSampler} runs. */
    public static final class Client extends org.apache.jmeter.protocol.java.sampler.AbstractJavaSamplerClient {
        @Override
        public SampleResult runTest(org.apache.jmeter.protocol.java.sampler.JavaSamplerContext context) {
            SampleResult result = new SampleResult();
            result.sampleStart();
            result.setResponseData(context.getParameter("who") + " says hello", "UTF-8");
            result.setSuccessful(true);
            result.setResponseCodeOK();
            SampleResult sub = new SampleResult();
            sub.sampleStart();
            sub.sampleEnd();
            result.storeSubResult(sub);
            result.sampleEnd();
            return result;
        }
    }
}
