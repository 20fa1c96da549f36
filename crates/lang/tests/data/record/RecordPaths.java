import com.jayway.jsonpath.Configuration;
import com.jayway.jsonpath.JsonPath;
import com.jayway.jsonpath.Option;
import com.jayway.jsonpath.PathNotFoundException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import net.minidev.json.JSONArray;
import net.minidev.json.JSONObject;
import net.minidev.json.JSONStyle;
import net.minidev.json.JSONValue;
import org.apache.jmeter.assertions.JSONPathAssertion;

/** Writes the results of Jayway into the file given as argument. */
public class RecordPaths {
    private static final Configuration LISTS =
            Configuration.defaultConfiguration().addOptions(Option.ALWAYS_RETURN_LIST);

    public static void main(String[] args) throws Exception {
        Path file = Path.of(args[0]);
        Map<?, ?> record = (Map<?, ?>) JSONValue.parseKeepingOrder(Files.readString(file));
        Map<?, ?> documents = (Map<?, ?>) record.get("documents");
        StringBuilder out = new StringBuilder("{\"documents\":{");
        String separator = "\n";
        for (Map.Entry<?, ?> document : documents.entrySet()) {
            out.append(separator).append(json(document.getKey())).append(':').append(json(document.getValue()));
            separator = ",\n";
        }
        out.append("\n},\"cases\":[");
        separator = "\n";
        for (Object question : (List<?>) record.get("cases")) {
            Map<String, Object> answer = new LinkedHashMap<>();
            for (String key : List.of("path", "document", "json")) {
                if (((Map<?, ?>) question).containsKey(key)) {
                    answer.put(key, ((Map<?, ?>) question).get(key));
                }
            }
            Object name = answer.get("document");
            String text = (String) (name == null ? answer.get("json") : documents.get(name));
            ask((String) answer.get("path"), text, answer);
            out.append(separator).append(JSONObject.toJSONString(answer, JSONStyle.LT_COMPRESS));
            separator = ",\n";
        }
        Files.writeString(file, out.append("\n]}\n"));
    }

    private static void ask(String path, String text, Map<String, Object> answer) {
        try {
            List<Object> values = JsonPath.compile(path).read(text, LISTS);
            JSONArray list = new JSONArray();
            values.forEach(value -> list.add(extracted(value)));
            answer.put("list", list);
        } catch (PathNotFoundException e) {
            answer.put("not_found", e.getMessage());
        } catch (Exception e) {
            answer.put("list_error", e.getClass().getName() + ": " + e.getMessage());
        }
        try {
            Object value = JsonPath.read(text, path);
            String shown = JSONPathAssertion.objectToString(value);
            answer.put("value", shown);
            if (!shown.equals(String.valueOf(value))) {
                answer.put("java", String.valueOf(value));
            }
        } catch (Exception e) {
            answer.put("value_error", e.getClass().getName() + ": " + e.getMessage());
        }
    }

    @SuppressWarnings("unchecked")
    private static String extracted(Object value) {
        if (value instanceof Map) {
            return new JSONObject((Map<String, ?>) value).toJSONString();
        }
        return value == null ? null : value.toString();
    }

    private static String json(Object value) {
        return '"' + JSONValue.escape((String) value, JSONStyle.LT_COMPRESS) + '"';
    }
}
