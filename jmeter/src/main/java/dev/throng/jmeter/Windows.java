package dev.throng.jmeter;

import java.awt.Dimension;
import java.awt.GraphicsConfiguration;
import java.awt.Insets;
import java.awt.Rectangle;
import java.awt.Toolkit;
import java.awt.Window;

import javax.swing.JComponent;
import javax.swing.JTree;

import org.apache.jmeter.gui.GuiPackage;
import org.apache.jmeter.gui.MainFrame;

/** Positions of the plug-in's windows. */
final class Windows {
    private static final int GAP = 12;

    private Windows() {
    }

    /** Places a window at the lower right of JMeter's window, so that the tree stays visible, and fully on the screen. */
    static void beside(Window window) {
        MainFrame main = GuiPackage.getInstance().getMainFrame();
        GraphicsConfiguration screen = main.getGraphicsConfiguration();
        Insets taken = Toolkit.getDefaultToolkit().getScreenInsets(screen);
        Rectangle room = screen.getBounds();
        room.x += taken.left;
        room.y += taken.top;
        room.width -= taken.left + taken.right;
        room.height -= taken.top + taken.bottom;
        JTree tree = main.getTree();
        int left = main.getX() + GAP;
        if (tree.isShowing()) {
            JComponent pane = tree.getParent() instanceof JComponent ? (JComponent) tree.getParent() : tree;
            left = pane.getLocationOnScreen().x + pane.getWidth() + GAP;
        }
        Dimension size = window.getSize();
        size.width = Math.min(size.width, room.width);
        size.height = Math.min(size.height, room.height);
        int x = Math.min(left, room.x + room.width - size.width);
        int y = Math.min(main.getY() + main.getHeight() - size.height - GAP, room.y + room.height - size.height);
        window.setBounds(Math.max(x, room.x), Math.max(y, room.y), size.width, size.height);
    }
}
