package dev.throng;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The variables of one job: the position of each variable in the message, its decoded value, and values written by the
 * job. A frame belongs to a worker and is bound to one job after the other. Binding costs one pass over the variables
 * without decoding them; a value is decoded at its first use.
 */
final class Frame {
    /** Marks a variable that was removed in this job. */
    private static final Object REMOVED = new Object();
    static final int NO_SLOT = Message.NAMED;
    /** Name of the variable under which JMeter stores whether the user stays the same at the next iteration. */
    private static final String SAME_USER = "__jmv_SAME_USER";

    private final Loaded test;
    private final int[] at;
    private final Object[] values;
    private final boolean[] changed;
    private final int[] seen;
    private final int[] written;
    private int seenCount;
    private int writtenCount;
    private final int sameUser;
    private byte[] bytes;
    private int[] extraAt = new int[8];
    private int extraCount;
    /** Objects in variables without a slot; the message has only strings for them. */
    private Map<String, Object> extraPlaced;
    private Map<String, Object> extraWritten;

    Frame(Loaded test) {
        this.test = test;
        int slots = test.slots.length;
        at = new int[slots];
        values = new Object[slots];
        changed = new boolean[slots];
        seen = new int[slots];
        written = new int[slots];
        sameUser = test.slotOf.getOrDefault(SAME_USER, NO_SLOT);
    }

    /** Reads the list of variables and stores the position of each. */
    void bind(Input in, User user) {
        bytes = in.bytes;
        int count = in.i32();
        for (int i = 0; i < count; i++) {
            int slot = in.i32();
            if (slot == NO_SLOT) {
                if (extraCount == extraAt.length) {
                    extraAt = Arrays.copyOf(extraAt, extraCount * 2);
                }
                extraAt[extraCount++] = in.at;
                in.skip();
                in.skip();
            } else {
                if (at[slot] == 0) {
                    seen[seenCount++] = slot;
                }
                at[slot] = in.at;
                in.skip();
            }
        }
        if (sameUser != NO_SLOT && at[sameUser] > 0) {
            values[sameUser] = Boolean.valueOf(Input.strAt(bytes, at[sameUser]));
        }
        if (user != null && user.objects != null) {
            recall(user);
        }
        for (Map.Entry<String, Kept> entry : test.objects.entrySet()) {
            boolean taken = user != null && user.objects != null && user.objects.containsKey(entry.getKey());
            Kept kept = entry.getValue();
            if (!taken && Objects.equals(kept.text, get(entry.getKey()))) {
                place(entry.getKey(), kept.value);
            }
        }
    }

    /** Replaces strings by the user's objects for which they stand. An object is gone if native code changed its string. */
    private void recall(User user) {
        user.objects.entrySet().removeIf(entry -> {
            Kept kept = entry.getValue();
            Object text = get(entry.getKey());
            if (kept.value == null) {
                return text != null;
            }
            if (!Objects.equals(kept.text, text)) {
                return true;
            }
            place(entry.getKey(), kept.value);
            return false;
        });
    }

    private void place(String name, Object value) {
        Integer slot = test.slotOf.get(name);
        if (slot == null) {
            if (extraPlaced == null) {
                extraPlaced = new HashMap<>();
            }
            extraPlaced.put(name, value);
        } else {
            values[slot] = value;
            if (at[slot] == 0) {
                // A position below 0 marks the slot as one to clear.
                at[slot] = -1;
                seen[seenCount++] = slot;
            }
        }
    }

    Object get(Object name) {
        Integer slot = test.slotOf.get(name);
        if (slot == null) {
            return name instanceof String ? unslotted((String) name) : null;
        }
        Object value = values[slot];
        if (value != null) {
            return value == REMOVED ? null : value;
        }
        int place = at[slot];
        if (place <= 0) {
            return null;
        }
        String text = Input.strAt(bytes, place);
        values[slot] = text;
        return text;
    }

    void put(String name, Object value) {
        Integer slot = test.slotOf.get(name);
        if (slot == null) {
            if (extraWritten == null) {
                extraWritten = new HashMap<>();
            }
            extraWritten.put(name, value == null ? REMOVED : value);
        } else {
            values[slot] = value == null ? REMOVED : value;
            if (!changed[slot]) {
                changed[slot] = true;
                written[writtenCount++] = slot;
            }
        }
    }

    /** Returns the value of a variable without a slot: written in this job, an object, or decoded from the message. */
    private Object unslotted(String name) {
        Object value = extraWritten == null ? null : extraWritten.get(name);
        if (value == null && extraPlaced != null) {
            value = extraPlaced.get(name);
        }
        if (value != null) {
            return value == REMOVED ? null : value;
        }
        // There are few variables without a slot, and most jobs read few of them.
        for (int i = 0; i < extraCount; i++) {
            if (Input.sameAt(bytes, extraAt[i], name)) {
                return Input.strAt(bytes, Input.behindAt(bytes, extraAt[i]));
            }
        }
        return null;
    }

    /** Returns the current values of all variables. */
    Map<String, Object> all() {
        Map<String, Object> all = new HashMap<>();
        for (int i = 0; i < seenCount; i++) {
            String name = test.slots[seen[i]];
            Object value = get(name);
            if (value != null) {
                all.put(name, value);
            }
        }
        for (int i = 0; i < writtenCount; i++) {
            Object value = values[written[i]];
            if (value != REMOVED) {
                all.put(test.slots[written[i]], value);
            }
        }
        for (int i = 0; i < extraCount; i++) {
            String name = Input.strAt(bytes, extraAt[i]);
            all.put(name, Input.strAt(bytes, Input.behindAt(bytes, extraAt[i])));
        }
        if (extraPlaced != null) {
            all.putAll(extraPlaced);
        }
        if (extraWritten != null) {
            extraWritten.forEach((name, value) -> {
                if (value == REMOVED) {
                    all.remove(name);
                } else {
                    all.put(name, value);
                }
            });
        }
        return all;
    }

    /** Returns true if an object other than a string was written, which must be kept for the user. */
    boolean keeps() {
        for (int i = 0; i < writtenCount; i++) {
            Object value = values[written[i]];
            if (!(value instanceof String) && (value != REMOVED || test.objects.containsKey(test.slots[written[i]]))) {
                return true;
            }
        }
        if (extraWritten != null) {
            for (Map.Entry<String, Object> entry : extraWritten.entrySet()) {
                Object value = entry.getValue();
                if (!(value instanceof String) && (value != REMOVED || test.objects.containsKey(entry.getKey()))) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Writes the changed variables, and stores their objects for the user, which exists if {@link #keeps} is true. */
    void tell(Output out, User user) {
        int hole = out.hole();
        for (int i = 0; i < writtenCount; i++) {
            int slot = written[i];
            out.i32(slot);
            tell(out, user, test.slots[slot], values[slot]);
        }
        if (extraWritten != null) {
            for (Map.Entry<String, Object> entry : extraWritten.entrySet()) {
                out.i32(NO_SLOT);
                out.str(entry.getKey());
                tell(out, user, entry.getKey(), entry.getValue());
            }
        }
        int again = user == null || user.objects == null ? 0 : tellAgain(out, user);
        out.patch(hole, writtenCount + (extraWritten == null ? 0 : extraWritten.size()) + again);
    }

    /** Writes the strings of objects that were not set in this job but may have changed. Returns their number. */
    private int tellAgain(Output out, User user) {
        int count = 0;
        for (Map.Entry<String, Kept> entry : user.objects.entrySet()) {
            String name = entry.getKey();
            Kept kept = entry.getValue();
            Integer slot = test.slotOf.get(name);
            boolean told = slot == null ? extraWritten != null && extraWritten.containsKey(name) : changed[slot];
            if (told || kept.value == null || isFixed(kept.value)) {
                continue;
            }
            String text = test.textOf(name, kept.value);
            if (!Objects.equals(text, kept.text)) {
                entry.setValue(new Kept(kept.value, text));
                out.i32(slot == null ? NO_SLOT : slot);
                if (slot == null) {
                    out.str(name);
                }
                out.optStr(text);
                count++;
            }
        }
        return count;
    }

    private void tell(Output out, User user, String name, Object value) {
        if (value instanceof String) {
            out.optStr((String) value);
            if (user != null && user.objects != null) {
                user.objects.remove(name);
            }
        } else if (value == REMOVED) {
            out.optStr(null);
            if (user != null && test.objects.containsKey(name)) {
                user.keep(name, new Kept(null, null));
            } else if (user != null && user.objects != null) {
                user.objects.remove(name);
            }
        } else {
            String text = test.textOf(name, value);
            out.optStr(text);
            user.keep(name, new Kept(value, text));
        }
    }

    /** Returns true if the string of an object never changes. */
    private static boolean isFixed(Object value) {
        return value instanceof Boolean || value instanceof Character || value instanceof Integer || value instanceof Long
                || value instanceof Double || value instanceof Float || value instanceof Short || value instanceof Byte
                || value instanceof BigInteger || value instanceof BigDecimal;
    }

    /** Releases the data of the job. */
    void release() {
        for (int i = 0; i < seenCount; i++) {
            at[seen[i]] = 0;
            values[seen[i]] = null;
        }
        for (int i = 0; i < writtenCount; i++) {
            values[written[i]] = null;
            changed[written[i]] = false;
        }
        seenCount = 0;
        writtenCount = 0;
        extraCount = 0;
        extraPlaced = null;
        extraWritten = null;
        bytes = null;
    }

    /** An object stored for a user, and the string that native code has for it. Without an object: it was removed. */
    record Kept(Object value, String text) {
    }
}
