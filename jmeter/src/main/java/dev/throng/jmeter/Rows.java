package dev.throng.jmeter;

import java.io.BufferedInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.jmeter.gui.GuiPackage;
import org.apache.jmeter.gui.JMeterGUIComponent;
import org.apache.jmeter.gui.tree.JMeterTreeNode;
import org.apache.jmeter.reporters.ResultCollector;
import org.apache.jmeter.reporters.ResultCollectorHelper;
import org.apache.jmeter.samplers.Clearable;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.samplers.SampleSaveConfiguration;
import org.apache.jmeter.save.CSVSaveService;
import org.apache.jmeter.save.SaveService;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jmeter.testelement.TestPlan;
import org.apache.jmeter.visualizers.Visualizer;

/**
 * The rows of a run on their way into the plan's listeners, as JMeter reads a result file into one.
 *
 * <p>Listeners at the top of the plan get the rows of the whole run. One further down sees the samples of its own scope only: the plan
 * that is run gets a collector of rows beside it, so that the same rules decide that decide in a test.
 */
final class Rows {
    /** Listeners that send or write instead of showing. */
    private static final List<String> NOT_SHOWN = Arrays.asList("MailerVisualizer", "SimpleDataWriter");
    private static final String WRITER = "SimpleDataWriter";
    private static final int BUFFER = 1 << 16;

    /** A listener that shows samples. */
    private static final class Listener {
        final Visualizer visualizer;
        final boolean errorsOnly;
        final boolean successesOnly;

        Listener(ResultCollector collector, Visualizer visualizer) {
            this.visualizer = visualizer;
            this.errorsOnly = collector.isErrorLogging();
            this.successesOnly = collector.isSuccessOnlyLogging();
        }

        void add(SampleResult sample) {
            if (ResultCollector.isSampleWanted(sample.isSuccessful(), errorsOnly, successesOnly)) {
                visualizer.add(sample);
            }
        }
    }

    /** Listeners by the node whose samples they see. */
    private final Map<JMeterTreeNode, List<Listener>> listeners = new LinkedHashMap<>();
    /** Files of the nodes that are not the plan. */
    private final Map<JMeterTreeNode, File> files = new HashMap<>();
    private Path folder;

    /** The plan's listeners; asked on the Swing thread, which makes panels that have not been shown yet. */
    Rows() {
        GuiPackage gui = GuiPackage.getInstance();
        for (JMeterTreeNode node : gui.getTreeModel().getNodesOfType(ResultCollector.class)) {
            if (isEnabled(node)) {
                TestElement element = node.getTestElement();
                JMeterGUIComponent panel = gui.getGui(element);
                if (panel instanceof Visualizer && !NOT_SHOWN.contains(panel.getClass().getSimpleName())) {
                    listeners.computeIfAbsent((JMeterTreeNode) node.getParent(), parent -> new ArrayList<>())
                            .add(new Listener((ResultCollector) element, (Visualizer) panel));
                }
            }
        }
    }

    private Rows(boolean none) {
        // No listeners.
    }

    /** Rows that nobody shows. */
    static Rows none() {
        return new Rows(true);
    }

    private static boolean isEnabled(JMeterTreeNode node) {
        for (JMeterTreeNode at = node; at != null; at = (JMeterTreeNode) at.getParent()) {
            if (!at.isEnabled()) {
                return false;
            }
        }
        return true;
    }

    /** The number of listeners. */
    int listeners() {
        return listeners.values().stream().mapToInt(List::size).sum();
    }

    /** Collectors for the listeners that see only some samples, by the node below which they belong. */
    Map<JMeterTreeNode, List<ResultCollector>> collectors(boolean areFull) throws IOException {
        Map<JMeterTreeNode, List<ResultCollector>> collectors = new HashMap<>();
        for (JMeterTreeNode node : listeners.keySet()) {
            if (node.getTestElement() instanceof TestPlan) {
                continue;
            }
            if (folder == null) {
                folder = Files.createTempDirectory("throng-rows-");
                folder.toFile().deleteOnExit();
            }
            File file = folder.resolve(files.size() + ".jtl").toFile();
            file.deleteOnExit();
            files.put(node, file);
            ResultCollector collector = new ResultCollector();
            collector.setName("Rows for the window of JMeter");
            collector.setProperty(TestElement.GUI_CLASS, WRITER);
            collector.setProperty(TestElement.TEST_CLASS, ResultCollector.class.getSimpleName());
            collector.setFilename(file.getPath());
            collector.setSaveConfig(columns(areFull));
            collectors.put(node, Collections.singletonList(collector));
        }
        return collectors;
    }

    /** Whether the plan that is run has collectors of ours. */
    boolean needsCollectors() {
        return !files.isEmpty();
    }

    /** What listeners show. */
    private static SampleSaveConfiguration columns(boolean areFull) {
        SampleSaveConfiguration columns = new SampleSaveConfiguration(true);
        columns.setAsXml(areFull);
        columns.setFileName(false);
        columns.setHostname(false);
        columns.setSampleCount(false);
        columns.setEncoding(false);
        columns.setResponseData(areFull);
        columns.setSamplerData(areFull);
        columns.setRequestHeaders(areFull);
        columns.setResponseHeaders(areFull);
        columns.setAssertions(areFull);
        columns.setDefaultDelimiter();
        columns.setDefaultTimeStampFormat();
        return columns;
    }

    /** Empties the listeners; on the Swing thread. */
    void clear() {
        for (List<Listener> some : listeners.values()) {
            for (Listener listener : some) {
                if (listener.visualizer instanceof Clearable) {
                    ((Clearable) listener.visualizer).clearData();
                }
            }
        }
    }

    /** The bytes that are to be read. */
    long bytes(File whole) {
        return listeners.keySet().stream().mapToLong(node -> files.getOrDefault(node, whole).length()).sum();
    }

    /**
     * Hands all rows to the listeners; not on the Swing thread.
     *
     * @param whole the rows of the whole run
     * @return how many rows the whole run has, or the largest file of a listener
     */
    long load(File whole) throws IOException {
        long most = 0;
        for (Map.Entry<JMeterTreeNode, List<Listener>> some : listeners.entrySet()) {
            most = Math.max(most, load(files.getOrDefault(some.getKey(), whole), some.getValue()));
        }
        return most;
    }

    private static long load(File file, List<Listener> to) throws IOException {
        if (!file.isFile() || file.length() == 0) {
            return 0;
        }
        long[] count = {0};
        Visualizer all = new Visualizer() {
            @Override
            public void add(SampleResult sample) {
                count[0]++;
                to.forEach(listener -> listener.add(sample));
            }

            @Override
            public boolean isStats() {
                return false;
            }
        };
        // One that wants all samples: each listener chooses for itself.
        ResultCollector any = new ResultCollector();
        try {
            if (isXml(file)) {
                try (InputStream in = new BufferedInputStream(Files.newInputStream(file.toPath()), BUFFER)) {
                    SaveService.loadTestResults(in, new ResultCollectorHelper(any, all));
                }
            } else {
                CSVSaveService.processSamples(file.getPath(), all, any);
            }
        } catch (RuntimeException | Error broken) {
            if (broken instanceof VirtualMachineError) {
                throw broken;
            }
            throw new IOException("the row behind the first " + count[0] + " of " + file + " cannot be read: " + broken.getMessage(),
                    broken);
        }
        return count[0];
    }

    private static boolean isXml(File file) throws IOException {
        try (InputStream in = Files.newInputStream(file.toPath())) {
            byte[] first = new byte[5];
            return in.read(first) == first.length && new String(first, StandardCharsets.US_ASCII).equals("<?xml");
        }
    }

    /** Deletes the files that only this knows. */
    void delete() {
        for (File file : files.values()) {
            file.delete();
        }
        if (folder != null) {
            folder.toFile().delete();
        }
    }
}
