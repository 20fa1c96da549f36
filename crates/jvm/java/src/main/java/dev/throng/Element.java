package dev.throng;

import dev.throng.Message.Reads;
import dev.throng.Message.Role;
import org.apache.jmeter.assertions.Assertion;
import org.apache.jmeter.control.Controller;
import org.apache.jmeter.engine.event.LoopIterationListener;
import org.apache.jmeter.engine.util.NoThreadClone;
import org.apache.jmeter.processor.PostProcessor;
import org.apache.jmeter.processor.PreProcessor;
import org.apache.jmeter.protocol.http.sampler.HTTPSamplerBase;
import org.apache.jmeter.samplers.SampleListener;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.testbeans.TestBean;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.TestIterationListener;
import org.apache.jmeter.testelement.ThreadListener;
import org.apache.jmeter.testelement.property.FunctionProperty;
import org.apache.jmeter.testelement.property.JMeterProperty;
import org.apache.jmeter.testelement.property.MultiProperty;
import org.apache.jmeter.testelement.property.PropertyIterator;
import org.apache.jmeter.testelement.property.TestElementProperty;
import org.apache.jmeter.threads.AbstractThreadGroup;
import org.apache.jmeter.timers.Timer;
import org.apache.jmeter.util.BSFTestElement;
import org.apache.jmeter.util.BeanShellTestElement;
import org.apache.jmeter.util.JMeterUtils;
import org.apache.jmeter.util.JSR223TestElement;

/**
 * One Java-backed element of the plan: what the plan says of it, and the object JMeter made of its XML.
 * How many objects of it there are at run time is decided once, here.
 */
final class Element {
    /** Who has an object of his own. */
    enum Each {
        /** One object for all users, as JMeter has it for elements that say so. */
        ALL,
        /** One object for each worker: the element keeps nothing from one use to the next. */
        WORKER,
        /** One object for each user, as JMeter has it. */
        USER
    }

    final int id;
    final int role;
    final String className;
    final String name;
    final String path;
    final int line;
    final int reads;
    /** It runs natively; nothing depends on its class but scripts that look at it. */
    final boolean isNative;
    final String xml;

    TestElement prototype;
    Each each = Each.USER;
    /** The place of its object among those of a user or of a worker. */
    int place;
    /** Its bean properties are the same at every use, so that they are set once for each object; but at each use of one that was touched. */
    boolean preparedOnce;
    /** A script that is compiled anew at each use, in an engine of its own. */
    boolean freshEngine;
    boolean isBean;
    boolean isScript;
    /** What it holds, if it is a controller. */
    Inside inside;

    Element(int id, Records.Element said) {
        this.id = id;
        role = said.role;
        className = said.className;
        name = said.name;
        path = said.path;
        line = said.line;
        reads = said.reads;
        isNative = (reads & Reads.NATIVE) != 0;
        xml = said.xml;
    }

    /** Takes the object that was made of its XML, functions replaced. */
    void become(TestElement made) {
        prototype = made;
        isBean = made instanceof TestBean;
        boolean bsh = made instanceof BeanShellTestElement;
        boolean jsr = made instanceof JSR223TestElement;
        isScript = jsr || bsh || made instanceof BSFTestElement;
        preparedOnce = isBean && (isScript || keepsBeanProperties(made)) && !evaluates(made);
        if (made instanceof NoThreadClone) {
            each = Each.ALL;
        } else if (made instanceof BSFTestElement) {
            each = Each.WORKER;
        } else if (jsr) {
            // JMeter remembers the digest of the first text that a script evaluated to, in each object.
            each = made.getProperty("script") instanceof FunctionProperty ? Each.USER : Each.WORKER;
            freshEngine = "false".equals(made.getPropertyAsString("cacheKey"));
        } else if (bsh) {
            boolean resets = "true".equals(made.getPropertyAsString("resetInterpreter"))
                    || "true".equals(made.getPropertyAsString("BeanShellSampler.resetInterpreter"))
                    || "true".equals(made.getPropertyAsString("BeanShellAssertion.resetInterpreter"));
            each = resets ? Each.WORKER : Each.USER;
        }
        made.setRunningVersion(true);
    }

    /** Whether its objects are told when their users start and end. What runs natively has no connections to close. */
    boolean hearsOfThreads() {
        return prototype instanceof ThreadListener && (!isNative || prototype instanceof HTTPSamplerBase);
    }

    /** Whether its users' objects are to be made when the users start, for they do something then. */
    boolean hearsOfStart() {
        if (!(prototype instanceof ThreadListener) || isNative || prototype instanceof HTTPSamplerBase) {
            return false;
        }
        // Scripts hear of it in a file that is read into their interpreter, and only there.
        return !isScript || JMeterUtils.getJMeterProperties().stringPropertyNames().stream()
                .anyMatch(name -> name.startsWith("beanshell.") && name.endsWith(".init"));
    }

    /** Whether objects of its class leave alone what their properties set in them, and nothing merges other properties into them. */
    private static boolean keepsBeanProperties(TestElement made) {
        return made.getClass().getName().startsWith("org.apache.jmeter.protocol.jdbc.");
    }

    /** Whether its class does something when an iteration begins. */
    boolean hearsOfIterations() {
        return prototype instanceof LoopIterationListener || prototype instanceof TestIterationListener;
    }

    boolean reads(int what) {
        return (reads & what) != 0;
    }

    /** Why an object of this class cannot stand in the element's role; null if it can. */
    static String misfit(int role, Object made) {
        Class<?> wanted = switch (role) {
            case Role.BEFORE -> PreProcessor.class;
            case Role.TIMER -> Timer.class;
            case Role.SAMPLER -> Sampler.class;
            case Role.AFTER -> PostProcessor.class;
            case Role.ASSERTION -> Assertion.class;
            case Role.LISTENER -> SampleListener.class;
            case Role.CONTROLLER -> Controller.class;
            default -> TestElement.class;
        };
        if (made instanceof AbstractThreadGroup || !wanted.isInstance(made)) {
            return "class " + made.getClass().getName() + " is not a " + wanted.getSimpleName();
        }
        if (role == Role.CONTROLLER && made instanceof NoThreadClone) {
            return "class " + made.getClass().getName() + " has one object for all users, which Throng does not support for controllers";
        }
        return null;
    }

    /** Whether any of its properties has a function or a variable in it. */
    static boolean evaluates(TestElement element) {
        PropertyIterator properties = element.propertyIterator();
        while (properties.hasNext()) {
            if (evaluates(properties.next())) {
                return true;
            }
        }
        return false;
    }

    private static boolean evaluates(JMeterProperty property) {
        if (property instanceof FunctionProperty) {
            return true;
        }
        if (property instanceof TestElementProperty) {
            return evaluates(((TestElementProperty) property).getElement());
        }
        if (property instanceof MultiProperty) {
            for (JMeterProperty inner : (MultiProperty) property) {
                if (evaluates(inner)) {
                    return true;
                }
            }
        }
        return false;
    }
}
