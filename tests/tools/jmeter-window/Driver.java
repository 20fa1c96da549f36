package dev.throng.driver;

import java.awt.Component;
import java.awt.Container;
import java.awt.Dialog;
import java.awt.MouseInfo;
import java.awt.Point;
import java.awt.Rectangle;
import java.awt.Robot;
import java.awt.Toolkit;
import java.awt.Window;
import java.awt.event.ActionEvent;
import java.awt.event.InputEvent;
import java.awt.event.MouseAdapter;
import java.awt.event.MouseEvent;
import java.io.File;
import java.io.PrintWriter;
import java.net.URL;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.imageio.ImageIO;
import javax.swing.AbstractButton;
import javax.swing.JLabel;
import javax.swing.JMenu;
import javax.swing.JMenuItem;
import javax.swing.JTable;
import javax.swing.JTree;
import javax.swing.MenuElement;
import javax.swing.SwingUtilities;
import javax.swing.text.JTextComponent;
import javax.swing.tree.DefaultMutableTreeNode;
import javax.swing.tree.TreePath;

import org.apache.jmeter.gui.GuiPackage;
import org.apache.jmeter.gui.action.ActionNames;
import org.apache.jmeter.gui.action.ActionRouter;
import org.apache.jmeter.gui.plugin.MenuCreator;
import org.apache.jmeter.gui.tree.JMeterTreeNode;
import org.apache.jmeter.reporters.ResultCollector;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.testelement.TestElement;

/**
 * Drives JMeter's window as a tester would: clicks the plug-in's components and writes what the window shows to a file, one
 * line of JSON per fact. JMeter loads this class like the plug-in. At the end the driver ends JMeter.
 */
public final class Driver implements MenuCreator, Runnable {
    private static final long PATIENCE_MS = 90_000;
    private static final long HEARD_MS = 2_000;
    private static final int TRIES = 5;

    private File out;
    private PrintWriter facts;
    private Robot robot;

    /** Starts the thread that waits for JMeter's window. */
    public Driver() {
        String folder = System.getProperty("throng.driver.out");
        if (folder != null) {
            out = new File(folder);
            Thread thread = new Thread(this, "driver");
            thread.setDaemon(true);
            thread.start();
        }
    }

    @Override
    public void run() {
        try {
            facts = new PrintWriter(new File(out, "facts.jsonl"), "UTF-8");
            robot = new Robot();
            robot.setAutoDelay(60);
            until("the window", () -> GuiPackage.getInstance() != null && GuiPackage.getInstance().getMainFrame() != null
                    && GuiPackage.getInstance().getMainFrame().isShowing() && GuiPackage.getInstance().getTestPlanFile() != null);
            until("the end of the splash screen", () -> Arrays.stream(Window.getWindows())
                    .noneMatch(window -> window.isShowing() && window.getClass().getSimpleName().equals("SplashScreen")));
            pause(1500);
            for (String scene : System.getProperty("throng.driver.scenes", "").split(",")) {
                if (scene.equals("check")) {
                    check();
                } else if (scene.equals("run")) {
                    rows();
                } else if (scene.equals("none")) {
                    none();
                } else if (scene.equals("kept")) {
                    kept();
                } else {
                    exit();
                }
            }
        } catch (Throwable error) {
            facts.println("{\"failed\": " + quoted(error.toString()) + "}");
            facts.flush();
            error.printStackTrace();
            try {
                shot("failed");
            } catch (Exception alsoThat) {
                alsoThat.printStackTrace();
            }
        }
        facts.close();
        System.exit(0);
    }

    /** Checks a plan and clicks on each finding. */
    private void check() throws Exception {
        menu("throng.check");
        until("the check", () -> ((AbstractButton) named("throng.check.again")).isEnabled());
        pause(500);
        JTable table = (JTable) named("throng.check.table");
        shot("check");
        int rows = on(table::getRowCount);
        fact("findings", rows);
        fact("verdict", on(() -> ((JLabel) named("throng.check.verdict")).getText()));
        for (int row = 0; row < rows; row++) {
            int at = row;
            Rectangle cell = on(() -> table.getCellRect(at, 2, true));
            click(table, cell.x + 40, cell.y + cell.height / 2);
            pause(700);
            JMeterTreeNode node = on(() -> GuiPackage.getInstance().getTreeListener().getCurrentNode());
            TestElement element = node.getTestElement();
            fact("row", on(() -> table.getValueAt(at, 0) + "|" + table.getValueAt(at, 1) + "|" + table.getValueAt(at, 2)));
            fact("selected", node.getName() + "|" + element.getComment());
        }
        shot("check-selected");
        click(named("throng.check.all"));
        pause(700);
        fact("all", on(table::getRowCount));
        shot("check-all");
        // Types a change into the panel of the selected element, without saving and without leaving the panel.
        int own = on(() -> String.valueOf(table.getValueAt(0, 2)).contains("(ab") ? 0 : 1);
        Rectangle mistake = on(() -> table.getCellRect(own, 2, true));
        click(table, mistake.x + 40, mistake.y + mistake.height / 2);
        pause(700);
        on(() -> {
            for (Component field : below(GuiPackage.getInstance().getMainFrame(), component -> component.isShowing()
                    && component instanceof JTextComponent && "(ab".equals(((JTextComponent) component).getText()))) {
                ((JTextComponent) field).setText("(ab)");
            }
            return null;
        });
        click(named("throng.check.all"));
        click(named("throng.check.again"));
        pause(300);
        until("the second check", () -> ((AbstractButton) named("throng.check.again")).isEnabled());
        fact("findings after the change", on(table::getRowCount));
        on(() -> {
            GuiPackage.getInstance().clearTestPlan();
            return null;
        });
        pause(700);
        click(named("throng.check.again"));
        pause(300);
        until("the third check", () -> ((AbstractButton) named("throng.check.again")).isEnabled());
        fact("never saved", on(() -> ((JLabel) named("throng.check.counts")).getText()));
        on(() -> {
            SwingUtilities.getWindowAncestor(table).setVisible(false);
            return null;
        });
    }

    /** Runs the open plan normally, then with requests and responses, and then stops a third run. */
    private void rows() throws Exception {
        menu("throng.run");
        pause(800);
        shot("run");
        type("throng.run.properties", "loops=15");
        type("throng.run.users", "3");
        type("throng.run.more", "--no-such-option");
        run("refused");
        type("throng.run.more", "");
        run("a run");
        type("throng.run.users", "");
        type("throng.run.properties", "loops=3");
        click(named("throng.run.full"));
        run("a full run");
        click(named("throng.run.full"));
        type("throng.run.properties", "loops=1000000");
        click(named("throng.run.start"));
        until("figures", () -> !((JLabel) named("throng.run.figures")).getText().trim().isEmpty());
        // The live page exists only during a run, so it is requested from the run that does not end by itself.
        shot("running");
        fact("page", page(on(() -> ((JTextComponent) named("throng.run.output")).getText())));
        click(named("throng.run.stop"));
        ended("a stopped run");
        on(() -> {
            SwingUtilities.getWindowAncestor(named("throng.run.start")).setVisible(false);
            GuiPackage.getInstance().getTreeListener().getJTree().setSelectionRow(1);
            return null;
        });
        pause(1000);
        shot("listener");
    }

    /** Returns the first line of the live page whose link the output names, or the reason for its absence. */
    private static String page(String output) throws Exception {
        Matcher link = Pattern.compile("Live page\\s+(http\\S+)#\\S+").matcher(output);
        if (!link.find()) {
            return "no link in " + output;
        }
        try (Scanner page = new Scanner(new URL(link.group(1)).openStream(), "UTF-8")) {
            return page.nextLine();
        }
    }

    private void run(String name) throws Exception {
        click(named("throng.run.start"));
        pause(300);
        ended(name);
    }

    /** Waits for the end of the run, until the listeners are drawn, and records what the window shows. */
    private void ended(String name) throws Exception {
        until("the end of " + name, () -> named("throng.run.start").isEnabled());
        pause(3000);
        shot(name.replace(' ', '-'));
        fact(name, on(() -> ((JLabel) named("throng.run.state")).getText()));
        fact(name + " output", on(() -> ((JTextComponent) named("throng.run.output")).getText()));
        for (JMeterTreeNode node : GuiPackage.getInstance().getTreeModel().getNodesOfType(ResultCollector.class)) {
            fact(name + ": " + node.getName(), on(() -> shows((Container) GuiPackage.getInstance().getGui(node.getTestElement()))));
        }
    }

    /** Returns the number of samples that a listener shows and, for a tree, the first sample's response data. */
    private static String shows(Container panel) {
        for (Component tree : below(panel, component -> component instanceof JTree)) {
            DefaultMutableTreeNode root = (DefaultMutableTreeNode) ((JTree) tree).getModel().getRoot();
            String first = root.getChildCount() == 0 ? ""
                    : ((SampleResult) ((DefaultMutableTreeNode) root.getFirstChild()).getUserObject()).getResponseDataAsString();
            return root.getChildCount() + "|" + first;
        }
        for (Component table : below(panel, component -> component instanceof JTable)) {
            JTable rows = (JTable) table;
            for (int row = 0; row < rows.getRowCount(); row++) {
                if ("TOTAL".equals(String.valueOf(rows.getValueAt(row, 0)))) {
                    return String.valueOf(rows.getValueAt(row, 1));
                }
            }
            return "0";
        }
        return "no table";
    }

    /** Starts a run that is still active when JMeter ends. */
    private void exit() throws Exception {
        menu("throng.run");
        pause(500);
        type("throng.run.properties", "loops=1000000");
        click(named("throng.run.start"));
        until("figures", () -> !((JLabel) named("throng.run.figures")).getText().trim().isEmpty());
        fact("at the end", on(() -> ((JLabel) named("throng.run.state")).getText()));
    }

    /** Records the messages of both windows when the `throng` program is missing. */
    private void none() throws Exception {
        menu("throng.check");
        until("the check", () -> named("throng.check.again").isEnabled());
        fact("no program to check", on(() -> ((JTextComponent) named("throng.check.details")).getText()));
        shot("none");
        on(() -> {
            SwingUtilities.getWindowAncestor(named("throng.check.again")).setVisible(false);
            return null;
        });
        menu("throng.run");
        pause(1000);
        click(named("throng.run.start"));
        until("words", () -> !((JTextComponent) named("throng.run.output")).getText().isEmpty());
        fact("no program to run", on(() -> ((JTextComponent) named("throng.run.output")).getText()));
    }

    /** Shows an element that JMeter does not interpret (RPC Gateway Security), runs its plan in JMeter's engine, and saves it. */
    private void kept() throws Exception {
        GuiPackage gui = GuiPackage.getInstance();
        JMeterTreeNode node = on(() -> gui.getTreeModel().getNodesOfType(TestElement.class).stream()
                .filter(each -> each.getName().equals("RPC Gateway Security")).findFirst().get());
        on(() -> {
            gui.getTreeListener().getJTree().setSelectionPath(new TreePath(node.getPath()));
            return null;
        });
        pause(700);
        Container panel = (Container) on(gui::getCurrentGui);
        fact("panel", panel.getClass().getSimpleName());
        JTable table = (JTable) below(panel, component -> component instanceof JTable).get(0);
        for (int row = 0; row < on(table::getRowCount); row++) {
            int at = row;
            fact("kept", on(() -> table.getValueAt(at, 0) + "=" + table.getValueAt(at, 1)));
        }
        shot("kept");
        action(ActionNames.ACTION_START);
        JMeterTreeNode listener = gui.getTreeModel().getNodesOfType(ResultCollector.class).get(0);
        String all = System.getProperty("throng.driver.samples");
        until("all samples", () -> all.equals(shows((Container) gui.getGui(listener.getTestElement()))));
        fact("samples", all);
        action(ActionNames.SAVE);
    }

    // Input: actions, clicks and typing.

    private void action(String name) throws Exception {
        on(() -> {
            ActionRouter.getInstance().doActionNow(new ActionEvent(this, ActionEvent.ACTION_PERFORMED, name));
            return null;
        });
    }

    private void menu(String name) throws Exception {
        JMenuItem item = on(() -> {
            for (MenuElement top : GuiPackage.getInstance().getMainFrame().getJMenuBar().getSubElements()) {
                if (top instanceof JMenu) {
                    JMenu menu = (JMenu) top;
                    for (int at = 0; at < menu.getItemCount(); at++) {
                        if (menu.getItem(at) != null && name.equals(menu.getItem(at).getName())) {
                            return menu.getItem(at);
                        }
                    }
                }
            }
            throw new IllegalStateException("no entry " + name);
        });
        JMenu menu = (JMenu) ((javax.swing.JPopupMenu) item.getParent()).getInvoker();
        click(menu);
        pause(500);
        shot("menu");
        click(item);
        pause(300);
    }

    private void click(Component component) throws Exception {
        click(component, component.getWidth() / 2, component.getHeight() / 2);
    }

    /** Clicks until the component receives the click: a window may not yet be at its reported position, or be covered. */
    private void click(Component component, int x, int y) throws Exception {
        AtomicBoolean heard = new AtomicBoolean();
        MouseAdapter ear = new MouseAdapter() {
            @Override
            public void mousePressed(MouseEvent event) {
                heard.set(true);
            }
        };
        on(() -> {
            component.addMouseListener(ear);
            return null;
        });
        for (int tries = 0; tries < TRIES && !heard.get() && on(component::isShowing); tries++) {
            if (tries > 0) {
                fact("a click that " + component.getName() + " did not hear", on(() -> windows()));
                shot("not-heard");
                on(() -> {
                    // Moving the window makes the screen learn its position.
                    Window window = SwingUtilities.getWindowAncestor(component);
                    window.setLocation(window.getX(), window.getY() - 1);
                    window.toFront();
                    return null;
                });
                pause(500);
            }
            Point at = on(component::getLocationOnScreen);
            robot.mouseMove(at.x + x, at.y + y);
            robot.mousePress(InputEvent.BUTTON1_DOWN_MASK);
            robot.mouseRelease(InputEvent.BUTTON1_DOWN_MASK);
            robot.waitForIdle();
            for (long end = System.currentTimeMillis() + HEARD_MS; !heard.get() && System.currentTimeMillis() < end;) {
                pause(20);
            }
        }
        on(() -> {
            component.removeMouseListener(ear);
            return null;
        });
        if (!heard.get()) {
            throw new IllegalStateException(component.getName() + " hears no click: " + on(() -> windows()));
        }
    }

    /** Describes the visible windows: position, the active window, and the window below the pointer. */
    private static String windows() {
        StringBuilder all = new StringBuilder("the pointer is at " + MouseInfo.getPointerInfo().getLocation());
        for (Window window : Window.getWindows()) {
            if (window.isShowing()) {
                boolean blocks = window instanceof Dialog && ((Dialog) window).isModal();
                all.append("; ").append(window.getName()).append(" of ").append(window.getClass().getSimpleName()).append(' ')
                        .append(window.getBounds()).append(blocks ? " modal" : "").append(window.isActive() ? " active" : "")
                        .append(window.getMousePosition() == null ? "" : " below the pointer");
            }
        }
        return all.toString();
    }

    private void type(String name, String text) throws Exception {
        on(() -> {
            ((JTextComponent) named(name)).setText(text);
            return null;
        });
    }

    // Output: components, screenshots and recorded facts.

    private Component named(String name) {
        for (Window window : Window.getWindows()) {
            List<Component> found = below(window, component -> name.equals(component.getName()));
            if (!found.isEmpty()) {
                return found.get(0);
            }
        }
        throw new IllegalStateException("no component " + name);
    }

    private static List<Component> below(Container container, Predicate<Component> which) {
        List<Component> found = new ArrayList<>();
        if (which.test(container)) {
            found.add(container);
        }
        for (Component child : container.getComponents()) {
            if (child instanceof Container) {
                found.addAll(below((Container) child, which));
            } else if (which.test(child)) {
                found.add(child);
            }
        }
        return found;
    }

    private void shot(String name) throws Exception {
        robot.waitForIdle();
        Rectangle screen = new Rectangle(Toolkit.getDefaultToolkit().getScreenSize());
        ImageIO.write(robot.createScreenCapture(screen), "png", new File(out, name + ".png"));
    }

    private void fact(String name, Object value) {
        facts.println("{" + quoted(name) + ": " + (value instanceof Number ? value.toString() : quoted(String.valueOf(value))) + "}");
        facts.flush();
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\t", "\\t") + '"';
    }

    private static <T> T on(Callable<T> work) throws Exception {
        if (SwingUtilities.isEventDispatchThread()) {
            return work.call();
        }
        FutureTask<T> task = new FutureTask<>(work);
        SwingUtilities.invokeLater(task);
        return task.get();
    }

    private static void until(String what, Callable<Boolean> holds) throws Exception {
        long end = System.currentTimeMillis() + PATIENCE_MS;
        while (!on(holds)) {
            if (System.currentTimeMillis() > end) {
                throw new IllegalStateException("waited in vain for " + what);
            }
            pause(100);
        }
    }

    private static void pause(long ms) throws InterruptedException {
        Thread.sleep(ms);
    }

    // Methods that JMeter requires of a plug-in's menu.

    @Override
    public JMenuItem[] getMenuItemsAtLocation(MENU_LOCATION location) {
        return new JMenuItem[0];
    }

    @Override
    public JMenu[] getTopLevelMenus() {
        return new JMenu[0];
    }

    @Override
    public boolean localeChanged(MenuElement menu) {
        return false;
    }

    @Override
    public void localeChanged() {
        // The driver shows no text, so there is nothing to translate.
    }
}
