import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.jmeter.protocol.http.parser.CssParser;
import org.apache.jmeter.protocol.http.parser.LagartoBasedHtmlParser;
import org.apache.jmeter.protocol.http.parser.LinkExtractorParser;
import org.apache.jmeter.protocol.http.util.ConversionUtils;
import org.apache.jmeter.util.JMeterUtils;

/**
 * Writes what JMeter finds in the pages of a table below each of them.
 *
 *   java -cp "$JMETER/lib/*:$JMETER/lib/ext/*:$JMETER/bin/ApacheJMeter.jar" Record.java $JMETER links.txt
 */
public class Record {
    public static void main(String[] args) throws Exception {
        JMeterUtils.setJMeterHome(args[0]);
        JMeterUtils.loadJMeterProperties(args[0] + "/bin/jmeter.properties");
        JMeterUtils.initLocale();
        Path table = Path.of(args[1]);
        String[] sections = Files.readString(table).split("\n=== ");
        StringBuilder out = new StringBuilder(sections[0]);
        for (int i = 1; i < sections.length; i++) {
            int line = sections[i].indexOf('\n');
            String[] head = (sections[i].substring(0, line) + " ").split(" \\| ");
            String page = sections[i].substring(line + 1, sections[i].indexOf("\n---\n"));
            out.append("\n=== ").append(sections[i], 0, line).append('\n').append(page).append("\n---\n");
            for (String found : find(head[1], head[2], head.length > 3 ? head[3].trim() : "", unescape(page))) {
                out.append(found.replace("\n", "\\u000a")).append('\n');
            }
        }
        Files.writeString(table, out);
    }

    static List<String> find(String kind, String base, String userAgent, String page) {
        List<String> found = new ArrayList<>();
        LinkExtractorParser parser = kind.equals("css") ? new CssParser() : new LagartoBasedHtmlParser();
        try {
            Iterator<URL> urls = parser.getEmbeddedResourceURLs(userAgent, page.getBytes(StandardCharsets.UTF_8),
                    new URL(base), "UTF-8");
            while (urls.hasNext()) {
                URL url = urls.next();
                String text = url.toString();
                String loaded;
                try {
                    URL escaped;
                    try {
                        escaped = ConversionUtils.sanitizeUrl(url).toURL();
                    } catch (Exception e) {
                        escaped = url;
                    }
                    loaded = escaped.toURI().normalize().toURL().toString();
                } catch (Exception e) {
                    loaded = text;
                }
                found.add(loaded.equals(text) ? text : text + " -> " + loaded);
            }
        } catch (Exception e) {
            found.clear();
            found.add("THROWN " + e.getClass().getName() + ": " + e.getMessage());
        }
        return found;
    }

    static String unescape(String page) {
        StringBuilder out = new StringBuilder();
        int from = 0;
        for (int at; (at = page.indexOf("\\u", from)) >= 0; from = at + 6) {
            out.append(page, from, at).append((char) Integer.parseInt(page.substring(at + 2, at + 6), 16));
        }
        return out.append(page.substring(from)).toString();
    }
}
