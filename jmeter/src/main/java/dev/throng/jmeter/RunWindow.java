package dev.throng.jmeter;

import java.awt.BorderLayout;
import java.awt.Component;
import java.awt.Desktop;
import java.awt.Dimension;
import java.awt.FlowLayout;
import java.awt.Font;
import java.awt.GridBagConstraints;
import java.awt.GridBagLayout;
import java.awt.GridLayout;
import java.awt.Insets;
import java.awt.Toolkit;
import java.awt.datatransfer.StringSelection;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.util.List;

import javax.swing.BorderFactory;
import javax.swing.JButton;
import javax.swing.JCheckBox;
import javax.swing.JDialog;
import javax.swing.JLabel;
import javax.swing.JPanel;
import javax.swing.JProgressBar;
import javax.swing.JScrollPane;
import javax.swing.JTextArea;
import javax.swing.JTextField;
import javax.swing.SwingUtilities;
import javax.swing.text.BadLocationException;

import org.apache.jmeter.gui.GuiPackage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The window of "Run with Throng": settings above, the run below. Settings are kept until JMeter ends. */
final class RunWindow extends JDialog implements Run.Shown {
    private static final Logger LOG = LoggerFactory.getLogger(RunWindow.class);
    /** Maximum number of characters of output that are kept. */
    private static final int OUTPUT_MOST = 200_000;
    private static final int GAP = 6;

    private final JTextField users = field("throng.run.users", "");
    private final JTextField rate = field("throng.run.rps", "");
    private final JTextField ramp = field("throng.run.ramp", "like 30s");
    private final JTextField duration = field("throng.run.duration", "like 5m");
    private final JTextField iterations = field("throng.run.iterations", "");
    private final JTextArea properties = new JTextArea(4, 30);
    private final JTextField more = field("throng.run.more", "options of throng run, like --fail 'p95 < 500ms'");
    private final JTextField runs = field("throng.run.runs", "by default runs beside the plan");
    private final JCheckBox page = new JCheckBox("Open the live page, or the report", true);
    private final JCheckBox load = new JCheckBox("Load the rows into the plan's listeners at the end", true);
    private final JCheckBox full = new JCheckBox("with requests and responses");
    private final JCheckBox clear = new JCheckBox("Empty the listeners first", true);
    private final JLabel state = new JLabel("Not started.");
    private final JLabel figures = new JLabel(" ");
    private final JProgressBar progress = new JProgressBar(0, 1000);
    private final JTextArea output = new JTextArea(14, 130);
    private final JButton start = button("Run", "throng.run.start", this::begin);
    private final JButton stop = button("Stop", "throng.run.stop", this::stop);
    private final JButton open = button("Open the report", "throng.run.open", this::open);
    private final JButton again = button("Load rows", "throng.run.load", this::loadAgain);
    private final JButton copy = button("Copy the link", "throng.run.copy", this::copyLink);

    private Run run;
    private Run last;
    private String link;
    private int stops;
    private double planned;

    RunWindow() {
        super(GuiPackage.getInstance().getMainFrame(), "Run with Throng", false);
        setName("throng.run.window");
        JPanel top = new JPanel(new BorderLayout(2 * GAP, GAP));
        top.setBorder(BorderFactory.createEmptyBorder(10, 10, 4, 10));
        top.add(loadForm(), BorderLayout.WEST);
        top.add(otherForm(), BorderLayout.CENTER);
        top.add(choices(), BorderLayout.SOUTH);
        add(top, BorderLayout.NORTH);
        add(below(), BorderLayout.CENTER);
        JPanel buttons = new JPanel(new FlowLayout(FlowLayout.TRAILING));
        buttons.setBorder(BorderFactory.createEmptyBorder(0, 6, 4, 6));
        for (JButton button : new JButton[] {start, stop, open, copy, again}) {
            buttons.add(button);
        }
        buttons.add(button("Close", "throng.run.close", () -> setVisible(false)));
        add(buttons, BorderLayout.SOUTH);
        getRootPane().setDefaultButton(start);
        refresh();
        pack();
        setMinimumSize(new Dimension(getWidth() / 2, getHeight() / 2));
        Windows.beside(this);
    }

    private JPanel loadForm() {
        JPanel form = new JPanel(new GridBagLayout());
        form.setBorder(BorderFactory.createTitledBorder("Load; empty: the plan's own"));
        Object[][] rows = {{"Users", users}, {"or starts per second", rate}, {"Ramp-up", ramp}, {"Duration", duration},
            {"Iterations", iterations}};
        for (int row = 0; row < rows.length; row++) {
            ((JTextField) rows[row][1]).setColumns(9);
            add(form, row, (String) rows[row][0], (Component) rows[row][1]);
        }
        return form;
    }

    private JPanel otherForm() {
        properties.setName("throng.run.properties");
        properties.setToolTipText("name=value, one a line, as with -J");
        JPanel form = new JPanel(new GridBagLayout());
        form.setBorder(BorderFactory.createTitledBorder("Properties and options"));
        add(form, 0, "Properties (name=value)", new JScrollPane(properties));
        add(form, 1, "More options", more);
        add(form, 2, "Folder of runs", runs);
        return form;
    }

    private static void add(JPanel form, int row, String words, Component field) {
        GridBagConstraints at = new GridBagConstraints();
        at.gridy = row;
        at.insets = new Insets(2, GAP, 2, GAP);
        at.anchor = field instanceof JScrollPane ? GridBagConstraints.NORTHWEST : GridBagConstraints.WEST;
        JLabel label = new JLabel(words);
        label.setLabelFor(field);
        form.add(label, at);
        at.gridx = 1;
        at.weightx = 1;
        at.weighty = field instanceof JScrollPane ? 1 : 0;
        at.fill = field instanceof JScrollPane ? GridBagConstraints.BOTH : GridBagConstraints.HORIZONTAL;
        form.add(field, at);
    }

    private JPanel choices() {
        page.setName("throng.run.page");
        load.setName("throng.run.rows");
        full.setName("throng.run.full");
        clear.setName("throng.run.clear");
        full.setToolTipText("For View Results Tree. Rows take much more room: for few samples.");
        load.addActionListener(event -> {
            full.setEnabled(load.isSelected());
            clear.setEnabled(load.isSelected());
        });
        JPanel choices = new JPanel(new GridLayout(2, 1));
        for (JCheckBox[] some : new JCheckBox[][] {{page}, {load, full, clear}}) {
            JPanel line = new JPanel(new FlowLayout(FlowLayout.LEADING, GAP, 0));
            for (JCheckBox choice : some) {
                line.add(choice);
            }
            choices.add(line);
        }
        return choices;
    }

    private JPanel below() {
        state.setName("throng.run.state");
        state.setFont(state.getFont().deriveFont(Font.BOLD));
        figures.setName("throng.run.figures");
        output.setName("throng.run.output");
        output.setEditable(false);
        output.setFont(new Font(Font.MONOSPACED, Font.PLAIN, figures.getFont().getSize()));
        output.setBorder(BorderFactory.createEmptyBorder(4, 6, 4, 6));
        JPanel head = new JPanel(new BorderLayout(GAP, 4));
        head.add(state, BorderLayout.NORTH);
        head.add(figures, BorderLayout.CENTER);
        head.add(progress, BorderLayout.SOUTH);
        JPanel panel = new JPanel(new BorderLayout(GAP, GAP));
        panel.setBorder(BorderFactory.createEmptyBorder(4, 12, 2, 12));
        panel.add(head, BorderLayout.NORTH);
        panel.add(new JScrollPane(output), BorderLayout.CENTER);
        return panel;
    }

    private static JTextField field(String name, String tip) {
        JTextField field = new JTextField();
        field.setName(name);
        if (!tip.isEmpty()) {
            field.setToolTipText(tip);
        }
        return field;
    }

    private static JButton button(String words, String name, Runnable action) {
        JButton button = new JButton(words);
        button.setName(name);
        button.addActionListener(event -> action.run());
        return button;
    }

    private void refresh() {
        start.setEnabled(run == null);
        stop.setEnabled(run != null);
        stop.setText(stops == 0 ? "Stop" : stops == 1 ? "Stop now" : "Kill");
        boolean isLive = run != null && link != null;
        open.setText(isLive ? "Open the live page" : "Open the report");
        open.setEnabled(isLive || run == null && last != null && last.report() != null);
        copy.setVisible(isLive);
        again.setEnabled(run == null && last != null && last.hasFolder());
    }

    private RunSettings settings() {
        RunSettings settings = new RunSettings();
        settings.users = users.getText();
        settings.rate = rate.getText();
        settings.ramp = ramp.getText();
        settings.duration = duration.getText();
        settings.iterations = iterations.getText();
        settings.properties = properties.getText();
        settings.more = more.getText();
        settings.runs = runs.getText();
        settings.isPageOpened = page.isSelected();
        settings.areRowsLoaded = load.isSelected();
        settings.areRowsFull = load.isSelected() && full.isSelected();
        settings.isCleared = clear.isSelected();
        return settings;
    }

    private void begin() {
        if (run != null) {
            return;
        }
        Rows rows = null;
        try {
            RunSettings settings = settings();
            File program = Program.find();
            List<String> options = settings.options();
            rows = settings.areRowsLoaded ? new Rows() : Rows.none();
            OpenPlan plan = OpenPlan.read(rows.collectors(settings.areRowsFull));
            if (settings.isCleared) {
                rows.clear();
            }
            if (last != null) {
                last.rows().delete();
                last = null;
            }
            output.setText("");
            figures.setText(" ");
            link = null;
            stops = 0;
            planned = settings.seconds();
            progress.setIndeterminate(planned <= 0);
            progress.setValue(0);
            run = new Run(program, plan, rows, settings, options, this);
            run.start();
        } catch (Program.NotFound | RunSettings.Mistake | IOException error) {
            if (rows != null) {
                rows.delete();
            }
            state.setText("Not started.");
            output.setText(error.getMessage());
        }
        refresh();
        // Otherwise the button "Close" would get the focus.
        (run == null ? start : stop).requestFocusInWindow();
    }

    private void stop() {
        Run now = run;
        if (now == null) {
            return;
        }
        stops++;
        int time = stops;
        state.setText(time == 1 ? "Stopping: samples in flight finish." : "Stopping at once.");
        Thread thread = new Thread(() -> now.stop(time), "Stop of a run");
        thread.setDaemon(true);
        thread.start();
        refresh();
    }

    private void open() {
        if (run != null && link != null) {
            browse(URI.create(link));
        } else if (last != null && last.report() != null) {
            browse(last.report().toURI());
        }
    }

    /** Opens a page in the user's browser. If that is impossible, shows the address of the page. */
    private void browse(URI page) {
        Thread thread = new Thread(() -> {
            try {
                if (!Desktop.isDesktopSupported() || !Desktop.getDesktop().isSupported(Desktop.Action.BROWSE)) {
                    throw new IOException("there is no way to open a browser");
                }
                Desktop.getDesktop().browse(page);
            } catch (IOException | RuntimeException error) {
                LOG.info("No browser: {}", error.toString());
                output("No browser could be opened. The page: " + page + "\n");
            }
        }, "Browser");
        thread.setDaemon(true);
        thread.start();
    }

    private void copyLink() {
        if (link != null) {
            Toolkit.getDefaultToolkit().getSystemClipboard().setContents(new StringSelection(link), null);
        }
    }

    private void loadAgain() {
        Run of = last;
        if (of == null || run != null) {
            return;
        }
        if (clear.isSelected()) {
            of.rows().clear();
        }
        again.setEnabled(false);
        state.setText("Loading rows…");
        Thread thread = new Thread(() -> {
            String words;
            try {
                words = of.load(true);
            } catch (IOException | RuntimeException error) {
                words = error.getMessage();
            }
            String said = words;
            SwingUtilities.invokeLater(() -> {
                state.setText(said);
                refresh();
            });
        }, "Rows");
        thread.setDaemon(true);
        thread.start();
    }

    // Methods that the thread of the run calls.

    @Override
    public void state(String words) {
        SwingUtilities.invokeLater(() -> state.setText(words));
    }

    @Override
    public void figures(Seconds seconds, boolean isOver) {
        String words = seconds.words(isOver);
        double share = planned > 0 ? Math.min(1, seconds.seconds / planned) : 0;
        SwingUtilities.invokeLater(() -> {
            figures.setText(words);
            if (planned > 0) {
                progress.setValue((int) (share * progress.getMaximum()));
            }
            refresh();
        });
    }

    @Override
    public void output(String lines) {
        if (lines.isEmpty()) {
            return;
        }
        SwingUtilities.invokeLater(() -> {
            output.append(lines);
            int more = output.getDocument().getLength() - OUTPUT_MOST;
            if (more > 0) {
                try {
                    output.getDocument().remove(0, more);
                } catch (BadLocationException error) {
                    LOG.debug("Output", error);
                }
            }
            output.setCaretPosition(output.getDocument().getLength());
        });
    }

    @Override
    public void page(String address) {
        SwingUtilities.invokeLater(() -> {
            link = address;
            refresh();
            browse(URI.create(address));
        });
    }

    @Override
    public void end(Run ended, String words) {
        SwingUtilities.invokeLater(() -> {
            run = null;
            last = ended;
            progress.setIndeterminate(false);
            progress.setValue(progress.getMaximum());
            state.setText(words);
            refresh();
            if (page.isSelected() && !ended.hasPage() && ended.report() != null) {
                browse(ended.report().toURI());
            }
        });
    }
}
