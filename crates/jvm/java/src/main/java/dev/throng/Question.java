package dev.throng;

import dev.throng.Message.SaidKind;
import dev.throng.Message.Tell;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import org.apache.jmeter.control.Controller;
import org.apache.jmeter.control.GenericController;
import org.apache.jmeter.control.IteratingController;
import org.apache.jmeter.control.LoopController;
import org.apache.jmeter.engine.event.LoopIterationEvent;
import org.apache.jmeter.engine.event.LoopIterationListener;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.threads.JMeterContextService;

/**
 * A question to a controller: the next sampler. A controller that may ask native code runs on a separate thread, which
 * stops while native code answers, because the worker then runs other jobs of the same user. While it runs, the thread
 * acts for its worker: with the user's context and thread-locals, and with the worker's log.
 */
final class Question implements Runnable {
    private static final ExecutorService THREADS = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "controller");
        thread.setDaemon(true);
        return thread;
    });

    /** Thrown when the user has ended, so that nothing waits for the answer any more. */
    private static final class Abandoned extends Error {
        private static final long serialVersionUID = 1L;

        Abandoned() {
            super("the user has ended", null, false, false);
        }
    }

    /** A notice that a controller receives before the question. */
    private record Told(Controller who, int what, int number) {
    }

    private final User user;
    private final Controller controller;
    private final List<Told> told = new ArrayList<>();
    /** True if the question or a notice may lead to a question to native code. */
    private boolean mayAsk;
    private final Semaphore goes = new Semaphore(0);
    private final Semaphore stands = new Semaphore(0);
    private Worker worker;
    private Object threadLocals;
    private volatile Thread thread;
    private volatile boolean abandoned;
    private boolean begun;
    private boolean over;
    private boolean inside;
    private Throwable thrown;
    /** The reply of the controller: its kind, the kind of its request, and a number. */
    private int said;
    private int what;
    private boolean done;
    private int number;
    /** The answer of native code to the controller's request. */
    private int answerKind;
    private int answer;

    Question(User user, Controller controller, Inside inside) {
        this.user = user;
        this.controller = controller;
        mayAsk = inside.mayAsk();
    }

    void tell(Controller who, Inside inside, int what, int number) {
        told.add(new Told(who, what, number));
        mayAsk |= inside.mayAsk();
    }

    /** Continues the question on the worker's thread, until the controller answers or makes a request. */
    void goOn(Worker worker, int answerKind, int answer) {
        this.worker = worker;
        this.answerKind = answerKind;
        this.answer = answer;
        if (!mayAsk) {
            run();
            return;
        }
        if (begun) {
            goes.release();
        } else {
            begun = true;
            THREADS.execute(this);
        }
        while (true) {
            try {
                stands.acquire();
                return;
            } catch (InterruptedException e) {
                Thread runs = thread;
                if (runs != null) {
                    runs.interrupt();
                }
            }
        }
    }

    boolean isOver() {
        return over;
    }

    /** Returns the exception that was thrown instead of an answer; null if there was none. */
    Throwable thrown() {
        return thrown;
    }

    void write(Output out) {
        out.u8(said);
        if (said == SaidKind.NOTHING) {
            out.bool(done);
        } else {
            if (said == SaidKind.ASKS) {
                out.u8(what);
            }
            out.i32(number);
        }
    }

    /** Ends the stopped thread of the question, because the user has ended. */
    void abandon() {
        abandoned = true;
        goes.release();
    }

    @Override
    public void run() {
        thread = Thread.currentThread();
        enter();
        try {
            for (Told one : told) {
                deliver(one);
            }
            Sampler given = controller.next();
            if (given == null) {
                said = SaidKind.NOTHING;
                done = controller.isDone();
            } else if (given instanceof GivenSampler) {
                said = ((GivenSampler) given).kind;
                number = ((GivenSampler) given).id;
            } else {
                said = SaidKind.SAMPLER;
                number = -1;
            }
        } catch (Throwable e) {
            thrown = e;
        }
        over = true;
        if (inside) {
            leave();
        }
        thread = null;
        // An interruption of this question must not affect the next one.
        Thread.interrupted();
        stands.release();
    }

    private static void deliver(Told one) {
        switch (one.what) {
            case Tell.INITIALIZE -> {
                // JMeter's controllers initialise only child controllers of this class.
                if (one.who instanceof GenericController) {
                    one.who.initialize();
                }
            }
            case Tell.END_OF_LOOP -> one.who.triggerEndOfLoop();
            case Tell.NEXT_LOOP -> ((IteratingController) one.who).startNextLoop();
            case Tell.BREAK_LOOP -> ((IteratingController) one.who).breakLoop();
            case Tell.ITERATION -> {
                Controller source = (one.number & 1) == 1 ? new LoopController() : new GenericController();
                ((LoopIterationListener) one.who).iterationStart(new LoopIterationEvent(source, one.number >> 1));
            }
            default -> throw new IllegalArgumentException("told " + one.what);
        }
    }

    /** Asks native code, on the thread of the question. Returns the kind of the answer and its number. */
    int[] ask(int what, int number) {
        if (abandoned || Thread.currentThread() != thread) {
            throw new Abandoned();
        }
        said = SaidKind.ASKS;
        this.what = what;
        this.number = number;
        leave();
        stands.release();
        goes.acquireUninterruptibly();
        if (abandoned) {
            throw new Abandoned();
        }
        enter();
        return new int[] {answerKind, answer};
    }

    private void enter() {
        inside = true;
        if (mayAsk) {
            Host.bringLoader();
            Workers.lend(worker);
            worker.lendLines();
            Thread.currentThread().setName(user.context.threadName);
        }
        threadLocals = ThreadLocals.exchange(user.threadLocals);
        JMeterContextService.replaceContext(user.context);
    }

    private void leave() {
        inside = false;
        user.threadLocals = ThreadLocals.exchange(threadLocals);
        threadLocals = null;
        if (mayAsk) {
            Logs.takeBack();
            Workers.takeBack();
        }
    }
}
