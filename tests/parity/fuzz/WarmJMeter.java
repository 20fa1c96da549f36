import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;

import org.apache.jmeter.JMeter;
import org.apache.jmeter.control.ReplaceableController;
import org.apache.jmeter.engine.StandardJMeterEngine;
import org.apache.jmeter.gui.tree.JMeterTreeModel;
import org.apache.jmeter.gui.tree.JMeterTreeNode;
import org.apache.jmeter.reporters.ResultCollector;
import org.apache.jmeter.save.SaveService;
import org.apache.jmeter.services.FileServer;
import org.apache.jmeter.testelement.TestPlan;
import org.apache.jmeter.util.JMeterUtils;
import org.apache.jorphan.collections.HashTree;
import org.apache.jorphan.collections.SearchByClass;

/**
 * JMeter 5.6.3, warm: runs plan after plan in one Java machine, each as {@code jmeter -n -t plan.jmx -l result.jtl} would.
 *
 * <p>The first line it writes is {@code ready} and the version of this Java. Arguments are the JMeter home, and NAME=VALUE of properties that all runs have. Each line of standard input is the folder of a
 * plan and NAME=VALUE of properties of that run, with tabs between them. The answer is a line: {@code ran}, {@code did not end}, or
 * {@code failed} and why.
 *
 * <p>What JMeter keeps in static fields is set back before each run: its properties, functional mode, and the files that functions
 * hold open. Each run has a new thread, so that thread locals (the context with its variables) are new, too.
 */
public final class WarmJMeter {
    /** Time limit in ms, and maximum bytes of results. A plan that exceeds one of them runs endlessly and is stopped. */
    private static final long PATIENCE = 10_000;
    private static final long MOST_ROWS = 256 * 1024;

    private static volatile StandardJMeterEngine running;

    private WarmJMeter() {
    }

    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        System.setOut(new PrintStream(OutputStream.nullOutputStream(), true));
        initialise(args);
        Properties original = new Properties();
        original.putAll(JMeterUtils.getJMeterProperties());
        answers.println("ready " + System.getProperty("java.version"));
        answers.flush();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split("\t");
            Properties current = JMeterUtils.getJMeterProperties();
            current.clear();
            current.putAll(original);
            for (int i = 1; i < words.length; i++) {
                set(current, words[i]);
            }
            String[] answer = {"ran"};
            Thread thread = new Thread(() -> {
                try {
                    run(new File(words[0]));
                } catch (Throwable problem) {
                    String text = String.valueOf(problem).replaceAll("\\s+", " ");
                    answer[0] = "failed " + text;
                    if (System.getenv("WARM_JMETER_TRACES") != null) {
                        problem.printStackTrace();
                    }
                }
            }, "main");
            thread.start();
            watch(thread, new File(words[0], "result.jtl"), answer);
            answers.println(answer[0]);
            answers.flush();
        }
    }

    /** Waits for the end of a plan; stops a plan that runs endlessly. */
    private static void watch(Thread thread, File rows, String[] answer) throws InterruptedException {
        long begin = System.nanoTime();
        boolean ends = true;
        do {
            thread.join(50);
            ends &= rows.length() <= MOST_ROWS && System.nanoTime() - begin < PATIENCE * 1_000_000;
            StandardJMeterEngine engine = running;
            if (!ends && engine != null) {
                running = null;
                engine.stopTest(true);
            }
        } while (thread.isAlive());
        if (!ends) {
            answer[0] = "did not end";
        }
    }

    /** Does the initialisation of {@code JMeter.start} before it runs a plan without a window. */
    private static void initialise(String[] args) throws Exception {
        String home = args[0];
        System.setProperty("jmeter.home", home);
        System.setProperty(JMeter.JMETER_NON_GUI, "true");
        JMeterUtils.loadJMeterProperties(home + "/bin/jmeter.properties");
        JMeterUtils.initLocale();
        JMeterUtils.setJMeterHome(home);
        Properties properties = JMeterUtils.getJMeterProperties();
        load(properties, home + "/bin/user.properties");
        load(System.getProperties(), home + "/bin/system.properties");
        for (int i = 1; i < args.length; i++) {
            set(properties, args[i]);
        }
        long now = System.currentTimeMillis();
        JMeterUtils.setProperty("START.MS", Long.toString(now));
        java.util.Date today = new java.util.Date(now);
        JMeterUtils.setProperty("START.YMD", new java.text.SimpleDateFormat("yyyyMMdd").format(today));
        JMeterUtils.setProperty("START.HMS", new java.text.SimpleDateFormat("HHmmss").format(today));
        SaveService.loadProperties();
    }

    private static void load(Properties properties, String file) throws Exception {
        try (FileInputStream stream = new FileInputStream(file)) {
            properties.load(stream);
        }
    }

    private static void set(Properties properties, String pair) {
        int at = pair.indexOf('=');
        properties.setProperty(pair.substring(0, at), pair.substring(at + 1));
    }

    private static void run(File folder) throws Exception {
        forget();
        FileServer files = FileServer.getFileServer();
        files.closeFiles();
        File plan = new File(folder, "plan.jmx");
        files.setBaseForScript(plan);
        // As in JMeter.runNonGui.
        HashTree tree = SaveService.loadTree(plan);
        @SuppressWarnings("deprecation")
        JMeterTreeModel model = new JMeterTreeModel(new Object());
        JMeterTreeNode root = (JMeterTreeNode) model.getRoot();
        model.addSubTree(tree, root);
        SearchByClass<ReplaceableController> search = new SearchByClass<>(ReplaceableController.class);
        tree.traverse(search);
        Collection<ReplaceableController> found = search.getSearchResults();
        for (ReplaceableController controller : found) {
            controller.resolveReplacementSubTree(root);
        }
        HashTree cloned = JMeter.convertSubTree(tree, true);
        ResultCollector collector = new ResultCollector(null);
        collector.setFilename(new File(folder, "result.jtl").getPath());
        cloned.add(cloned.getArray()[0], collector);
        StandardJMeterEngine engine = new StandardJMeterEngine();
        engine.configure(cloned);
        running = engine;
        engine.run();
        running = null;
        files.closeFiles();
    }

    private static void forget() throws Exception {
        new TestPlan().setFunctionalMode(false);
        Class<?> files = Class.forName("org.apache.jmeter.functions.FileWrapper");
        Class<?> documents = Class.forName("org.apache.jmeter.functions.XPathWrapper");
        for (Class<?> type : List.of(files, documents)) {
            ((Map<?, ?>) field(type, "fileContainers").get(null)).clear();
        }
        field(files, "defaultFile").set(null, "");
        // Java caches failed lookups of host names for seconds; their message would differ, so the cache is cleared.
        ((Map<?, ?>) field(java.net.InetAddress.class, "cache").get(null)).clear();
        ((Collection<?>) field(java.net.InetAddress.class, "expirySet").get(null)).clear();
    }

    private static Field field(Class<?> type, String name) throws Exception {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }
}
