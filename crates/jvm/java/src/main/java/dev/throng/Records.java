package dev.throng;

import java.util.ArrayList;
import java.util.List;

/**
 * Records of messages. Made from crates/messages/messages.txt, never by hand:
 * {@code UPDATE_MESSAGES=1 cargo test -p throng-messages}.
 */
final class Records {
    private Records() {
    }

    /** The job that is interrupted. */
    static final class Interruption {
        static final int SIZE = 9;

        long user;
        /** The thread is not interrupted beside its sampler. */
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

        /** Steps over one. */
        static void skip(Input in) {
            in.at += 8;
            in.at += 1;
        }

        void write(Output out) {
            out.i64(user);
            out.bool(samplerOnly);
        }
    }

    /** The heap of the machine, and its collections so far. */
    static final class Memory {
        static final int SIZE = 32;

        /** Bytes in use. */
        long used;
        /** Bytes that the heap may have. */
        long most;
        /** Collections for which all threads were stopped. */
        long collections;
        /** Time that these took. */
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

        /** Steps over one. */
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

    /** The plan's part in Java. */
    static final class Setup {
        List<Pair> properties = new ArrayList<>();
        /** System properties. */
        List<Pair> system = new ArrayList<>();
        /** JMeter's folder. */
        String home;
        /** The file of the plan. */
        String plan;
        int process;
        /** Names of variables. */
        List<String> slots = new ArrayList<>();
        List<Element> elements = new ArrayList<>();
        List<Owner> owners = new ArrayList<>();
        /** With functions that only Java can evaluate. One that begins with U+0001 is a condition of an If Controller in JavaScript: its name, U+0001, the condition. */
        List<String> texts = new ArrayList<>();
        List<Group> groups = new ArrayList<>();
        /** Variables are read by any name. */
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

    /** A property. */
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

        /** Steps over one. */
        static void skip(Input in) {
            in.skip();
            in.skip();
        }

        void write(Output out) {
            out.str(name);
            out.str(value);
        }
    }

    /** An element of the plan. */
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

        /** Steps over one. */
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

    /** A sampler that Java must know. */
    static final class Owner {
        int sampler;
        int element;
        /** Config elements in JMeter's order, the nearest first. */
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

    /** A thread group. */
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

        /** Steps over one. */
        static void skip(Input in) {
            in.skip();
            in.at += 4;
        }

        void write(Output out) {
            out.str(name);
            out.i32(users);
        }
    }

    /** The children of a controller in Java. */
    static final class Inside {
        int element;
        /** Something native hears of its iterations. */
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

    /** A child of a controller in Java. */
    static final class Child {
        boolean isController;
        /** Of the sampler, or of the controller. */
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

        /** Steps over one. */
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

    /** Something that is wrong with the plan. */
    static final class Finding {
        int severity;
        /** An element, or FIRST_TEXT less the number of a text. */
        int about;
        /** Within the script; 0 is unknown. */
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

        /** Steps over one. */
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

    /** The beginning of a job. */
    static final class JobHead {
        /** 0 is the test. */
        long user;
        /** Or NO_GROUP. */
        int group;
        /** In the group, from 0. */
        int number;
        /** From 1. */
        int iteration;
        int flags;
        String thread;
        String label;
        long nowMs;
        int groupActive;
        int allActive;
        /** So far. */
        int started;
        /** So far. */
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

        /** Steps over one. */
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

    /** A property that was changed. */
    static final class Property {
        /** Native code and Java each have a count of their own. */
        long version;
        String name;
        /** Absent: removed. */
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

    /** A line of the log. */
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

        /** Steps over one. */
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

    /** A result without its body, assertions and sub-results. */
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

        /** Steps over one. */
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

    /** A cookie. */
    static final class Cookie {
        String name;
        String value;
        String domain;
        String path;
        boolean secure;
        /** Or 0. */
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

        /** Steps over one. */
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

    /** An HTTP request, by its properties as texts. */
    static final class Request {
        String protocol;
        String domain;
        String port;
        String path;
        String method;
        String encoding;
        String connectTimeout;
        String responseTimeout;
        /** The pattern of embedded URLs. */
        String embedded;
        int flags;
        List<Argument> arguments = new ArrayList<>();
        List<SentFile> files = new ArrayList<>();
        List<Header> headers = new ArrayList<>();
        /** Of the sampler, if a script has changed it. */
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

    /** An argument of a request. */
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

        /** Steps over one. */
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

    /** A file that is sent. */
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

        /** Steps over one. */
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

    /** A header of a request. */
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

        /** Steps over one. */
        static void skip(Input in) {
            in.skip();
            in.skip();
        }

        void write(Output out) {
            out.str(name);
            out.str(value);
        }
    }

    /** A sampler of another class. */
    static final class Given {
        /** The element, its properties evaluated. */
        String xml;
        /** If it has a manager of them. */
        List<Header> headers;
        /** Of the sampler, if a script has changed it. */
        String name;
        /** Headers that other samplers send are not the plan's any more. */
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

    /** A question to a controller. */
    static final class Question {
        static final int WORDS = 5;

        int element;
        /** Open questions around this one. */
        int depth;
        int turn;
        /** To what it asked, where it goes on. */
        int answer;
        /** Of the sampler or the transaction; or whether the child is done. */
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

        /** Steps over one. */
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

    /** Something that a controller is told before a question. */
    static final class Notice {
        static final int WORDS = 3;

        int element;
        int what;
        /** Of the iteration times two, plus one where that counts from one. */
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

        /** Steps over one. */
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

    /** The head before each message and each reply in the streams of a process of Java's own. */
    static final class FrameHead {
        static final int SIZE = 9;

        /** Of the content. */
        int length;
        /** The number of the thread. */
        int thread;
        /** A Frame. */
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

        /** Steps over one. */
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
