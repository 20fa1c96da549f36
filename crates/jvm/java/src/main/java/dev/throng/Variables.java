package dev.throng;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.AbstractMap;
import java.util.Map;
import java.util.Set;
import org.apache.jmeter.threads.JMeterVariables;

/**
 * The map inside a {@code JMeterVariables}: it reads and writes the {@link Frame} of the current job.
 * JMeter's own class is unchanged, so that scripts and plug-ins see no difference; only its private map is replaced.
 */
final class Variables extends AbstractMap<String, Object> {
    private static final VarHandle ITERATION;
    private static final java.lang.reflect.Field MAP;

    static {
        try {
            ITERATION = MethodHandles.privateLookupIn(JMeterVariables.class, MethodHandles.lookup())
                    .findVarHandle(JMeterVariables.class, "iteration", int.class);
            MAP = JMeterVariables.class.getDeclaredField("variables");
            MAP.setAccessible(true);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final JMeterVariables outside = new JMeterVariables();
    private Frame frame;

    Variables() {
        try {
            MAP.set(outside, this);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    void bind(Frame frame, int iteration) {
        this.frame = frame;
        ITERATION.set(outside, iteration);
    }

    void release() {
        frame = null;
    }

    @Override
    public Object get(Object name) {
        return frame == null ? null : frame.get(name);
    }

    @Override
    public boolean containsKey(Object name) {
        return get(name) != null;
    }

    /** Sets a value. Does not return the old value: JMeter's class ignores it, and it would have to be decoded. */
    @Override
    public Object put(String name, Object value) {
        if (frame != null) {
            frame.put(name, value);
        }
        return null;
    }

    @Override
    public Object remove(Object name) {
        if (frame == null) {
            return null;
        }
        Object before = frame.get(name);
        frame.put((String) name, null);
        return before;
    }

    @Override
    public void putAll(Map<? extends String, ?> others) {
        for (Map.Entry<? extends String, ?> entry : others.entrySet()) {
            put(entry.getKey(), entry.getValue());
        }
    }

    @Override
    public Set<Map.Entry<String, Object>> entrySet() {
        return frame == null ? Set.of() : frame.all().entrySet();
    }
}
