package dev.throng;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Locale;

/** The heap of the JVM, and the garbage collections that stopped its threads. */
final class Heap {
    private Heap() {
    }

    /** Returns the current use of the heap, and the sums of all collections so far. */
    static Records.Memory now() {
        Records.Memory memory = new Records.Memory();
        // One call reads all values. If total and free memory were read one after the other, the heap could grow in
        // between, and the used memory could be negative.
        memory.used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        memory.most = Runtime.getRuntime().maxMemory();
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            if (stops(collector.getName())) {
                memory.collections += Math.max(0, collector.getCollectionCount());
                memory.pausedMs += Math.max(0, collector.getCollectionTime());
            }
        }
        return memory;
    }

    /** Returns true if a collector stops all threads. Concurrent collectors have a separate name for their pauses. */
    static boolean stops(String collector) {
        String name = collector.toLowerCase(Locale.ROOT);
        return !name.contains("concurrent") && !name.contains("cycles");
    }
}
