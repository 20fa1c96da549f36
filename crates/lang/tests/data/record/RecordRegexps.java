import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import net.minidev.json.JSONArray;
import net.minidev.json.JSONObject;
import net.minidev.json.JSONStyle;
import net.minidev.json.JSONValue;
import org.apache.oro.text.MalformedCachePatternException;
import org.apache.oro.text.PatternCacheLRU;
import org.apache.oro.text.regex.MatchResult;
import org.apache.oro.text.regex.Pattern;
import org.apache.oro.text.regex.PatternMatcherInput;
import org.apache.oro.text.regex.Perl5Compiler;
import org.apache.oro.text.regex.Perl5Matcher;

/** Writes the results of Jakarta ORO into the file given as argument. */
public class RecordRegexps {
    public static void main(String[] args) throws Exception {
        Path file = Path.of(args[0]);
        JSONArray questions = (JSONArray) JSONValue.parse(Files.readString(file));
        PatternCacheLRU cache = new PatternCacheLRU(1000, new Perl5Compiler());
        StringBuilder out = new StringBuilder();
        for (Object question : questions) {
            String pattern = (String) ((Map<?, ?>) question).get("pattern");
            String text = (String) ((Map<?, ?>) question).get("text");
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("pattern", pattern);
            answer.put("text", text);
            try {
                Pattern compiled = cache.getPattern(pattern, Perl5Compiler.READ_ONLY_MASK);
                Perl5Matcher matcher = new Perl5Matcher();
                answer.put("contains", matcher.contains(text, compiled));
                answer.put("matches", matcher.matches(text, compiled));
                answer.put("found", found(matcher, compiled, text));
            } catch (MalformedCachePatternException e) {
                answer.put("malformed", e.getMessage());
            }
            out.append(out.length() == 0 ? "[\n" : ",\n");
            out.append(JSONObject.toJSONString(answer, JSONStyle.LT_COMPRESS));
        }
        Files.writeString(file, out.append("\n]\n"));
    }

    private static JSONArray found(Perl5Matcher matcher, Pattern compiled, String text) {
        JSONArray found = new JSONArray();
        PatternMatcherInput input = new PatternMatcherInput(text);
        while (found.size() < 50 && matcher.contains(input, compiled)) {
            MatchResult match = matcher.getMatch();
            JSONArray groups = new JSONArray();
            for (int group = 0; group < match.groups(); group++) {
                groups.add(match.group(group));
            }
            found.add(groups);
        }
        return found;
    }
}
