package dev.throng;

import dev.throng.Message.Role;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A script from a plan found elsewhere: its element as in the file, and its input. Every name that a script uses has a
 * value in one world, and none in the other.
 */
record CorpusCase(String id, String tag, String xml, Map<String, String> variables, Map<String, String> properties) {
    private static final Pattern ELEMENT = Pattern.compile(
            "<((?:JSR223|BeanShell)(?:Sampler|PreProcessor|PostProcessor|Assertion|Listener|Timer))\\s[^>]*[^/]>.*?</\\1\\s*>", Pattern.DOTALL);
    private static final Pattern VARIABLE = Pattern.compile("vars\\.get(?:Object)?\\(\\s*(?:\"|'|&quot;|&apos;)([^\"'&$]+)|\\$\\{(\\w+)}");
    private static final Pattern PROPERTY = Pattern.compile("props\\.get(?:Property)?\\(\\s*(?:\"|'|&quot;|&apos;)([^\"'&$]+)|__P\\((\\w+)");

    /** Returns all scripts of the plans in a folder, each for both worlds. */
    static List<CorpusCase> of(Path folder) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(folder)) {
            files = all.filter(file -> file.toString().endsWith(".jmx")).sorted().toList();
        }
        List<CorpusCase> cases = new ArrayList<>();
        for (Path file : files) {
            Matcher elements = ELEMENT.matcher(new String(Files.readAllBytes(file), java.nio.charset.StandardCharsets.UTF_8));
            int count = 0;
            while (elements.find()) {
                String id = folder.relativize(file) + "#" + ++count;
                String xml = elements.group();
                cases.add(new CorpusCase(id + " given", elements.group(1), xml, named(VARIABLE, xml, "7"), named(PROPERTY, xml, "3")));
                cases.add(new CorpusCase(id + " bare", elements.group(1), xml, Map.of(), Map.of()));
            }
        }
        return cases;
    }

    private static Map<String, String> named(Pattern pattern, String xml, String value) {
        TreeSet<String> names = new TreeSet<>();
        Matcher found = pattern.matcher(xml);
        while (found.find()) {
            names.add(found.group(1) != null ? found.group(1) : found.group(2));
        }
        Map<String, String> all = new LinkedHashMap<>();
        names.removeIf(name -> name.startsWith("__"));
        names.forEach(name -> all.put(name, value));
        return all;
    }

    int role() {
        return tag.endsWith("PreProcessor") ? Role.BEFORE : tag.endsWith("PostProcessor") ? Role.AFTER
                : tag.endsWith("Assertion") ? Role.ASSERTION : tag.endsWith("Listener") ? Role.LISTENER
                : tag.endsWith("Timer") ? Role.TIMER : Role.SAMPLER;
    }
}
