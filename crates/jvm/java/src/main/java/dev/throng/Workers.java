package dev.throng;

import dev.throng.Message.Ask;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.jmeter.samplers.Interruptible;
import org.apache.jmeter.samplers.Sampler;

/**
 * All workers, by their threads: who runs here, who runs for a user, and whom a request to stop concerns.
 */
final class Workers {
    private static final Map<Thread, Worker> ALL = new ConcurrentHashMap<>();

    private Workers() {
    }

    /** The worker of this thread. */
    static Worker here(Loaded test) {
        Worker worker = ALL.get(Thread.currentThread());
        if (worker == null || worker.test != test) {
            ALL.keySet().removeIf(thread -> !thread.isAlive());
            worker = new Worker(test);
            ALL.put(worker.thread, worker);
        }
        return worker;
    }

    /** From here on this thread does a part of that worker's job. */
    static void lend(Worker worker) {
        ALL.put(Thread.currentThread(), worker);
    }

    static void takeBack() {
        ALL.remove(Thread.currentThread());
    }

    /** Asks for something in the job of this thread, or of the test if it runs none. */
    static void askHere(int what) {
        Worker worker = ALL.get(Thread.currentThread());
        if (worker != null && worker.running != -1) {
            worker.context.ask(what);
        } else {
            Host.test().ask(what);
        }
    }

    /** Asks that the user of this thread name be stopped; false if nobody of that name is known. */
    static boolean askByName(String threadName) {
        for (Worker worker : ALL.values()) {
            if (worker.running != -1 && worker.context.threadName.equals(threadName)) {
                worker.context.ask(Ask.STOP_USER);
                return true;
            }
        }
        for (User user : Host.test().users.values()) {
            if (user.context != null && user.context.threadName.equals(threadName)) {
                user.context.ask(Ask.STOP_USER);
                return true;
            }
        }
        return false;
    }

    /** Interrupts the sampler that runs for the user, and unless it is that alone, its thread. */
    static void interrupt(long id, boolean samplerOnly) {
        for (Worker worker : ALL.values()) {
            if (worker.running == id) {
                Sampler sampler = worker.sampling;
                if (sampler instanceof Interruptible) {
                    try {
                        ((Interruptible) sampler).interrupt();
                    } catch (RuntimeException e) {
                        Worker.log().warn("Caught Exception interrupting sampler: {}", e.toString());
                    }
                }
                if (!samplerOnly && worker.running == id) {
                    worker.thread.interrupt();
                }
            }
        }
    }
}
