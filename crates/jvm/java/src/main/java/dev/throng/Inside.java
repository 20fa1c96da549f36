package dev.throng;

import dev.throng.Message.SaidKind;
import java.util.ArrayList;
import java.util.List;
import org.apache.jmeter.control.Controller;
import org.apache.jmeter.engine.util.ValueReplacer;
import org.apache.jmeter.functions.InvalidVariableException;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.property.JMeterProperty;
import org.apache.jmeter.threads.TestCompilerHelper;

/** The children of a controller in Java: native samplers and controllers. Also tells if they need iteration notices. */
final class Inside {
    /** A child: a controller or a sampler, with its number and its name. */
    private record Child(boolean isController, int id, JMeterProperty name) {
    }

    private final boolean heard;
    private final List<Child> children = new ArrayList<>();
    private final boolean mayAsk;

    Inside(Records.Inside said, ValueReplacer replacer) throws InvalidVariableException {
        heard = said.heard;
        for (Records.Child child : said.children) {
            TestElement named = new GivenSampler(SaidKind.SAMPLER, child.id);
            named.setName(child.name);
            replacer.replaceValues(named);
            named.setRunningVersion(true);
            children.add(new Child(child.isController, child.id, named.getProperty(TestElement.NAME)));
        }
        mayAsk = heard || children.stream().anyMatch(Child::isController);
    }

    /** Returns true if the controller may ask native code. */
    boolean mayAsk() {
        return mayAsk;
    }

    /** Adds the children to a user's controller, as JMeter's compiler does. */
    void fill(Controller controller, User user) {
        for (Child child : children) {
            TestElement given = child.isController ? new GivenController(user, child.id) : user.given(SaidKind.SAMPLER, child.id);
            given.setProperty(child.name.clone());
            given.setRunningVersion(true);
            if (controller instanceof TestCompilerHelper) {
                ((TestCompilerHelper) controller).addTestElementOnce(given);
            } else {
                controller.addTestElement(given);
            }
        }
        if (heard) {
            controller.addIterationListener(new GivenController(user, -1));
        }
    }
}
