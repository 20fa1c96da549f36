package dev.throng;

import dev.throng.Message.Act;
import dev.throng.Message.Role;
import java.util.Locale;

/**
 * Runs jobs and prints the cost of one, for comparing versions. This is no test. The script of the first line is the
 * usual one (two variables read, one written). Each further line adds or removes one operation.
 */
public final class Timing {
    private Timing() {
    }

    public static void main(String[] arguments) {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 200_000;
        Play play = new Play().slots("user", "host", "id", "a", "b", "c", "d", "e");
        int usual = play.jsr223(Role.BEFORE, """
                def user = vars.get("user")
                def host = vars.get("host")
                def id = user + "@" + host
                vars.put("id", id)
                """, 0);
        int empty = play.jsr223(Role.BEFORE, "1", 0);
        int result = play.jsr223(Role.AFTER, "vars.put('id', prev.getResponseCode())", 1);
        int bsh = play.beanshell(Role.AFTER, """
                String user = vars.get("user");
                String host = vars.get("host");
                String id = user + "@" + host;
                if (id.length() > 3) {
                    vars.put("id", id);
                }
                """, false, 0);
        int reset = play.beanshell(Role.AFTER, "vars.put(\"id\", vars.get(\"user\"));", true, 0);
        int http = play.element(Role.SAMPLER, "HTTPSamplerProxy", "home", 0, Elements.HTTP);
        play.owner(4, http);
        int change = play.jsr223(Role.BEFORE, "sampler.setPath('/x' + vars.get('user'))", 2);
        int text = play.text("${__groovy(vars.get('user'))}");
        play.start();
        for (int round = 0; round < 3; round++) {
            time("codec only", rounds, play, Act.EVALUATE, play.job());
            time("empty script", rounds, play, Role.BEFORE, play.job(), empty);
            time("usual script", rounds, play, Role.BEFORE, play.job(), usual);
            time("reads result", rounds, play, Role.AFTER, play.job().result(new Play.Sample()), result);
            time("beanshell", rounds / 4, play, Role.AFTER, play.job().result(new Play.Sample()), bsh);
            time("beanshell reset", rounds / 10, play, Role.AFTER, play.job().result(new Play.Sample()), reset);
            time("changes request", rounds / 10, play, Role.BEFORE, play.job().sampler(4), change);
            time("__groovy", rounds / 4, play, Act.EVALUATE, play.job(), text);
        }
    }

    private static void time(String what, int rounds, Play play, int act, Play.Job job, int... ids) {
        job.with("user", "joe").with("host", "example.org").with("a", "1").with("b", "2").with("c", "3").with("other", "4");
        byte[] message = job.message(act, ids);
        long start = System.nanoTime();
        for (int i = 0; i < rounds; i++) {
            // Each job has a separate message, as in a run.
            byte[] reply = Host.call(message.clone());
            if (reply[0] != 0) {
                throw new IllegalStateException(what + ": " + play.read(act, reply).log + play.read(act, reply).failure);
            }
        }
        double each = (System.nanoTime() - start) / 1000.0 / rounds;
        System.out.printf(Locale.ROOT, "%-16s %8.2f us%n", what, each);
    }
}
