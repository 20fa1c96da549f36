package dev.throng;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class HeapTest {
    @Test
    void aCollectionIsCountedAndTheReplyHasTheHeap() {
        long before = Heap.now().collections;
        System.gc();
        byte[] reply = Host.call(new byte[] {Message.Kind.MEMORY});
        assertEquals(Message.Status.WELL, reply[0]);
        Input in = new Input(reply);
        in.u8();
        Records.Memory memory = Records.Memory.of(in);
        assertTrue(memory.used > 0 && memory.used <= memory.most);
        assertTrue(memory.collections > before);
    }

    @Test
    void collectorsThatRunBesideTheThreadsAreNoPauses() {
        assertTrue(Heap.stops("G1 Young Generation") && Heap.stops("ZGC Pauses") && Heap.stops("Copy"));
        assertFalse(Heap.stops("G1 Concurrent GC") || Heap.stops("ZGC Cycles"));
    }
}
