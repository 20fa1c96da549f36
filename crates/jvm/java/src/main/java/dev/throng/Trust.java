package dev.throng;

import java.lang.reflect.Field;
import javax.net.ssl.SSLContext;
import org.apache.jmeter.threads.JMeterContext;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.util.JsseSSLManager;
import org.apache.jmeter.util.SSLManager;
import org.slf4j.LoggerFactory;

/**
 * JMeter's trust in all servers: its manager of TLS makes every {@code HttpsURLConnection} of the process take any certificate and
 * name. JMeter makes it when something first needs it, which is mostly a sampler; here samplers are native, and jobs say when that
 * was. A user's connections share one TLS context, as in JMeter, where a thread is a user.
 */
final class Trust {
    private static volatile boolean begun;

    private Trust() {
    }

    /** Something of the plan has needed the manager. */
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

    /** The context of the user whose job runs; of a thread that scripts have started, its own. */
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
