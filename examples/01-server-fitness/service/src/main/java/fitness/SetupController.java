package fitness;

import io.undertow.server.HttpServerExchange;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.security.SecureRandom;
import java.util.concurrent.Executors;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.server.reactive.AbstractServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * {@code POST /setup}: sleeps a random 100 to 1500 ms, then tells how the JVM is doing.
 *
 * <p>The sleep blocks its thread on purpose: it stands for a blocking call in a handler. With {@code fitness.on-io-threads} that
 * thread is the I/O thread of the connection, so a service with N I/O threads works on N requests at once whatever its workers;
 * without, it is one of the workers.
 */
@RestController
class SetupController {
    record Answer(String retcode, int retdata, String retmsg) {}

    private final SecureRandom random = new SecureRandom();
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final boolean onIoThreads;
    private final Scheduler workers;

    SetupController(
            @Value("${fitness.on-io-threads}") boolean onIoThreads,
            @Value("${server.undertow.threads.worker}") int workers) {
        this.onIoThreads = onIoThreads;
        this.workers = Schedulers.fromExecutor(Executors.newFixedThreadPool(workers));
    }

    @PostMapping("/setup")
    Mono<Answer> setup(ServerHttpRequest request) {
        return Mono.fromCallable(this::work).subscribeOn(onIoThreads ? ioThreadOf(request) : workers);
    }

    private static Scheduler ioThreadOf(ServerHttpRequest request) {
        HttpServerExchange exchange = ((AbstractServerHttpRequest) request).getNativeRequest();
        return Schedulers.fromExecutor(exchange.getIoThread());
    }

    private Answer work() throws InterruptedException {
        int milliseconds = random.nextInt(1500) % 1401 + 100;
        Thread.sleep(milliseconds);
        return new Answer("0", milliseconds, figures());
    }

    private String figures() {
        return String.format(
                "load average %.2f, threads live %d peak %d started %d, thread cpu %d ms user %d ms",
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                threads.getThreadCount(),
                threads.getPeakThreadCount(),
                threads.getTotalStartedThreadCount(),
                threads.getCurrentThreadCpuTime() / 1_000_000,
                threads.getCurrentThreadUserTime() / 1_000_000);
    }
}
