import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import net.minidev.json.JSONObject;
import net.minidev.json.JSONStyle;
import net.minidev.json.JSONValue;
import org.apache.jmeter.extractor.JSoupExtractor;
import org.apache.jmeter.util.JMeterUtils;

/** Writes the results of each selector, from JMeter's extractor with jsoup, into the file given as argument. */
public class RecordSelectors {
    @SuppressWarnings("unchecked")
    public static void main(String[] args) throws Exception {
        JMeterUtils.setJMeterHome(System.getenv("JMETER_HOME"));
        JMeterUtils.loadJMeterProperties(System.getenv("JMETER_HOME") + "/bin/jmeter.properties");
        Path file = Path.of(args[0]);
        Map<String, Object> record = (Map<String, Object>) JSONValue.parseKeepingOrder(Files.readString(file));
        Map<String, Object> documents = (Map<String, Object>) record.get("documents");
        StringBuilder out = new StringBuilder("{\"documents\":");
        out.append(JSONObject.toJSONString(documents, JSONStyle.LT_COMPRESS)).append(",\n\"cases\":[");
        String separator = "\n";
        for (Object entry : (List<?>) record.get("cases")) {
            Map<String, Object> question = (Map<String, Object>) entry;
            List<String> found = new ArrayList<>();
            try {
                new JSoupExtractor().extract((String) question.get("selector"), (String) question.get("attribute"), -1,
                        (String) documents.get(question.get("document")), found, 0, null);
                question.put("found", found);
            } catch (RuntimeException e) {
                question.remove("found");
            }
            out.append(separator).append(JSONObject.toJSONString(question, JSONStyle.LT_COMPRESS));
            separator = ",\n";
        }
        Files.writeString(file, out.append("\n]}\n"));
        System.exit(0);
    }
}
