package dev.throng.jmeter;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.apache.jmeter.util.JMeterUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A run of the open plan by Throng. A separate thread starts the process, follows it, loads its rows, and passes everything
 * that is to be displayed to {@link Shown}.
 */
final class Run implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Run.class);
    /** JMeter's property with the limit in MiB above which rows are loaded only on request. */
    private static final String ROWS_MOST = "throng.rows.load.mb";
    private static final int ROWS_MOST_DEFAULT = 200;
    private static final long POLL_MS = 500;
    private static final int HELP_MOST = 1 << 20;
    private static final int CTL_MOST = 1 << 14;
    /** Suffix of the plan's name for the file with its unsaved changes. */
    private static final String COPY = ".open";

    /** The display of a run, in its window. */
    interface Shown {
        /** Shows a new state, given as a sentence. */
        void state(String words);

        /** Shows the current metrics, or those of the whole run. */
        void figures(Seconds seconds, boolean isOver);

        /** Appends lines of output. */
        void output(String lines);

        /** Receives the address of the live page. */
        void page(String address);

        /** Called at the end of the run, as the last call. */
        void end(Run run, String words);
    }

    private final File program;
    private final OpenPlan plan;
    private final Rows rows;
    private final RunSettings settings;
    private final List<String> options;
    private final Shown shown;
    private final Output output;
    private final File runs;

    private volatile Child child;
    private volatile File folder;
    private volatile boolean hasPage;
    private volatile boolean isStopped;

    /** Creates a run of that plan with the options of the settings. */
    Run(File program, OpenPlan plan, Rows rows, RunSettings settings, List<String> options, Shown shown) {
        this.program = program;
        this.plan = plan;
        this.rows = rows;
        this.settings = settings;
        this.options = options;
        this.shown = shown;
        this.output = new Output(address -> {
            hasPage = true;
            shown.page(address);
        });
        String runs = settings.runs.trim();
        this.runs = runs.isEmpty() ? new File(plan.folder, "runs") : absolute(runs);
    }

    private File absolute(String path) {
        File file = new File(path);
        return file.isAbsolute() ? file : new File(plan.folder, path);
    }

    void start() {
        Thread thread = new Thread(this, "Run with Throng");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        String words;
        try {
            words = follow();
        } catch (IOException | RuntimeException | LinkageError error) {
            LOG.warn("The run failed", error);
            words = error.getMessage() == null ? error.toString() : error.getMessage();
        } catch (InterruptedException error) {
            words = "The run was left.";
        }
        shown.output(output.take());
        shown.end(this, words);
    }

    /** Runs the plan to its end, and returns a sentence about the result. */
    private String follow() throws IOException, InterruptedException {
        // An unchanged saved plan is run directly, so that the run's record contains its name.
        boolean isCopied = plan.file == null || plan.isChanged || rows.needsCollectors();
        File file = isCopied ? plan.write("", COPY) : plan.file;
        try {
            int code = process(file);
            Seconds last = figures();
            if (last != null) {
                shown.figures(last, true);
            }
            String words = words(code);
            if (settings.areRowsLoaded && folder != null) {
                shown.state(words + " Loading rows…");
                words += " " + load(false);
            }
            return words;
        } finally {
            if (isCopied) {
                Files.deleteIfExists(file.toPath());
            }
        }
    }

    private int process(File file) throws IOException, InterruptedException {
        shown.state("Starting…");
        List<String> line = Command.of(program, "run");
        line.addAll(options);
        line.add("--jtl");
        line.add("--runs");
        line.add(runs.getPath());
        if (settings.isPageOpened && offersPage()) {
            line.add("--web");
        }
        line.add(file.getPath());
        Set<String> before = new HashSet<>(names(runs));
        child = new Child(line, plan.folder, output, output);
        if (isStopped) {
            child.end();
        }
        shown.state("Running.");
        Seconds seconds = null;
        while (child.isAlive()) {
            Thread.sleep(POLL_MS);
            shown.output(output.take());
            if (folder == null) {
                folder = begun(before, file);
            }
            if (folder != null) {
                seconds = seconds == null ? new Seconds(folder) : seconds;
                seconds.read();
                shown.figures(seconds, false);
            }
        }
        int code = child.await();
        if (output.results() != null) {
            folder = absolute(output.results());
        }
        return code;
    }

    /** Returns all metrics of the run. */
    private Seconds figures() throws IOException {
        if (folder == null) {
            return null;
        }
        Seconds seconds = new Seconds(folder);
        for (long before = -1; before < seconds.seconds;) {
            before = seconds.seconds;
            seconds.read();
        }
        return seconds;
    }

    private static List<String> names(File folder) {
        String[] names = folder.list();
        return names == null ? Arrays.asList() : Arrays.asList(names);
    }

    /** Returns the folder that this run has created. */
    private File begun(Set<String> before, File file) {
        String stem = file.getName().replaceFirst("\\.[^.]*$", "").replaceAll("[^\\p{L}\\p{N}._-]", "-");
        for (String name : names(runs)) {
            if (!before.contains(name) && name.contains(stem) && new File(new File(runs, name), "seconds.jsonl").isFile()) {
                return new File(runs, name);
            }
        }
        return null;
    }

    /** Returns true if this version of Throng has a live page. */
    private boolean offersPage() throws IOException, InterruptedException {
        Child.Kept out = new Child.Kept(HELP_MOST);
        Child help = new Child(Arrays.asList(program.getPath(), "help", "run"), plan.folder, out, new Child.Kept(0));
        help.await();
        return new String(out.bytes(), StandardCharsets.UTF_8).contains("--web");
    }

    private String words(int code) {
        switch (code) {
            case 0:
                return "The run is over.";
            case 2:
                return "Throng does not take these settings: see the last lines.";
            case 3:
                return "Throng does not run this plan as it is: Check with Throng says why.";
            case 4:
                return "The run is over; a criterion was not met.";
            case 5:
                return "The run was aborted: see the last lines.";
            case 8:
                return "This machine is too small for the load: see the last lines.";
            case 9:
                return "The run is over; some of its results are lost.";
            case 130:
                return "The run was stopped.";
            default:
                return "Throng ended with " + code + ": see the last lines.";
        }
    }

    /** Stops the run: in order the first time, at once the second time, then by a kill. Not on the Swing thread. */
    void stop(int time) {
        isStopped = true;
        Child now = child;
        if (now == null || !now.isAlive()) {
            return;
        }
        File of = folder;
        if (time > 2) {
            now.kill();
        } else if (of == null || !ask(of, time)) {
            now.end();
        }
    }

    private boolean ask(File of, int time) {
        try {
            List<String> line = new ArrayList<>(Arrays.asList(program.getPath(), "ctl", of.getPath(), "stop"));
            if (time > 1) {
                line.add("--now");
            }
            return new Child(line, plan.folder, new Child.Kept(CTL_MOST), new Child.Kept(CTL_MOST)).await() == 0;
        } catch (IOException | InterruptedException error) {
            LOG.warn("throng ctl failed", error);
            return false;
        }
    }

    /** Loads the rows into the plan's listeners, and returns a sentence with their number. Not on the Swing thread. */
    String load(boolean isAskedFor) throws IOException {
        if (rows.listeners() == 0) {
            return "The plan has no listener that shows samples.";
        }
        File whole = new File(folder, "results.jtl");
        long mib = rows.bytes(whole) >> 20;
        if (!isAskedFor && mib > JMeterUtils.getPropDefault(ROWS_MOST, ROWS_MOST_DEFAULT)) {
            return "Its rows are " + mib + " MiB and were not loaded: \"Load rows\" does it.";
        }
        long loaded = rows.load(whole);
        return String.format(Locale.ROOT, "%,d rows were loaded into %s.", loaded,
                rows.listeners() == 1 ? "the listener" : rows.listeners() + " listeners");
    }

    /** Returns true if the results have a folder. */
    boolean hasFolder() {
        return folder != null;
    }

    /** Returns the report of the run, if it exists. */
    File report() {
        File of = folder;
        File report = of == null ? null : new File(of, "report.html");
        return report != null && report.isFile() ? report : null;
    }

    boolean hasPage() {
        return hasPage;
    }

    Rows rows() {
        return rows;
    }
}
