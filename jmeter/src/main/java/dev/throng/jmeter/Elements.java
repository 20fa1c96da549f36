package dev.throng.jmeter;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import javax.swing.JTree;
import javax.swing.tree.TreePath;

import org.apache.jmeter.gui.GuiPackage;
import org.apache.jmeter.gui.tree.JMeterTreeNode;

/**
 * Finds the nodes of JMeter's tree for findings. The line in the plan's text identifies a node. Findings without a line,
 * as in included files, are searched by name.
 */
final class Elements {
    private final List<JMeterTreeNode> nodes;
    private final PlanLines lines;

    Elements(OpenPlan plan) {
        nodes = plan.nodes;
        PlanLines lines = new PlanLines(plan.text);
        // If JMeter has not written exactly its tree, only names can identify nodes.
        this.lines = lines.elements() == nodes.size() ? lines : null;
    }

    /** Returns the node of a finding, or null. */
    JMeterTreeNode of(Finding finding) {
        if (lines != null && finding.line > 0) {
            int at = lines.at(finding.line);
            return at < 0 ? null : nodes.get(at);
        }
        return finding.path.isEmpty() ? null : named(nodes.get(0), finding.path);
    }

    /** Returns the deepest node on a path of names. Elements of an included file are below their Include Controller. */
    private static JMeterTreeNode named(JMeterTreeNode from, String path) {
        String own = from.getName();
        if (path.equals(own)) {
            return from;
        }
        if (!path.startsWith(own + Finding.PATH)) {
            return null;
        }
        String rest = path.substring(own.length() + Finding.PATH.length());
        for (int at = 0; at < from.getChildCount(); at++) {
            JMeterTreeNode found = named((JMeterTreeNode) from.getChildAt(at), rest);
            if (found != null) {
                return found;
            }
        }
        return from;
    }

    /** Selects a node in JMeter's tree and shows its panel. Returns false if the plan no longer has the node. */
    static boolean select(JMeterTreeNode node) {
        GuiPackage gui = GuiPackage.getInstance();
        List<Object> path = new ArrayList<>(Arrays.asList((Object[]) node.getPath()));
        if (path.get(0) != gui.getTreeModel().getRoot()) {
            return false;
        }
        JTree tree = gui.getMainFrame().getTree();
        TreePath to = new TreePath(path.toArray());
        tree.setSelectionPath(to);
        tree.scrollPathToVisible(to);
        return true;
    }
}
