package dev.throng;

import dev.throng.Message.Act;
import dev.throng.Message.Role;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests scripts in every role: their input, and the effects that replies contain. */
class ScriptsTest {
    @Test
    void readsAndWritesVariables() {
        Play play = new Play().slots("a", "b", "c");
        int id = play.jsr223(Role.BEFORE, "vars.put('c', vars.get('a') + vars.get('b')); vars.put('new', 'x'); vars.remove('a')", 0);
        play.start();
        Play.Reply reply = play.job().with("a", "1").with("b", "2").with("z", "9").run(Act.BEFORE, id);
        assertEquals(0, reply.status, reply.failure);
        assertEquals("12", reply.vars.get("c"));
        assertEquals("x", reply.vars.get("new"));
        assertTrue(reply.vars.containsKey("a"));
        assertNull(reply.vars.get("a"));
        assertEquals(3, reply.vars.size());
        assertEquals(List.of(), reply.log);
    }

    @Test
    void seesVariablesWithoutSlotAndAllOfThem() {
        Play play = new Play().slots("a");
        int id = play.jsr223(Role.BEFORE,
                "vars.put('found', vars.get('z')); vars.put('n', '' + vars.entrySet().size() + vars.getIteration() + ctx.getThreadNum())", 0);
        play.start();
        Play.Job job = play.job().with("a", "1").with("z", "9").with("y", "8");
        job.iteration = 5;
        job.number = 3;
        Play.Reply reply = job.run(Act.BEFORE, id);
        assertEquals("9", reply.vars.get("found"));
        // The names a, z, y, and the "found" of the line before.
        assertEquals("453", reply.vars.get("n"));
    }

    @Test
    void knowsWhetherTheUserStaysTheSame() {
        Play play = new Play().slots("__jmv_SAME_USER");
        int id = play.jsr223(Role.BEFORE, "vars.put('same', '' + vars.isSameUserOnNextIteration())", 0);
        play.start();
        assertEquals("true", play.job().with("__jmv_SAME_USER", "true").run(Act.BEFORE, id).vars.get("same"));
        assertEquals("false", play.job().with("__jmv_SAME_USER", "false").run(Act.BEFORE, id).vars.get("same"));
    }

    @Test
    void objectsStayWithTheirUserUntilNativeCodeWritesOverThem() {
        Play play = new Play().slots("list", "n");
        int put = play.jsr223(Role.BEFORE, "vars.putObject('list', [1, 2]); vars.putObject('n', 5)", 0);
        int get = play.jsr223(Role.BEFORE, "vars.put('out', '' + vars.getObject('list') + vars.getObject('n')?.getClass()?.simpleName)", 0);
        play.start();
        Play.Reply reply = play.job().with("list", "text").run(Act.BEFORE, put);
        assertEquals("[1, 2]", reply.vars.get("list"));
        assertEquals("5", reply.vars.get("n"));
        Play.Job job = play.job().with("list", "[1, 2]");
        assertEquals("[1, 2]Integer", job.with("n", "5").run(Act.BEFORE, get).vars.get("out"));
        assertEquals("nullnull", play.job().of(2).run(Act.BEFORE, get).vars.get("out"));
        job = play.job().with("list", "[1, 2]");
        assertEquals("[1, 2]String", job.with("n", "6").run(Act.BEFORE, get).vars.get("out"));
        assertEquals("againString", play.job().with("n", "5").with("list", "again").run(Act.BEFORE, get).vars.get("out"));
        job = play.job().with("list", "[1, 2]");
        assertEquals("[1, 2]String", job.with("n", "5").run(Act.BEFORE, get).vars.get("out"));
    }

    @Test
    void textsOfObjectsAreToldAgainWhenTheyChange() {
        Play play = new Play().slots("list", "n");
        int put = play.jsr223(Role.BEFORE, "vars.putObject('list', [1]); vars.putObject('hidden', [1])", 0);
        int add = play.jsr223(Role.BEFORE, "vars.getObject('list') << 2; vars.getObject('hidden') << 2", 0);
        int look = play.jsr223(Role.BEFORE, "vars.put('n', vars.get('list'))", 0);
        play.start();
        Play.Reply reply = play.job().run(Act.BEFORE, put);
        assertEquals("[1]", reply.vars.get("list"));
        // Native code cannot read the variable by its name.
        assertTrue(reply.vars.containsKey("hidden"));
        assertNull(reply.vars.get("hidden"));
        reply = play.job().with("list", "[1]").run(Act.BEFORE, add);
        assertEquals(java.util.Map.of("list", "[1, 2]"), reply.vars);
        reply = play.job().with("list", "[1, 2]").run(Act.BEFORE, look);
        assertEquals(java.util.Map.of("n", "[1, 2]"), reply.vars);
        play = new Play();
        play.readsAnyName = true;
        put = play.jsr223(Role.BEFORE, "vars.putObject('hidden', [1])", 0);
        play.start();
        assertEquals("[1]", play.job().run(Act.BEFORE, put).vars.get("hidden"));
    }

    @Test
    void conditionsInJavaScriptKnowNoVariables() {
        Play play = new Play().slots("n");
        int compares = play.text("\u0001If\u0001 '${n}'.length == 2 ");
        int looks = play.text("\u0001If\u0001vars.get('n') == 'ab'");
        int escapes = play.text("\u0001If\u0001/^a\\w$/.test('ab')");
        int plain = play.text("1${n}");
        play.start();
        Play.Reply reply = play.job().with("n", "ab").run(Act.EVALUATE, compares, looks, escapes, plain);
        assertEquals(java.util.List.of("true", "false", "true", "1ab"), reply.texts);
        assertTrue(reply.log.stream().anyMatch(line -> line.contains("If: error while processing [vars.get")), reply.log.toString());
    }

    @Test
    void beforeTheTestPlanHasVariablesThereAreNone() {
        Play play = new Play();
        int text = play.text("${__groovy(vars == null)}");
        play.start();
        assertEquals(java.util.List.of("false"), play.job().of(0).run(Act.EVALUATE, text).texts);
        Play.Job blank = play.job().of(0);
        blank.group = Message.NO_GROUP;
        assertEquals(java.util.List.of("true"), blank.run(Act.EVALUATE, text).texts);
        assertEquals(java.util.List.of("false"), play.job().of(0).run(Act.EVALUATE, text).texts);
    }

    @Test
    void propertiesGoBothWays() {
        Play play = new Play().property("mine", "1");
        int id = play.jsr223(Role.BEFORE,
                "vars.put('seen', '' + props.get('mine') + props.get('his')); props.put('mine', '2'); props.remove('gone'); props.put('obj', [1])", 0);
        play.start();
        Play.Job job = play.job();
        job.props.add(new Object[] {7L, "his", "h"});
        job.props.add(new Object[] {7L, "gone", "g"});
        Play.Reply reply = job.run(Act.BEFORE, id);
        assertEquals("1h", reply.vars.get("seen"));
        assertEquals("2", reply.props.get("mine"));
        assertTrue(reply.props.containsKey("gone"));
        assertTrue(reply.props.containsKey("obj"));
        assertEquals(3, reply.props.size());
        Play.Job older = play.job();
        older.props.add(new Object[] {6L, "his", "older"});
        assertEquals("2h", older.run(Act.BEFORE, id).vars.get("seen"));
    }

    @Test
    void samplerMakesAResult() {
        Play play = new Play();
        int id = play.jsr223(Role.SAMPLER, "SampleResult.setResponseMessage('fine ' + Label); SampleResult.setLatency(3); return 'body'", 0);
        play.owner(4, id);
        play.start();
        Play.Reply reply = play.job().sampler(4).run(Act.SAMPLER, id);
        assertNotNull(reply.result, String.valueOf(reply.log));
        assertEquals("fine script", reply.result.message);
        assertEquals("body", new String(reply.result.body, StandardCharsets.UTF_8));
        assertEquals("200", reply.result.code);
        assertEquals("script", reply.result.label);
        assertEquals("group 1-1", reply.result.thread);
        assertEquals(7, reply.result.groupThreads);
        assertEquals(9, reply.result.allThreads);
        assertEquals(3, reply.result.latency);
        assertTrue(reply.result.success());
    }

    @Test
    void samplerFailsAsInJMeter() {
        Play play = new Play();
        int id = play.jsr223(Role.SAMPLER, "throw new RuntimeException('oh')", 0);
        play.owner(4, id);
        play.start();
        Play.Reply reply = play.job().sampler(4).run(Act.SAMPLER, id);
        assertFalse(reply.result.success());
        assertEquals("500", reply.result.code);
        assertEquals("javax.script.ScriptException: java.lang.RuntimeException: oh", reply.result.message);
        assertTrue(reply.log.get(0).startsWith("4 org.apache.jmeter.protocol.java.sampler.JSR223Sampler: Problem in JSR223 script script"),
                reply.log.toString());
    }

    @Test
    void postProcessorTellsOnlyWhatItChanges() {
        Play play = new Play();
        int reads = play.jsr223(Role.AFTER, "vars.put('got', prev.getResponseDataAsString() + prev.getURL() + prev.getTime())", 1);
        int sets = play.jsr223(Role.AFTER, "prev.setResponseCode('299'); prev.setSampleLabel('other')", 1);
        int body = play.jsr223(Role.AFTER, "prev.setResponseData('new', 'UTF-8')", 1);
        int ignore = play.jsr223(Role.AFTER, "prev.setIgnore(); prev.setStopThread(true)", 1);
        play.start();
        Play.Sample sample = new Play.Sample();
        sample.body = "hello".getBytes(StandardCharsets.UTF_8);
        sample.assertions.add(new String[] {"check", "", null});
        Play.Sample sub = new Play.Sample();
        sub.body = new byte[] {1, 2};
        sub.bodySize = 2;
        sub.bytes = 102;
        sample.subs.add(sub);
        Play.Reply reply = play.job().result(sample).run(Act.AFTER, reads);
        assertEquals("hellohttp://localhost:8080/a?b=c20", reply.vars.get("got"));
        assertNull(reply.result);
        reply = play.job().result(sample).run(Act.AFTER, sets);
        assertEquals("299", reply.result.code);
        assertEquals("other", reply.result.label);
        assertNull(reply.result.body);
        assertNull(reply.result.subs.get(0).body);
        assertEquals(1, reply.result.assertions.size());
        reply = play.job().result(sample).run(Act.AFTER, body);
        assertEquals("new", new String(reply.result.body, StandardCharsets.UTF_8));
        assertEquals("UTF-8", reply.result.encoding);
        reply = play.job().result(sample).run(Act.AFTER, ignore);
        assertEquals(2 | 8, reply.result.flags & (2 | 8));
    }

    @Test
    void timersAddUp() {
        Play play = new Play();
        int one = play.jsr223(Role.TIMER, "return 100", 0);
        int two = play.beanshell(Role.TIMER, "return \"" + "20" + "\";", false, 0);
        play.start();
        assertEquals(120, play.job().run(Act.TIMER, one, two).delay);
    }

    @Test
    void assertionsAnswerInOrder() {
        Play play = new Play();
        int good = play.jsr223(Role.ASSERTION, "vars.put('label', SampleResult.getSampleLabel())", 1);
        int bad = play.jsr223(Role.ASSERTION, "AssertionResult.setFailure(true); AssertionResult.setFailureMessage('too slow')", 1);
        int broken = play.jsr223(Role.ASSERTION, "throw new IllegalStateException('x')", 1);
        int sets = play.jsr223(Role.ASSERTION, "AssertionResult.setFailure(true); SampleResult.setResponseMessage('m')", 1);
        play.start();
        Play.Reply reply = play.job().result(new Play.Sample()).run(Act.ASSERTION, good, bad, broken);
        assertEquals("home", reply.vars.get("label"));
        assertEquals(3, reply.assertions.size());
        assertEquals("", reply.assertions.get(0)[1]);
        assertEquals("f", reply.assertions.get(1)[1]);
        assertEquals("too slow", reply.assertions.get(1)[2]);
        assertEquals("e", reply.assertions.get(2)[1]);
        assertNull(reply.result);
        reply = play.job().result(new Play.Sample()).run(Act.ASSERTION, sets);
        assertEquals("m", reply.result.message);
        assertFalse(reply.result.success());
        assertEquals(0, reply.result.assertions.size());
        assertEquals(1, reply.assertions.size());
    }

    @Test
    void beanShellKeepsItsStateForEachUser() {
        Play play = new Play();
        int keeps = play.beanshell(Role.BEFORE, "if (n == void) n = 0; n++; vars.put(\"n\", \"\" + n);", false, 0);
        int resets = play.beanshell(Role.BEFORE, "if (n == void) n = 0; n++; vars.put(\"n\", \"\" + n);", true, 0);
        play.start();
        assertEquals("1", play.job().run(Act.BEFORE, keeps).vars.get("n"));
        assertEquals("2", play.job().sample(2).run(Act.BEFORE, keeps).vars.get("n"));
        assertEquals("1", play.job().of(2).run(Act.BEFORE, keeps).vars.get("n"));
        assertEquals("1", play.job().run(Act.BEFORE, resets).vars.get("n"));
        assertEquals("1", play.job().run(Act.BEFORE, resets).vars.get("n"));
        assertEquals(0, play.end(1).status);
        assertEquals("1", play.job().run(Act.BEFORE, keeps).vars.get("n"));
    }

    @Test
    void stopRequestsAreAsked() {
        Play play = new Play();
        Map<String, Integer> asks = Map.of(
                "ctx.getThread().stop()", 4, "ctx.getEngine().askThreadsToStop()", 5, "ctx.getEngine().stopTest()", 6,
                "ctx.setTestLogicalAction(org.apache.jmeter.threads.JMeterContext.TestLogicalAction.BREAK_CURRENT_LOOP)", 1,
                "ctx.setTestLogicalAction(org.apache.jmeter.threads.JMeterContext.TestLogicalAction.START_NEXT_ITERATION_OF_CURRENT_LOOP)", 2,
                "ctx.setStartNextThreadLoop(true)", 3, "org.apache.jmeter.engine.StandardJMeterEngine.stopEngineNow()", 6,
                "org.apache.jmeter.engine.StandardJMeterEngine.stopThread(ctx.getThread().getThreadName())", 4);
        Map<String, Integer> ids = new java.util.HashMap<>();
        asks.keySet().forEach(script -> ids.put(script, play.jsr223(Role.BEFORE, script, 0)));
        int thrown = play.jsr223(Role.BEFORE, "throw new org.apache.jorphan.util.JMeterStopThreadException('enough')", 0);
        play.start();
        asks.forEach((script, ask) -> {
            Play.Reply reply = play.job().run(Act.BEFORE, ids.get(script));
            assertEquals(ask, reply.ask, script + reply.log);
            assertEquals(0, reply.status);
        });
        Play.Reply reply = play.job().run(Act.BEFORE, thrown);
        assertEquals(4, reply.ask);
        assertEquals(2, reply.status);
    }

    @Test
    void textsAreEvaluatedWithTheUsersVariables() {
        Play play = new Play().slots("x");
        int groovy = play.text("${__groovy(vars.get('x') + '!' + ctx.getThreadNum())}");
        int bsh = play.text("<${__BeanShell(1+1)}>");
        int js = play.text("${__jexl3(${x} * 2,y)}");
        int number = play.text("${__threadNum}");
        play.start();
        Play.Reply reply = play.job().with("x", "4").run(Act.EVALUATE, groovy, bsh, js, number);
        assertEquals(List.of("4!0", "<2>", "8", "1"), reply.texts);
        assertEquals("8", reply.vars.get("y"));
    }

    @Test
    void listenersSeeTheSample() {
        Play play = new Play();
        int id = play.jsr223(Role.LISTENER, "vars.put('l', sampleEvent.getThreadGroup() + sampleResult.getSampleLabel())", 1);
        play.start();
        assertEquals("grouphome", play.job().result(new Play.Sample()).run(Act.LISTENER, id).vars.get("l"));
    }

    @Test
    void findsWhatDoesNotCompileAndWhatIsMissing() {
        Play play = new Play();
        play.jsr223(Role.BEFORE, "def a = 1\ndef b = \n(", 0);
        play.element(Role.AFTER, "com.example.Nowhere", "gone", 0,
                "<com.example.Nowhere guiclass=\"TestBeanGUI\" testclass=\"com.example.Nowhere\" testname=\"gone\"/>");
        play.element(Role.SAMPLER, "ConstantTimer", "misplaced", 0,
                "<ConstantTimer guiclass=\"ConstantTimerGui\" testclass=\"ConstantTimer\" testname=\"t\"/>");
        play.text("${__noSuchThing(1)}");
        play.setup();
        assertEquals(4, play.findings.size(), play.findings.toString());
        assertEquals("1 1 0 class com.example.Nowhere is not in the class path", play.findings.get(0));
        assertEquals("1 2 0 class org.apache.jmeter.timers.ConstantTimer is not a Sampler", play.findings.get(1));
        assertEquals("0 -2 0 function __noSuchThing is not in the class path; its call is not evaluated", play.findings.get(2));
        assertTrue(play.findings.get(3).startsWith("0 0 "), play.findings.get(3));
    }

    @Test
    void logLinesComeWithTheJob() {
        Play play = new Play();
        int id = play.jsr223(Role.BEFORE, "log.info('hello {}', 1); log.debug('not'); OUT.print('')", 0);
        play.start();
        Play.Reply reply = play.job().run(Act.BEFORE, id);
        assertEquals(List.of("2 org.apache.jmeter.modifiers.JSR223PreProcessor.script: hello 1"), reply.log);
    }
}
