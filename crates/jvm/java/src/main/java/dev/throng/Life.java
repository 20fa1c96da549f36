package dev.throng;

import dev.throng.Message.Status;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.jmeter.samplers.SampleEvent;
import org.apache.jmeter.testbeans.TestBean;
import org.apache.jmeter.testbeans.TestBeanHelper;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.TestStateListener;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.threads.JMeterVariables;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The start and the end of a test. Elements and functions are notified of both, in the order of the plan.
 */
final class Life {
    private Life() {
    }

    private static Logger log() {
        return LoggerFactory.getLogger("org.apache.jmeter.engine.StandardJMeterEngine");
    }

    static byte[] start(Loaded test, Input in) throws Exception {
        JMeterVariables variables = new JMeterVariables();
        Map<String, Object> sent = new HashMap<>();
        int count = in.i32();
        for (int i = 0; i < count; i++) {
            int slot = in.i32();
            String name = slot == Message.NAMED ? in.str() : test.slots[slot];
            String value = in.str();
            sent.put(name, value);
            variables.put(name, value);
        }
        for (Map.Entry<String, Object> entry : variables.entrySet()) {
            // Variables that JMeter sets itself are not changes of an element.
            sent.putIfAbsent(entry.getKey(), entry.getValue());
        }
        clock(test);
        SampleEvent.initSampleVariables();
        UserContext context = new UserContext();
        context.test = test;
        context.setVariables(variables);
        JMeterContextService.replaceContext(context);
        runInitScripts(test);
        for (TestStateListener listener : test.stateListeners) {
            if (listener instanceof TestBean) {
                TestBeanHelper.prepare((TestElement) listener);
            }
            try {
                listener.testStarted();
            } catch (Exception | LinkageError e) {
                String name = listener instanceof TestElement ? ((TestElement) listener).getName() : listener.toString();
                throw new IllegalStateException("Unable to execute testStarted for test element " + name, e);
            }
        }
        test.started = true;
        Output out = new Output();
        out.u8(Status.WELL);
        tellChanges(test, variables, sent, out);
        test.props.tell(out, 0);
        Logs.tell(out, null);
        return out.take();
    }

    /** Writes the variables that elements changed, and stores for all users those that are no strings. */
    private static void tellChanges(Loaded test, JMeterVariables variables, Map<String, Object> sent, Output out) {
        int hole = out.hole();
        int changes = 0;
        Iterator<Map.Entry<String, Object>> all = variables.getIterator();
        while (all.hasNext()) {
            Map.Entry<String, Object> entry = all.next();
            Object value = entry.getValue();
            if (value instanceof String) {
                if (!value.equals(sent.get(entry.getKey()))) {
                    name(test, out, entry.getKey());
                    out.optStr((String) value);
                    changes++;
                }
            } else if (value != null) {
                boolean read = test.readsAnyName || test.slotOf.containsKey(entry.getKey());
                String text = read ? test.textOf(entry.getKey(), value) : null;
                test.objects.put(entry.getKey(), new Frame.Kept(value, text));
                if (read || sent.containsKey(entry.getKey())) {
                    name(test, out, entry.getKey());
                    out.optStr(text);
                    changes++;
                }
            }
        }
        for (String name : sent.keySet()) {
            if (variables.getObject(name) == null) {
                name(test, out, name);
                out.optStr(null);
                changes++;
            }
        }
        out.patch(hole, changes);
    }

    private static void name(Loaded test, Output out, String name) {
        Integer slot = test.slotOf.get(name);
        if (slot == null) {
            out.i32(Message.NAMED);
            out.str(name);
        } else {
            out.i32(slot);
        }
    }

    /** Sets the start time of the test to the one in the properties. */
    private static void clock(Loaded test) throws ReflectiveOperationException {
        Field field = JMeterContextService.class.getDeclaredField("testStart");
        field.setAccessible(true);
        String start = test.props.getProperty("TESTSTART.MS");
        long moment = System.currentTimeMillis();
        if (start != null) {
            try {
                moment = Long.parseLong(start);
            } catch (NumberFormatException e) {
                log().warn("The property TESTSTART.MS is not a number: {}", start);
            }
        }
        ((AtomicLong) field.get(null)).set(moment);
    }

    private static void runInitScripts(Loaded test) throws ReflectiveOperationException {
        if (test.props.getProperty("beanshell.init.file") != null || test.props.getProperty("jsr223.init.file") != null) {
            Method method = Class.forName("org.apache.jmeter.JMeter").getDeclaredMethod("runInitScripts");
            method.setAccessible(true);
            method.invoke(null);
        }
    }

    static byte[] end(Loaded test) {
        if (test.started) {
            test.started = false;
            Worker.noneActive();
            UserContext context = new UserContext();
            context.test = test;
            context.setVariables(new JMeterVariables());
            JMeterContextService.replaceContext(context);
            for (TestStateListener listener : test.stateListeners) {
                try {
                    listener.testEnded();
                } catch (Exception | LinkageError e) {
                    log().warn("Error encountered during shutdown of {}", listener, e);
                }
            }
        }
        Output out = new Output();
        out.u8(Status.WELL);
        Logs.tell(out, null);
        return out.take();
    }
}
