package dev.throng;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import org.apache.jmeter.control.IfController;
import org.apache.jmeter.engine.util.CompoundVariable;
import org.apache.jmeter.functions.InvalidVariableException;

/**
 * A string of the plan that Java evaluates: functions and variables in JMeter's syntax, from left to right. A condition
 * in JavaScript is evaluated like JMeter's If Controller does, without variables.
 */
final class Text {
    /** Separator before the name of a condition's controller, and before the condition. */
    private static final char CONDITION = '\u0001';

    private final CompoundVariable parts = new CompoundVariable();
    private final String source;
    /** Name of the controller of a condition. */
    private final String controller;
    final boolean readsSampler;

    Text(String given) {
        int at = given.isEmpty() || given.charAt(0) != CONDITION ? -1 : given.indexOf(CONDITION, 1);
        controller = at < 0 ? null : given.substring(1, at);
        source = given.substring(at + 1);
        readsSampler = source.contains("sampler") || source.contains("ctx");
    }

    /** Parses the functions and variables in the string. */
    void read() throws InvalidVariableException {
        parts.setParameters(source);
    }

    String evaluate() throws ReflectiveOperationException {
        // A property without functions stays unchanged, with its escapes.
        String value = parts.hasFunction() || controller == null ? parts.execute() : source;
        return controller == null ? value : Boolean.toString(Judge.holds(controller, value.trim()));
    }

    /** The evaluator that the If Controller uses for conditions; looked up for the first condition. */
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
