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
 * A Java-backed element of the plan: its data from the plan, and the object that JMeter created from its XML.
 * This class decides once how many objects of the element exist at run time.
 */
final class Element {
    /** The number of objects of an element. */
    enum Each {
        /** One object for all users, as JMeter has it for elements that are shared. */
        ALL,
        /** One object for each worker, because the element keeps no state between two uses. */
        WORKER,
        /** One object for each user, as in JMeter. */
        USER
    }

    final int id;
    final int role;
    final String className;
    final String name;
    final String path;
    final int line;
    final int reads;
    /** True if the element runs natively. Only scripts that read its object depend on its class. */
    final boolean isNative;
    final String xml;

    TestElement prototype;
    Each each = Each.USER;
    /** Index of the element's object among the objects of a user or of a worker. */
    int place;
    /** True if bean properties never change. They are then set once per object, except for objects that were touched. */
    boolean preparedOnce;
    /** True for a script that is compiled at each use, in a separate engine. */
    boolean freshEngine;
    boolean isBean;
    boolean isScript;
    /** Children of the element, if it is a controller. */
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

    /** Stores the object that was created from the element's XML, with functions replaced. */
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
            // Each object of a JMeter element remembers the digest of the first script text that it evaluated.
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

    /** Returns true if the objects are notified when their users start and end. Native elements have nothing to close. */
    boolean hearsOfThreads() {
        return prototype instanceof ThreadListener && (!isNative || prototype instanceof HTTPSamplerBase);
    }

    /** Returns true if the objects must exist when their users start, because they are notified then. */
    boolean hearsOfStart() {
        if (!(prototype instanceof ThreadListener) || isNative || prototype instanceof HTTPSamplerBase) {
            return false;
        }
        // Scripts are notified only through an init file, which is read into their interpreter.
        return !isScript || JMeterUtils.getJMeterProperties().stringPropertyNames().stream()
                .anyMatch(name -> name.startsWith("beanshell.") && name.endsWith(".init"));
    }

    /** Returns true if the class does not change bean properties itself, and no other properties are merged into it. */
    private static boolean keepsBeanProperties(TestElement made) {
        return made.getClass().getName().startsWith("org.apache.jmeter.protocol.jdbc.");
    }

    /** Returns true if the class acts when an iteration begins. */
    boolean hearsOfIterations() {
        return prototype instanceof LoopIterationListener || prototype instanceof TestIterationListener;
    }

    boolean reads(int what) {
        return (reads & what) != 0;
    }

    /** Returns the reason why an object of this class cannot have the role of the element; null if it can. */
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

    /** Returns true if a property of the element contains a function or a variable. */
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
