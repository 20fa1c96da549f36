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
 * Passes the rows of a run to the plan's listeners, as JMeter does when a listener reads a result file.
 *
 * <p>Listeners at the top of the plan get the rows of the whole run. A listener further down gets only the samples of its scope:
 * a collector of rows is added next to it in the executed plan, so that the same rules apply as in a test.
 */
final class Rows {
    /** Classes of listeners that send or write samples and do not show them. */
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

    /** Listeners, by the node whose samples they get. */
    private final Map<JMeterTreeNode, List<Listener>> listeners = new LinkedHashMap<>();
    /** Result files of the nodes other than the plan. */
    private final Map<JMeterTreeNode, File> files = new HashMap<>();
    private Path folder;

    /** Finds the plan's listeners. Called on the Swing thread, because it creates panels that have not been shown yet. */
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
        // This object has no listeners.
    }

    /** Returns rows without listeners. */
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

    /** Returns the number of listeners. */
    int listeners() {
        return listeners.values().stream().mapToInt(List::size).sum();
    }

    /** Returns collectors for the listeners that get only some samples, by the node below which they belong. */
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

    /** Returns true if the executed plan contains collectors of the plug-in. */
    boolean needsCollectors() {
        return !files.isEmpty();
    }

    /** Returns the columns that listeners show. */
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

    /** Clears the listeners. Called on the Swing thread. */
    void clear() {
        for (List<Listener> some : listeners.values()) {
            for (Listener listener : some) {
                if (listener.visualizer instanceof Clearable) {
                    ((Clearable) listener.visualizer).clearData();
                }
            }
        }
    }

    /** Returns the number of bytes to read. */
    long bytes(File whole) {
        return listeners.keySet().stream().mapToLong(node -> files.getOrDefault(node, whole).length()).sum();
    }

    /**
     * Passes all rows to the listeners. Must not be called on the Swing thread.
     *
     * @param whole the file with the rows of the whole run
     * @return the number of rows of the whole run, or of the largest file of a listener
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
        // This collector accepts all samples; each listener filters them itself.
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

    /** Deletes the temporary result files. */
    void delete() {
        for (File file : files.values()) {
            file.delete();
        }
        if (folder != null) {
            folder.toFile().delete();
        }
    }
}
