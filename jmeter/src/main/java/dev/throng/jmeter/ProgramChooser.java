package dev.throng.jmeter;

import java.awt.Component;
import java.io.File;
import java.util.prefs.BackingStoreException;

import javax.swing.JFileChooser;
import javax.swing.JOptionPane;

/** Asks the user for the path of the program {@code throng}. */
final class ProgramChooser {
    private static final Object[] ANSWERS = {"Choose another…", "Search by default", "Close"};

    private ProgramChooser() {
    }

    static void choose(Component parent) {
        String now;
        try {
            now = "The program is " + Program.find() + ".";
        } catch (Program.NotFound none) {
            now = none.getMessage();
        }
        int answer = JOptionPane.showOptionDialog(parent, now, "Throng", JOptionPane.DEFAULT_OPTION,
                JOptionPane.QUESTION_MESSAGE, null, ANSWERS, ANSWERS[2]);
        try {
            if (answer == 0) {
                JFileChooser chooser = new JFileChooser();
                chooser.setDialogTitle("The program throng");
                if (chooser.showOpenDialog(parent) == JFileChooser.APPROVE_OPTION) {
                    keep(parent, chooser.getSelectedFile());
                }
            } else if (answer == 1) {
                Program.choose(null);
            }
        } catch (BackingStoreException error) {
            JOptionPane.showMessageDialog(parent, "The choice holds until JMeter ends; it cannot be kept: " + error.getMessage(),
                    "Throng", JOptionPane.WARNING_MESSAGE);
        }
    }

    private static void keep(Component parent, File program) throws BackingStoreException {
        if (!program.canExecute()) {
            JOptionPane.showMessageDialog(parent, program + " is not a program that can be run.", "Throng",
                    JOptionPane.ERROR_MESSAGE);
            return;
        }
        Program.choose(program);
    }
}
