package dev.throng.jmeter;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

/** A finding of {@code throng check} about an element of the plan, or about the plan. */
final class Finding {
    /** Kinds of findings, the most severe first. */
    enum Kind {
        ERROR("error"), CANNOT_RUN("cannot run"), WARNING("warning"), NOTE("note"), LEFT_OUT("left out"), IN_JAVA("in Java");

        final String words;

        Kind(String words) {
            this.words = words;
        }

        /** Returns true if the finding only tells how an element is run. */
        boolean isInformation() {
            return this == LEFT_OUT || this == IN_JAVA;
        }

        private static Kind of(String word) {
            switch (word) {
                case "error":
                    return ERROR;
                case "warning":
                    return WARNING;
                default:
                    return NOTE;
            }
        }
    }

    final Kind kind;
    final String message;
    /** Advice on how to fix the problem; may be empty. */
    final String help;
    /** The joined names of the element and of its ancestors; may be empty. */
    final String path;
    /** Code of an error or warning, or the class of an element. */
    final String code;
    /** Line in the text of the plan; 0 if there is none, or if it is in another file. */
    final int line;
    /** The file, if it is not that of the plan. */
    final String file;

    private Finding(Kind kind, JsonNode node, String message, String code, File plan) {
        this.kind = kind;
        this.message = message;
        this.help = node.path("help").asText("");
        this.path = node.path(node.has("path") ? "path" : "element").asText("");
        this.code = code;
        String file = node.path("file").asText("");
        boolean isOurs = file.isEmpty() || new File(file).getAbsoluteFile().equals(plan.getAbsoluteFile());
        this.line = isOurs ? node.path("line").asInt(0) : 0;
        this.file = isOurs ? "" : file;
    }

    /** Returns the name of the element. */
    String element() {
        int last = path.lastIndexOf(PATH);
        return last < 0 ? path : path.substring(last + PATH.length());
    }

    /** Separator of the names in a path. */
    static final String PATH = " > ";

    /** All findings about a plan. */
    static final class Report {
        final boolean runs;
        final int natively;
        final int inJava;
        final int leftOut;
        final int cannotRun;
        /** Findings, the most severe first; those of the same kind in the order of the plan. */
        final List<Finding> findings = new ArrayList<>();

        /** Parses the output of {@code throng check --json} for that plan. */
        Report(byte[] json, File plan) throws IOException {
            JsonNode root = new ObjectMapper().readTree(json);
            if (root == null || !root.path("findings").isArray() || !root.path("elements").isArray()) {
                throw new IOException("the output of throng check --json is not known to this plug-in");
            }
            runs = root.path("runs").asBoolean();
            natively = root.path("native").asInt();
            inJava = root.path("jvm").asInt();
            leftOut = root.path("ignored").asInt();
            cannotRun = root.path("unsupported").asInt();
            for (JsonNode node : root.path("findings")) {
                Kind kind = Kind.of(node.path("severity").asText());
                findings.add(new Finding(kind, node, node.path("message").asText(), node.path("code").asText(), plan));
            }
            for (JsonNode node : root.path("elements")) {
                Kind kind = kindOf(node.path("level").asText());
                if (kind != null) {
                    String says = node.path("consequence").asText("");
                    String words = says.isEmpty() ? words(kind) : says;
                    findings.add(new Finding(kind, node, words, node.path("class").asText(), plan));
                }
            }
            for (JsonNode node : root.path("warnings")) {
                findings.add(new Finding(Kind.WARNING, root.path("none"), node.asText(), "", plan));
            }
            findings.sort(Comparator.comparing((Finding finding) -> finding.kind));
        }

        private static Kind kindOf(String level) {
            switch (level) {
                case "unsupported":
                    return Kind.CANNOT_RUN;
                case "jvm":
                    return Kind.IN_JAVA;
                case "ignored":
                    return Kind.LEFT_OUT;
                default:
                    return null;
            }
        }

        private static String words(Kind kind) {
            return kind == Kind.IN_JAVA ? "Its own class runs it, in Java." : "";
        }
    }
}
