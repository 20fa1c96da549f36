package own;

import java.util.ArrayList;
import java.util.List;
import org.apache.jmeter.control.Controller;
import org.apache.jmeter.engine.event.LoopIterationEvent;
import org.apache.jmeter.engine.event.LoopIterationListener;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.testelement.AbstractTestElement;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.threads.JMeterContext;
import org.apache.jmeter.threads.JMeterContextService;

/** Runs its children from the last to the first, and records the child and the previous sample. */
public class BackwardsController extends AbstractTestElement implements Controller {
    private static final long serialVersionUID = 1L;

    private final transient List<TestElement> held = new ArrayList<>();
    private final transient List<LoopIterationListener> listeners = new ArrayList<>();
    private transient int at = -1;
    private transient int passes;

    @Override
    public Sampler next() {
        if (at < 0) {
            at = held.size();
            // JMeter's controllers initialise only child controllers of JMeter's own class.
            if (passes++ == 0) {
                initialize();
                at = held.size();
            }
            for (LoopIterationListener listener : listeners) {
                listener.iterationStart(new LoopIterationEvent(this, passes));
            }
        }
        while (at > 0) {
            TestElement element = held.get(at - 1);
            JMeterContext context = JMeterContextService.getContext();
            SampleResult before = context.getPreviousResult();
            if (element instanceof Sampler) {
                at--;
                String last = before == null ? "nothing" : before.getSampleLabel();
                context.getVariables().put("said", passes + "-" + element.getName() + "-behind-" + last);
                return (Sampler) element;
            }
            Controller controller = (Controller) element;
            Sampler sampler = controller.next();
            if (sampler != null) {
                context.getVariables().put("said", passes + "-in-" + controller.getName());
                return sampler;
            }
            if (controller.isDone()) {
                held.remove(at - 1);
            }
            at--;
        }
        at = -1;
        return null;
    }

    @Override
    public boolean isDone() {
        return false;
    }

    @Override
    public void initialize() {
        at = -1;
        for (TestElement element : held) {
            if (element instanceof Controller) {
                ((Controller) element).initialize();
            }
        }
    }

    @Override
    public void triggerEndOfLoop() {
        at = -1;
    }

    @Override
    public void addTestElement(TestElement element) {
        if (element instanceof Sampler || element instanceof Controller) {
            held.add(element);
        }
    }

    @Override
    public void addIterationListener(LoopIterationListener listener) {
        listeners.add(listener);
    }

    @Override
    public void removeIterationListener(LoopIterationListener listener) {
        listeners.remove(listener);
    }
}
