package dev.throng;

import dev.throng.Message.Role;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.jmeter.assertions.Assertion;
import org.apache.jmeter.assertions.AssertionResult;
import org.apache.jmeter.engine.StandardJMeterEngine;
import org.apache.jmeter.engine.util.ValueReplacer;
import org.apache.jmeter.processor.PostProcessor;
import org.apache.jmeter.processor.PreProcessor;
import org.apache.jmeter.protocol.http.control.HeaderManager;
import org.apache.jmeter.protocol.http.sampler.HTTPSampleResult;
import org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy;
import org.apache.jmeter.samplers.SampleEvent;
import org.apache.jmeter.samplers.SampleListener;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.samplers.Sampler;
import org.apache.jmeter.save.SaveService;
import org.apache.jmeter.save.converters.ConversionHelp;
import org.apache.jmeter.testbeans.TestBean;
import org.apache.jmeter.testbeans.TestBeanHelper;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.property.JMeterProperty;
import org.apache.jmeter.threads.JMeterContext;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.threads.JMeterThread;
import org.apache.jmeter.threads.JMeterVariables;
import org.apache.jmeter.threads.ListenerNotifier;
import org.apache.jmeter.threads.ThreadGroup;
import org.apache.jmeter.timers.Timer;
import org.apache.jmeter.util.JMeterUtils;
import org.apache.jorphan.collections.ListedHashTree;

/** Runs a script as JMeter does. The only part of the bridge is the destination of log lines. */
final class CorpusPlain {
    private CorpusPlain() {
    }

    static void prepare() throws Exception {
        Properties properties = new Properties(System.getProperties());
        try (InputStream in = CorpusPlain.class.getClassLoader().getResourceAsStream("bin/jmeter.properties")) {
            properties.load(in);
        }
        Field field = JMeterUtils.class.getDeclaredField("appProperties");
        field.setAccessible(true);
        field.set(null, properties);
        JMeterUtils.setLocale(java.util.Locale.getDefault());
        JMeterUtils.setJMeterHome(Folders.home(Path.of("")).toString());
        ConversionHelp.setInVersion("1.2");
        load(Elements.HTTP);
        // Log lines that classes write while they are loaded must not count for any script.
        new SampleResult().getTime();
        SampleEvent.initSampleVariables();
        Logs.tell(new Output(), null);
    }

    private static TestElement load(String xml) throws Exception {
        TestElement made = (TestElement) SaveService.loadElement(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)));
        new ValueReplacer().replaceValues(made);
        made.setRunningVersion(true);
        return made;
    }

    static Map<String, String> run(CorpusCase one) throws Exception {
        Thread.currentThread().setContextClassLoader(CorpusPlain.class.getClassLoader());
        Properties properties = JMeterUtils.getJMeterProperties();
        Map<Object, Object> before = new HashMap<>(properties);
        one.properties().forEach(properties::setProperty);
        JMeterVariables variables = new JMeterVariables();
        for (Iterator<Map.Entry<String, Object>> all = variables.getIterator(); all.hasNext();) {
            all.next();
            all.remove();
        }
        one.variables().forEach(variables::put);
        JMeterContext context = JMeterContextService.getContext();
        context.clear();
        context.setVariables(variables);
        ThreadGroup group = new ThreadGroup();
        group.setName("group");
        JMeterThread thread = new JMeterThread(new ListedHashTree(group), null, new ListenerNotifier());
        thread.setThreadName("group 1-1");
        thread.setThreadGroup(group);
        context.setThread(thread);
        context.setThreadGroup(group);
        context.setEngine(new StandardJMeterEngine());
        context.setSamplingStarted(true);
        Logs.Lines lines = Logs.ofThread();
        Map<String, String> seen = new TreeMap<>();
        try {
            HTTPSamplerProxy sampler = (HTTPSamplerProxy) load(Elements.HTTP);
            sampler.addTestElement(load(Elements.HEADERS));
            sampler.setThreadContext(context);
            TestElement element = load(one.xml());
            element.setThreadContext(context);
            context.setCurrentSampler(one.role() == Role.SAMPLER ? (Sampler) element : sampler);
            boolean alone = one.role() == Role.SAMPLER;
            SampleResult result = alone ? null : sample();
            context.setPreviousResult(result);
            String request = request(sampler);
            lines.open = true;
            if (element instanceof TestBean) {
                TestBeanHelper.prepare(element);
            }
            List<String[]> verdicts = new ArrayList<>();
            try {
                switch (one.role()) {
                    case Role.BEFORE -> ((PreProcessor) element).process();
                    case Role.AFTER -> ((PostProcessor) element).process();
                    case Role.TIMER -> seen.put("delay", String.valueOf(((Timer) element).delay()));
                    case Role.LISTENER -> ((SampleListener) element)
                            .sampleOccurred(new SampleEvent(result, "group", context.getVariables()));
                    case Role.ASSERTION -> {
                        AssertionResult verdict = ((Assertion) element).getResult(result);
                        result.setSuccessful(result.isSuccessful() && !(verdict.isFailure() || verdict.isError()));
                        verdicts.add(new String[] {verdict.getName(), (verdict.isFailure() ? "f" : "") + (verdict.isError() ? "e" : ""),
                            verdict.getFailureMessage()});
                    }
                    default -> result = ((Sampler) element).sample(null);
                }
            } catch (Exception e) {
                seen.put("outcome", "abandoned");
            }
            lines.open = false;
            CorpusWorld.result(seen, result, alone);
            CorpusWorld.verdicts(seen, verdicts);
            if (one.role() == Role.BEFORE) {
                String after = request(sampler);
                seen.put("request", after.equals(request) ? "as planned" : after);
            }
            for (Iterator<Map.Entry<String, Object>> all = variables.getIterator(); all.hasNext();) {
                Map.Entry<String, Object> entry = all.next();
                seen.put("variable " + entry.getKey(), String.valueOf(entry.getValue()));
            }
            for (Map.Entry<Object, Object> entry : properties.entrySet()) {
                if (!entry.getValue().equals(before.get(entry.getKey()))) {
                    seen.put("property " + entry.getKey(), CorpusWorld.text(entry.getValue()));
                }
            }
            for (Object name : before.keySet()) {
                if (!properties.containsKey(name)) {
                    seen.put("property " + name, "gone");
                }
            }
        } finally {
            lines.open = false;
            Output out = new Output();
            Logs.tell(out, lines);
            CorpusWorld.log(seen, new Input(out.take()));
            properties.clear();
            properties.putAll(before);
        }
        return seen;
    }

    private static SampleResult sample() throws Exception {
        HTTPSampleResult result = new HTTPSampleResult();
        result.setSampleLabel("home");
        result.setResponseCode("200");
        result.setResponseMessage("OK");
        result.setURL(new java.net.URL(CorpusWorld.URL));
        result.setHTTPMethod("GET");
        result.setResponseHeaders(CorpusWorld.HEADERS);
        result.setContentType("application/json");
        result.setDataType(SampleResult.TEXT);
        result.setDataEncoding("UTF-8");
        result.setResponseData(CorpusWorld.BODY.getBytes(StandardCharsets.UTF_8));
        result.setSuccessful(true);
        result.setStampAndTime(CorpusWorld.START, 20);
        result.setLatency(15);
        result.setConnectTime(3);
        result.setThreadName("group 1-1");
        result.setGroupThreads(1);
        result.setAllThreads(1);
        result.setHeadersSize(100);
        result.setBodySize((long) CorpusWorld.BODY.length());
        result.setSentBytes(50);
        return result;
    }

    private static String request(HTTPSamplerProxy sampler) {
        StringBuilder text = new StringBuilder();
        text.append(String.join("|", List.of(sampler.getPropertyAsString("HTTPSampler.protocol"), sampler.getDomain(),
                sampler.getPropertyAsString("HTTPSampler.port"), sampler.getPropertyAsString("HTTPSampler.path"), sampler.getMethod())));
        for (int i = 0; i < sampler.getArguments().getArgumentCount(); i++) {
            String name = sampler.getArguments().getArgument(i).getName();
            // One of these values is random.
            text.append(' ').append(name).append('=').append(name.equals("r") ? "" : sampler.getArguments().getArgument(i).getValue());
        }
        HeaderManager headers = sampler.getHeaderManager();
        for (JMeterProperty header : headers.getHeaders()) {
            text.append(' ').append(((org.apache.jmeter.protocol.http.control.Header) header.getObjectValue()).getName()).append(": ")
                    .append(((org.apache.jmeter.protocol.http.control.Header) header.getObjectValue()).getValue());
        }
        return text.toString();
    }
}
