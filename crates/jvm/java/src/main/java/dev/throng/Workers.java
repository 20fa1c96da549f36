package dev.throng;

import dev.throng.Message.Ask;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.jmeter.samplers.Interruptible;
import org.apache.jmeter.samplers.Sampler;

/**
 * All workers by their threads. Finds the worker of a thread or a user, and the target of a request to stop.
 */
final class Workers {
    private static final Map<Thread, Worker> ALL = new ConcurrentHashMap<>();

    private Workers() {
    }

    /** Returns the worker of this thread. */
    static Worker here(Loaded test) {
        Worker worker = ALL.get(Thread.currentThread());
        if (worker == null || worker.test != test) {
            ALL.keySet().removeIf(thread -> !thread.isAlive());
            worker = new Worker(test);
            ALL.put(worker.thread, worker);
        }
        return worker;
    }

    /** From now on, this thread runs a part of that worker's job. */
    static void lend(Worker worker) {
        ALL.put(Thread.currentThread(), worker);
    }

    static void takeBack() {
        ALL.remove(Thread.currentThread());
    }

    /** Makes a request in the job of this thread, or for the test if the thread runs no job. */
    static void askHere(int what) {
        Worker worker = ALL.get(Thread.currentThread());
        if (worker != null && worker.running != -1) {
            worker.context.ask(what);
        } else {
            Host.test().ask(what);
        }
    }

    /** Requests the end of the user with this thread name; false if there is no such user. */
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

    /** Interrupts the sampler that runs for the user, and also its thread unless {@code samplerOnly} is true. */
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
