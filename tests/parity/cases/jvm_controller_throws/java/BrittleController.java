package own;

import org.apache.jmeter.control.GenericController;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jorphan.util.JMeterStopTestException;
import org.apache.jorphan.util.JMeterStopThreadException;

/** Throws the exception that a property names, at its second call. */
public class BrittleController extends GenericController {
    private static final long serialVersionUID = 1L;

    private transient int asked;

    @Override
    public Sampler next() {
        asked++;
        if (asked == 2) {
            switch (getPropertyAsString("throws")) {
                case "exception":
                    throw new IllegalStateException("on purpose");
                case "error":
                    throw new StackOverflowError("on purpose");
                case "thread":
                    throw new JMeterStopThreadException("on purpose");
                case "test":
                    throw new JMeterStopTestException("on purpose");
                case "stop":
                    JMeterContextService.getContext().getThread().stop();
                    break;
                default:
                    break;
            }
        }
        return super.next();
    }
}
