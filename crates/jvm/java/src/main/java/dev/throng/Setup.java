package dev.throng;

import dev.throng.Message.Severity;
import dev.throng.Message.Status;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.jmeter.config.ConfigTestElement;
import org.apache.jmeter.control.IteratingController;
import org.apache.jmeter.engine.event.LoopIterationListener;
import org.apache.jmeter.engine.util.CompoundVariable;
import org.apache.jmeter.engine.util.ConfigMergabilityIndicator;
import org.apache.jmeter.engine.util.ValueReplacer;
import org.apache.jmeter.functions.InvalidVariableException;
import org.apache.jmeter.protocol.http.sampler.HTTPSamplerBase;
import org.apache.jmeter.save.SaveService;
import org.apache.jmeter.save.converters.ConversionHelp;
import org.apache.jmeter.services.FileServer;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.TestPlan;
import org.apache.jmeter.testelement.TestStateListener;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.threads.JMeterVariables;
import org.apache.jmeter.util.JMeterUtils;
import org.apache.jorphan.util.JMeterError;

/**
 * Prepares the test from its message: first properties, then elements by JMeter's SaveService, then functions, owners and
 * groups. All problems of elements are collected as findings; only a failure of the bridge itself throws.
 */
final class Setup {
    /** The version that JMeter writes into plans. It determines the decoding of property values. */
    private static final String PLAN_VERSION = "1.2";
    /** Prefix of the run's properties that JMeter does not know. */
    private static final String OURS = "throng.";
    /** Property with the names of system properties, one per line. */
    private static final String UNLISTED = "throng.system.names";
    /** Property with levels of loggers, {@code category=LEVEL}, one per line. */
    private static final String LEVELS = "throng.jvm.log";
    /** Property that is set if the plan runs in functional mode, in which sub-results keep their labels. */
    private static final String FUNCTIONAL = "throng.functional";
    /** Consequence of a missing class of an element that runs natively. */
    private static final String WITHOUT_OBJECT =
            ": the element runs without it, but scripts get no sampler object, and their changes to it have no effect";
    private static final Pattern FUNCTION = Pattern.compile("\\$\\{(__[A-Za-z0-9_]+)");

    private final Records.Setup said;
    private final Loaded test = new Loaded();
    private final Findings findings = new Findings();

    Setup(Input in) {
        said = Records.Setup.of(in);
    }

    Loaded loaded() {
        return test;
    }

    byte[] run() throws Exception {
        properties();
        slots();
        UserContext context = new UserContext();
        context.setVariables(new JMeterVariables());
        JMeterContextService.replaceContext(context);
        Scripts.hostBeanShell();
        elements();
        owners();
        texts();
        groups();
        test.readsAnyName = said.readsAnyName;
        controllers();
        places();
        test.props.record();
        // Loads the class here, so that the messages of its loading are in no job's log.
        Class.forName("org.apache.jmeter.samplers.SampleResult");
        Scripts.prepare(test, findings);
        Output out = new Output();
        out.u8(Status.WELL);
        findings.tell(out);
        Logs.tell(out, null);
        tell(out, test.starting);
        List<Element> iterating = new ArrayList<>();
        for (Element element : test.elements) {
            if (element.hearsOfIterations()) {
                iterating.add(element);
            }
        }
        tell(out, iterating);
        List<Element> controllers = new ArrayList<>();
        for (Element element : test.elements) {
            if (element.inside != null && element.prototype != null) {
                controllers.add(element);
            }
        }
        tell(out, controllers.stream().filter(one -> one.prototype instanceof IteratingController).toList());
        tell(out, controllers.stream().filter(one -> one.prototype instanceof LoopIterationListener).toList());
        return out.take();
    }

    private static void tell(Output out, List<Element> elements) {
        out.i32(elements.size());
        for (Element element : elements) {
            out.i32(element.id);
        }
    }

    private void properties() throws Exception {
        Props props = new Props(System.getProperties());
        String ofSystem = "";
        boolean functional = false;
        for (Records.Pair property : said.properties) {
            String name = property.name;
            String value = property.value;
            if (!name.startsWith(OURS)) {
                props.setProperty(name, value);
            } else if (name.equals(UNLISTED)) {
                ofSystem = value;
            } else if (name.equals(FUNCTIONAL)) {
                functional = true;
            } else if (name.equals(LEVELS)) {
                LogFactory.setLevels(value);
            }
        }
        // System properties stay readable, as in JMeter, but lists of properties must not contain them.
        ofSystem.lines().forEach(props::remove);
        said.system.forEach(property -> System.setProperty(property.name, property.value));
        if (System.getProperty("java.awt.headless") == null) {
            System.setProperty("java.awt.headless", "true");
        }
        System.setProperty("JMeter.NonGui", "true");
        Field field = JMeterUtils.class.getDeclaredField("appProperties");
        field.setAccessible(true);
        field.set(null, props);
        test.props = props;
        JMeterUtils.setJMeterHome(said.home);
        locale(props);
        if (!said.plan.isEmpty()) {
            FileServer.getFileServer().setBaseForScript(new File(said.plan));
        }
        // JMeter stores the mode of the test in a static field, which this call sets.
        new TestPlan().setFunctionalMode(functional);
        test.timerFactor = JMeterUtils.getPropDefault("timer.factor", 1.0f);
    }

    private static void locale(Props props) {
        String language = props.getProperty("language");
        if (language == null) {
            JMeterUtils.setLocale(Locale.getDefault());
        } else {
            int at = language.indexOf('_');
            JMeterUtils.setLocale(at < 0 ? new Locale(language, "")
                    : new Locale(language.substring(0, at), language.substring(at + 1)));
        }
    }

    private void slots() {
        test.slots = said.slots.toArray(new String[0]);
        for (int i = 0; i < test.slots.length; i++) {
            test.slotOf.put(test.slots[i], i);
        }
    }

    private void elements() {
        ConversionHelp.setInVersion(PLAN_VERSION);
        ValueReplacer replacer = new ValueReplacer();
        test.elements = new Element[said.elements.size()];
        for (int i = 0; i < test.elements.length; i++) {
            Element element = new Element(i, said.elements.get(i));
            test.elements[i] = element;
            try {
                Object made = SaveService.loadElement(
                        new ByteArrayInputStream(element.xml.getBytes(StandardCharsets.UTF_8)));
                String misfit = Element.misfit(element.role, made);
                if (misfit != null) {
                    findings.add(Severity.ERROR, i, 0, misfit);
                    continue;
                }
                replacer.replaceValues((TestElement) made);
                element.become((TestElement) made);
                if (made instanceof TestStateListener) {
                    test.stateListeners.add((TestStateListener) made);
                }
            } catch (Exception | LinkageError | JMeterError e) {
                if (element.isNative) {
                    findings.add(Severity.WARNING, i, 0, reason(e) + WITHOUT_OBJECT);
                } else {
                    findings.add(Severity.ERROR, i, 0, reason(e));
                }
            }
        }
    }

    /** Returns an error as one line: the message of the innermost cause, which is the most precise. */
    static String reason(Throwable e) {
        Throwable cause = e;
        while (cause.getCause() != null && cause.getCause() != cause) {
            cause = cause.getCause();
        }
        String message = cause.getMessage();
        String kind = cause.getClass().getSimpleName();
        if (message == null) {
            return kind;
        }
        String first = message.strip().lines().findFirst().orElse("");
        if (cause instanceof ClassNotFoundException || cause instanceof NoClassDefFoundError
                || kind.equals("CannotResolveClassException")) {
            return "class " + first.replace('/', '.') + " is not in the class path";
        }
        return kind + ": " + first;
    }

    private void owners() {
        test.owners = new Loaded.Owner[said.owners.size()];
        for (int i = 0; i < test.owners.length; i++) {
            Records.Owner told = said.owners.get(i);
            Element element = test.elements[told.element];
            List<Element> configs = new ArrayList<>();
            for (int id : told.configs) {
                Element config = test.elements[id];
                if (config.prototype != null) {
                    configs.add(config);
                }
            }
            boolean http = element.prototype instanceof HTTPSamplerBase;
            Loaded.Owner owner = new Loaded.Owner(element, configs.toArray(new Element[0]), http);
            test.owners[i] = owner;
            if (element.prototype != null) {
                test.ownerOf.put(told.sampler, owner);
                if (element.each == Element.Each.WORKER && merges(owner)) {
                    element.each = Element.Each.USER;
                }
            }
        }
    }

    private static boolean merges(Loaded.Owner owner) {
        for (Element config : owner.configs) {
            if (config.prototype instanceof ConfigTestElement
                    && (!(owner.element.prototype instanceof ConfigMergabilityIndicator)
                        || ((ConfigMergabilityIndicator) owner.element.prototype)
                            .applies((ConfigTestElement) config.prototype))) {
                return true;
            }
        }
        return false;
    }

    private void texts() {
        test.texts = new Text[said.texts.size()];
        for (int i = 0; i < test.texts.length; i++) {
            String source = said.texts.get(i);
            Text text = new Text(source);
            test.texts[i] = text;
            try {
                text.read();
            } catch (InvalidVariableException | RuntimeException | LinkageError e) {
                findings.add(Severity.ERROR, Message.FIRST_TEXT - i, 0, reason(e));
            }
            Matcher names = FUNCTION.matcher(source);
            while (names.find()) {
                if (CompoundVariable.getFunctionClass(names.group(1)) == null) {
                    findings.add(Severity.WARNING, Message.FIRST_TEXT - i, 0, "function " + names.group(1)
                            + " is not in the class path; its call is not evaluated");
                }
            }
        }
    }

    private void groups() throws ReflectiveOperationException, InvalidVariableException {
        test.engine = new HostedEngine();
        test.groups = new HostedGroup[said.groups.size()];
        int users = 0;
        ValueReplacer replacer = new ValueReplacer();
        for (int i = 0; i < test.groups.length; i++) {
            HostedGroup group = new HostedGroup();
            Records.Group told = said.groups.get(i);
            group.setName(told.name);
            users += told.users;
            group.setNumThreads(told.users);
            replacer.replaceValues(group);
            group.setRunningVersion(true);
            test.groups[i] = group;
        }
        test.engine.know(test.groups);
        Field total = JMeterContextService.class.getDeclaredField("TOTAL_THREADS");
        total.setAccessible(true);
        ((AtomicInteger) total.get(null)).set(users);
        // Functions that were parsed above have registered listeners; JMeter notifies them after the elements.
        List<TestStateListener> registered = HostedEngine.registered();
        test.stateListeners.addAll(registered);
        registered.clear();
    }

    private void controllers() throws InvalidVariableException {
        ValueReplacer replacer = new ValueReplacer();
        for (Records.Inside inside : said.insides) {
            test.elements[inside.element].inside = new Inside(inside, replacer);
        }
    }

    private void places() {
        for (Element element : test.elements) {
            if (element.prototype != null) {
                switch (element.each) {
                    case USER -> {
                        element.place = test.userPlaces++;
                        if (element.hearsOfStart()) {
                            test.starting.add(element);
                        }
                    }
                    case WORKER -> element.place = test.workerPlaces++;
                    default -> element.place = -1;
                }
            }
        }
    }
}
