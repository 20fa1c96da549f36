package dev.throng.jmeter;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.apache.jmeter.util.JMeterUtils;

/** Command lines of Throng with the settings of this JMeter: its home, and the properties of its command line. */
final class Command {
    /** Options of JMeter that set properties. The value is in the same word or in the next one. */
    private static final List<String> SHORT = Arrays.asList("-J", "-D", "-q", "-p", "-S");
    private static final List<String> LONG = Arrays.asList("--jmeterproperty", "--systemproperty", "--addprop", "--propfile",
            "--systemPropertyFile");

    private Command() {
    }

    /** Returns a command line of the program: the verb, then the settings with which this JMeter was started. */
    static List<String> of(File program, String verb) {
        List<String> line = new ArrayList<>(Arrays.asList(program.getPath(), verb));
        String home = JMeterUtils.getJMeterHome();
        if (home != null && !home.isEmpty()) {
            line.add("-d");
            line.add(home);
        }
        line.addAll(properties(ownLine()));
        return line;
    }

    /** Returns the options of JMeter that set properties. File names are made absolute. */
    static List<String> properties(List<String> jmeter) {
        List<String> found = new ArrayList<>();
        for (int at = 0; at < jmeter.size(); at++) {
            String word = jmeter.get(at);
            int equals = word.indexOf('=');
            String option = word.startsWith("--") ? (equals < 0 ? word : word.substring(0, equals))
                    : word.substring(0, Math.min(2, word.length()));
            int which = word.startsWith("--") ? LONG.indexOf(option) : SHORT.indexOf(option);
            if (which < 0) {
                continue;
            }
            String value = word.startsWith("--") ? (equals < 0 ? "" : word.substring(equals + 1)) : word.substring(2);
            if (value.isEmpty() && at + 1 < jmeter.size()) {
                at++;
                value = jmeter.get(at);
            }
            boolean isFile = which >= 2;
            found.add(SHORT.get(which));
            found.add(isFile ? new File(value).getAbsolutePath() : value);
        }
        return found;
    }

    /** Returns JMeter's command line after the name of its jar; empty if the system does not provide it. */
    private static List<String> ownLine() {
        try {
            byte[] line = Files.readAllBytes(new File("/proc/self/cmdline").toPath());
            List<String> words = Arrays.asList(new String(line, StandardCharsets.UTF_8).split("\0"));
            for (int at = 0; at < words.size(); at++) {
                if (words.get(at).endsWith("ApacheJMeter.jar")) {
                    return words.subList(at + 1, words.size());
                }
            }
        } catch (IOException error) {
            // This system has no such file.
        }
        return new ArrayList<>();
    }
}
