package dev.throng.jmeter;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.prefs.BackingStoreException;
import java.util.prefs.Preferences;

import org.apache.jmeter.util.JMeterUtils;

/**
 * Searches the program {@code throng}: JMeter's property, the user's choice, the program that installed the plug-in, PATH.
 *
 * <p>A property or a choice without a program is an error, because users do not expect another program to run. The
 * program that installed the plug-in may have been moved.
 */
final class Program {
    /** JMeter's property with the path of the program. */
    static final String PROPERTY = "throng.program";
    /** The file next to the plug-in's jar with the path of the program that installed the plug-in. */
    static final String RECORD = "throng-jmeter.program";
    private static final String NAME = "throng";
    /** Maximum size of that file in bytes, longer than any path. */
    private static final long RECORD_MOST = 8192;

    private Program() {
    }

    /** Error: no program was found. The message contains advice. */
    static final class NotFound extends Exception {
        NotFound(String message) {
            super(message);
        }
    }

    /** The places in which the program is searched. */
    static final class Places {
        String property = "";
        String chosen = "";
        File record;
        String path = "";
    }

    static File find() throws NotFound {
        Places places = new Places();
        places.property = JMeterUtils.getPropDefault(PROPERTY, "");
        places.chosen = chosen();
        places.record = record();
        String path = System.getenv("PATH");
        places.path = path == null ? "" : path;
        return find(places);
    }

    static File find(Places places) throws NotFound {
        if (!places.property.trim().isEmpty()) {
            return named(places.property.trim(), "the property " + PROPERTY);
        }
        if (!places.chosen.isEmpty()) {
            return named(places.chosen, "the menu Throng > Choose the program");
        }
        String recorded = recorded(places.record);
        if (!recorded.isEmpty() && runs(new File(recorded))) {
            return new File(recorded);
        }
        for (String folder : places.path.split(File.pathSeparator)) {
            File file = new File(folder, NAME);
            if (!folder.isEmpty() && runs(file)) {
                return file.getAbsoluteFile();
            }
        }
        String moved = recorded.isEmpty() ? "" : " The program that installed this plug-in is no longer at " + recorded + ".";
        throw new NotFound("The program throng was not found." + moved + "\nChoose it with the menu Throng > Choose the program,"
                + " name it by the property " + PROPERTY + " in user.properties, or add its folder to PATH.");
    }

    private static File named(String path, String by) throws NotFound {
        File file = new File(path);
        if (!runs(file)) {
            throw new NotFound(path + ", given by " + by + ", is not a program that can be run.\nCorrect it there.");
        }
        return file.getAbsoluteFile();
    }

    private static boolean runs(File file) {
        return file.isFile() && file.canExecute();
    }

    private static String recorded(File record) {
        try {
            if (record == null || !record.isFile() || record.length() > RECORD_MOST) {
                return "";
            }
            return new String(Files.readAllBytes(record.toPath()), StandardCharsets.UTF_8).trim();
        } catch (IOException error) {
            return "";
        }
    }

    /** Returns the file next to the plug-in's jar. */
    private static File record() {
        try {
            File jar = new File(Program.class.getProtectionDomain().getCodeSource().getLocation().toURI());
            return new File(jar.getParentFile(), RECORD);
        } catch (URISyntaxException | SecurityException | IllegalArgumentException | NullPointerException error) {
            return null;
        }
    }

    /** Returns the user's choice, which is stored for the next start of JMeter; empty if there is none. */
    static String chosen() {
        try {
            return preferences().get(PROPERTY, "");
        } catch (SecurityException | IllegalStateException error) {
            return "";
        }
    }

    /** Stores the user's choice; null deletes it. */
    static void choose(File program) throws BackingStoreException {
        Preferences preferences = preferences();
        if (program == null) {
            preferences.remove(PROPERTY);
        } else {
            preferences.put(PROPERTY, program.getAbsolutePath());
        }
        preferences.flush();
    }

    private static Preferences preferences() {
        return Preferences.userNodeForPackage(Program.class);
    }
}
