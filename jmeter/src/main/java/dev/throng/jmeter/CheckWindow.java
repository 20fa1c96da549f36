package dev.throng.jmeter;

import java.awt.BorderLayout;
import java.awt.Color;
import java.awt.Component;
import java.awt.Dimension;
import java.awt.FlowLayout;
import java.awt.Font;
import java.awt.FontMetrics;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;

import javax.swing.BorderFactory;
import javax.swing.JButton;
import javax.swing.JCheckBox;
import javax.swing.JDialog;
import javax.swing.JLabel;
import javax.swing.JPanel;
import javax.swing.JScrollPane;
import javax.swing.JSplitPane;
import javax.swing.JTable;
import javax.swing.JTextArea;
import javax.swing.ListSelectionModel;
import javax.swing.SwingWorker;
import javax.swing.table.AbstractTableModel;
import javax.swing.table.DefaultTableCellRenderer;
import javax.swing.table.TableCellRenderer;

import org.apache.jmeter.gui.GuiPackage;
import org.apache.jmeter.gui.tree.JMeterTreeNode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The window of "Check with Throng": the findings of {@code throng check} about the open plan, one per row. A click on a
 * row selects the element in JMeter's tree.
 */
final class CheckWindow extends JDialog {
    private static final Logger LOG = LoggerFactory.getLogger(CheckWindow.class);
    /** Maximum number of bytes that are read from the output of the check. */
    private static final int MOST = 256 << 20;
    private static final int ERRORS_MOST = 64 << 10;
    private static final int WIDTH = 66;
    private static final int HEIGHT = 26;

    private final JLabel verdict = new JLabel(" ");
    private final JLabel counts = new JLabel(" ");
    private final Rows rows = new Rows();
    private final JTable table = new Table(rows);
    private final JTextArea details = new JTextArea(6, 40);
    private final JCheckBox all = new JCheckBox("Show what runs in Java or is left out, too");
    private final JButton again = new JButton("Check again");

    private Finding.Report report;
    private Elements elements;
    private Check running;

    CheckWindow() {
        super(GuiPackage.getInstance().getMainFrame(), "Check with Throng", false);
        setName("throng.check.window");
        int em = build();
        setPreferredSize(new Dimension(WIDTH * em, HEIGHT * em));
        pack();
        Windows.beside(this);
    }

    /** Builds the window. Returns the height of a line of text, for sizes that depend on the font. */
    private int build() {
        verdict.setName("throng.check.verdict");
        counts.setName("throng.check.counts");
        verdict.setFont(verdict.getFont().deriveFont(Font.BOLD));
        JPanel top = new JPanel(new BorderLayout(0, 4));
        top.setBorder(BorderFactory.createEmptyBorder(8, 10, 6, 10));
        top.add(verdict, BorderLayout.NORTH);
        top.add(counts, BorderLayout.SOUTH);

        FontMetrics metrics = table.getFontMetrics(table.getFont());
        int em = metrics.getHeight();
        table.setName("throng.check.table");
        table.setRowHeight(em + em / 2);
        table.setSelectionMode(ListSelectionModel.SINGLE_SELECTION);
        table.setDefaultRenderer(Object.class, new Cell());
        table.setShowVerticalLines(false);
        int kind = metrics.stringWidth("cannot run") + 2 * em;
        table.getColumnModel().getColumn(0).setMinWidth(kind);
        table.getColumnModel().getColumn(0).setMaxWidth(kind);
        table.getColumnModel().getColumn(1).setPreferredWidth(14 * em);
        table.getColumnModel().getColumn(2).setPreferredWidth(44 * em);
        table.getSelectionModel().addListSelectionListener(event -> {
            if (!event.getValueIsAdjusting()) {
                show(table.getSelectedRow());
            }
        });

        details.setName("throng.check.details");
        details.setEditable(false);
        details.setLineWrap(true);
        details.setWrapStyleWord(true);
        details.setFont(table.getFont());
        details.setBorder(BorderFactory.createEmptyBorder(6, 10, 6, 10));
        JSplitPane middle = new JSplitPane(JSplitPane.VERTICAL_SPLIT, new JScrollPane(table), new JScrollPane(details));
        middle.setResizeWeight(0.7);
        middle.setBorder(BorderFactory.createEmptyBorder(0, 10, 0, 10));

        all.setName("throng.check.all");
        all.addActionListener(event -> fill());
        again.setName("throng.check.again");
        again.addActionListener(event -> check());
        JButton close = new JButton("Close");
        close.addActionListener(event -> setVisible(false));
        JPanel buttons = new JPanel(new FlowLayout(FlowLayout.TRAILING));
        buttons.add(again);
        buttons.add(close);
        JPanel bottom = new JPanel(new BorderLayout());
        bottom.setBorder(BorderFactory.createEmptyBorder(2, 6, 4, 6));
        bottom.add(all, BorderLayout.WEST);
        bottom.add(buttons, BorderLayout.EAST);

        add(top, BorderLayout.NORTH);
        add(middle, BorderLayout.CENTER);
        add(bottom, BorderLayout.SOUTH);
        getRootPane().setDefaultButton(again);
        return em;
    }

    /** Shows the window and checks the open plan. */
    void open() {
        setVisible(true);
        toFront();
        check();
    }

    @Override
    public void setVisible(boolean visible) {
        super.setVisible(visible);
        if (!visible && running != null) {
            running.end();
        }
    }

    private void check() {
        if (running != null) {
            running.end();
        }
        report = null;
        fill();
        again.setEnabled(false);
        say("Checking…", " ");
        try {
            File program = Program.find();
            OpenPlan plan = OpenPlan.read();
            running = new Check(program, plan);
            running.execute();
        } catch (Program.NotFound | IOException error) {
            failed(error.getMessage());
        }
    }

    private void say(String headline, String below) {
        verdict.setText(headline);
        counts.setText(below);
    }

    private void failed(String words) {
        again.setEnabled(true);
        say("The plan could not be checked.", " ");
        details.setText(words);
        details.setCaretPosition(0);
    }

    private void checked(Finding.Report report, OpenPlan plan) {
        again.setEnabled(true);
        this.report = report;
        this.elements = new Elements(plan);
        String which = (plan.file == null ? plan.name() + " (never saved)" : plan.file.getName())
                + (plan.file != null && plan.isChanged ? " with its unsaved changes" : "");
        say(report.runs ? "Throng runs this plan." : "Throng does not run this plan as it is.", which + ": "
                + report.natively + " of its elements run natively, " + report.inJava + " in Java, " + report.leftOut
                + " are left out without effect, " + report.cannotRun + " cannot run.");
        fill();
    }

    private void fill() {
        List<Finding> shown = report == null ? new ArrayList<>() : report.findings.stream()
                .filter(finding -> all.isSelected() || !finding.kind.isInformation()).collect(Collectors.toList());
        rows.show(shown);
        if (report == null) {
            details.setText("");
        } else if (shown.isEmpty()) {
            details.setText("Nothing to correct was found.");
        } else {
            details.setText("Click a row: its element is selected in JMeter's tree.");
        }
    }

    /** Shows the full text of a row, and selects its element in JMeter's tree. */
    private void show(int row) {
        Finding finding = row < 0 ? null : rows.at(row);
        if (finding == null) {
            return;
        }
        StringBuilder words = new StringBuilder(finding.message);
        if (!finding.help.isEmpty()) {
            words.append("\nHelp: ").append(finding.help);
        }
        if (!finding.path.isEmpty()) {
            words.append("\nIn: ").append(finding.path);
        }
        if (!finding.file.isEmpty()) {
            words.append("\nFile: ").append(finding.file);
        }
        JMeterTreeNode node = elements.of(finding);
        if (node != null && !Elements.select(node)) {
            words.append("\nThe plan that is open no longer has this element: check again.");
        }
        details.setText(words.toString());
        details.setCaretPosition(0);
    }

    /** Runs the check process outside of the Swing thread. */
    private final class Check extends SwingWorker<Finding.Report, Void> {
        private final File program;
        private final OpenPlan plan;
        private volatile Child child;

        Check(File program, OpenPlan plan) {
            this.program = program;
            this.plan = plan;
        }

        void end() {
            cancel(false);
            Child now = child;
            if (now != null) {
                now.kill();
            }
        }

        @Override
        protected Finding.Report doInBackground() throws IOException, InterruptedException {
            File copy = plan.write(".", ".throng-check");
            try {
                List<String> line = Command.of(program, "check");
                line.add("--json");
                line.add(copy.getPath());
                Child.Kept out = new Child.Kept(MOST);
                Child.Kept err = new Child.Kept(ERRORS_MOST);
                child = new Child(line, plan.folder, out, err);
                if (isCancelled()) {
                    child.kill();
                }
                int code = child.await();
                if (out.isCut()) {
                    throw new IOException("The findings take more than " + (MOST >> 20)
                            + " MiB: read them with throng check --json.");
                }
                try {
                    return new Finding.Report(out.bytes(), copy);
                } catch (IOException error) {
                    String said = new String(err.bytes(), StandardCharsets.UTF_8).trim();
                    throw new IOException(said.isEmpty() ? program + " ended with " + code + ": " + error.getMessage() : said,
                            error);
                }
            } finally {
                Files.deleteIfExists(copy.toPath());
            }
        }

        @Override
        protected void done() {
            if (isCancelled() || running != this) {
                return;
            }
            try {
                checked(get(), plan);
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
            } catch (ExecutionException error) {
                LOG.warn("The check failed", error.getCause());
                failed(error.getCause().getMessage());
            }
        }
    }

    /** The data of the table's rows. */
    private static final class Rows extends AbstractTableModel {
        private static final String[] NAMES = {"", "Element", "Finding"};
        private List<Finding> findings = new ArrayList<>();

        void show(List<Finding> findings) {
            this.findings = findings;
            fireTableDataChanged();
        }

        Finding at(int row) {
            return row < findings.size() ? findings.get(row) : null;
        }

        @Override
        public int getRowCount() {
            return findings.size();
        }

        @Override
        public int getColumnCount() {
            return NAMES.length;
        }

        @Override
        public String getColumnName(int column) {
            return NAMES[column];
        }

        @Override
        public Object getValueAt(int row, int column) {
            Finding finding = findings.get(row);
            switch (column) {
                case 0:
                    return finding.kind.words;
                case 1:
                    return finding.path.isEmpty() ? "the plan" : finding.element();
                default:
                    return finding.message.replaceAll("\\s*\n\\s*", " · ");
            }
        }
    }

    /** A table that highlights the whole selected row, even if the look and feel marks one cell as focused. */
    private static final class Table extends JTable {
        Table(Rows rows) {
            super(rows);
        }

        @Override
        public Component prepareRenderer(TableCellRenderer renderer, int row, int column) {
            Component cell = super.prepareRenderer(renderer, row, column);
            // One component draws all cells, and keeps the colours of the last one.
            cell.setBackground(isRowSelected(row) ? getSelectionBackground() : getBackground());
            if (isRowSelected(row)) {
                cell.setForeground(getSelectionForeground());
            }
            return cell;
        }
    }

    /** A cell: plain text, never HTML. Errors are in colour. */
    private static final class Cell extends DefaultTableCellRenderer {
        private static final Color RED = new Color(0xD3, 0x2F, 0x2F);
        private static final Color RED_ON_DARK = new Color(0xFF, 0x8A, 0x80);
        private static final Color AMBER = new Color(0xA6, 0x5B, 0x00);
        private static final Color AMBER_ON_DARK = new Color(0xFF, 0xC1, 0x07);
        private static final int DARK = 380;

        Cell() {
            putClientProperty("html.disable", Boolean.TRUE);
        }

        @Override
        public Component getTableCellRendererComponent(JTable table, Object value, boolean isSelected, boolean hasFocus, int row,
                int column) {
            super.getTableCellRendererComponent(table, value, isSelected, false, row, column);
            setBorder(BorderFactory.createEmptyBorder(0, 8, 0, 8));
            Finding finding = ((Rows) table.getModel()).at(row);
            setToolTipText(column == 1 && finding != null && !finding.path.isEmpty() ? finding.path : null);
            if (!isSelected) {
                setForeground(table.getForeground());
                Color ground = table.getBackground();
                boolean isDark = ground.getRed() + ground.getGreen() + ground.getBlue() < DARK;
                if (column == 0 && finding != null && finding.kind.compareTo(Finding.Kind.CANNOT_RUN) <= 0) {
                    setForeground(isDark ? RED_ON_DARK : RED);
                } else if (column == 0 && finding != null && finding.kind == Finding.Kind.WARNING) {
                    setForeground(isDark ? AMBER_ON_DARK : AMBER);
                }
            }
            return this;
        }
    }
}
