import java.lang.reflect.Method;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import net.minidev.json.JSONObject;
import net.minidev.json.JSONStyle;
import net.minidev.json.JSONValue;
import org.apache.jmeter.assertions.Assertion;
import org.apache.jmeter.assertions.AssertionResult;
import org.apache.jmeter.processor.PostProcessor;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.property.CollectionProperty;
import org.apache.jmeter.threads.JMeterContext;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.threads.JMeterThread;
import org.apache.jmeter.threads.JMeterVariables;
import org.apache.jmeter.util.JMeterUtils;

/** Runs JMeter's extractors and assertions, and writes the state after them into the file given as argument. */
public class RecordElements {
    private static final Map<String, String> PACKAGES = Map.of(
            "RegexExtractor", "org.apache.jmeter.extractor.",
            "BoundaryExtractor", "org.apache.jmeter.extractor.",
            "JSONPostProcessor", "org.apache.jmeter.extractor.json.jsonpath.",
            "HtmlExtractor", "org.apache.jmeter.extractor.",
            "ResponseAssertion", "org.apache.jmeter.assertions.",
            "JSONPathAssertion", "org.apache.jmeter.assertions.",
            "JMESPathExtractor", "org.apache.jmeter.extractor.json.jmespath.",
            "JMESPathAssertion", "org.apache.jmeter.assertions.jmespath.",
            "DurationAssertion", "org.apache.jmeter.assertions.");

    public static void main(String[] args) throws Exception {
        Path file = Path.of(args[0]);
        JMeterUtils.setJMeterHome(System.getenv("JMETER_HOME"));
        JMeterUtils.loadJMeterProperties(System.getenv("JMETER_HOME") + "/bin/jmeter.properties");
        Method check = JMeterThread.class.getDeclaredMethod(
                "checkAssertions", List.class, SampleResult.class, JMeterContext.class);
        check.setAccessible(true);
        JMeterUtils.setLocale(Locale.ENGLISH);
        Map<String, Object> record = cast(JSONValue.parseKeepingOrder(Files.readString(file)));
        Map<String, Object> results = cast(record.get("results"));
        StringBuilder out = new StringBuilder("{\"results\":{");
        String separator = "\n";
        for (Map.Entry<String, Object> result : results.entrySet()) {
            out.append(separator).append('"').append(result.getKey()).append("\":");
            out.append(JSONObject.toJSONString(cast(result.getValue()), JSONStyle.LT_COMPRESS));
            separator = ",\n";
        }
        out.append("\n},\"cases\":[");
        separator = "\n";
        for (Object entry : (List<?>) record.get("cases")) {
            Map<String, Object> question = cast(entry);
            String name = (String) question.get("class");
            TestElement element =
                    (TestElement) Class.forName(PACKAGES.getOrDefault(name, "") + name).getDeclaredConstructor().newInstance();
            element.setName("Name");
            cast(question.get("props")).forEach((key, value) -> {
                if (value instanceof List) {
                    element.setProperty(new CollectionProperty(key, new ArrayList<>((List<?>) value)));
                } else {
                    element.setProperty(key, (String) value);
                }
            });
            JMeterVariables variables = new JMeterVariables();
            for (String key : variables.entrySet().stream().map(Map.Entry::getKey).toList()) {
                variables.remove(key);
            }
            cast(question.getOrDefault("vars", Map.of())).forEach((key, value) -> variables.put(key, (String) value));
            SampleResult result = result(cast(results.get(question.get("result"))));
            JMeterContext context = JMeterContextService.getContext();
            context.setVariables(variables);
            context.setPreviousResult(result);
            // The data that an extractor keeps of a sample is removed with it.
            context.getSamplerContext().clear();
            try {
                if (element instanceof PostProcessor) {
                    ((PostProcessor) element).process();
                } else {
                    check.invoke(null, List.of((Assertion) element), result, context);
                }
            } catch (RuntimeException e) {
                // Only the state that the element has left behind is recorded.
            }
            if (element instanceof PostProcessor) {
                Map<String, Object> left = new TreeMap<>();
                variables.entrySet().forEach(variable -> {
                    if (variable.getValue() != null) {
                        left.put(variable.getKey(), variable.getValue());
                    }
                });
                question.put("variables", left);
            } else {
                question.put("checked", checked(result));
            }
            out.append(separator).append(JSONObject.toJSONString(question, JSONStyle.LT_COMPRESS));
            separator = ",\n";
        }
        Files.writeString(file, out.append("\n]}\n"));
        System.exit(0);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> cast(Object map) {
        return (Map<String, Object>) map;
    }

    private static SampleResult result(Map<String, Object> fields) throws Exception {
        Number elapsed = (Number) fields.getOrDefault("elapsed", 5);
        SampleResult result = SampleResult.createTestSample(elapsed.longValue());
        result.setSuccessful((Boolean) fields.getOrDefault("success", true));
        String text = (String) fields.getOrDefault("text", "");
        result.setDataEncoding("UTF-8");
        result.setResponseData(text.getBytes(StandardCharsets.UTF_8));
        result.setResponseHeaders((String) fields.getOrDefault("response_headers", ""));
        result.setRequestHeaders((String) fields.getOrDefault("request_headers", ""));
        result.setResponseCode((String) fields.getOrDefault("code", ""));
        result.setResponseMessage((String) fields.getOrDefault("message", ""));
        result.setSamplerData((String) fields.getOrDefault("sampler_data", ""));
        if (fields.containsKey("url")) {
            result.setURL(new URL((String) fields.get("url")));
        }
        for (Object sub : (List<?>) fields.getOrDefault("subs", List.of())) {
            result.storeSubResult(result(cast(sub)), false);
        }
        return result;
    }

    private static Map<String, Object> checked(SampleResult result) {
        Map<String, Object> checked = new LinkedHashMap<>();
        checked.put("success", result.isSuccessful());
        List<Object> findings = new ArrayList<>();
        for (AssertionResult finding : result.getAssertionResults()) {
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("name", finding.getName());
            map.put("failure", finding.isFailure());
            map.put("error", finding.isError());
            map.put("message", finding.getFailureMessage());
            findings.add(map);
        }
        checked.put("assertions", findings);
        List<Object> subs = new ArrayList<>();
        for (SampleResult sub : result.getSubResults()) {
            subs.add(checked(sub));
        }
        checked.put("subs", subs);
        return checked;
    }
}
