package dev.throng;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Locale;

/** The heap of the machine, and the collections for which its threads were stopped. */
final class Heap {
    private Heap() {
    }

    /** The heap now, and all collections so far. */
    static Records.Memory now() {
        Records.Memory memory = new Records.Memory();
        // One reading: of a total and what is free of it, read one after the other, the heap may grow in between, and less
        // than nothing is used.
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

    /** Whether a collector's time is one in which threads stand still: collectors that run beside them have a second name for that. */
    static boolean stops(String collector) {
        String name = collector.toLowerCase(Locale.ROOT);
        return !name.contains("concurrent") && !name.contains("cycles");
    }
}
