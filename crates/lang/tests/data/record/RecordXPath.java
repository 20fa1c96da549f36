import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import net.minidev.json.JSONObject;
import net.minidev.json.JSONStyle;
import net.minidev.json.JSONValue;
import org.apache.jmeter.util.JMeterUtils;
import org.apache.jmeter.util.XPathUtil;
import org.apache.jorphan.util.JOrphanUtils;
import org.w3c.dom.Document;

/** Calls JMeter's XPathUtil like the XPath Extractor does, and writes the results into the file given as argument. */
public class RecordXPath {
    public static void main(String[] args) throws Exception {
        Path file = Path.of(args[0]);
        JMeterUtils.setJMeterHome(System.getenv("JMETER_HOME"));
        JMeterUtils.loadJMeterProperties(System.getenv("JMETER_HOME") + "/bin/jmeter.properties");
        Locale.setDefault(Locale.ENGLISH);
        JMeterUtils.setLocale(Locale.ENGLISH);
        Map<String, Object> record = cast(JSONValue.parseKeepingOrder(Files.readString(file)));
        Map<String, Object> documents = cast(record.get("documents"));
        StringBuilder out = new StringBuilder("{\"documents\":{");
        String separator = "\n";
        for (Map.Entry<String, Object> document : documents.entrySet()) {
            out.append(separator).append('"').append(document.getKey()).append("\":\"");
            out.append(JSONValue.escape((String) document.getValue(), JSONStyle.LT_COMPRESS)).append('"');
            separator = ",\n";
        }
        out.append("\n},\"cases\":[");
        separator = "\n";
        for (Object entry : (List<?>) record.get("cases")) {
            Map<String, Object> question = cast(entry);
            question.remove("found");
            question.remove("error");
            try {
                question.put("found", found((String) documents.get(question.get("document")), question));
            } catch (Exception e) {
                question.put("error", e.getClass().getSimpleName() + ": " + e.getMessage());
            }
            out.append(separator).append(JSONObject.toJSONString(question, JSONStyle.LT_COMPRESS));
            separator = ",\n";
        }
        Files.writeString(file, out.append("\n]}\n"));
        System.exit(0);
    }

    private static List<String> found(String text, Map<String, Object> question) throws Exception {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        String options = (String) question.getOrDefault("options", "");
        Document document = XPathUtil.makeDocument(new ByteArrayInputStream(bytes), false, options.contains("w"),
                options.contains("n"), options.contains("t"), true, false, false, JOrphanUtils.isXML(bytes), false);
        List<String> found = new ArrayList<>();
        XPathUtil.putValuesForXPathInList(document, (String) question.get("query"), found, options.contains("f"), -1);
        return found;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> cast(Object map) {
        return (Map<String, Object>) map;
    }
}
