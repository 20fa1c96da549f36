package dev.throng;

import java.io.FilePermission;
import java.net.SocketPermission;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Permission;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A process that runs all scripts of a folder of plans, by JMeter alone or by the bridge, and writes what came of each. What scripts of
 * strangers may do is little: no programs, no connections, no files but below the folder that the process was started in.
 *
 *   CorpusRun jmeter|bridge FOLDER OUTPUT
 */
public final class CorpusRun {
    private static final long PATIENCE_S = 30;

    /** True when all scripts have run. */
    private static volatile boolean over;

    private CorpusRun() {
    }

    /** Runs all scripts. */
    public static void main(String[] args) throws Exception {
        boolean bridge = args[0].equals("bridge");
        List<CorpusCase> cases = CorpusCase.of(Path.of(args[1]));
        StringBuilder out = new StringBuilder();
        if (!bridge) {
            CorpusPlain.prepare();
        }
        guard(Path.of("").toAbsolutePath().toString());
        for (CorpusCase one : cases) {
            Map<String, String> seen = run(() -> bridge ? CorpusBridged.run(one) : CorpusPlain.run(one));
            seen.forEach((key, value) -> out.append(line(one.id())).append('\t').append(line(key)).append('\t').append(line(value))
                    .append('\n'));
        }
        Files.writeString(Path.of(args[2]), out);
        over = true;
        Runtime.getRuntime().halt(0);
    }

    /** Each script runs on a separate thread, because it may leave state behind or never end. */
    private static Map<String, String> run(Callable<Map<String, String>> script) throws InterruptedException {
        FutureTask<Map<String, String>> task = new FutureTask<>(script);
        Thread thread = new Thread(task, "group 1-1");
        thread.setDaemon(true);
        thread.start();
        try {
            return task.get(PATIENCE_S, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            thread.interrupt();
            return new TreeMap<>(Map.of("outcome", "does not end"));
        } catch (java.util.concurrent.ExecutionException e) {
            java.io.StringWriter trace = new java.io.StringWriter();
            e.getCause().printStackTrace(new java.io.PrintWriter(trace));
            return new TreeMap<>(Map.of("outcome", "threw " + trace));
        }
    }

    private static String line(String text) {
        return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t");
    }

    @SuppressWarnings("removal")
    private static void guard(String folder) {
        System.setSecurityManager(new SecurityManager() {
            @Override
            public void checkPermission(Permission asked) {
                boolean refused = asked instanceof SocketPermission && asked.getActions().contains("connect")
                        || asked instanceof RuntimePermission && asked.getName().startsWith("exitVM") && !over
                        || asked instanceof FilePermission && (asked.getActions().contains("execute")
                            || (asked.getActions().contains("write") || asked.getActions().contains("delete"))
                                && !asked.getName().startsWith(folder) && Path.of(asked.getName()).isAbsolute());
                if (refused) {
                    throw new SecurityException(asked.getName());
                }
            }

            @Override
            public void checkPermission(Permission asked, Object context) {
                checkPermission(asked);
            }
        });
    }
}
