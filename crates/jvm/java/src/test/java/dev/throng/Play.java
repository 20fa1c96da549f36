package dev.throng;

import dev.throng.Message.Act;
import dev.throng.Message.Role;
import dev.throng.Message.SaidKind;
import dev.throng.Message.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * Plays the native side in tests: writes the messages of a test and of its jobs, and reads the replies.
 */
final class Play {
    /** A sample as native code sees it. */
    static final class Sample {
        int flags = 1 | 4;
        int action;
        String label = "home";
        String code = "200";
        String message = "OK";
        String url = "http://localhost:8080/a?b=c";
        String requestHeaders = "";
        String samplerData = "";
        String method = "GET";
        String cookies = "";
        String query = "";
        String redirect = "";
        String responseHeaders = "HTTP/1.1 200 OK\n";
        String contentType = "text/plain";
        String encoding = "";
        String file = "";
        String thread = "group 1-1";
        long start = 1_700_000_000_000L;
        long end = start + 20;
        long elapsed = 20;
        long latency = 15;
        long connect = 3;
        long idle;
        long bytes = 105;
        long headersSize = 100;
        long bodySize = 5;
        long sent = 50;
        int count = 1;
        int errors;
        int groupThreads = 1;
        int allThreads = 1;
        byte[] body;
        final List<String[]> assertions = new ArrayList<>();
        final List<Sample> subs = new ArrayList<>();

        void write(Output out) {
            out.i32(flags | (body == null ? 0 : 256));
            out.u8(action);
            for (String text : List.of(label, code, message, url, requestHeaders, samplerData, method, cookies, query, redirect,
                    responseHeaders, contentType, encoding, file, thread)) {
                out.str(text);
            }
            for (long number : new long[] {start, end, elapsed, latency, connect, idle, bytes, headersSize, bodySize, sent}) {
                out.i64(number);
            }
            for (int number : new int[] {count, errors, groupThreads, allThreads}) {
                out.i32(number);
            }
            if (body != null) {
                out.blob(body);
            }
            out.i32(assertions.size());
            for (String[] assertion : assertions) {
                out.str(assertion[0]);
                out.bool(assertion[1].contains("f"));
                out.bool(assertion[1].contains("e"));
                out.optStr(assertion[2]);
            }
            out.i32(subs.size());
            for (Sample sub : subs) {
                sub.write(out);
            }
        }

        static Sample read(Input in) {
            Sample sample = new Sample();
            sample.flags = in.i32();
            sample.action = in.u8();
            sample.label = in.str();
            sample.code = in.str();
            sample.message = in.str();
            sample.url = in.str();
            sample.requestHeaders = in.str();
            sample.samplerData = in.str();
            sample.method = in.str();
            sample.cookies = in.str();
            sample.query = in.str();
            sample.redirect = in.str();
            sample.responseHeaders = in.str();
            sample.contentType = in.str();
            sample.encoding = in.str();
            sample.file = in.str();
            sample.thread = in.str();
            sample.start = in.i64();
            sample.end = in.i64();
            sample.elapsed = in.i64();
            sample.latency = in.i64();
            sample.connect = in.i64();
            sample.idle = in.i64();
            sample.bytes = in.i64();
            sample.headersSize = in.i64();
            sample.bodySize = in.i64();
            sample.sent = in.i64();
            sample.count = in.i32();
            sample.errors = in.i32();
            sample.groupThreads = in.i32();
            sample.allThreads = in.i32();
            if ((sample.flags & 256) != 0) {
                sample.body = in.blob();
            }
            int count = in.i32();
            for (int i = 0; i < count; i++) {
                sample.assertions.add(assertion(in));
            }
            count = in.i32();
            for (int i = 0; i < count; i++) {
                sample.subs.add(read(in));
            }
            return sample;
        }

        static String[] assertion(Input in) {
            String name = in.str();
            String flags = (in.bool() ? "f" : "") + (in.bool() ? "e" : "");
            return new String[] {name, flags, in.optStr()};
        }

        boolean success() {
            return (flags & 1) != 0;
        }
    }

    /** A cookie as in messages. */
    record Crumb(String name, String value, String domain, String path) {
    }

    /** The contents of a reply. */
    static final class Reply {
        int status;
        String failure;
        final Map<String, String> vars = new LinkedHashMap<>();
        final Map<String, String> props = new LinkedHashMap<>();
        int ask;
        final List<String> log = new ArrayList<>();
        List<Crumb> cookies;
        Sample result;
        Request request;
        long delay;
        final List<String> texts = new ArrayList<>();
        /** The reply of a controller: kind, request, number. */
        String said;
        final List<String[]> assertions = new ArrayList<>();
    }

    /** A changed request. */
    static final class Request {
        final List<String> fields = new ArrayList<>();
        int flags;
        final List<String> arguments = new ArrayList<>();
        final List<String> files = new ArrayList<>();
        final List<String> headers = new ArrayList<>();
        String name;

        static Request read(Input in) {
            Request request = new Request();
            for (int i = 0; i < 9; i++) {
                request.fields.add(in.str());
            }
            request.flags = in.u8() | in.u8() << 8;
            int count = in.i32();
            for (int i = 0; i < count; i++) {
                String text = in.str() + "=" + in.str();
                in.bool();
                in.bool();
                in.str();
                request.arguments.add(text);
            }
            count = in.i32();
            for (int i = 0; i < count; i++) {
                request.files.add(in.str() + "," + in.str() + "," + in.str());
            }
            count = in.i32();
            for (int i = 0; i < count; i++) {
                request.headers.add(in.str() + ": " + in.str());
            }
            request.name = in.optStr();
            return request;
        }
    }

    /** A job under construction. Every field has a default that suits most tests. */
    final class Job {
        long user = 1;
        int group;
        int number;
        int iteration = 1;
        String thread = "group 1-1";
        final Map<String, String> vars = new LinkedHashMap<>();
        final List<Object[]> props = new ArrayList<>();
        int sample = 1;
        Sample result;
        int sampler = -1;
        List<Crumb> cookies;

        Job with(String name, String value) {
            vars.put(name, value);
            return this;
        }

        Job of(long user) {
            this.user = user;
            return this;
        }

        Job sample(int number) {
            sample = number;
            return this;
        }

        Job result(Sample sample) {
            result = sample;
            return this;
        }

        Job sampler(int id) {
            sampler = id;
            return this;
        }

        Reply run(int act, int... ids) {
            return read(act, Host.call(message(act, ids)));
        }

        byte[] message(int act, int... ids) {
            Output out = new Output();
            out.u8(Message.Kind.JOB);
            out.i64(user);
            out.i32(group);
            out.i32(number);
            out.i32(iteration);
            out.u8(0);
            out.str(thread);
            out.str("home");
            out.i64(System.currentTimeMillis());
            out.i32(7);
            out.i32(9);
            out.i32(12);
            out.i32(3);
            out.i32(vars.size());
            vars.forEach((name, value) -> {
                writeName(out, name);
                out.str(value);
            });
            out.i32(props.size());
            for (Object[] prop : props) {
                out.i64((Long) prop[0]);
                out.str((String) prop[1]);
                out.optStr((String) prop[2]);
            }
            out.i32(sample);
            out.bool(result != null);
            if (result != null) {
                result.write(out);
            }
            out.bool(false);
            out.bool(sampler >= 0);
            if (sampler >= 0) {
                out.i32(sampler);
            }
            out.bool(false);
            out.bool(cookies != null);
            if (cookies != null) {
                out.i32(cookies.size());
                for (Crumb cookie : cookies) {
                    out.str(cookie.name());
                    out.str(cookie.value());
                    out.str(cookie.domain());
                    out.str(cookie.path());
                    out.bool(false);
                    out.i64(0);
                    out.u8(3);
                    out.i32(0);
                }
            }
            out.u8(act);
            out.i32(ids.length);
            for (int id : ids) {
                out.i32(id);
            }
            return out.take();
        }
    }

    private record Spec(int role, String className, String name, int reads, String xml) {
    }

    private record InsideSpec(int element, boolean heard, int[] children) {
    }

    private record OwnerSpec(int sampler, int element, int[] configs) {
    }

    private final List<String> slots = new ArrayList<>();
    private final List<Spec> elements = new ArrayList<>();
    private final List<OwnerSpec> owners = new ArrayList<>();
    private final List<String> texts = new ArrayList<>();
    private final List<InsideSpec> insides = new ArrayList<>();
    private final Map<String, String> properties = new LinkedHashMap<>();
    final List<String> findings = new ArrayList<>();
    final List<String> log = new ArrayList<>();
    /** Elements that are notified when users start. */
    final List<Integer> starting = new ArrayList<>();
    boolean readsAnyName;
    Reply started;

    Play slots(String... names) {
        slots.addAll(List.of(names));
        return this;
    }

    Play property(String name, String value) {
        properties.put(name, value);
        return this;
    }

    int element(int role, String className, String name, int reads, String xml) {
        elements.add(new Spec(role, className, name, reads, xml));
        return elements.size() - 1;
    }

    /** Adds a controller of a class, with samplers and, as numbers below 0, controllers as children. */
    int controller(Class<?> made, boolean heard, int... children) {
        String name = made.getName();
        String xml = "<" + name + " guiclass=\"x\" testclass=\"" + name + "\" testname=\"c\"/>";
        int id = element(Role.CONTROLLER, name, "c", 0, xml);
        insides.add(new InsideSpec(id, heard, children));
        return id;
    }

    int owner(int sampler, int element, int... configs) {
        owners.add(new OwnerSpec(sampler, element, configs));
        return sampler;
    }

    int text(String source) {
        texts.add(source);
        return texts.size() - 1;
    }

    /** Adds a JSR223 element of any role. */
    int jsr223(int role, String script, int reads) {
        String tag = switch (role) {
            case Role.BEFORE -> "JSR223PreProcessor";
            case Role.TIMER -> "JSR223Timer";
            case Role.SAMPLER -> "JSR223Sampler";
            case Role.AFTER -> "JSR223PostProcessor";
            case Role.ASSERTION -> "JSR223Assertion";
            default -> "JSR223Listener";
        };
        return jsr223(role, tag, "groovy", script, reads);
    }

    int jsr223(int role, String tag, String language, String script, int reads) {
        String xml = "<" + tag + " guiclass=\"TestBeanGUI\" testclass=\"" + tag + "\" testname=\"script\">"
                + "<stringProp name=\"cacheKey\">true</stringProp><stringProp name=\"filename\"></stringProp>"
                + "<stringProp name=\"parameters\"></stringProp><stringProp name=\"script\">" + escape(script)
                + "</stringProp><stringProp name=\"scriptLanguage\">" + language + "</stringProp></" + tag + ">";
        return element(role, tag, "script", reads, xml);
    }

    int beanshell(int role, String script, boolean resets, int reads) {
        String tag = switch (role) {
            case Role.BEFORE -> "BeanShellPreProcessor";
            case Role.TIMER -> "BeanShellTimer";
            default -> "BeanShellPostProcessor";
        };
        String xml = "<" + tag + " guiclass=\"TestBeanGUI\" testclass=\"" + tag + "\" testname=\"bsh\">"
                + "<stringProp name=\"filename\"></stringProp><stringProp name=\"parameters\"></stringProp>"
                + "<boolProp name=\"resetInterpreter\">" + resets + "</boolProp><stringProp name=\"script\">" + escape(script)
                + "</stringProp></" + tag + ">";
        return element(role, tag, "bsh", reads, xml);
    }

    static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    Job job() {
        return new Job();
    }

    private void writeName(Output out, String name) {
        int slot = slots.indexOf(name);
        out.i32(slot);
        if (slot < 0) {
            out.str(name);
        }
    }

    private String readName(Input in) {
        int slot = in.i32();
        return slot < 0 ? in.str() : slots.get(slot);
    }

    /** Sends SETUP, and START with these variables. */
    Play start(Map<String, String> vars) {
        setup();
        Output out = new Output();
        out.u8(Message.Kind.START);
        out.i32(vars.size());
        vars.forEach((name, value) -> {
            writeName(out, name);
            out.str(value);
        });
        // The thread has no class loader, like a thread that native code attached.
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(null);
        Input in = new Input(Host.call(out.take()));
        Thread.currentThread().setContextClassLoader(loader);
        started = new Reply();
        started.status = in.u8();
        if (started.status == Status.FAILED) {
            throw new IllegalStateException(in.str());
        }
        readChanges(in, started);
        readLog(in, started.log);
        return this;
    }

    Play start() {
        return start(Map.of());
    }

    Play setup() {
        Input in = new Input(Host.call(setupMessage()));
        if (in.u8() != 0) {
            throw new IllegalStateException(in.str());
        }
        int count = in.i32();
        for (int i = 0; i < count; i++) {
            findings.add(in.u8() + " " + in.i32() + " " + in.i32() + " " + in.str());
        }
        readLog(in, log);
        int hearing = in.i32();
        for (int i = 0; i < hearing; i++) {
            starting.add(in.i32());
        }
        return this;
    }

    private byte[] setupMessage() {
        Output out = new Output();
        out.u8(Message.Kind.SETUP);
        Map<String, String> all = new HashMap<>(ofJMeter());
        all.putAll(properties);
        out.i32(all.size());
        all.forEach((name, value) -> {
            out.str(name);
            out.str(value);
        });
        out.i32(0);
        out.str(home());
        out.str(new java.io.File("plan.jmx").getAbsolutePath());
        out.i32(0);
        out.i32(slots.size());
        slots.forEach(out::str);
        out.i32(elements.size());
        for (Spec spec : elements) {
            out.u8(spec.role());
            out.str(spec.className());
            out.str(spec.name());
            out.str("Test Plan/" + spec.name());
            out.i32(1);
            out.u8(spec.reads());
            out.str(spec.xml());
        }
        out.i32(owners.size());
        for (OwnerSpec owner : owners) {
            out.i32(owner.sampler());
            out.i32(owner.element());
            out.i32(owner.configs().length);
            for (int config : owner.configs()) {
                out.i32(config);
            }
        }
        out.i32(texts.size());
        texts.forEach(out::str);
        out.i32(1);
        out.str("group");
        out.i32(10);
        out.bool(readsAnyName);
        out.i32(insides.size());
        for (InsideSpec inside : insides) {
            out.i32(inside.element());
            out.bool(inside.heard());
            out.i32(inside.children().length);
            for (int child : inside.children()) {
                out.bool(child < 0);
                out.i32(Math.abs(child));
                out.str("child ${v} " + Math.abs(child));
            }
        }
        return out.take();
    }

    private static String home() {
        try {
            return Folders.home(Path.of("target")).toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns JMeter's default properties, from its artefact. */
    private static Map<String, String> ofJMeter() {
        Properties read = new Properties();
        try (InputStream in = Play.class.getClassLoader().getResourceAsStream("bin/jmeter.properties")) {
            read.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Map<String, String> all = new HashMap<>();
        read.stringPropertyNames().forEach(name -> all.put(name, read.getProperty(name)));
        return all;
    }

    private void readChanges(Input in, Reply reply) {
        int count = in.i32();
        for (int i = 0; i < count; i++) {
            String name = readName(in);
            reply.vars.put(name, in.optStr());
        }
        count = in.i32();
        for (int i = 0; i < count; i++) {
            in.i64();
            String name = in.str();
            reply.props.put(name, in.optStr());
        }
    }

    private static void readLog(Input in, List<String> log) {
        int count = in.i32();
        for (int i = 0; i < count; i++) {
            int level = in.u8();
            in.i64();
            log.add(level + " " + in.str() + ": " + in.str());
        }
    }

    Reply read(int act, byte[] bytes) {
        Input in = new Input(bytes);
        Reply reply = new Reply();
        reply.status = in.u8();
        if (reply.status == Status.FAILED) {
            reply.failure = in.str();
            return reply;
        }
        if (reply.status == Status.FATAL) {
            reply.failure = in.str();
        }
        readChanges(in, reply);
        reply.ask = in.u8();
        readLog(in, reply.log);
        if (in.bool()) {
            reply.cookies = new ArrayList<>();
            int count = in.i32();
            for (int i = 0; i < count; i++) {
                reply.cookies.add(new Crumb(in.str(), in.str(), in.str(), in.str()));
                in.at += 14;
            }
        }
        if (in.bool()) {
            reply.result = Sample.read(in);
        }
        if (in.u8() == Message.SamplerForm.HTTP) {
            reply.request = Request.read(in);
        }
        if (reply.status == Status.WELL) {
            if (act == Role.TIMER) {
                reply.delay = in.i64();
            } else if (act == Act.EVALUATE) {
                int count = in.i32();
                for (int i = 0; i < count; i++) {
                    reply.texts.add(in.str());
                }
            } else if (act == Act.CONTROLLER) {
                int kind = in.u8();
                String what = kind == SaidKind.NOTHING || kind == SaidKind.ASKS ? " " + in.u8() : "";
                reply.said = kind + what + (kind == SaidKind.NOTHING ? "" : " " + in.i32());
            } else if (act == Role.ASSERTION) {
                int count = in.i32();
                for (int i = 0; i < count; i++) {
                    reply.assertions.add(Sample.assertion(in));
                }
            }
        }
        if (in.at != bytes.length) {
            throw new IllegalStateException("the reply goes on after byte " + in.at + " of " + bytes.length);
        }
        return reply;
    }

    Reply end(long user) {
        Output out = new Output();
        out.u8(Message.Kind.USER_END);
        out.i64(user);
        return plain(out);
    }

    Reply end() {
        Output out = new Output();
        out.u8(Message.Kind.END);
        return plain(out);
    }

    private static Reply plain(Output out) {
        Input in = new Input(Host.call(out.take()));
        Reply reply = new Reply();
        reply.status = in.u8();
        if (reply.status == Status.FAILED) {
            reply.failure = in.str();
        } else {
            readLog(in, reply.log);
        }
        return reply;
    }
}
