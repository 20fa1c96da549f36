package dev.throng;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import org.apache.jmeter.control.IfController;
import org.apache.jmeter.engine.util.CompoundVariable;
import org.apache.jmeter.functions.InvalidVariableException;

/**
 * A text of the plan that is evaluated here: functions and variables as JMeter reads them, from left to right. A condition
 * in JavaScript is what JMeter's If Controller makes of it, which knows no variables.
 */
final class Text {
    /** Stands before the name of a condition's controller, and before the condition. */
    private static final char CONDITION = '\u0001';

    private final CompoundVariable parts = new CompoundVariable();
    private final String source;
    /** The controller of a condition. */
    private final String controller;
    final boolean readsSampler;

    Text(String given) {
        int at = given.isEmpty() || given.charAt(0) != CONDITION ? -1 : given.indexOf(CONDITION, 1);
        controller = at < 0 ? null : given.substring(1, at);
        source = given.substring(at + 1);
        readsSampler = source.contains("sampler") || source.contains("ctx");
    }

    /** Reads the functions and variables in it. */
    void read() throws InvalidVariableException {
        parts.setParameters(source);
    }

    String evaluate() throws ReflectiveOperationException {
        // A property without functions is left as it is, with its escapes.
        String value = parts.hasFunction() || controller == null ? parts.execute() : source;
        return controller == null ? value : Boolean.toString(Judge.holds(controller, value.trim()));
    }

    /** What the If Controller has conditions decided by; found when the first one is. */
    private static final class Judge {
        private static final Object EVALUATOR;
        private static final Method EVALUATE;

        static {
            try {
                Field field = IfController.class.getDeclaredField("JAVASCRIPT_EVALUATOR");
                field.setAccessible(true);
                EVALUATOR = field.get(null);
                EVALUATE = EVALUATOR.getClass().getDeclaredMethod("evaluate", String.class, String.class);
                EVALUATE.setAccessible(true);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        static boolean holds(String controller, String condition) throws ReflectiveOperationException {
            return (Boolean) EVALUATE.invoke(EVALUATOR, controller, condition);
        }
    }
}
