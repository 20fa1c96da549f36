import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import net.minidev.json.JSONArray;
import net.minidev.json.JSONStyle;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Runs JMeter with the plan given as first argument against a test server. Writes each received request, with JMeter's
 * own record of it, into the file given as second argument.
 */
public class RecordRequests {
    private static final int PORT = 28731;
    private static final List<String> SEEN = Collections.synchronizedList(new ArrayList<>());

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(PORT, 50, InetAddress.getLoopbackAddress());
        Thread listener = new Thread(() -> listen(server));
        listener.setDaemon(true);
        listener.start();
        File rows = File.createTempFile("rows", ".xml");
        rows.delete();
        File log = File.createTempFile("jmeter", ".log");
        new ProcessBuilder("java", "-jar", System.getenv("JMETER_HOME") + "/bin/ApacheJMeter.jar", "-n",
                "-t", args[0], "-l", rows.getPath(), "-j", log.getPath(),
                "-Jjmeter.save.saveservice.output_format=xml", "-Jjmeter.save.saveservice.samplerData=true",
                "-Jjmeter.save.saveservice.requestHeaders=true", "-Jjmeter.save.saveservice.url=true")
                .inheritIO().start().waitFor();
        NodeList samples = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(rows)
                .getDocumentElement().getElementsByTagName("httpSample");
        JSONArray all = new JSONArray();
        int next = 0;
        for (int n = 0; n < samples.getLength(); n++) {
            Element sample = (Element) samples.item(n);
            String code = sample.getAttribute("rc");
            // Excludes failures of this machine's network, and plans that JMeter's own editor cannot create.
            if (code.contains("HttpHostConnectException") || code.contains("ClassCastException")) {
                continue;
            }
            Map<String, String> row = new LinkedHashMap<>();
            row.put("name", sample.getAttribute("lb"));
            row.put("code", code);
            row.put("message", sample.getAttribute("rm"));
            row.put("url", text(sample, "java.net.URL"));
            row.put("headers", text(sample, "requestHeader"));
            row.put("query", text(sample, "queryString"));
            row.put("method", text(sample, "method"));
            if (code.equals("200")) {
                row.put("sent", SEEN.get(next++));
            }
            all.add(row);
        }
        String json = all.toJSONString(JSONStyle.NO_COMPRESS).replace("},{", "},\n{");
        Files.writeString(Path.of(args[1]), json + "\n");
        System.out.printf(Locale.ROOT, "%d rows, %d requests%n", all.size(), SEEN.size());
        System.exit(0);
    }

    private static String text(Element sample, String tag) {
        NodeList found = sample.getElementsByTagName(tag);
        return found.getLength() == 0 ? "" : found.item(0).getTextContent();
    }

    private static void listen(ServerSocket server) {
        while (true) {
            try {
                Socket socket = server.accept();
                new Thread(() -> answer(socket)).start();
            } catch (Exception e) {
                return;
            }
        }
    }

    private static void answer(Socket socket) {
        try (socket) {
            InputStream in = socket.getInputStream();
            while (true) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                String head = "";
                while (!head.endsWith("\r\n\r\n")) {
                    int b = in.read();
                    if (b < 0) {
                        return;
                    }
                    bytes.write(b);
                    head = bytes.toString(StandardCharsets.ISO_8859_1);
                }
                for (String line : head.split("\r\n")) {
                    if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
                        bytes.write(in.readNBytes(Integer.parseInt(line.substring(15).trim())));
                    }
                }
                SEEN.add(bytes.toString(StandardCharsets.ISO_8859_1));
                socket.getOutputStream().write(
                        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                if (head.contains("onnection: close")) {
                    return;
                }
            }
        } catch (Exception e) {
            // The client has closed the connection; what it sent is kept.
        }
    }
}
