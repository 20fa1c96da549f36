package dev.throng;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.jmeter.samplers.SampleResult;

/** The environment of the scripts of a corpus, and the notation of their effects. */
final class CorpusWorld {
    static final String URL = "http://localhost:8080/a?b=c";
    static final String HEADERS = "HTTP/1.1 200 OK\nContent-Type: application/json\nX-Request: 5\n";
    static final String BODY = "{\"id\": 7, \"name\": \"n\", \"token\": \"t\", \"data\": {\"id\": 1}, \"items\": [{\"id\": 1}, {\"id\": 2}]}";
    static final long START = 1_700_000_000_000L;

    private CorpusWorld() {
    }

    static String text(Object value) {
        return value instanceof String ? (String) value : "gone";
    }

    /** {@code own}: the result belongs to a sampler. An HTTP result builds its data from parts of it. */
    static void result(Map<String, String> seen, SampleResult result, boolean own) {
        if (result == null) {
            seen.put("result", "none");
            return;
        }
        fields(seen, result.getSampleLabel(), result.getResponseCode(), result.getResponseMessage(), result.isSuccessful(),
                new String(result.getResponseData(), StandardCharsets.UTF_8), result.getResponseHeaders(), own && result.getSamplerData() != null ? result.getSamplerData() : "", result.getSubResults().length,
                result.isStopThread(), result.isStopTest(), result.isStopTestNow(), result.isIgnore());
    }

    static void result(Map<String, String> seen, Play.Sample result, boolean own) {
        if (result == null) {
            seen.put("result", "none");
            return;
        }
        byte[] body = result.body == null ? new byte[0] : result.body;
        fields(seen, result.label, result.code, result.message, result.success(), new String(body, StandardCharsets.UTF_8),
                result.responseHeaders, own ? result.samplerData : "", result.subs.size(), (result.flags & 8) != 0, (result.flags & 16) != 0,
                (result.flags & 32) != 0, (result.flags & 2) != 0);
    }

    private static void fields(Map<String, String> seen, Object... fields) {
        String[] names = {"label", "code", "message", "success", "body", "headers", "sampler data", "sub-results", "stops thread",
            "stops test", "stops test now", "ignored"};
        for (int i = 0; i < names.length; i++) {
            seen.put("result " + names[i], String.valueOf(fields[i]));
        }
    }

    static void verdicts(Map<String, String> seen, List<String[]> verdicts) {
        for (String[] verdict : verdicts) {
            seen.put("assertion", String.join(" ", List.of(verdict[1], String.valueOf(verdict[2]))));
        }
    }

    static void log(Map<String, String> seen, Input in) {
        List<String> lines = new ArrayList<>();
        int count = in.i32();
        for (int i = 0; i < count; i++) {
            int level = in.u8();
            in.i64();
            lines.add(level + " " + in.str() + ": " + in.str());
        }
        log(seen, lines);
    }

    /** Keeps the informative part of each line: no stack traces, and no names of files that JMeter opens only once. */
    static void log(Map<String, String> seen, List<String> lines) {
        StringBuilder text = new StringBuilder();
        for (String line : lines) {
            String first = line.lines().findFirst().orElse("");
            if (!first.contains("services.FileServer: ")) {
                text.append(first).append('\n');
            }
        }
        seen.put("log", text.toString());
    }
}
