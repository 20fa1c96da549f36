package own;

import org.apache.jmeter.control.GenericController;
import org.apache.jmeter.control.NextIsNullException;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.threads.JMeterContextService;

/** Picks every second child. */
public class EverySecondController extends GenericController {
    private static final long serialVersionUID = 1L;

    @Override
    protected Sampler nextIsASampler(Sampler element) throws NextIsNullException {
        JMeterContextService.getContext().getVariables().put("picked", element.getName());
        current += 2;
        return element;
    }
}
