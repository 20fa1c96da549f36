package dev.throng.jmeter;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Settings of a run: the load that replaces that of the plan, properties, and the use of the results. */
final class RunSettings {
    String users = "";
    String rate = "";
    String ramp = "";
    String duration = "";
    String iterations = "";
    /** Properties, one {@code name=value} per line. */
    String properties = "";
    /** Further options of {@code throng run}, in shell syntax. */
    String more = "";
    /** The parent folder of the run's folder; empty for {@code runs} in the plan's folder. */
    String runs = "";
    boolean isPageOpened = true;
    boolean areRowsLoaded = true;
    /** True if rows contain requests and responses. */
    boolean areRowsFull;
    boolean isCleared = true;

    private static final Pattern PART = Pattern.compile("(\\d+(?:\\.\\d+)?)(ms|s|m|h)?");

    /** An error in the user's input. */
    static final class Mistake extends Exception {
        Mistake(String message) {
            super(message);
        }
    }

    /** Returns the options of {@code throng run} for these settings. */
    List<String> options() throws Mistake {
        List<String> line = new ArrayList<>();
        if (!users.trim().isEmpty() && !rate.trim().isEmpty()) {
            throw new Mistake("Give users or starts per second, not both.");
        }
        String[][] load = {{"--users", users}, {"--rps", rate}, {"--ramp", ramp}, {"--duration", duration},
            {"--iterations", iterations}};
        for (String[] pair : load) {
            if (!pair[1].trim().isEmpty()) {
                line.add(pair[0] + "=" + pair[1].trim());
            }
        }
        for (String property : properties.split("\n")) {
            String text = property.trim();
            if (text.isEmpty() || text.startsWith("#")) {
                continue;
            }
            String pair = text.startsWith("-J") ? text.substring(2).trim() : text;
            if (pair.indexOf('=') < 1) {
                throw new Mistake("\"" + text + "\" is no property: write name=value, one a line.");
            }
            line.add("-J" + pair);
        }
        if (areRowsFull) {
            String[] parts = {"output_format=xml", "response_data=true", "samplerData=true", "requestHeaders=true",
                "responseHeaders=true", "url=true", "assertions=true"};
            for (String part : parts) {
                line.add("-Jjmeter.save.saveservice." + part);
            }
        }
        line.addAll(words(more));
        return line;
    }

    /** Splits a string into words as a shell does; only quotes and backslashes are special. */
    static List<String> words(String text) throws Mistake {
        List<String> words = new ArrayList<>();
        StringBuilder word = null;
        char quote = 0;
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            if (quote == 0 && Character.isWhitespace(c)) {
                if (word != null) {
                    words.add(word.toString());
                    word = null;
                }
                continue;
            }
            word = word == null ? new StringBuilder() : word;
            if (quote != 0 && c == quote) {
                quote = 0;
            } else if (quote == 0 && (c == '"' || c == '\'')) {
                quote = c;
            } else if (c == '\\' && quote != '\'' && at + 1 < text.length()) {
                at++;
                word.append(text.charAt(at));
            } else {
                word.append(c);
            }
        }
        if (quote != 0) {
            throw new Mistake("More options: a quote " + quote + " is not closed.");
        }
        if (word != null) {
            words.add(word.toString());
        }
        return words;
    }

    /** Returns the requested length of the run in seconds; 0 if none is requested, or if only Throng can compute it. */
    double seconds() {
        String text = duration.trim();
        double sum = 0;
        Matcher part = PART.matcher(text);
        int end = 0;
        while (part.find() && part.start() == end) {
            String unit = part.group(2) == null ? "s" : part.group(2);
            double factor = unit.equals("ms") ? 0.001 : unit.equals("s") ? 1 : unit.equals("m") ? 60 : 3600;
            sum += Double.parseDouble(part.group(1)) * factor;
            end = part.end();
        }
        return end == text.length() ? sum : 0;
    }
}
