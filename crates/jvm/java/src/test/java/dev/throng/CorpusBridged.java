package dev.throng;

import dev.throng.Message.Role;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Runs a script as a job of the bridge, and converts the reply as native code does. */
final class CorpusBridged {
    private static final int SAMPLER = 4;
    private static final int ALL = 15;

    private CorpusBridged() {
    }

    static Map<String, String> run(CorpusCase one) {
        Play play = new Play();
        play.readsAnyName = true;
        one.properties().forEach(play::property);
        int id = play.element(one.role(), one.tag(), "script", ALL, one.xml());
        if (one.role() == Role.SAMPLER) {
            play.owner(SAMPLER, id);
        } else {
            play.owner(SAMPLER, play.element(Role.SAMPLER, "HTTPSamplerProxy", "home", ALL, Elements.HTTP),
                    play.element(Role.CONFIG, "HeaderManager", "headers", 0, Elements.HEADERS));
        }
        play.start();
        Map<String, String> seen = new TreeMap<>();
        Play.Job job = play.job().sampler(SAMPLER);
        one.variables().forEach(job::with);
        Play.Sample sample = one.role() == Role.SAMPLER ? null : sample();
        if (sample != null) {
            job.result(sample);
        }
        Play.Reply reply = job.run(one.role(), id);
        if (reply.status == 1) {
            seen.put("outcome", "the bridge failed: " + reply.failure);
            return seen;
        }
        if (reply.status == 2) {
            seen.put("outcome", "abandoned");
        }
        if (one.role() == Role.TIMER) {
            seen.put("delay", String.valueOf(reply.delay));
        }
        boolean success = reply.assertions.stream().allMatch(verdict -> verdict[1].isEmpty());
        Play.Sample result = reply.result == null ? sample : reply.result;
        if (result != null && result.body == null && sample != null) {
            result.body = sample.body;
        }
        if (result != null && !success) {
            result.flags &= ~1;
        }
        CorpusWorld.result(seen, result, one.role() == Role.SAMPLER);
        CorpusWorld.verdicts(seen, reply.assertions);
        if (one.role() == Role.BEFORE) {
            // A property that was removed and has the same default counts as a change here, which has no effect.
            String planned = "||8080|/start|GET q=" + one.variables().getOrDefault("user", "${user}") + " r= X-One: 1";
            String request = reply.request == null ? planned : request(reply.request);
            seen.put("request", request.equals(planned) ? "as planned" : request);
        }
        one.variables().forEach((name, value) -> seen.put("variable " + name, value));
        reply.vars.forEach((name, value) -> {
            if (value == null) {
                seen.remove("variable " + name);
            } else {
                seen.put("variable " + name, value);
            }
        });
        one.properties().forEach((name, value) -> seen.put("property " + name, value));
        reply.props.forEach((name, value) -> seen.put("property " + name, value == null ? "gone" : value));
        CorpusWorld.log(seen, reply.log);
        return seen;
    }

    private static Play.Sample sample() {
        Play.Sample sample = new Play.Sample();
        sample.flags = 1 | 4 | 64;
        sample.url = CorpusWorld.URL;
        sample.responseHeaders = CorpusWorld.HEADERS;
        sample.contentType = "application/json";
        sample.encoding = "UTF-8";
        sample.start = CorpusWorld.START;
        sample.end = CorpusWorld.START + 20;
        sample.body = CorpusWorld.BODY.getBytes(StandardCharsets.UTF_8);
        sample.bodySize = sample.body.length;
        sample.bytes = 100 + sample.body.length;
        return sample;
    }

    private static String request(Play.Request request) {
        StringBuilder text = new StringBuilder(String.join("|", request.fields.subList(0, 5)));
        List<String> arguments = new ArrayList<>(request.arguments);
        arguments.replaceAll(argument -> argument.startsWith("r=") ? "r=" : argument);
        arguments.forEach(argument -> text.append(' ').append(argument));
        request.headers.forEach(header -> text.append(' ').append(header));
        return text.toString();
    }
}
