// A Java service like those of users: Tomcat, a HikariCP connection pool, and metrics by Micrometer.
//
//     java -cp 'jars/*' Service.java PORT
//
// GET / holds one of 3 pooled connections for 20 ms. GET /metrics returns Micrometer's text. Tomcat has 8 workers. The
// service runs the garbage collector ten times a second.

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.metrics.micrometer.MicrometerMetricsTrackerFactory;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.tomcat.TomcatMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import org.apache.catalina.startup.Tomcat;

public class Service {
    static final PrometheusMeterRegistry REGISTRY = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    static HikariDataSource pool;

    static class Answer extends HttpServlet {
        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            if (request.getRequestURI().equals("/metrics")) {
                response.getOutputStream().print(REGISTRY.scrape());
                return;
            }
            try (var connection = pool.getConnection()) {
                Thread.sleep(20);
                response.getOutputStream().print("hello");
            } catch (SQLException | InterruptedException error) {
                throw new IOException(error);
            }
        }
    }

    public static void main(String[] line) throws Exception {
        var config = new HikariConfig();
        config.setJdbcUrl("jdbc:h2:mem:service");
        config.setMaximumPoolSize(3);
        config.setRegisterMbeans(true);
        config.setMetricsTrackerFactory(new MicrometerMetricsTrackerFactory(REGISTRY));
        pool = new HikariDataSource(config);
        var tomcat = new Tomcat();
        tomcat.setBaseDir(System.getProperty("java.io.tmpdir"));
        tomcat.setPort(Integer.parseInt(line[0]));
        tomcat.getConnector().setProperty("maxThreads", "8");
        var context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "answer", new Answer());
        context.addServletMappingDecoded("/*", "answer");
        tomcat.start();
        new JvmMemoryMetrics().bindTo(REGISTRY);
        new JvmGcMetrics().bindTo(REGISTRY);
        new JvmThreadMetrics().bindTo(REGISTRY);
        new ProcessorMetrics().bindTo(REGISTRY);
        new FileDescriptorMetrics().bindTo(REGISTRY);
        new TomcatMetrics(context.getManager(), List.of()).bindTo(REGISTRY);
        while (true) {
            System.gc();
            Thread.sleep(100);
        }
    }
}
