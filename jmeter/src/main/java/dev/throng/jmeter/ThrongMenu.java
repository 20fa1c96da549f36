package dev.throng.jmeter;

import java.awt.event.ActionEvent;

import javax.swing.JMenu;
import javax.swing.JMenuItem;
import javax.swing.MenuElement;

import org.apache.jmeter.gui.GuiPackage;
import org.apache.jmeter.gui.plugin.MenuCreator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The menu "Throng" in JMeter's menu bar. JMeter creates one instance and requests its menus once. */
public final class ThrongMenu implements MenuCreator {
    private static final Logger LOG = LoggerFactory.getLogger(ThrongMenu.class);

    private CheckWindow check;
    private RunWindow run;

    /** Constructor for JMeter. */
    public ThrongMenu() {
    }

    @Override
    public JMenuItem[] getMenuItemsAtLocation(MENU_LOCATION location) {
        return new JMenuItem[0];
    }

    @Override
    public JMenu[] getTopLevelMenus() {
        JMenu menu = new JMenu("Throng");
        menu.setName("throng");
        menu.setMnemonic('G');
        menu.add(item("Check with Throng", "throng.check", 'C', this::check));
        menu.add(item("Run with Throng…", "throng.run", 'R', this::run));
        menu.addSeparator();
        menu.add(item("Choose the program…", "throng.program", 'P', () ->
                ProgramChooser.choose(GuiPackage.getInstance().getMainFrame())));
        return new JMenu[] {menu};
    }

    /** Creates a menu item. If its action fails, the error is shown to the user. */
    private static JMenuItem item(String text, String name, char mnemonic, Runnable action) {
        JMenuItem item = new JMenuItem(text, mnemonic);
        item.setName(name);
        item.addActionListener((ActionEvent event) -> {
            try {
                action.run();
            } catch (RuntimeException | LinkageError error) {
                LOG.error("{} failed", text, error);
                GuiPackage.showErrorMessage(text + " failed: " + error + "\nJMeter's log has more.", "Throng");
            }
        });
        return item;
    }

    private void check() {
        if (check == null) {
            check = new CheckWindow();
        }
        check.open();
    }

    private void run() {
        if (run == null) {
            run = new RunWindow();
        }
        run.setVisible(true);
        run.toFront();
    }

    /** Has no effect, because JMeter does not translate the menu. */
    @Override
    public boolean localeChanged(MenuElement menu) {
        return menu.getComponent().getName() != null && menu.getComponent().getName().startsWith("throng");
    }

    @Override
    public void localeChanged() {
        // The menu is in English for all languages.
    }
}
