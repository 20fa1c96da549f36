package dev.throng;

import java.lang.reflect.Field;
import javax.net.ssl.SSLContext;
import org.apache.jmeter.threads.JMeterContext;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.util.JsseSSLManager;
import org.apache.jmeter.util.SSLManager;
import org.slf4j.LoggerFactory;

/**
 * JMeter's trust in all servers: its TLS manager makes each {@code HttpsURLConnection} of the process accept any
 * certificate. JMeter creates the manager when it is first needed, mostly by a sampler. Here samplers are native, so jobs
 * contain a flag for that. A user's connections share one TLS context, as in JMeter, where a thread is a user.
 */
final class Trust {
    private static volatile boolean begun;

    private Trust() {
    }

    /** Installs the manager, because an element of the plan would have created it. */
    static void begin() {
        if (!begun) {
            makeOnce();
        }
    }

    private static synchronized void makeOnce() {
        if (begun) {
            return;
        }
        try {
            SSLManager manager = SSLManager.getInstance();
            Field contexts = JsseSSLManager.class.getDeclaredField("threadlocal");
            contexts.setAccessible(true);
            if (contexts.get(manager) != null) {
                contexts.set(manager, new OfUser());
            }
        } catch (ReflectiveOperationException | RuntimeException e) {
            LoggerFactory.getLogger("org.apache.jmeter.util.SSLManager").error("cannot set up TLS for scripts", e);
        }
        begun = true;
    }

    /** The TLS context of the user whose job runs. A thread that a script has started has a separate context. */
    private static final class OfUser extends ThreadLocal<SSLContext> {
        @Override
        public SSLContext get() {
            Worker worker = worker();
            return worker == null ? super.get() : worker.secure();
        }

        @Override
        public void set(SSLContext context) {
            Worker worker = worker();
            if (worker == null) {
                super.set(context);
            } else {
                worker.keepSecure(context);
            }
        }

        @Override
        public void remove() {
            Worker worker = worker();
            if (worker == null) {
                super.remove();
            } else {
                worker.keepSecure(null);
            }
        }

        private static Worker worker() {
            JMeterContext context = JMeterContextService.getContext();
            Worker worker = context instanceof UserContext ? ((UserContext) context).worker : null;
            return worker == null || worker.thread != Thread.currentThread() || worker.running <= 0 ? null : worker;
        }
    }
}
