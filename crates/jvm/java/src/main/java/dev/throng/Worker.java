package dev.throng;

import dev.throng.Message.Act;
import dev.throng.Message.Ask;
import dev.throng.Message.JobFlags;
import dev.throng.Message.Reads;
import dev.throng.Message.SamplerForm;
import dev.throng.Message.Status;
import dev.throng.Message.Turn;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import org.apache.jmeter.assertions.Assertion;
import org.apache.jmeter.assertions.AssertionResult;
import org.apache.jmeter.control.Controller;
import org.apache.jmeter.control.GenericController;
import org.apache.jmeter.engine.event.LoopIterationEvent;
import org.apache.jmeter.engine.event.LoopIterationListener;
import org.apache.jmeter.processor.PostProcessor;
import org.apache.jmeter.processor.PreProcessor;
import org.apache.jmeter.protocol.http.sampler.HTTPSampleResult;
import org.apache.jmeter.protocol.http.sampler.HTTPSamplerBase;
import org.apache.jmeter.samplers.SampleEvent;
import org.apache.jmeter.samplers.SampleListener;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.testbeans.TestBeanHelper;
import org.apache.jmeter.testelement.AbstractTestElement;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.TestIterationListener;
import org.apache.jmeter.testelement.ThreadListener;
import org.apache.jmeter.threads.JMeterContext;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.timers.Timer;
import org.apache.jorphan.util.JMeterStopTestException;
import org.apache.jorphan.util.JMeterStopTestNowException;
import org.apache.jorphan.util.JMeterStopThreadException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs jobs, one after the other, on its thread. Each worker creates the objects for jobs once and binds them to the
 * job's message. A job of a user without state allocates only memory for its scripts and its reply.
 */
final class Worker {
    /** Maximum length of an error message outside of the log. */
    private static final int MOST_WORDS = 200;

    private static final VarHandle CONTEXT;
    private static final VarHandle THREAD_NAME;
    private static final AtomicInteger ACTIVE;
    private static final AtomicInteger STARTED;
    private static final AtomicInteger FINISHED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(AbstractTestElement.class, MethodHandles.lookup());
            CONTEXT = lookup.findVarHandle(AbstractTestElement.class, "threadContext", JMeterContext.class);
            THREAD_NAME = lookup.findVarHandle(AbstractTestElement.class, "threadName", String.class);
            ACTIVE = count("NUMBER_OF_ACTIVE_THREADS");
            STARTED = count("NUMBER_OF_THREADS_STARTED");
            FINISHED = count("NUMBER_OF_THREADS_FINISHED");
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final Thread thread;
    final Loaded test;
    private final Input in = new Input();
    private final Records.JobHead job = new Records.JobHead();
    private final Output out = new Output();
    /** Output of the acts themselves. */
    private final Output answer = new Output();
    /** Cookies, result and request of the reply. */
    private final Output parts = new Output();
    private final Output scratch = new Output();
    private final Output compared = new Output();
    private final Output cookiesBefore = new Output();
    private final Results results = new Results();
    private final Results resultsBefore = new Results();
    private final Logs.Lines lines = Logs.ofThread();
    private final Frame frame;
    private final Objects objects;
    private final Variables ownVariables;
    private final UserContext ownContext = new UserContext();

    /** The user whose job runs, or -1. */
    volatile long running = -1;
    volatile Sampler sampling;
    UserContext context = ownContext;
    private Variables variables;
    private User user;
    private SampleResult result;
    /** The sample before that of a transaction. */
    private SampleResult before;
    /** True if native code sent the result and needs its changes. */
    private boolean told;
    /** The last property change that this thread has sent. */
    private long toldProperties;
    /** The error that ended the user. */
    private Throwable fatal;

    Worker(Loaded test) {
        this.test = test;
        thread = Thread.currentThread();
        frame = new Frame(test);
        objects = new Objects(test);
        ownVariables = new Variables();
        ownContext.test = test;
        ownContext.setVariables(ownVariables.outside);
        ownContext.setSamplingStarted(true);
        Host.bringLoader();
        JMeterContextService.replaceContext(ownContext);
    }

    /** Returns one of JMeter's counters of threads. */
    private static AtomicInteger count(String name) throws ReflectiveOperationException {
        java.lang.reflect.Field field = JMeterContextService.class.getDeclaredField(name);
        field.setAccessible(true);
        return (AtomicInteger) field.get(null);
    }

    /** Most jobs contain an unchanged count. It is not written, so that other processors keep it in their caches. */
    private static void tell(AtomicInteger count, int now) {
        if (count.get() != now) {
            count.set(now);
        }
    }

    /** Sets the numbers of active users to 0, because all users have ended. */
    static void noneActive() {
        ACTIVE.set(0);
        FINISHED.set(STARTED.get());
    }

    static Logger log() {
        return LoggerFactory.getLogger("org.apache.jmeter.threads.JMeterThread");
    }

    /** Runs the job of a message and returns its reply. */
    byte[] run(byte[] message) {
        Object threadLocals = null;
        boolean exchanged = false;
        lines.open = true;
        try {
            in.reset(message);
            in.u8();
            job.read(in);
            long id = job.user;
            tell(ACTIVE, job.allActive);
            tell(STARTED, job.started);
            tell(FINISHED, job.finished);
            user = hold(id);
            frame.bind(in, user);
            test.props.apply(in);
            int sample = in.i32();
            result = null;
            if (in.bool()) {
                result = results.readMain(in);
            }
            before = in.bool() ? resultsBefore.readMain(in) : null;
            int samplerId = in.bool() ? in.i32() : -1;
            Loaded.Owner ownerBefore = in.bool() ? test.ownerOf.get(in.i32()) : null;
            int cookiesAt = -1;
            if (in.bool()) {
                cookiesAt = in.at;
                skipCookies();
            }
            int act = in.u8();
            int count = in.i32();
            // In a message to a controller, the first number is an element.
            int elements = act == Act.CONTROLLER ? 1 : count;
            int idsAt = in.at;
            Loaded.Owner owner = samplerId < 0 ? null : test.ownerOf.get(samplerId);
            boolean readsSampler = owner != null && readsSampler(act, count, idsAt);
            if ((user == null || user.context == null) && needsUser(act, elements, idsAt, owner, readsSampler)) {
                if (user == null) {
                    user = make(id);
                }
                if (user.context == null) {
                    furnish();
                }
            }
            running = id;
            exchanged = user != null && user.context != null && ThreadLocals.available() && keepsLocals(act, count, idsAt);
            if (exchanged) {
                threadLocals = ThreadLocals.exchange(user.threadLocals);
            }
            told = result != null;
            if (result == null && (act == Act.AFTER || act == Act.ASSERTION || act == Act.LISTENER)) {
                // No element reads the result. But it must exist, because some elements do nothing without a result.
                result = new HTTPSampleResult();
                result.setSuccessful(true);
            }
            enter();
            if ((job.flags & JobFlags.TRUSTS) != 0) {
                Trust.begin();
            }
            context.bindPrevious(ownerBefore == null ? null : ownerBefore.element, objects);
            in.at = idsAt;
            return act(act, count, sample, owner, readsSampler, cookiesAt);
        } finally {
            running = -1;
            sampling = null;
            leave();
            if (exchanged) {
                user.threadLocals = ThreadLocals.exchange(threadLocals);
            }
            if (user != null) {
                user.unlock();
            }
            user = null;
            result = null;
            before = null;
            lines.open = false;
        }
    }

    private void skipCookies() {
        int count = in.i32();
        for (int i = 0; i < count; i++) {
            Records.Cookie.skip(in);
        }
    }

    private boolean readsSampler(int act, int count, int idsAt) {
        if (act == Act.SAMPLER || act == Act.BEFORE && count == 0) {
            return true;
        }
        if (act == Act.ITERATION || act == Act.START) {
            return false;
        }
        in.at = idsAt;
        for (int i = 0; i < count; i++) {
            int id = in.i32();
            if (act == Act.EVALUATE ? test.texts[id].readsSampler
                    : test.elements[id].reads(Reads.SAMPLER | Reads.COOKIES) || !test.elements[id].isScript) {
                return true;
            }
        }
        return false;
    }

    /** Returns true if an object that this job uses belongs to one user. */
    private boolean needsUser(int act, int count, int idsAt, Loaded.Owner owner, boolean readsSampler) {
        if (readsSampler && owner.element.each == Element.Each.USER) {
            return true;
        }
        if (act == Act.EVALUATE) {
            return false;
        }
        in.at = idsAt;
        for (int i = 0; i < count; i++) {
            if (test.elements[in.i32()].each == Element.Each.USER) {
                return true;
            }
        }
        return false;
    }

    /** Returns true if an element of the job may set thread-locals; scripts do not. */
    private boolean keepsLocals(int act, int count, int idsAt) {
        if (act == Act.EVALUATE || act == Act.CONTROLLER) {
            return false;
        }
        in.at = idsAt;
        for (int i = 0; i < count; i++) {
            if (!test.elements[in.i32()].isScript) {
                return true;
            }
        }
        return false;
    }

    /** Returns the state of the user, locked for this job; null if the user has none. */
    private User hold(long id) {
        User kept = test.users.get(id);
        if (kept != null) {
            kept.lock();
        }
        return kept;
    }

    /** Returns the TLS context of the user's HTTPS connections; null if there is none yet. */
    SSLContext secure() {
        return user == null ? null : user.secure;
    }

    void keepSecure(SSLContext context) {
        if (user == null) {
            user = make(running);
        }
        user.secure = context;
    }

    /** Creates the state of a user, locked for this job. */
    private User make(long id) {
        User made = new User(id);
        made.lock();
        User before = test.users.putIfAbsent(id, made);
        if (before == null) {
            return made;
        }
        before.lock();
        return before;
    }

    /** Creates the parts of the user's state that objects per user need. */
    private void furnish() {
        user.clones = new TestElement[test.userPlaces];
        user.used = new int[test.userPlaces];
        user.variables = new Variables();
        user.context = new UserContext();
        user.context.test = test;
        user.context.setVariables(user.variables.outside);
        user.context.setSamplingStarted(true);
    }

    /** Gives the thread the name, context and thread-locals of the user. */
    private void enter() {
        if (user == null || user.context == null) {
            context = ownContext;
            variables = ownVariables;
            if (!context.getSamplerContext().isEmpty()) {
                context.getSamplerContext().clear();
            }
        } else {
            context = user.context;
            variables = user.variables;
        }
        if (JMeterContextService.getContext() != context) {
            JMeterContextService.replaceContext(context);
        }
        objects.bind(user, context);
        variables.bind(frame, job.iteration);
        context.worker = this;
        context.threadName = job.thread;
        context.setThreadNum(job.number);
        context.setPreviousResult(before == null ? result : before);
        if (job.user == 0) {
            context.group = null;
            if (job.group == Message.NO_GROUP) {
                context.setVariables(null);
            }
        } else {
            HostedGroup of = job.group < test.groups.length ? test.groups[job.group] : null;
            context.group = of;
            if (of != null) {
                of.setActive(job.groupActive);
            }
        }
        if (!thread.getName().equals(job.thread)) {
            thread.setName(job.thread);
        }
    }

    private void leave() {
        if (variables != null) {
            variables.release();
            context.setVariables(variables.outside);
        }
        frame.release();
        results.release();
        resultsBefore.release();
        context.setPreviousResult(null);
        ownContext.setCurrentSampler(null);
        // An interruption of this job must not affect the next one.
        Thread.interrupted();
    }

    private byte[] act(int act, int count, int sample, Loaded.Owner owner, boolean readsSampler, int cookiesAt) {
        int status = Status.WELL;
        Sampler sampler = null;
        boolean traced = false;
        boolean cookies = false;
        Asserts asserts = act == Act.ASSERTION ? new Asserts(result) : null;
        answer.clear();
        try {
            if (user != null && user.context != null && user.sample != sample) {
                objects.recover(sample);
            }
            if (owner != null) {
                sampler = objects.sampler(owner, readsSampler);
                if (readsSampler && act != Act.SAMPLER && owner.element.each == Element.Each.USER) {
                    user.touch(owner.element.place);
                }
                int idsAt = in.at;
                if (cookiesAt >= 0 && readsSampler && Requests.hasCookies(sampler)) {
                    in.at = cookiesAt;
                    Requests.readCookies(in, sampler);
                    in.at = idsAt;
                    cookiesBefore.clear();
                    Requests.writeCookies(cookiesBefore, sampler);
                    cookies = true;
                }
                if (readsSampler && owner.isFollowed() && (act == Act.BEFORE || act == Act.TIMER)) {
                    traced = true;
                }
            }
            perform(act, count, sampler, owner, asserts);
        } catch (JMeterStopTestException e) {
            log().info("Stopping Test: {}", e.toString());
            context.ask(Ask.STOP_TEST);
            status = Status.ABANDONED;
        } catch (JMeterStopTestNowException e) {
            log().info("Stopping Test with interruption of current samplers: {}", e.toString());
            context.ask(Ask.STOP_TEST_NOW);
            status = Status.ABANDONED;
        } catch (JMeterStopThreadException e) {
            log().info("Stopping Thread: {}", e.toString());
            context.ask(Ask.STOP_USER);
            status = Status.ABANDONED;
        } catch (Exception e) {
            if (act == Act.CONTROLLER) {
                log().error("Test failed!", e);
            } else {
                log().error("Error while processing sampler: '{}'.", sampler == null ? "" : sampler.getName(), e);
            }
            status = Status.ABANDONED;
        } catch (Throwable e) {
            // A JMeter thread ends when an Error is thrown.
            LoggerFactory.getLogger("org.apache.jmeter.JMeter").error("Uncaught exception in thread {}", thread, e);
            context.ask(Ask.STOP_USER);
            fatal = e;
            status = Status.FATAL;
        }
        return reply(status, act, sampler, traced ? owner : null, cookies, asserts);
    }

    private void perform(int act, int count, Sampler sampler, Loaded.Owner owner, Asserts asserts) throws Exception {
        if (act == Act.EVALUATE) {
            answer.i32(count);
            for (int i = 0; i < count; i++) {
                answer.str(test.texts[in.i32()].evaluate());
            }
            return;
        }
        if (act == Act.CONTROLLER) {
            question(count);
            return;
        }
        long delay = 0;
        SampleEvent event = null;
        for (int i = 0; i < count; i++) {
            Element element = test.elements[in.i32()];
            if (act == Act.SAMPLER) {
                sample(element, sampler, owner);
                continue;
            }
            TestElement object = objects.of(element);
            if (act == Act.START) {
                // The object was created just now, and was notified already.
                continue;
            }
            if (act == Act.LISTENER) {
                if (event == null) {
                    String group = context.group == null ? "" : context.group.getName();
                    event = new SampleEvent(result, group, context.getVariables());
                }
                listen(element, object, event);
                continue;
            }
            prepare(element, object);
            switch (act) {
                case Act.BEFORE -> ((PreProcessor) object).process();
                case Act.AFTER -> ((PostProcessor) object).process();
                case Act.ASSERTION -> asserts.check((Assertion) object);
                case Act.TIMER -> {
                    Timer timer = (Timer) object;
                    long pause = timer.delay();
                    if (test.timerFactor != 1 && timer.isModifiable()) {
                        pause = Math.round(pause * test.timerFactor);
                    }
                    delay += pause;
                }
                case Act.ITERATION -> iterate(object);
                default -> throw new IllegalArgumentException("act " + act);
            }
        }
        if (act == Act.TIMER) {
            answer.i64(delay);
        }
    }

    /** Asks a controller for the next sampler, or continues a question with the answer to the controller's request. */
    private void question(int count) throws Exception {
        Records.Question said = Records.Question.of(in);
        Element element = test.elements[said.element];
        int depth = said.depth;
        boolean isNew = said.turn == Turn.NEXT;
        while (user.questions.size() > (isNew ? depth : depth + 1)) {
            user.questions.removeLast().abandon();
        }
        if (isNew) {
            Question asked = new Question(user, (Controller) objects.of(element), element.inside);
            for (int i = Records.Question.WORDS; i < count; i += Records.Notice.WORDS) {
                Records.Notice notice = Records.Notice.of(in);
                Element who = test.elements[notice.element];
                asked.tell((Controller) objects.of(who), who.inside, notice.what, notice.number);
            }
            user.questions.addLast(asked);
        }
        Question question = user.questions.getLast();
        question.goOn(this, said.answer, said.number);
        if (question.isOver()) {
            user.questions.removeLast();
            Throwable thrown = question.thrown();
            if (thrown instanceof Error) {
                throw (Error) thrown;
            }
            if (thrown != null) {
                throw (Exception) thrown;
            }
        }
        question.write(answer);
    }

    /** From now on, the lines of this thread belong to the job of this worker. */
    void lendLines() {
        Logs.lend(lines);
    }

    private void sample(Element element, Sampler configured, Loaded.Owner owner) {
        Sampler sampler = owner != null && owner.element == element ? configured : (Sampler) objects.of(element);
        if (user != null && element.each == Element.Each.USER) {
            sampler.setThreadContext(context);
            setThreadName(sampler);
        } else if (sampler instanceof AbstractTestElement) {
            CONTEXT.set((AbstractTestElement) sampler, (JMeterContext) context);
            THREAD_NAME.set((AbstractTestElement) sampler, context.threadName);
        }
        objects.makeCurrent(sampler);
        if (element.each == Element.Each.USER && user.isTouched(element.place) && element.isBean) {
            TestBeanHelper.prepare(sampler);
        } else {
            prepare(element, sampler);
        }
        sampling = sampler;
        try {
            result = sampler.sample(null);
        } finally {
            sampling = null;
        }
        if (result != null && !result.isIgnore()) {
            int group = context.group == null ? 0 : context.group.getNumberOfThreads();
            fill(result, group);
            SampleResult[] subs = result.getSubResults();
            if (subs != null) {
                for (SampleResult sub : subs) {
                    fill(sub, group);
                }
            }
        }
    }

    private void fill(SampleResult result, int groupThreads) {
        result.setGroupThreads(groupThreads);
        result.setAllThreads(ACTIVE.get());
        result.setThreadName(context.threadName);
    }

    @SuppressWarnings("deprecation")
    private void setThreadName(Sampler sampler) {
        sampler.setThreadName(context.threadName);
    }

    private static void listen(Element element, TestElement object, SampleEvent event) {
        try {
            prepare(element, object);
            ((SampleListener) object).sampleOccurred(event);
        } catch (RuntimeException e) {
            Logger log = LoggerFactory.getLogger("org.apache.jmeter.threads.ListenerNotifier");
            log.error("Detected problem in Listener.", e);
            log.info("Continuing to process further listeners");
        }
    }

    private void iterate(TestElement object) {
        LoopIterationEvent event = new LoopIterationEvent(new GenericController(), context.getVariables().getIteration());
        if (object instanceof LoopIterationListener) {
            ((LoopIterationListener) object).iterationStart(event);
        }
        if (object instanceof TestIterationListener) {
            ((TestIterationListener) object).testIterationStart(event);
            object.recoverRunningVersion();
        }
    }

    private static void prepare(Element element, TestElement object) {
        if (element.isBean && !element.preparedOnce) {
            TestBeanHelper.prepare(object);
        }
    }

    private byte[] reply(int status, int act, Sampler sampler, Loaded.Owner traced, boolean cookies, Asserts asserts) {
        // Parts whose writing may evaluate expressions come first, so that new variables and log lines are included.
        parts.clear();
        putCookies(cookies, sampler);
        putResult(act, asserts);
        putSampler(status == Status.WELL ? traced : null, sampler);
        out.clear();
        out.u8(status);
        if (status == Status.FATAL) {
            String words = fatal.toString().strip().replaceAll("\\s+", " ");
            out.str(words.substring(0, Math.min(words.length(), MOST_WORDS)));
            fatal = null;
        }
        if (user == null && frame.keeps()) {
            user = make(running);
        }
        frame.tell(out, user);
        toldProperties = test.props.tell(out, toldProperties);
        int asked = test.asked.get() == 0 ? 0 : test.asked.getAndSet(0);
        out.u8(Math.max(context.takeAsked(), asked));
        Logs.tell(out, lines);
        out.raw(parts);
        if (status == Status.WELL) {
            if (act == Act.ASSERTION) {
                out.i32(asserts.ofSample.size());
                for (AssertionResult answer : asserts.ofSample) {
                    Results.write(out, answer);
                }
            } else {
                out.raw(answer);
            }
        }
        return out.take();
    }

    private void putCookies(boolean cookies, Sampler sampler) {
        if (cookies) {
            scratch.clear();
            Requests.writeCookies(scratch, sampler);
            if (!scratch.same(cookiesBefore)) {
                parts.bool(true);
                parts.raw(scratch);
                return;
            }
        }
        parts.bool(false);
    }

    private void putResult(int act, Asserts asserts) {
        boolean tells = act == Act.SAMPLER || act == Act.AFTER || act == Act.ASSERTION || act == Act.LISTENER;
        if (result == null || !tells || !(told || act == Act.SAMPLER)) {
            parts.bool(false);
            return;
        }
        scratch.clear();
        if (asserts == null) {
            results.write(scratch, result, Integer.MAX_VALUE);
        } else {
            // A failed assertion is reported as such; alone it does not count as a change of the result.
            boolean success = result.isSuccessful();
            int own = result.getAssertionResults().length - asserts.ofSample.size();
            result.setSuccessful(success || asserts.explainFailure());
            results.write(scratch, result, own);
            if (!results.unchanged(scratch, in.bytes) && result.isSuccessful() != success) {
                result.setSuccessful(success);
                scratch.clear();
                results.write(scratch, result, own);
            }
        }
        if (act != Act.SAMPLER && results.unchanged(scratch, in.bytes)) {
            parts.bool(false);
        } else {
            parts.bool(true);
            parts.raw(scratch);
        }
    }

    /**
     * Writes the sampler if it differs from the plan. A script's change in one sample may still exist in the next one, as
     * in JMeter, so the changes of this job are not sufficient to know.
     */
    private void putSampler(Loaded.Owner owner, Sampler sampler) {
        if (owner != null) {
            Output planned = owner.asPlanned;
            if (planned == null) {
                planned = new Output();
                Sampler fresh = (Sampler) owner.element.prototype.clone();
                Objects.merge(fresh, owner, config -> (TestElement) config.prototype.clone());
                Natives.trace(planned, fresh);
                owner.asPlanned = planned;
            }
            scratch.clear();
            Natives.trace(scratch, sampler);
            if (scratch.same(planned)) {
                parts.u8(SamplerForm.PLANNED);
                return;
            }
            boolean lasting = objects.changedHeaders(owner, scratch, compared);
            if (sampler instanceof HTTPSamplerBase) {
                parts.u8(SamplerForm.HTTP);
                Requests.write(parts, (HTTPSamplerBase) sampler, lasting);
            } else {
                parts.u8(SamplerForm.ELEMENT);
                Natives.write(parts, sampler, lasting);
            }
            return;
        }
        parts.u8(SamplerForm.UNSEEN);
    }

    /** Ends the user: its objects are notified and dropped. */
    byte[] end(long id) {
        User over = test.users.remove(id);
        if (over != null && over.context != null) {
            over.lock();
            Object threadLocals = ThreadLocals.exchange(over.threadLocals);
            JMeterContextService.replaceContext(over.context);
            if (!over.context.threadName.isEmpty()) {
                thread.setName(over.context.threadName);
            }
            over.questions.forEach(Question::abandon);
            try {
                for (Element element : test.elements) {
                    if (element.each == Element.Each.USER && element.hearsOfThreads() && over.clones[element.place] != null) {
                        finish((ThreadListener) over.clones[element.place]);
                    }
                }
            } finally {
                ThreadLocals.exchange(threadLocals);
                JMeterContextService.replaceContext(ownContext);
                over.unlock();
            }
        }
        out.clear();
        out.u8(Status.WELL);
        Logs.tell(out, lines);
        return out.take();
    }

    private static void finish(ThreadListener listener) {
        try {
            listener.threadFinished();
        } catch (Exception e) {
            log().error("Error calling threadFinished", e);
        }
    }
}
