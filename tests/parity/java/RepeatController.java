package own;

import org.apache.jmeter.control.GenericController;
import org.apache.jmeter.control.IteratingController;
import org.apache.jmeter.control.NextIsNullException;
import org.apache.jmeter.engine.event.LoopIterationEvent;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.threads.JMeterContextService;

/** Repeats its children. A property has the number of repetitions, read in each iteration. The loop can be broken. */
public class RepeatController extends GenericController implements IteratingController {
    private static final long serialVersionUID = 1L;

    private transient int runs;
    private transient boolean broken;
    private transient int heard;

    private boolean isOver() {
        return runs >= getPropertyAsInt("times");
    }

    @Override
    public Sampler next() {
        JMeterContextService.getContext().getVariables().put("run", runs + " of " + heard);
        updateIterationIndex(getName(), runs);
        if (broken || isOver()) {
            broken = false;
            runs = 0;
            reInitialize();
            return null;
        }
        return super.next();
    }

    @Override
    protected Sampler nextIsNull() throws NextIsNullException {
        reInitialize();
        runs++;
        if (!isOver()) {
            return next();
        }
        runs = 0;
        return null;
    }

    @Override
    public void triggerEndOfLoop() {
        super.triggerEndOfLoop();
        runs = 0;
    }

    @Override
    public void startNextLoop() {
        reInitialize();
        runs++;
    }

    @Override
    public void breakLoop() {
        broken = true;
        setFirst(true);
        resetCurrent();
        runs = 0;
    }

    @Override
    public void iterationStart(LoopIterationEvent event) {
        reInitialize();
        runs = 0;
        heard = event.getIteration();
    }
}
