import com.sun.net.httpserver.HttpServer;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** A service whose heap is nearly full: java JavaService.java PORT kept=MIB garbage=MIB. Each response takes 20 ms and
 * creates that much garbage; /metrics returns the metrics of the JVM with Micrometer's names. */
class JavaService {
    static byte[][] kept;
    static volatile byte[] last;

    static int number(String[] words, String name) {
        for (var word : words) {
            if (word.startsWith(name + "=")) return Integer.parseInt(word.substring(name.length() + 1));
        }
        return 0;
    }

    static String metrics() {
        var heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
        var text = new StringBuilder();
        text.append("jvm_memory_used_bytes{area=\"heap\",id=\"all\"} " + heap.getUsed() + "\n");
        text.append("jvm_memory_max_bytes{area=\"heap\",id=\"all\"} " + heap.getMax() + "\n");
        for (var of : ManagementFactory.getGarbageCollectorMXBeans()) {
            var labels = "{cause=\"" + of.getName() + "\"} ";
            text.append("jvm_gc_pause_seconds_count" + labels + of.getCollectionCount() + "\n");
            text.append("jvm_gc_pause_seconds_sum" + labels + of.getCollectionTime() / 1000.0 + "\n");
        }
        return text.toString();
    }

    public static void main(String[] words) throws Exception {
        kept = new byte[number(words, "kept") * 16][1 << 16];
        int garbage = number(words, "garbage") * 16;
        var server = HttpServer.create(new InetSocketAddress(Integer.parseInt(words[0])), 128);
        server.setExecutor(Executors.newFixedThreadPool(32));
        server.createContext("/", exchange -> {
            var answer = "done\n";
            if (exchange.getRequestURI().getPath().equals("/metrics")) {
                answer = metrics();
            } else {
                for (int i = 0; i < garbage; i++) last = new byte[1 << 16];
                try {
                    Thread.sleep(20);
                } catch (InterruptedException stopped) {
                    answer = "stopped\n";
                }
            }
            var bytes = answer.getBytes();
            exchange.sendResponseHeaders(200, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        server.start();
        System.out.println("listening on " + words[0]);
    }
}
