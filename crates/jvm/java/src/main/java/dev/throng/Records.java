package dev.throng;

import java.util.ArrayList;
import java.util.List;

/**
 * Records of messages. Generated from crates/messages/messages.txt; to regenerate, run
 * {@code UPDATE_MESSAGES=1 cargo test -p throng-messages}.
 */
final class Records {
    private Records() {
    }

    /** A request to interrupt a job. */
    static final class Interruption {
        static final int SIZE = 9;

        long user;
        /** True to interrupt only the user's sampler, not its thread. */
        boolean samplerOnly;

        static Interruption of(Input in) {
            Interruption read = new Interruption();
            read.read(in);
            return read;
        }

        void read(Input in) {
            user = in.i64();
            samplerOnly = in.bool();
        }

        /** Skips a record. */
        static void skip(Input in) {
            in.at += 8;
            in.at += 1;
        }

        void write(Output out) {
            out.i64(user);
            out.bool(samplerOnly);
        }
    }

    /** The heap of the JVM, and its garbage collections so far. */
    static final class Memory {
        static final int SIZE = 32;

        /** Size of the used Java heap in bytes. */
        long used;
        /** Maximum size of the Java heap in bytes. */
        long most;
        /** Number of garbage collections that stopped all threads. */
        long collections;
        /** Total time of the garbage collections that stopped all threads, in milliseconds. */
        long pausedMs;

        static Memory of(Input in) {
            Memory read = new Memory();
            read.read(in);
            return read;
        }

        void read(Input in) {
            used = in.i64();
            most = in.i64();
            collections = in.i64();
            pausedMs = in.i64();
        }

        /** Skips a record. */
        static void skip(Input in) {
            in.at += 8;
            in.at += 8;
            in.at += 8;
            in.at += 8;
        }

        void write(Output out) {
            out.i64(used);
            out.i64(most);
            out.i64(collections);
            out.i64(pausedMs);
        }
    }

    /** The part of the test plan that runs in Java. */
    static final class Setup {
        List<Pair> properties = new ArrayList<>();
        /** System properties of the run. */
        List<Pair> system = new ArrayList<>();
        /** JMeter's folder. */
        String home;
        /** Path of the test plan's file. */
        String plan;
        int process;
        /** Names of the plan's variables, by slot. */
        List<String> slots = new ArrayList<>();
        List<Element> elements = new ArrayList<>();
        List<Owner> owners = new ArrayList<>();
        /** Expressions. An If Controller's condition in JavaScript has U+0001, controller's name, U+0001 in front. */
        List<String> texts = new ArrayList<>();
        List<Group> groups = new ArrayList<>();
        /** True if elements may read variables by any name. */
        boolean readsAnyName;
        List<Inside> insides = new ArrayList<>();

        static Setup of(Input in) {
            Setup read = new Setup();
            read.read(in);
            return read;
        }

        void read(Input in) {
            properties = in.list(() -> Pair.of(in));
            system = in.list(() -> Pair.of(in));
            home = in.str();
            plan = in.str();
            in.at += 4;
            slots = in.list(() -> in.str());
            elements = in.list(() -> Element.of(in));
            owners = in.list(() -> Owner.of(in));
            texts = in.list(() -> in.str());
            groups = in.list(() -> Group.of(in));
            readsAnyName = in.bool();
            insides = in.list(() -> Inside.of(in));
        }

        void write(Output out) {
            out.list(properties, one -> one.write(out));
            out.list(system, one -> one.write(out));
            out.str(home);
            out.str(plan);
            out.i32(process);
            out.list(slots, one -> out.str(one));
            out.list(elements, one -> one.write(out));
            out.list(owners, one -> one.write(out));
            out.list(texts, one -> out.str(one));
            out.list(groups, one -> one.write(out));
            out.bool(readsAnyName);
            out.list(insides, one -> one.write(out));
        }
    }

    /** A property with its value. */
    static final class Pair {
        String name;
        String value;

        static Pair of(Input in) {
            Pair read = new Pair();
            read.read(in);
            return read;
        }

        void read(Input in) {
            name = in.str();
            value = in.str();
        }

        /** Skips a record. */
        static void skip(Input in) {
            in.skip();
            in.skip();
        }

        void write(Output out) {
            out.str(name);
            out.str(value);
        }
    }

    /** A Java-backed element of the plan. */
    static final class Element {
        int role;
        String className;
        String name;
        String path;
        int line;
        int reads;
        String xml;

        static Element of(Input in) {
            Element read = new Element();
            read.read(in);
            return read;
        }

        void read(Input in) {
            role = in.u8();
            className = in.str();
            name = in.str();
            path = in.str();
            line = in.i32();
            reads = in.u8();
            xml = in.str();
        }

        /** Skips a record. */
        static void skip(Input in) {
            in.at += 1;
            in.skip();
            in.skip();
            in.skip();
            in.at += 4;
            in.at += 1;
            in.skip();
        }

        void write(Output out) {
            out.u8(role);
            out.str(className);
            out.str(name);
            out.str(path);
            out.i32(line);
            out.u8(reads);
            out.str(xml);
        }
    }

    /** A sampler that also exists as an object in Java. */
    static final class Owner {
        int sampler;
        int element;
        /** Config elements of the sampler in JMeter's order, the nearest first. */
        List<Integer> configs = new ArrayList<>();

        static Owner of(Input in) {
            Owner read = new Owner();
            read.read(in);
            return read;
        }

        void read(Input in) {
            sampler = in.i32();
            element = in.i32();
            configs = in.list(() -> in.i32());
        }

        void write(Output out) {
            out.i32(sampler);
            out.i32(element);
            out.list(configs, one -> out.i32(one));
        }
    }

    /** A thread group with its number of users. */
    static final class Group {
        String name;
        int users;

        static Group of(Input in) {
            Group read = new Group();
            read.read(in);
            return read;
        }

        void read(Input in) {
            name = in.str();
            users = in.i32();
        }

        /** Skips a record. */
        static void skip(Input in) {
            in.skip();
            in.at += 4;
        }

        void write(Output out) {
            out.str(name);
            out.i32(users);
        }
    }

    /** The children of a Java-backed controller. */
    static final class Inside {
        int element;
        /** True if a native element needs notices of the controller's iterations. */
        boolean heard;
        List<Child> children = new ArrayList<>();

        static Inside of(Input in) {
            Inside read = new Inside();
            read.read(in);
            return read;
        }

        void read(Input in) {
            element = in.i32();
            heard = in.bool();
            children = in.list(() -> Child.of(in));
        }

        void write(Output out) {
            out.i32(element);
            out.bool(heard);
            out.list(children, one -> one.write(out));
        }
    }

    /** A child of a Java-backed controller. */
    static final class Child {
        boolean isController;
        /** Number of the child in the plan: of the sampler or of the controller. */
        int id;
        String name;

        static Child of(Input in) {
            Child read = new Child();
            read.read(in);
            return read;
        }

        void read(Input in) {
            isController = in.bool();
            id = in.i32();
            name = in.str();
        }

        /** Skips a record. */
        static void skip(Input in) {
            in.at += 1;
            in.at += 4;
            in.skip();
        }

        void write(Output out) {
            out.bool(isController);
            out.i32(id);
            out.str(name);
        }
    }

    /** A problem that Java has found in the plan. */
    static final class Finding {
        int severity;
        /** Number of the element, or FIRST_TEXT minus the number of the text. */
        int about;
        /** Line of the problem in the script; 0 if unknown. */
        int line;
        String message;

        static Finding of(Input in) {
            Finding read = new Finding();
            read.read(in);
            return read;
        }

        void read(Input in) {
            severity = in.u8();
            about = in.i32();
            line = in.i32();
            message = in.str();
        }

        /** Skips a record. */
        static void skip(Input in) {
            in.at += 1;
            in.at += 4;
            in.at += 4;
            in.skip();
        }

        void write(Output out) {
            out.u8(severity);
            out.i32(about);
            out.i32(line);
            out.str(message);
        }
    }

    /** The beginning of a job's message. */
    static final class JobHead {
        /** Number of the user; 0 is the test itself. */
        long user;
        /** Number of the user's group, or NO_GROUP. */
        int group;
        /** Number of the user in its group, from 0. */
        int number;
        /** Iteration of the user, from 1. */
        int iteration;
        int flags;
        String thread;
        String label;
        long nowMs;
        int groupActive;
        int allActive;
        /** Number of users started so far. */
        int started;
        /** Number of users finished so far. */
        int finished;

        static JobHead of(Input in) {
            JobHead read = new JobHead();
            read.read(in);
            return read;
        }

        void read(Input in) {
            user = in.i64();
            group = in.i32();
            number = in.i32();
            iteration = in.i32();
            flags = in.u8();
            thread = in.str();
            in.skip();
            in.at += 8;
            groupActive = in.i32();
            allActive = in.i32();
            started = in.i32();
            finished = in.i32();
        }

        /** Skips a record. */
        static void skip(Input in) {
            in.at += 8;
            in.at += 4;
            in.at += 4;
            in.at += 4;
            in.at += 1;
            in.skip();
            in.skip();
            in.at += 8;
            in.at += 4;
            in.at += 4;
            in.at += 4;
            in.at += 4;
        }

        void write(Output out) {
            out.i64(user);
            out.i32(group);
            out.i32(number);
            out.i32(iteration);
            out.u8(flags);
            out.str(thread);
            out.str(label);
            out.i64(nowMs);
            out.i32(groupActive);
            out.i32(allActive);
            out.i32(started);
            out.i32(finished);
        }
    }

    /** A changed property. */
    static final class Property {
        /** Version of the change; native code and Java count their changes separately. */
        long version;
        String name;
        /** The property's new value; absent if the property was removed. */
        String value;

        static Property of(Input in) {
            Property read = new Property();
            read.read(in);
            return read;
        }

        void read(Input in) {
            version = in.i64();
            name = in.str();
            value = in.optStr();
        }

        void write(Output out) {
            out.i64(version);
            out.str(name);
            out.optStr(value);
        }
    }

    /** A line that Java has logged. */
    static final class LogLine {
        int level;
        long atMs;
        String logger;
        String text;

        static LogLine of(Input in) {
            LogLine read = new LogLine();
            read.read(in);
            return read;
        }

        void read(Input in) {
            level = in.u8();
            atMs = in.i64();
            logger = in.str();
            text = in.str();
        }

        /** Skips a record. */
        static void skip(Input in) {
            in.at += 1;
            in.at += 8;
            in.skip();
            in.skip();
        }

        void write(Output out) {
            out.u8(level);
            out.i64(atMs);
            out.str(logger);
            out.str(text);
        }
    }

    /** A sample's result without its body, assertions and sub-results. */
    static final class ResultHead {
        int flags;
        int action;
        String label;
        String code;
        String message;
        String url;
        String requestHeaders;
        String samplerData;
        String method;
        String cookies;
        String query;
        String redirect;
        String responseHeaders;
        String contentType;
        String encoding;
        String file;
        String thread;
        long startMs;
        long endMs;
        long elapsedMs;
        long latencyMs;
        long connectMs;
        long idleMs;
        long bytes;
        long headersSize;
        long bodySize;
        long sent;
        int count;
        int errors;
        int groupActive;
        int allActive;

        static ResultHead of(Input in) {
            ResultHead read = new ResultHead();
            read.read(in);
            return read;
        }

        void read(Input in) {
            flags = in.i32();
            action = in.u8();
            label = in.str();
            code = in.str();
            message = in.str();
            url = in.str();
            requestHeaders = in.str();
            samplerData = in.str();
            method = in.str();
            cookies = in.str();
            query = in.str();
            redirect = in.str();
            responseHeaders = in.str();
            contentType = in.str();
            encoding = in.str();
            file = in.str();
            thread = in.str();
            startMs = in.i64();
            endMs = in.i64();
            elapsedMs = in.i64();
            latencyMs = in.i64();
            connectMs = in.i64();
            idleMs = in.i64();
            bytes = in.i64();
            headersSize = in.i64();
            bodySize = in.i64();
            sent = in.i64();
            count = in.i32();
            errors = in.i32();
            groupActive = in.i32();
            allActive = in.i32();
        }

        /** Skips a record. */
        static void skip(Input in) {
            in.at += 4;
            in.at += 1;
            in.skip();
            in.skip();
            in.skip();
            in.skip();
            in.skip();
            in.skip();
            in.skip();
            in.skip();
            in.skip();
            in.skip();
            in.skip();
            in.skip();
            in.skip();
            in.skip();
            in.skip();
            in.at += 8;
            in.at += 8;
            in.at += 8;
            in.at += 8;
            in.at += 8;
            in.at += 8;
            in.at += 8;
            in.at += 8;
            in.at += 8;
            in.at += 8;
            in.at += 4;
            in.at += 4;
            in.at += 4;
            in.at += 4;
        }

        void write(Output out) {
            out.i32(flags);
            out.u8(action);
            out.str(label);
            out.str(code);
            out.str(message);
            out.str(url);
            out.str(requestHeaders);
            out.str(samplerData);
            out.str(method);
            out.str(cookies);
            out.str(query);
            out.str(redirect);
            out.str(responseHeaders);
            out.str(contentType);
            out.str(encoding);
            out.str(file);
            out.str(thread);
            out.i64(startMs);
            out.i64(endMs);
            out.i64(elapsedMs);
            out.i64(latencyMs);
            out.i64(connectMs);
            out.i64(idleMs);
            out.i64(bytes);
            out.i64(headersSize);
            out.i64(bodySize);
            out.i64(sent);
            out.i32(count);
            out.i32(errors);
            out.i32(groupActive);
            out.i32(allActive);
        }
    }

    /** The verdict of an assertion. */
    static final class Assertion {
        String name;
        boolean failure;
        boolean error;
        String message;

        static Assertion of(Input in) {
            Assertion read = new Assertion();
            read.read(in);
            return read;
        }

        void read(Input in) {
            name = in.str();
            failure = in.bool();
            error = in.bool();
            message = in.optStr();
        }

        void write(Output out) {
            out.str(name);
            out.bool(failure);
            out.bool(error);
            out.optStr(message);
        }
    }

    /** A cookie of a user's Cookie Manager. */
    static final class Cookie {
        String name;
        String value;
        String domain;
        String path;
        boolean secure;
        /** Expiry in milliseconds since 1970, or 0 if the cookie has none. */
        long expiresMs;
        int flags;
        int version;

        static Cookie of(Input in) {
            Cookie read = new Cookie();
            read.read(in);
            return read;
        }

        void read(Input in) {
            name = in.str();
            value = in.str();
            domain = in.str();
            path = in.str();
            secure = in.bool();
            expiresMs = in.i64();
            flags = in.u8();
            version = in.i32();
        }

        /** Skips a record. */
        static void skip(Input in) {
            in.skip();
            in.skip();
            in.skip();
            in.skip();
            in.at += 1;
            in.at += 8;
            in.at += 1;
            in.at += 4;
        }

        void write(Output out) {
            out.str(name);
            out.str(value);
            out.str(domain);
            out.str(path);
            out.bool(secure);
            out.i64(expiresMs);
            out.u8(flags);
            out.i32(version);
        }
    }

    /** An HTTP sampler, with its properties as texts. */
    static final class Request {
        String protocol;
        String domain;
        String port;
        String path;
        String method;
        String encoding;
        String connectTimeout;
        String responseTimeout;
        /** Pattern of the URLs of embedded resources. */
        String embedded;
        int flags;
        List<Argument> arguments = new ArrayList<>();
        List<SentFile> files = new ArrayList<>();
        List<Header> headers = new ArrayList<>();
        /** Name of the sampler, if a script has changed it. */
        String name;

        static Request of(Input in) {
            Request read = new Request();
            read.read(in);
            return read;
        }

        void read(Input in) {
            protocol = in.str();
            domain = in.str();
            port = in.str();
            path = in.str();
            method = in.str();
            encoding = in.str();
            connectTimeout = in.str();
            responseTimeout = in.str();
            embedded = in.str();
            flags = in.u16();
            arguments = in.list(() -> Argument.of(in));
            files = in.list(() -> SentFile.of(in));
            headers = in.list(() -> Header.of(in));
            name = in.optStr();
        }

        void write(Output out) {
            out.str(protocol);
            out.str(domain);
            out.str(port);
            out.str(path);
            out.str(method);
            out.str(encoding);
            out.str(connectTimeout);
            out.str(responseTimeout);
            out.str(embedded);
            out.u16(flags);
            out.list(arguments, one -> one.write(out));
            out.list(files, one -> one.write(out));
            out.list(headers, one -> one.write(out));
            out.optStr(name);
        }
    }

    /** A parameter of an HTTP request. */
    static final class Argument {
        String name;
        String value;
        boolean encode;
        boolean equals;
        String contentType;

        static Argument of(Input in) {
            Argument read = new Argument();
            read.read(in);
            return read;
        }

        void read(Input in) {
            name = in.str();
            value = in.str();
            encode = in.bool();
            equals = in.bool();
            contentType = in.str();
        }

        /** Skips a record. */
        static void skip(Input in) {
            in.skip();
            in.skip();
            in.at += 1;
            in.at += 1;
            in.skip();
        }

        void write(Output out) {
            out.str(name);
            out.str(value);
            out.bool(encode);
            out.bool(equals);
            out.str(contentType);
        }
    }

    /** A file that an HTTP request uploads. */
    static final class SentFile {
        String path;
        String name;
        String mime;

        static SentFile of(Input in) {
            SentFile read = new SentFile();
            read.read(in);
            return read;
        }

        void read(Input in) {
            path = in.str();
            name = in.str();
            mime = in.str();
        }

        /** Skips a record. */
        static void skip(Input in) {
            in.skip();
            in.skip();
            in.skip();
        }

        void write(Output out) {
            out.str(path);
            out.str(name);
            out.str(mime);
        }
    }

    /** A header of an HTTP request. */
    static final class Header {
        String name;
        String value;

        static Header of(Input in) {
            Header read = new Header();
            read.read(in);
            return read;
        }

        void read(Input in) {
            name = in.str();
            value = in.str();
        }

        /** Skips a record. */
        static void skip(Input in) {
            in.skip();
            in.skip();
        }

        void write(Output out) {
            out.str(name);
            out.str(value);
        }
    }

    /** A sampler of a class other than HTTP. */
    static final class Given {
        /** The sampler as XML, with evaluated properties. */
        String xml;
        /** The headers, if the sampler has a Header Manager. */
        List<Header> headers;
        /** Name of the sampler, if a script has changed it. */
        String name;
        /** True if a script has changed headers that other samplers also send. */
        boolean lasting;

        static Given of(Input in) {
            Given read = new Given();
            read.read(in);
            return read;
        }

        void read(Input in) {
            xml = in.str();
            headers = in.bool() ? in.list(() -> Header.of(in)) : null;
            name = in.optStr();
            lasting = in.bool();
        }

        void write(Output out) {
            out.str(xml);
            out.optList(headers, one -> one.write(out));
            out.optStr(name);
            out.bool(lasting);
        }
    }

    /** A question to a Java-backed controller. */
    static final class Question {
        static final int WORDS = 5;

        int element;
        /** Number of open calls that enclose this call. */
        int depth;
        int turn;
        /** The answer to the controller's request, if the call continues. */
        int answer;
        /** Number of the sampler or transaction, or 1 if the child is done. */
        int number;

        static Question of(Input in) {
            Question read = new Question();
            read.read(in);
            return read;
        }

        void read(Input in) {
            element = in.i32();
            depth = in.i32();
            turn = in.i32();
            answer = in.i32();
            number = in.i32();
        }

        /** Skips a record. */
        static void skip(Input in) {
            in.at += 4;
            in.at += 4;
            in.at += 4;
            in.at += 4;
            in.at += 4;
        }

        void write(Output out) {
            out.i32(element);
            out.i32(depth);
            out.i32(turn);
            out.i32(answer);
            out.i32(number);
        }
    }

    /** A notice to a Java-backed controller, sent before a question. */
    static final class Notice {
        static final int WORDS = 3;

        int element;
        int what;
        /** Twice the number of the iteration, plus 1 if iterations count from 1. */
        int number;

        static Notice of(Input in) {
            Notice read = new Notice();
            read.read(in);
            return read;
        }

        void read(Input in) {
            element = in.i32();
            what = in.i32();
            number = in.i32();
        }

        /** Skips a record. */
        static void skip(Input in) {
            in.at += 4;
            in.at += 4;
            in.at += 4;
        }

        void write(Output out) {
            out.i32(element);
            out.i32(what);
            out.i32(number);
        }
    }

    /** The head of each message and reply in the streams of a child process. */
    static final class FrameHead {
        static final int SIZE = 9;

        /** Length of the frame's content in bytes. */
        int length;
        /** Number of the thread that carries the message. */
        int thread;
        /** Kind of the frame: Frame. */
        int kind;

        static FrameHead of(Input in) {
            FrameHead read = new FrameHead();
            read.read(in);
            return read;
        }

        void read(Input in) {
            length = in.i32();
            thread = in.i32();
            kind = in.u8();
        }

        /** Skips a record. */
        static void skip(Input in) {
            in.at += 4;
            in.at += 4;
            in.at += 1;
        }

        void write(Output out) {
            out.i32(length);
            out.i32(thread);
            out.u8(kind);
        }
    }
}
