package dev.throng;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Scripts of plans that were found somewhere do by the bridge what they do in JMeter: variables, properties, results, requests and lines
 * of the log. JMeter runs them twice; what differs between these two is of chance or of the clock, and is not compared; scripts that
 * name something random may differ in the third as well. Where there is no folder of plans, nothing is tested, and it says so.
 */
class CorpusTest {
    @TempDir
    Path folder;

    @Test
    void scriptsOfPlansDoWhatTheyDoInJMeter() throws Exception {
        Path plans = Folders.plans();
        if (!Files.isDirectory(plans)) {
            System.out.println("left out: there is no folder of plans at " + plans);
            return;
        }
        Map<String, Map<String, String>> first = run("jmeter", plans);
        Map<String, Map<String, String>> second = run("jmeter", plans);
        Map<String, Map<String, String>> bridged = run("bridge", plans);
        assertTrue(!first.isEmpty(), "no scripts in " + plans);
        assertEquals(first.keySet(), bridged.keySet());
        TreeSet<String> random = new TreeSet<>();
        for (CorpusCase one : CorpusCase.of(plans)) {
            if (one.xml().contains("andom")) {
                random.add(one.id());
            }
        }
        List<String> different = new ArrayList<>();
        int compared = 0;
        int chance = 0;
        for (String script : first.keySet()) {
            TreeSet<String> keys = new TreeSet<>(first.get(script).keySet());
            keys.addAll(bridged.get(script).keySet());
            for (String key : keys) {
                String one = first.get(script).get(key);
                if (!String.valueOf(one).equals(String.valueOf(second.get(script).get(key)))) {
                    chance++;
                    continue;
                }
                compared++;
                String other = bridged.get(script).get(key);
                if (String.valueOf(one).equals(String.valueOf(other))) {
                    continue;
                }
                if (random.contains(script)) {
                    chance++;
                } else {
                    different.add(script + "\n  " + key + "\n    JMeter: " + one + "\n    bridge: " + other);
                }
            }
        }
        System.out.println(first.size() + " runs of scripts, " + compared + " values compared, " + chance + " of chance");
        assertEquals("", String.join("\n", different));
    }

    /** Runs all scripts in a separate process. JMeter's process contains only the logging of the bridge. */
    private Map<String, Map<String, String>> run(String how, Path plans) throws Exception {
        Path place = folder.resolve("run");
        Path output = place.resolve("seen.tsv");
        clear(place);
        Files.createDirectories(place);
        Path logging = folder.resolve("logging");
        List<String> path = new ArrayList<>();
        for (String entry : classPath().split(File.pathSeparator)) {
            boolean own = Files.isDirectory(Path.of(entry, "dev", "throng")) && Files.exists(Path.of(entry, "dev/throng/Host.class"));
            if (own && how.equals("jmeter")) {
                copyLogging(Path.of(entry), logging);
                path.add(logging.toString());
            } else {
                path.add(entry);
            }
        }
        ProcessBuilder java = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Djava.security.manager=allow", "-Djava.awt.headless=true", "-Djava.io.tmpdir=" + place,
                "--add-opens", "java.base/java.lang=ALL-UNNAMED", "-cp", String.join(File.pathSeparator, path),
                "dev.throng.CorpusRun", how, plans.toString(), output.toString());
        java.directory(place.toFile());
        Path said = folder.resolve(how + ".out");
        java.redirectErrorStream(true).redirectOutput(said.toFile());
        Process process = java.start();
        assertEquals(0, process.waitFor(), Files.readString(said));
        Map<String, Map<String, String>> found = new LinkedHashMap<>();
        for (String line : Files.readAllLines(output)) {
            String[] cells = line.split("\t", 3);
            found.computeIfAbsent(cells[0], script -> new TreeMap<>())
                    .put(cells[1], plain(cells[2]));
        }
        return found;
    }

    /** Removes parts that always differ: script numbers, object addresses, and the class of the context in messages. */
    private static String plain(String text) {
        // The order of Groovy's proposals is random.
        return text.replaceAll("Possible solutions: .*", "").replaceAll("Script\\d+", "Script").replaceAll("@[0-9a-f]{3,}", "@")
                .replace("dev.throng.UserContext", "org.apache.jmeter.threads.JMeterContext");
    }

    private static String classPath() {
        String given = System.getProperty("surefire.test.class.path");
        return given == null ? System.getProperty("java.class.path") : given;
    }

    private static void copyLogging(Path classes, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(classes)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                String name = classes.relativize(file).toString().replace('\\', '/');
                if (name.matches("org/slf4j/.*|dev/throng/(Log|Output|Input|Element).*\\.class") && !name.contains("Loaded")) {
                    Path copy = to.resolve(name);
                    Files.createDirectories(copy.getParent());
                    Files.write(copy, Files.readAllBytes(file));
                }
            }
        }
    }

    private static void clear(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path file : all.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
