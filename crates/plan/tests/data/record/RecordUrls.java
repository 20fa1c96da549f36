import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.http.HttpHost;
import org.apache.http.client.utils.URIUtils;
import org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy;
import org.apache.jmeter.protocol.http.util.ConversionUtils;
import org.apache.jmeter.util.JMeterUtils;

/**
 * Writes JMeter's results for URLs into the files given as arguments: url.tsv (protocol, domain, port and path of a
 * sampler, then the outcome) and location.tsv (URL and Location, then the target of the redirect).
 */
public class RecordUrls {
    public static void main(String[] args) throws Exception {
        String home = System.getenv("JMETER_HOME");
        JMeterUtils.setJMeterHome(home);
        JMeterUtils.loadJMeterProperties(home + "/bin/jmeter.properties");
        for (String file : args) {
            boolean urls = file.endsWith("url.tsv");
            List<String> out = new ArrayList<>();
            for (String line : Files.readAllLines(Path.of(file))) {
                String[] fields = line.split("\t", -1);
                int asked = urls ? 4 : 2;
                List<String> row = new ArrayList<>();
                for (int n = 0; n < asked; n++) {
                    row.add(unescaped(fields[n]));
                }
                row.addAll(urls ? url(row) : location(row));
                row.replaceAll(RecordUrls::escaped);
                out.add(String.join("\t", row));
            }
            Files.write(Path.of(file), out);
        }
    }

    private static List<String> url(List<String> fields) {
        HTTPSamplerProxy sampler = new HTTPSamplerProxy();
        sampler.setMethod("POST");
        sampler.setProperty("HTTPSampler.protocol", fields.get(0));
        sampler.setProperty("HTTPSampler.domain", fields.get(1));
        sampler.setProperty("HTTPSampler.port", fields.get(2));
        sampler.setProperty("HTTPSampler.path", fields.get(3));
        String shown = "-";
        try {
            URL url = sampler.getUrl();
            shown = url.toString();
            URI uri = url.toURI();
            HttpHost host = URIUtils.extractHost(uri);
            if (host == null) {
                return List.of("error", "org.apache.http.client.ClientProtocolException",
                        "URI does not specify a valid host name: " + uri, shown);
            }
            URI sent = URIUtils.rewriteURI(uri, null, URIUtils.DROP_FRAGMENT_AND_NORMALIZE);
            return List.of("ok", sent.toASCIIString(), host.toHostString(), shown);
        } catch (MalformedURLException | URISyntaxException e) {
            return List.of("error", e.getClass().getName(), e.getMessage(), shown);
        }
    }

    private static List<String> location(List<String> fields) {
        try {
            String location = ConversionUtils.removeSlashDotDot(fields.get(1)).replace(" ", "%20");
            URL url = ConversionUtils.makeRelativeURL(new URL(fields.get(0)), location);
            return List.of("ok", ConversionUtils.sanitizeUrl(url).toURL().toString());
        } catch (MalformedURLException | URISyntaxException e) {
            return List.of("error", e.getClass().getName() + ": " + e.getMessage());
        }
    }

    private static String escaped(String text) {
        return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r");
    }

    private static String unescaped(String text) {
        StringBuilder out = new StringBuilder();
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == '\\' && at + 1 < text.length()) {
                c = text.charAt(++at);
                c = c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
            }
            out.append(c);
        }
        return out.toString();
    }
}
