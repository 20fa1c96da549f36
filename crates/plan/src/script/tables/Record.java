import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.jmeter.assertions.Assertion;
import org.apache.jmeter.assertions.AssertionResult;
import org.apache.jmeter.assertions.BeanShellAssertion;
import org.apache.jmeter.assertions.JSR223Assertion;
import org.apache.jmeter.engine.util.CompoundVariable;
import org.apache.jmeter.extractor.BeanShellPostProcessor;
import org.apache.jmeter.extractor.JSR223PostProcessor;
import org.apache.jmeter.functions.AbstractFunction;
import org.apache.jmeter.functions.BeanShell;
import org.apache.jmeter.functions.Groovy;
import org.apache.jmeter.modifiers.BeanShellPreProcessor;
import org.apache.jmeter.modifiers.JSR223PreProcessor;
import org.apache.jmeter.processor.PostProcessor;
import org.apache.jmeter.processor.PreProcessor;
import org.apache.jmeter.protocol.java.sampler.BeanShellSampler;
import org.apache.jmeter.protocol.java.sampler.JSR223Sampler;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.sampler.DebugSampler;
import org.apache.jmeter.services.FileServer;
import org.apache.jmeter.testelement.AbstractTestElement;
import org.apache.jmeter.threads.JMeterContext;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.threads.JMeterThread;
import org.apache.jmeter.threads.JMeterVariables;
import org.apache.jmeter.timers.BeanShellTimer;
import org.apache.jmeter.timers.JSR223Timer;
import org.apache.jmeter.timers.Timer;
import org.apache.jmeter.util.BeanShellTestElement;
import org.apache.jmeter.util.JMeterUtils;
import org.apache.jmeter.util.JSR223TestElement;
import org.apache.jorphan.collections.ListedHashTree;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;

/**
 * Writes the tables of scripts anew: reads where each stands and its text from the first two columns, lets JMeter's own element run it
 * with each of the settings, and writes what came of it.
 *
 *   java -cp "$JMETER/lib/*:$JMETER/lib/ext/*:$JMETER/bin/ApacheJMeter.jar" Record.java $JMETER scripts.tsv
 *
 * A script runs twice in one element, and the second run counts: what BeanShell keeps from the first must not matter.
 */
public class Record {
    static final String[][][] SETTINGS = {
        {},
        {{"a", "1"}, {"b", "two"}, {"n", "3"}, {"e", ""}, {"t", "  x y "}, {"u", "http://h/p?q=1"}, {"d", "1.5"}, {"f", "true"}},
        {{"a", "abc"}, {"b", "abc"}, {"n", "x7"}, {"e", "e"}, {"t", "T"}, {"u", "\u00e9\u20ac\ud83d\ude00z"}, {"d", "1e3"}, {"f", "FALSE"}},
        {{"a", "2147483647"}, {"b", "-7"}, {"n", "0"}, {"e", " "}, {"t", "a\\b\"c'd$e\nf"}, {"u", "u"}, {"d", "-0.1"}, {"f", ""}},
    };
    static final List<String> LOG = new ArrayList<>();
    static final ByteArrayOutputStream PRINTED = new ByteArrayOutputStream();

    public static void main(String[] args) throws Exception {
        System.setProperty("log4j2.disable.jmx", "true");
        listen();
        JMeterUtils.setJMeterHome(args[0]);
        JMeterUtils.loadJMeterProperties(args[0] + "/bin/jmeter.properties");
        JMeterUtils.initLocale();
        FileServer.getFileServer().setBasedir("/plans/plan.jmx");
        PrintStream console = System.out;
        System.setOut(new PrintStream(PRINTED, true, "UTF-8"));
        for (int i = 1; i < args.length; i++) {
            List<String> lines = new ArrayList<>();
            for (String line : Files.readAllLines(Path.of(args[i]))) {
                String[] columns = line.split("\t");
                if (columns.length < 2 || line.startsWith("#")) {
                    lines.add(line);
                    continue;
                }
                StringBuilder out = new StringBuilder(columns[0] + "\t" + columns[1]);
                for (String[][] setting : SETTINGS) {
                    out.append('\t').append(escape(outcome(columns[0], unescape(columns[1]), setting)));
                }
                lines.add(out.toString());
            }
            Files.write(Path.of(args[i]), (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
        }
        console.println("done");
        System.exit(0);
    }

    static String outcome(String place, String script, String[][] setting) throws Exception {
        try {
            Object element = element(place, script);
            run(element, script, setting);
            return run(element, script, setting);
        } catch (Throwable e) {
            // No script of the table gets here.
            return "thrown " + e;
        }
    }

    static String run(Object element, String script, String[][] setting) throws Exception {
        Properties properties = JMeterUtils.getJMeterProperties();
        properties.keySet().removeIf(key -> ((String) key).length() < 3);
        properties.setProperty("p", " pv ");
        properties.setProperty("q", "7");
        JMeterVariables variables = new JMeterVariables();
        for (String[] pair : setting) {
            variables.put(pair[0], pair[1]);
        }
        Map<String, String> before = shown(variables);
        Map<String, String> propertiesBefore = shown(properties);
        JMeterContext context = JMeterContextService.getContext();
        context.clear();
        context.setVariables(variables);
        ListedHashTree tree = new ListedHashTree();
        tree.add(new org.apache.jmeter.threads.ThreadGroup());
        JMeterThread thread = new JMeterThread(tree, null, null);
        thread.setThreadName("Group 1-7");
        Thread.currentThread().setName("Group 1-7");
        context.setThread(thread);
        context.setThreadNum(6);
        org.apache.jmeter.threads.ThreadGroup group = new org.apache.jmeter.threads.ThreadGroup();
        group.setName("Group");
        context.setThreadGroup(group);
        Sampler sampler = new DebugSampler();
        sampler.setName("GET");
        context.setCurrentSampler(sampler);
        variables.incIteration();
        SampleResult result = new SampleResult();
        result.setSampleLabel("GET");
        result.setResponseCode("201");
        result.setResponseMessage("Made");
        result.setResponseHeaders("HTTP/1.1 201 Made\nX: y\n");
        result.setSuccessful(true);
        result.setDataType(SampleResult.TEXT);
        result.setResponseData("body of <b>" + setting.length + "</b>", "UTF-8");
        LOG.clear();
        PRINTED.reset();
        StringBuilder out = new StringBuilder();
        if (element instanceof PreProcessor) {
            ((PreProcessor) element).process();
        } else if (element instanceof PostProcessor) {
            context.setPreviousResult(result);
            ((PostProcessor) element).process();
            tell(result, out);
        } else if (element instanceof Assertion) {
            context.setPreviousResult(result);
            AssertionResult found = ((Assertion) element).getResult(result);
            tell(result, out);
            out.append(" failure=" + found.isFailure() + " error=" + found.isError() + " words=" + found.getFailureMessage());
        } else if (element instanceof Timer) {
            out.append(" delay=" + ((Timer) element).delay());
        } else if (element instanceof Sampler) {
            SampleResult made = ((Sampler) element).sample(null);
            tell(made, out);
            out.append(" data=" + made.getResponseDataAsString());
            if (!script.equals(made.getSamplerData())) {
                out.append(" request=" + made.getSamplerData());
            }
        } else {
            out.append("=" + ((AbstractFunction) element).execute(null, null));
        }
        changes(" V", before, shown(variables), out);
        changes(" P", propertiesBefore, shown(properties), out);
        for (String line : LOG) {
            out.append(" L ").append(line);
        }
        if (PRINTED.size() > 0) {
            out.append(" O ").append(PRINTED.toString(StandardCharsets.UTF_8));
        }
        return out.toString().trim();
    }

    static void tell(SampleResult result, StringBuilder out) {
        out.append(result.getSampleLabel() + " " + result.getResponseCode() + " " + result.getResponseMessage() + " " + result.isSuccessful());
        if (result.isIgnore()) {
            out.append(" ignored");
        }
        if (result.isStopThread()) {
            out.append(" stops-user");
        }
        if (result.isStopTest()) {
            out.append(" stops-test");
        }
        if (result.isStopTestNow()) {
            out.append(" stops-now");
        }
    }

    static Map<String, String> shown(JMeterVariables variables) {
        Map<String, String> found = new TreeMap<>();
        for (Map.Entry<String, Object> entry : variables.entrySet()) {
            // A variable without a value is not recorded.
            if (entry.getValue() != null) {
                found.put(entry.getKey(), entry.getValue() + (entry.getValue() instanceof String ? "" : " (object)"));
            }
        }
        return found;
    }

    static Map<String, String> shown(Properties properties) {
        Map<String, String> found = new TreeMap<>();
        properties.forEach((name, value) -> found.put((String) name, value + (value instanceof String ? "" : " (object)")));
        return found;
    }

    static void changes(String what, Map<String, String> before, Map<String, String> after, StringBuilder out) {
        TreeSet<String> names = new TreeSet<>(before.keySet());
        names.addAll(after.keySet());
        for (String name : names) {
            if (!Objects.equals(before.get(name), after.get(name))) {
                out.append(what).append(' ').append(name).append('=').append(after.get(name));
            }
        }
    }

    static Object element(String place, String script) throws Exception {
        String language = place.startsWith("g.") ? "groovy" : "beanshell";
        String role = place.substring(2);
        if (role.equals("function")) {
            AbstractFunction function = place.startsWith("g.") ? new Groovy() : new BeanShell();
            List<CompoundVariable> parameters = new ArrayList<>();
            parameters.add(new CompoundVariable() {
                @Override
                public String execute() {
                    return script;
                }
            });
            function.setParameters(parameters);
            return function;
        }
        if (place.startsWith("b.")) {
            BeanShellTestElement made = role.equals("before") ? new BeanShellPreProcessor()
                    : role.equals("after") ? new BeanShellPostProcessor()
                    : role.equals("sampler") ? new BeanShellSampler()
                    : role.equals("assertion") ? new BeanShellAssertion() : new BeanShellTimer();
            made.setName("Script");
            made.setScript(script);
            made.setFilename("");
            made.setParameters("one  two");
            made.setProperty(BeanShellSampler.SCRIPT, script);
            made.setProperty(BeanShellSampler.PARAMETERS, "one  two");
            made.setProperty(BeanShellAssertion.SCRIPT, script);
            made.setProperty(BeanShellAssertion.PARAMETERS, "one  two");
            return made;
        }
        JSR223TestElement made = role.equals("before") ? new JSR223PreProcessor()
                : role.equals("after") ? new JSR223PostProcessor()
                : role.equals("sampler") ? new JSR223Sampler()
                : role.equals("assertion") ? new JSR223Assertion() : new JSR223Timer();
        ((AbstractTestElement) made).setName("Script");
        made.setScriptLanguage(language);
        made.setScript(script);
        made.setFilename("");
        made.setParameters("one  two");
        made.setCacheKey("true");
        return made;
    }

    /** Collects log lines. For failures, it records only that they occurred. */
    static void listen() {
        AbstractAppender appender = new AbstractAppender("lines", null, null, true, Property.EMPTY_ARRAY) {
            @Override
            public void append(LogEvent event) {
                String text = event.getMessage().getFormattedMessage();
                if (text.startsWith("Error invoking bsh method") || text.startsWith("Error in BeanShellAssertion")
                        || text.startsWith("Exception executing script") || text.startsWith("Number format exception")) {
                    return;
                }
                if (text.startsWith("Problem in ") || text.startsWith("Error running ")) {
                    text = "failed";
                }
                if (text.startsWith("Script did not return")) {
                    return;
                }
                LOG.add(event.getLevel() + " " + text);
            }
        };
        appender.start();
        LoggerContext context = (LoggerContext) LogManager.getContext(JMeterUtils.class.getClassLoader(), false);
        context.getConfiguration().getRootLogger().getAppenders().keySet()
                .forEach(name -> context.getConfiguration().getRootLogger().removeAppender(name));
        context.getConfiguration().getRootLogger().addAppender(appender, Level.INFO, null);
        context.getConfiguration().getRootLogger().setLevel(Level.INFO);
        context.updateLoggers();
    }

    static String escape(String text) {
        return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r");
    }

    static String unescape(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\') {
                c = text.charAt(++i);
                c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
            }
            out.append(c);
        }
        return out.toString();
    }
}
