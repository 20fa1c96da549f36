package dev.throng;

import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Properties;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * JMeter's properties in this process. Changes by Java are numbered. Each reply contains all changes that its thread has
 * not sent yet, even those of other threads, so that a change is known before the reply of the script that made it.
 * Changes by native code are applied by version. Reading costs as much as in {@link Properties}.
 */
final class Props extends Properties {
    private static final long serialVersionUID = 1L;

    /** Number of the last change. */
    private transient volatile long last;
    /** The names of changed properties, by the number of their last change. */
    private final transient NavigableMap<Long, String> changes = new TreeMap<>();
    private final transient Map<String, Change> byName = new HashMap<>();
    private final transient Map<String, Long> versions = new HashMap<>();
    private transient boolean recording;

    private record Change(long number, String value) {
    }

    Props(Properties defaults) {
        super(defaults);
    }

    /** Starts the recording of changes. */
    void record() {
        recording = true;
    }

    /** Applies the changes by native code that a message contains. */
    void apply(Input in) {
        int count = in.i32();
        for (int i = 0; i < count; i++) {
            Records.Property change = Records.Property.of(in);
            apply(change.version, change.name, change.value);
        }
    }

    /** Applies one change, unless a newer one was applied before. */
    private void apply(long version, String name, String value) {
        synchronized (changes) {
            Long known = versions.get(name);
            if (known != null && known >= version) {
                return;
            }
            versions.put(name, version);
            if (value != null) {
                super.put(name, value);
            } else if (super.get(name) instanceof String) {
                super.remove(name);
            }
        }
    }

    /** Writes the changes after that number, oldest first. Returns the number of the last change. */
    long tell(Output out, long known) {
        if (last == known) {
            out.i32(0);
            return known;
        }
        synchronized (changes) {
            Map<Long, String> untold = changes.tailMap(known, false);
            out.i32(untold.size());
            for (String name : untold.values()) {
                Change change = byName.get(name);
                Records.Property told = new Records.Property();
                told.version = change.number;
                told.name = name;
                told.value = change.value;
                told.write(out);
            }
            return last;
        }
    }

    private void note(Object name, Object value) {
        if (recording && name instanceof String) {
            synchronized (changes) {
                Change change = new Change(last + 1, value instanceof String ? (String) value : null);
                Change before = byName.put((String) name, change);
                if (before != null) {
                    changes.remove(before.number);
                }
                changes.put(change.number, (String) name);
                last = change.number;
            }
        }
    }

    @Override
    public Object put(Object name, Object value) {
        Object before = super.put(name, value);
        note(name, value);
        return before;
    }

    @Override
    public Object setProperty(String name, String value) {
        return put(name, value);
    }

    @Override
    public Object remove(Object name) {
        Object before = super.remove(name);
        note(name, null);
        return before;
    }

    @Override
    public boolean remove(Object name, Object value) {
        boolean done = super.remove(name, value);
        if (done) {
            note(name, null);
        }
        return done;
    }

    @Override
    public void putAll(Map<?, ?> others) {
        for (Map.Entry<?, ?> entry : others.entrySet()) {
            put(entry.getKey(), entry.getValue());
        }
    }

    @Override
    public void clear() {
        for (Object name : keySet().toArray()) {
            remove(name);
        }
    }

    @Override
    public Object putIfAbsent(Object name, Object value) {
        Object before = super.putIfAbsent(name, value);
        if (before == null) {
            note(name, value);
        }
        return before;
    }

    @Override
    public Object replace(Object name, Object value) {
        Object before = super.replace(name, value);
        if (before != null) {
            note(name, value);
        }
        return before;
    }

    @Override
    public boolean replace(Object name, Object from, Object to) {
        boolean done = super.replace(name, from, to);
        if (done) {
            note(name, to);
        }
        return done;
    }

    @Override
    public Object computeIfAbsent(Object name, Function<? super Object, ?> make) {
        boolean[] made = {false};
        Object value = super.computeIfAbsent(name, key -> {
            made[0] = true;
            return make.apply(key);
        });
        if (made[0] && value != null) {
            note(name, value);
        }
        return value;
    }

    @Override
    public Object computeIfPresent(Object name, BiFunction<? super Object, ? super Object, ?> make) {
        Object value = super.computeIfPresent(name, make);
        note(name, value);
        return value;
    }

    @Override
    public Object compute(Object name, BiFunction<? super Object, ? super Object, ?> make) {
        Object value = super.compute(name, make);
        note(name, value);
        return value;
    }

    @Override
    public Object merge(Object name, Object value, BiFunction<? super Object, ? super Object, ?> make) {
        Object after = super.merge(name, value, make);
        note(name, after);
        return after;
    }

    @Override
    public void replaceAll(BiFunction<? super Object, ? super Object, ?> make) {
        for (Object name : keySet().toArray()) {
            computeIfPresent(name, make);
        }
    }

    @Override
    public synchronized boolean equals(Object other) {
        return super.equals(other);
    }

    @Override
    public synchronized int hashCode() {
        return super.hashCode();
    }
}
