package dev.throng;

import org.apache.jmeter.control.GenericController;
import org.apache.jmeter.control.IteratingController;
import org.apache.jmeter.engine.event.LoopIterationEvent;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.threads.JMeterVariables;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A controller like those of plug-ins. It records its replies and notices; a variable determines its actions. */
public final class Picking extends GenericController implements IteratingController {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(Picking.class);
    private static final ThreadLocal<int[]> LOCAL = ThreadLocal.withInitial(() -> new int[1]);

    private String heard = "";

    @Override
    public Sampler next() {
        JMeterVariables vars = JMeterContextService.getContext().getVariables();
        String wish = vars.get("wish");
        if ("sleep".equals(wish)) {
            try {
                Thread.sleep(60_000);
            } catch (InterruptedException e) {
                throw new IllegalStateException("woken", e);
            }
        }
        if ("own".equals(wish)) {
            return new GivenSamplerOfAnother();
        }
        if ("overflow".equals(wish)) {
            throw new StackOverflowError("deep");
        }
        Sampler given = super.next();
        vars.put("picked", (given == null ? "nothing" : given.getName()) + " on " + Thread.currentThread().getName() + " "
                + ++LOCAL.get()[0] + heard);
        LOG.warn("picked");
        return given;
    }

    @Override
    public void startNextLoop() {
        heard += " next";
    }

    @Override
    public void breakLoop() {
        heard += " break";
    }

    @Override
    public void triggerEndOfLoop() {
        heard += " end";
    }

    @Override
    public void iterationStart(LoopIterationEvent event) {
        heard += " " + event.getSource().getClass().getSimpleName() + event.getIteration();
    }

    /** A sampler that the plan does not contain. */
    private static final class GivenSamplerOfAnother extends org.apache.jmeter.sampler.DebugSampler {
        private static final long serialVersionUID = 1L;
    }
}
