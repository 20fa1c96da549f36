import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import net.minidev.json.JSONObject;
import net.minidev.json.JSONStyle;
import net.minidev.json.JSONValue;
import org.apache.jmeter.extractor.json.jmespath.JMESPathCache;
import org.apache.jmeter.util.JMeterUtils;

/** Writes the results of the library behind JMeter's JMESPath elements into the file given as argument. */
public class RecordJmesPaths {
    /** Configured as in JMeter's JMESPath Extractor. */
    private static final ObjectMapper MAPPER =
            JsonMapper.builder().enable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION).build();

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
            List.of("value", "unreadable", "malformed", "failure").forEach(question::remove);
            String json = question.containsKey("json") ? (String) question.get("json")
                    : (String) documents.get(question.get("document"));
            String step = "unreadable";
            try {
                JsonNode document = MAPPER.readValue(json, JsonNode.class);
                step = "malformed";
                var expression = JMESPathCache.getInstance().get((String) question.get("expression"));
                step = "failure";
                question.put("value", MAPPER.writeValueAsString(expression.search(document)));
            } catch (Exception e) {
                question.put(step, e.getMessage());
            }
            out.append(separator).append(JSONObject.toJSONString(question, JSONStyle.LT_COMPRESS));
            separator = ",\n";
        }
        Files.writeString(file, out.append("\n]}\n"));
        System.exit(0);
    }
}
