package dev.throng;

import dev.throng.Message.Act;
import dev.throng.Message.Reads;
import dev.throng.Message.Role;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Tests elements other than scripts: objects per user, merged configs, requests that scripts change, databases. */
class HostedTest {
    private static final String COUNTING = "<dev.throng.Counting guiclass=\"x\" testclass=\"dev.throng.Counting\" testname=\"c\">"
            + "<stringProp name=\"text\">${v}</stringProp></dev.throng.Counting>";

    /** Runs on a separate thread, as different workers run the jobs of one user. */
    private static <T> T elsewhere(Callable<T> call) throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        try {
            return pool.submit(call).get();
        } finally {
            pool.shutdown();
        }
    }

    @Test
    void elementsThatHearOfTheStartOfUsersAreMadeThen() {
        Counting.events = "";
        Play play = new Play().slots("v");
        int id = play.element(Role.BEFORE, "dev.throng.Counting", "c", 0, COUNTING);
        play.jsr223(Role.BEFORE, "1", 0);
        play.start();
        assertEquals(List.of(id), play.starting);
        assertEquals("[", Counting.events);
        assertEquals(0, play.job().run(Act.START, id).status);
        assertEquals("[+", Counting.events);
        assertEquals("1,1,0,A,group 1-1", play.job().with("v", "A").sample(1).run(Act.BEFORE, id).vars.get("counted"));
        assertEquals("[+", Counting.events);
    }

    @Test
    void eachUserHasItsOwnObjectOnWhicheverThread() throws Exception {
        Counting.events = "";
        Play play = new Play().slots("v", "pool");
        int id = play.element(Role.BEFORE, "dev.throng.Counting", "c", 0, COUNTING);
        int look = play.jsr223(Role.BEFORE, "vars.put('pooled', '' + vars.getObject('pool'))", 0);
        play.start();
        assertEquals("[", Counting.events);
        assertEquals("text", play.started.vars.get("made"));
        assertEquals(List.of(), play.findings);
        // The function in the property is evaluated for each sample. The value that the element has set is lost then.
        assertEquals("1,1,0,A,group 1-1", play.job().with("v", "A").run(Act.BEFORE, id).vars.get("counted"));
        assertEquals("2,2,0,changed,group 1-1",
                elsewhere(() -> play.job().with("v", "B").run(Act.BEFORE, id)).vars.get("counted"));
        assertEquals("3,3,0,C,group 1-1",
                elsewhere(() -> play.job().with("v", "C").sample(2).run(Act.BEFORE, id)).vars.get("counted"));
        Play.Job iteration = play.job().sample(3);
        iteration.iteration = 8;
        assertEquals(0, iteration.run(Act.ITERATION, id).status);
        assertEquals("4,4,8,D,group 1-1", play.job().with("v", "D").sample(3).run(Act.BEFORE, id).vars.get("counted"));
        Play.Job other = play.job().of(2).with("v", "E");
        other.thread = "group 1-2";
        assertEquals("1,1,0,E,group 1-2", other.run(Act.BEFORE, id).vars.get("counted"));
        assertEquals("shared", play.job().with("pool", "shared").run(Act.BEFORE, look).vars.get("pooled"));
        assertEquals("shared", play.job().of(3).with("pool", "shared").run(Act.BEFORE, look).vars.get("pooled"));
        assertEquals("[++", Counting.events);
        elsewhere(() -> play.end(1));
        assertEquals("[++-4", Counting.events);
        assertEquals("1,1,0,F,group 1-1", play.job().with("v", "F").run(Act.BEFORE, id).vars.get("counted"));
        play.end();
        assertTrue(Counting.events.endsWith("]"), Counting.events);
    }

    private static Play http(Play play, int[] ids, String script) {
        int http = play.element(Role.SAMPLER, "HTTPSamplerProxy", "home", 0, Elements.HTTP);
        int inner = play.element(Role.CONFIG, "HeaderManager", "headers", 0, Elements.HEADERS);
        int outer = play.element(Role.CONFIG, "HeaderManager", "headers", 0,
                Elements.HEADERS.replace("X-One", "X-Two").replace(">1<", ">${user}<"));
        int defaults = play.element(Role.CONFIG, "ConfigTestElement", "defaults", 0, Elements.DEFAULTS);
        int cookies = play.element(Role.CONFIG, "CookieManager", "cookies", 0, Elements.COOKIES);
        play.owner(4, http, inner, outer, defaults, cookies);
        ids[0] = play.jsr223(Role.BEFORE, script, 2 | 4);
        return play;
    }

    @Test
    void aScriptChangesTheRequest() {
        int[] ids = new int[1];
        Play play = http(new Play().slots("user"), ids, """
                if (vars.get('user') == 'joe') {
                    sampler.setPath('/other/' + vars.get('user'))
                    sampler.addArgument('extra', '1')
                    sampler.getHeaderManager().add(new org.apache.jmeter.protocol.http.control.Header('X-Three', '3'))
                    sampler.setMethod('POST')
                }
                vars.put('seen', sampler.getDomain() + sampler.getPort() + sampler.getName() + sampler.getArguments().getArgument(0).getValue())
                """).start();
        assertEquals(List.of(), play.findings);
        Play.Reply reply = play.job().sampler(4).with("user", "ann").run(Act.BEFORE, ids[0]);
        assertEquals("example.org8080homeann", reply.vars.get("seen"), reply.log.toString());
        assertNull(reply.request);
        reply = play.job().sampler(4).sample(2).with("user", "joe").run(Act.BEFORE, ids[0]);
        assertNotNull(reply.request);
        assertEquals(Arrays.asList("https", "example.org", "8080", "/other/joe", "POST"), reply.request.fields.subList(0, 5));
        assertEquals("q=joe", reply.request.arguments.get(0));
        assertEquals("extra=1", reply.request.arguments.get(2));
        assertTrue(reply.request.headers.containsAll(List.of("X-One: 1", "X-Two: joe", "X-Three: 3")), reply.request.headers.toString());
        // The next sample of the same user starts with the plan's request.
        reply = play.job().sampler(4).sample(3).with("user", "eve").run(Act.BEFORE, ids[0]);
        assertNull(reply.request, reply.request == null ? "" : reply.request.fields.toString());
        assertEquals("example.org8080homeeve", reply.vars.get("seen"));
    }

    /** A header that is added to the only header manager stays there for all samplers in its scope, as in JMeter. */
    @Test
    void headersThatAScriptAddedStay() {
        Play play = new Play().slots("user");
        int headers = play.element(Role.CONFIG, "HeaderManager", "headers", 0, Elements.HEADERS);
        play.owner(4, play.element(Role.SAMPLER, "HTTPSamplerProxy", "home", 0, Elements.HTTP), headers);
        play.owner(5, play.element(Role.SAMPLER, "HTTPSamplerProxy", "away", 0, Elements.HTTP), headers);
        int adds = play.jsr223(Role.BEFORE,
                "sampler.getHeaderManager().add(new org.apache.jmeter.protocol.http.control.Header('X-Three', '3'))", 2);
        play.start();
        // No element needs the other sampler, except for its current request.
        assertNull(play.job().sampler(5).sample(1).run(Act.BEFORE).request);
        assertEquals(List.of("X-One: 1", "X-Three: 3"), play.job().sampler(4).sample(2).run(Act.BEFORE, adds).request.headers);
        Play.Request away = play.job().sampler(5).sample(3).run(Act.BEFORE).request;
        assertEquals(List.of("X-One: 1", "X-Three: 3"), away.headers);
        assertEquals(256, away.flags & 256);
        assertEquals("home", away.name);
        assertEquals(List.of("X-One: 1", "X-Three: 3", "X-Three: 3"),
                play.job().sampler(4).sample(4).run(Act.BEFORE, adds).request.headers);
        assertNull(play.job().of(2).sampler(5).sample(1).run(Act.BEFORE).request);
    }

    @Test
    void theSamplerIsTheSameObjectBetweenJobsOfASample() throws Exception {
        int[] ids = new int[1];
        Play play = http(new Play().slots("user"), ids, "sampler.setProperty('mine', 'x')");
        int later = play.jsr223(Role.AFTER, "vars.put('p', sampler.getPropertyAsString('mine'))", 2);
        play.start();
        play.job().sampler(4).run(Act.BEFORE, ids[0]);
        assertEquals("x", elsewhere(() -> play.job().sampler(4).result(new Play.Sample()).run(Act.AFTER, later)).vars.get("p"));
        assertEquals("", play.job().sampler(4).sample(2).result(new Play.Sample()).run(Act.AFTER, later).vars.get("p"));
    }

    @Test
    void cookiesGoInAndComeOutIfChanged() {
        int[] ids = new int[1];
        Play play = http(new Play().slots("user"), ids, """
                def manager = sampler.getCookieManager()
                vars.put('n', '' + manager.getCookieCount() + manager.get(0).getName())
                if (vars.get('user')) {
                    manager.add(new org.apache.jmeter.protocol.http.control.Cookie('b', '2', 'example.org', '/', false, 0))
                }
                """).start();
        Play.Job job = play.job().sampler(4);
        job.cookies = List.of(new Play.Crumb("a", "1", "example.org", "/"));
        Play.Reply reply = job.run(Act.BEFORE, ids[0]);
        assertEquals("1a", reply.vars.get("n"), reply.log.toString());
        assertNull(reply.cookies);
        reply = job.with("user", "joe").run(Act.BEFORE, ids[0]);
        assertEquals(List.of(new Play.Crumb("a", "1", "example.org", "/"), new Play.Crumb("b", "2", "example.org", "/")), reply.cookies);
        assertNull(reply.request);
    }

    @Test
    void javaSamplerRunsItsClass() {
        Play play = new Play().slots("who");
        int id = play.element(Role.SAMPLER, "JavaSampler", "java", 0, """
                <JavaSampler guiclass="JavaTestSamplerGui" testclass="JavaSampler" testname="java">
                  <elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">
                    <elementProp name="who" elementType="Argument"><stringProp name="Argument.name">who</stringProp>
                      <stringProp name="Argument.value">${who}</stringProp></elementProp>
                  </collectionProp></elementProp>
                  <stringProp name="classname">dev.throng.Counting$Client</stringProp>
                </JavaSampler>""");
        play.owner(4, id);
        play.start();
        Play.Reply reply = play.job().sampler(4).with("who", "joe").run(Act.SAMPLER, id);
        assertEquals("joe says hello", new String(reply.result.body, StandardCharsets.UTF_8), reply.log.toString());
        assertEquals("java", reply.result.label);
        // JMeter names a sub-result after its parent result, which has no label yet.
        assertEquals("-0", reply.result.subs.get(0).label);
        assertEquals("group 1-1", reply.result.subs.get(0).thread);
        assertEquals(7, reply.result.subs.get(0).groupThreads);
    }

    @Test
    void databasesArePooledAndAsked() {
        Play play = new Play().slots("id");
        int pool = play.element(Role.CONFIG, "JDBCDataSource", "pool", 0, """
                <JDBCDataSource guiclass="TestBeanGUI" testclass="JDBCDataSource" testname="pool">
                  <boolProp name="autocommit">true</boolProp><stringProp name="checkQuery">select 1</stringProp>
                  <stringProp name="connectionAge">5000</stringProp><stringProp name="connectionProperties"></stringProp>
                  <stringProp name="dataSource">db</stringProp><stringProp name="dbUrl">jdbc:h2:mem:t;DB_CLOSE_DELAY=-1</stringProp>
                  <stringProp name="driver">org.h2.Driver</stringProp><stringProp name="initQuery"></stringProp>
                  <boolProp name="keepAlive">true</boolProp><stringProp name="password"></stringProp>
                  <stringProp name="poolMax">0</stringProp><boolProp name="preinit">false</boolProp>
                  <stringProp name="timeout">10000</stringProp><stringProp name="transactionIsolation">DEFAULT</stringProp>
                  <stringProp name="trimInterval">60000</stringProp><stringProp name="username">sa</stringProp>
                </JDBCDataSource>""");
        String sampler = """
                <JDBCSampler guiclass="TestBeanGUI" testclass="JDBCSampler" testname="NAME">
                  <stringProp name="dataSource">db</stringProp><stringProp name="query">QUERY</stringProp>
                  <stringProp name="queryArguments">ARGS</stringProp><stringProp name="queryArgumentsTypes">TYPES</stringProp>
                  <stringProp name="queryTimeout"></stringProp><stringProp name="queryType">KIND</stringProp>
                  <stringProp name="resultSetHandler">Store as String</stringProp><stringProp name="resultSetMaxRows"></stringProp>
                  <stringProp name="resultVariable">rows</stringProp><stringProp name="variableNames">n,name</stringProp>
                </JDBCSampler>""";
        int create = play.element(Role.SAMPLER, "JDBCSampler", "create", 0, sampler.replace("NAME", "create")
                .replace("QUERY", "create table t (n int, name varchar(20)); insert into t values (1, 'one'), (2, 'two')")
                .replace("ARGS", "").replace("TYPES", "").replace("KIND", "Update Statement"));
        int select = play.element(Role.SAMPLER, "JDBCSampler", "select", 0, sampler.replace("NAME", "select")
                .replace("QUERY", "select n, name from t where n &gt;= ? order by n")
                .replace("ARGS", "${id}").replace("TYPES", "INTEGER").replace("KIND", "Prepared Select Statement"));
        int fixed = play.element(Role.SAMPLER, "JDBCSampler", "fixed", 0, sampler.replace("NAME", "fixed")
                .replace("QUERY", "select n, name from t").replace("ARGS", "").replace("TYPES", "").replace("KIND", "Select Statement"));
        String one = "'select n, name from t where n = 1')";
        int byProperty = play.jsr223(Role.BEFORE, "sampler.setProperty('query', " + one, Reads.SAMPLER);
        int byBean = play.jsr223(Role.BEFORE, "sampler.setQuery(" + one, Reads.SAMPLER);
        play.owner(4, create, pool);
        play.owner(5, select, pool);
        play.owner(6, fixed, pool);
        int rows = play.jsr223(Role.AFTER, "vars.put('second', '' + vars.getObject('rows').get(1).get('NAME'))", 1);
        play.start();
        Play.Reply reply = play.job().sampler(4).run(Act.SAMPLER, create);
        assertTrue(reply.result.success(), reply.result.message + reply.log);
        reply = play.job().sampler(5).sample(2).with("id", "1").run(Act.SAMPLER, select);
        assertEquals("N\tNAME\n1\tone\n2\ttwo\n", new String(reply.result.body, StandardCharsets.UTF_8), reply.result.message);
        assertEquals("2", reply.vars.get("n_#"));
        assertEquals("two", reply.vars.get("name_2"));
        reply = play.job().sampler(5).sample(2).result(new Play.Sample()).run(Act.AFTER, rows);
        assertEquals("two", reply.vars.get("second"), reply.log.toString());
        // A property set by a script applies to that sample. JMeter overwrites bean fields before the sampler runs.
        for (int i = 0; i < 3; i++) {
            if (i > 0) {
                play.job().sampler(6).sample(3 + i).run(Act.BEFORE, i == 1 ? byProperty : byBean);
            }
            reply = play.job().sampler(6).sample(3 + i).run(Act.SAMPLER, fixed);
            assertEquals(i == 1 ? "1" : "2", reply.vars.get("n_#"), reply.result.message);
        }
        play.end(1);
        assertEquals(0, play.end().status);
    }

    @Test
    void aRunningSamplerIsInterrupted() throws Exception {
        Play play = new Play();
        String name = "dev.throng.Counting$Waiting";
        String tag = "dev.throng.Counting_-Waiting";
        int id = play.element(Role.SAMPLER, name, "w", 0,
                "<" + tag + " guiclass=\"x\" testclass=\"" + name + "\" testname=\"w\"/>");
        play.owner(4, id);
        play.start();
        assertEquals(List.of(), play.findings);
        for (boolean samplerOnly : new boolean[] {false, true}) {
            Counting.Waiting.begun = new CountDownLatch(1);
            ExecutorService pool = Executors.newSingleThreadExecutor();
            Future<Play.Reply> reply = pool.submit(() -> play.job().of(samplerOnly ? 78 : 77).sampler(4).run(Act.SAMPLER, id));
            Counting.Waiting.begun.await();
            Output out = new Output();
            out.u8(Message.Kind.INTERRUPT);
            out.i64(samplerOnly ? 78 : 77);
            out.bool(samplerOnly);
            Host.call(out.take());
            assertEquals("w", reply.get().result.label);
            pool.shutdown();
        }
    }

    @Test
    void manyUsersOnManyThreadsSeeOnlyTheirOwn() throws Exception {
        int[] ids = new int[1];
        Play play = http(new Play().slots("user"), ids, "sampler.setPath('/' + vars.get('user')); vars.putObject('o', [vars.get('user')])");
        int look = play.jsr223(Role.BEFORE, "vars.put('r', sampler.getPath() + vars.getObject('o') + vars.get('user') + ctx.getThreadNum())", 2);
        int bsh = play.beanshell(Role.BEFORE, "if (mine == void) mine = vars.get(\"user\"); vars.put(\"b\", mine + vars.get(\"user\"));", false, 0);
        play.start();
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<String>> all = new ArrayList<>();
        for (int user = 1; user <= 40; user++) {
            long id = user;
            all.add(pool.submit(() -> {
                String name = "u" + id;
                String wrong = "";
                for (int sample = 1; sample <= 20; sample++) {
                    Play.Job job = play.job().of(id).sample(sample).sampler(4).with("user", name);
                    job.number = (int) id;
                    Play.Reply reply = job.run(Act.BEFORE, ids[0]);
                    if (reply.request == null || !reply.request.fields.get(3).equals("/" + name)) {
                        wrong += " request " + sample;
                    }
                    String seen = job.run(Act.BEFORE, look).vars.get("r");
                    if (!("/" + name + "[" + name + "]" + name + id).equals(seen)) {
                        wrong += " " + seen;
                    }
                    if (!(name + name).equals(job.run(Act.BEFORE, bsh).vars.get("b"))) {
                        wrong += " bsh " + sample;
                    }
                }
                return wrong;
            }));
        }
        for (Future<String> one : all) {
            assertEquals("", one.get());
        }
        pool.shutdown();
    }

    /** Native code does not wait for listeners, so a user's next job may start while a listener is notified. */
    @Test
    void jobsOfOneUserDoNotMeet() throws Exception {
        Play play = new Play().slots("v", "counted");
        int id = play.element(Role.BEFORE, "dev.throng.Counting", "c", 0, COUNTING);
        play.start();
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<String>> all = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            int sample = i;
            all.add(pool.submit(() -> play.job().sample(sample).with("v", "v" + sample).run(Act.BEFORE, id).vars.get("counted")));
        }
        java.util.Set<String> uses = new java.util.TreeSet<>();
        for (int i = 0; i < all.size(); i++) {
            String[] parts = all.get(i).get().split(",");
            assertEquals(parts[0], parts[1]);
            assertEquals("v" + i, parts[3]);
            uses.add(parts[0]);
        }
        assertEquals(200, uses.size());
        pool.shutdown();
    }

    @Test
    void abandonsTheSampleWhereJMeterDoes() {
        Play play = new Play();
        int id = play.element(Role.BEFORE, "UserParameters", "broken", 0,
                "<UserParameters guiclass=\"x\" testclass=\"UserParameters\" testname=\"broken\"/>");
        play.start();
        Play.Reply reply = play.job().run(Act.BEFORE, id);
        assertEquals(2, reply.status);
        assertEquals(0, reply.ask);
        assertTrue(reply.log.toString().contains("Error while processing sampler"), reply.log.toString());
    }

    @Test
    void whatIsNoMessageIsAnsweredToo() {
        byte[] reply = Host.call(new byte[] {42});
        assertEquals(1, reply[0]);
        assertTrue(new Input(Arrays.copyOfRange(reply, 1, reply.length)).str().contains("unknown kind of message: 42"));
        new Play().start();
        assertEquals(1, Host.call(new byte[] {3, 1, 2})[0]);
        assertFalse(Host.test() == null);
    }
}
