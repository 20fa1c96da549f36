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

/** Calls JMeter's XPathUtil like the XPath2 Extractor does, and writes the results into the file given as argument. */
public class RecordXPath2 {
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
            String document = (String) documents.get(question.get("document"));
            String query = (String) question.get("query");
            String namespaces = (String) question.getOrDefault("namespaces", "");
            try {
                List<String> found = new ArrayList<>();
                XPathUtil.putValuesForXPathInListUsingSaxon(document, query, found, false, -1, namespaces);
                question.put("found", found);
            } catch (Exception e) {
                question.put("error", e.getMessage());
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
}
