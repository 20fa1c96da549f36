import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import net.minidev.json.JSONObject;
import net.minidev.json.JSONStyle;
import net.minidev.json.JSONValue;
import org.apache.jmeter.config.Argument;
import org.apache.jmeter.protocol.http.modifier.AnchorModifier;
import org.apache.jmeter.protocol.http.parser.HtmlParsingUtils;
import org.apache.jmeter.protocol.http.sampler.HTTPSampleResult;
import org.apache.jmeter.protocol.http.sampler.HTTPSamplerBase;
import org.apache.jmeter.protocol.http.sampler.HTTPSamplerFactory;
import org.apache.jmeter.testelement.property.JMeterProperty;
import org.apache.jmeter.util.JMeterUtils;
import org.w3c.dom.Document;

/** Writes the links that JMeter's HTML Link Parser finds in each page into the file given as argument. */
public class RecordAnchors {
    @SuppressWarnings("unchecked")
    public static void main(String[] args) throws Exception {
        JMeterUtils.setJMeterHome(System.getenv("JMETER_HOME"));
        JMeterUtils.loadJMeterProperties(System.getenv("JMETER_HOME") + "/bin/jmeter.properties");
        Path file = Path.of(args[0]);
        Map<String, Object> record = (Map<String, Object>) JSONValue.parseKeepingOrder(Files.readString(file));
        StringBuilder out = new StringBuilder("{\"cases\":[");
        String separator = "\n";
        for (Object entry : (List<?>) record.get("cases")) {
            Map<String, Object> question = (Map<String, Object>) entry;
            question.remove("links");
            HTTPSampleResult result = new HTTPSampleResult();
            result.setURL(new URL((String) question.get("url")));
            HTTPSamplerBase any = HTTPSamplerFactory.newInstance();
            any.setProtocol(".*");
            any.setPath(".*");
            List<HTTPSamplerBase> links = new ArrayList<>();
            String page = (String) question.get("page");
            try {
                Document html = (Document) HtmlParsingUtils.getDOM(page.substring(Math.max(0, page.indexOf('<'))));
                for (String step : List.of("addAnchorUrls", "addFormUrls", "addFramesetUrls")) {
                    Method method = AnchorModifier.class.getDeclaredMethod(
                            step, Document.class, HTTPSampleResult.class, HTTPSamplerBase.class, List.class);
                    method.setAccessible(true);
                    method.invoke(null, html, result, any, links);
                }
                List<String> found = new ArrayList<>();
                for (HTTPSamplerBase link : links) {
                    StringBuilder shown = new StringBuilder(link.getMethod());
                    shown.append(' ').append(link.getProtocol()).append("://").append(link.getDomain()).append(link.getPath());
                    for (JMeterProperty property : link.getArguments()) {
                        Argument argument = (Argument) property.getObjectValue();
                        shown.append(" [").append(argument.getName()).append(argument.getMetaData());
                        shown.append(argument.getValue()).append(']');
                    }
                    found.add(shown.toString());
                }
                question.put("links", found);
            } catch (InvocationTargetException | RuntimeException e) {
                // JMeter loses the sample; nothing is recorded.
            }
            out.append(separator).append(JSONObject.toJSONString(question, JSONStyle.LT_COMPRESS));
            separator = ",\n";
        }
        Files.writeString(file, out.append("\n]}\n"));
        System.exit(0);
    }
}
