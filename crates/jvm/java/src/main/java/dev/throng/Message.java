package dev.throng;

/**
 * Numbers in messages. Made from crates/messages/messages.txt, never by hand:
 * {@code UPDATE_MESSAGES=1 cargo test -p throng-messages}.
 */
public final class Message {
    private Message() {
    }

    /** The first byte of a message. */
    public static final class Kind {
        /** Java reads its part of the plan: Setup. Answered by SetupReply. */
        public static final int SETUP = 1;
        /** The test starts: a list of Variable. Answered by StartReply. */
        public static final int START = 2;
        /** Something is done for a user: Job. Answered by JobReply. */
        public static final int JOB = 3;
        /** A user has ended: u64, its number. Answered by EndReply. */
        public static final int USER_END = 4;
        /** The test has ended. Answered by EndReply. */
        public static final int END = 5;
        /** A job is interrupted: Interruption. Answered by the status. */
        public static final int INTERRUPT = 6;
        /** A list of Property, changed natively while jobs run. Answered by EndReply. */
        public static final int PROPERTIES = 7;
        /** Answered once something ends the machine (System.exit), which waits from then on. */
        public static final int AWAIT_EXIT = 8;
        /** The machine may end. */
        public static final int ALLOW_EXIT = 9;
        /** Answered once no thread of Java's own is left that would keep it, or after a while; behind the status what still runs, UTF-8 to the end. */
        public static final int LINGER = 10;
        /** A code, a u8: the process ends as by System.exit, without an answer. */
        public static final int EXIT_WITH = 11;
        /** The heap and its collections are asked for. Answered by the status and Memory. */
        public static final int MEMORY = 12;

        private Kind() {
        }
    }

    /** The first byte of a reply. */
    public static final class Status {
        /** It is done. */
        public static final int WELL = 0;
        /** The bridge itself failed; why, a str, is the rest. */
        public static final int FAILED = 1;
        /** An element threw where JMeter abandons the sample; the reply goes on as behind 0, but for what the act answers. */
        public static final int ABANDONED = 2;
        /** The same by an Error, of which the user ends; its words, a str, come first. */
        public static final int FATAL = 3;

        private Status() {
        }
    }

    /** The work of an element. */
    public static final class Role {
        /** It configures samplers. */
        public static final int CONFIG = 0;
        /** It runs before samplers. */
        public static final int BEFORE = 1;
        /** It says how long to wait. */
        public static final int TIMER = 2;
        /** It makes a sample. */
        public static final int SAMPLER = 3;
        /** It runs after samplers. */
        public static final int AFTER = 4;
        /** It checks results. */
        public static final int ASSERTION = 5;
        /** It is told of results. */
        public static final int LISTENER = 6;
        /** It says which sampler is next. */
        public static final int CONTROLLER = 7;

        private Role() {
        }
    }

    /** Things that an element reads beside variables and properties. */
    public static final class Reads {
        /** The result: that of the sample before, or of the sample it stands behind. */
        public static final int RESULT = 1;
        /** The sampler. */
        public static final int SAMPLER = 2;
        /** The sampler's cookies. */
        public static final int COOKIES = 4;
        /** The body of the result. */
        public static final int BODY = 8;
        /** The result of the sample before by that name, which of a transaction is not its own. */
        public static final int PREVIOUS = 16;
        /** None of these: it runs natively, and Java may be without its class. */
        public static final int NATIVE = 32;

        private Reads() {
        }
    }

    /** The weight of a finding. */
    public static final class Severity {
        /** It runs. */
        public static final int WARNING = 0;
        /** It will not run. */
        public static final int ERROR = 1;

        private Severity() {
        }
    }

    /** A finding about the first text; one lower is about the next. */
    static final int FIRST_TEXT = -2;

    /** Properties of a job. */
    public static final class JobFlags {
        /** It is the first of an iteration. */
        public static final int FIRST = 1;
        /** JMeter would trust all servers by now. */
        public static final int TRUSTS = 2;

        private JobFlags() {
        }
    }

    /** The job comes before there are variables. */
    static final int NO_GROUP = -1;

    /** The work of a job. Acts below 16 are roles, whose elements run in the order of the ids. A job of "before" without ids only asks for the request. */
    public static final class Act {
        /** Pre-processors run. */
        public static final int BEFORE = 1;
        /** Timers say how long to wait. */
        public static final int TIMER = 2;
        /** A sampler makes a sample. */
        public static final int SAMPLER = 3;
        /** Post-processors run. */
        public static final int AFTER = 4;
        /** Assertions check the result. */
        public static final int ASSERTION = 5;
        /** Listeners are told of the result. */
        public static final int LISTENER = 6;
        /** Texts are evaluated. */
        public static final int EVALUATE = 16;
        /** An iteration begins. */
        public static final int ITERATION = 17;
        /** The user starts. */
        public static final int START = 18;
        /** A controller is asked for the next sampler. */
        public static final int CONTROLLER = 19;

        private Act() {
        }
    }

    /** Requests of scripts; of several the highest. */
    public static final class Ask {
        /** Nothing. */
        public static final int NOTHING = 0;
        /** The loop around is left. */
        public static final int BREAK_LOOP = 1;
        /** The next iteration of the loop around. */
        public static final int NEXT_OF_LOOP = 2;
        /** The next iteration of the thread. */
        public static final int NEXT_OF_THREAD = 3;
        /** The user ends. */
        public static final int STOP_USER = 4;
        /** The test ends. */
        public static final int STOP_TEST = 5;
        /** The test ends at once. */
        public static final int STOP_TEST_NOW = 6;

        private Ask() {
        }
    }

    /** In the place of a slot: the variable's name follows. */
    static final int NAMED = -1;

    /** The level of a line. */
    public static final class LogLevel {
        /** Trace. */
        public static final int TRACE = 0;
        /** Debug. */
        public static final int DEBUG = 1;
        /** Info. */
        public static final int INFO = 2;
        /** Warn. */
        public static final int WARN = 3;
        /** Error. */
        public static final int ERROR = 4;

        private LogLevel() {
        }
    }

    /** Properties of a result. */
    public static final class ResultFlags {
        /** It is successful. */
        public static final int SUCCESS = 1;
        /** It is ignored. */
        public static final int IGNORED = 2;
        /** It is one of HTTP. */
        public static final int HTTP = 4;
        /** The user is to end. */
        public static final int STOP_USER = 8;
        /** The test is to end. */
        public static final int STOP_TEST = 16;
        /** The test is to end at once. */
        public static final int STOP_TEST_NOW = 32;
        /** Its data are text. */
        public static final int TEXT = 64;
        /** Its data are binary. */
        public static final int BINARY = 128;
        /** A body follows. */
        public static final int BODY = 256;

        private ResultFlags() {
        }
    }

    /** Where the user goes on. */
    public static final class ResultAction {
        /** With what follows. */
        public static final int GO_ON = 0;
        /** With the next iteration of the thread. */
        public static final int NEXT_OF_THREAD = 1;
        /** With the next iteration of the loop around. */
        public static final int NEXT_OF_LOOP = 2;
        /** Behind the loop around. */
        public static final int BREAK_LOOP = 3;

        private ResultAction() {
        }
    }

    /** Attributes that a cookie was given. */
    public static final class CookieFlags {
        /** Its path. */
        public static final int PATH_GIVEN = 1;
        /** Its domain. */
        public static final int DOMAIN_GIVEN = 2;

        private CookieFlags() {
        }
    }

    /** The form in which a sampler follows. */
    public static final class SamplerForm {
        /** Nobody looked. */
        public static final int UNSEEN = 0;
        /** A Request. */
        public static final int HTTP = 1;
        /** A Given, of another class. */
        public static final int ELEMENT = 2;
        /** It is as planned. */
        public static final int PLANNED = 3;

        private SamplerForm() {
        }
    }

    /** Options of a request. */
    public static final class RequestFlags {
        /** Redirects are followed, each as a sub-result. */
        public static final int FOLLOW_REDIRECTS = 1;
        /** Redirects are followed silently. */
        public static final int AUTO_REDIRECTS = 2;
        /** The connection is kept. */
        public static final int KEEP_ALIVE = 4;
        /** The body is multipart. */
        public static final int MULTIPART = 8;
        /** Multipart as browsers do it. */
        public static final int COMPATIBLE = 16;
        /** The body is raw. */
        public static final int RAW = 32;
        /** Embedded resources are loaded. */
        public static final int LOADS_EMBEDDED = 64;
        /** The response is its MD5 sum. */
        public static final int MD5 = 128;
        /** Headers that other samplers send are not the plan's any more. */
        public static final int LASTING = 256;

        private RequestFlags() {
        }
    }

    /** The kind of a question. */
    public static final class Turn {
        /** A new one: the next sampler. */
        public static final int NEXT = 0;
        /** The one at the top goes on. */
        public static final int GO_ON = 1;

        private Turn() {
        }
    }

    /** The answer to what a controller asked. */
    public static final class Answer {
        /** Nothing; the number is 1 if the child is done. */
        public static final int NOTHING = 0;
        /** A sampler. */
        public static final int SAMPLER = 1;
        /** The sample of a transaction. */
        public static final int TRANSACTION = 2;

        private Answer() {
        }
    }

    /** The kind of a notice. */
    public static final class Tell {
        /** It is initialised. */
        public static final int INITIALIZE = 1;
        /** A loop has ended. */
        public static final int END_OF_LOOP = 2;
        /** The next iteration of its loop is asked for. */
        public static final int NEXT_LOOP = 3;
        /** Its loop is left. */
        public static final int BREAK_LOOP = 4;
        /** The controller around it begins an iteration. */
        public static final int ITERATION = 5;

        private Tell() {
        }
    }

    /** The kind of a controller's answer. */
    public static final class SaidKind {
        /** It has nothing more in this iteration. */
        public static final int NOTHING = 0;
        /** A sampler. */
        public static final int SAMPLER = 1;
        /** The sample of a transaction below it that is complete. */
        public static final int TRANSACTION = 2;
        /** It asks for something first. */
        public static final int ASKS = 3;

        private SaidKind() {
        }
    }

    /** Things that a controller asks for before it answers. */
    public static final class Need {
        /** A child's next sampler. */
        public static final int NEXT = 0;
        /** That a child is initialised. */
        public static final int INITIALIZE = 1;
        /** That a child hears of the end of its loop. */
        public static final int END_OF_LOOP = 2;
        /** Whether a child is done. */
        public static final int IS_DONE = 3;
        /** That its own iteration begins. */
        public static final int BEGINS = 4;
        /** The same, where iterations count from one. */
        public static final int BEGINS_FROM_ONE = 5;

        private Need() {
        }
    }

    /** The kind of a frame. */
    public static final class Frame {
        /** A thread begins, and its name; the answer is its number in the system (i64). */
        public static final int BEGIN = 0;
        /** A message, or its reply. */
        public static final int CALL = 1;
        /** A thread is no longer needed. */
        public static final int LEAVE = 2;
        /** In the place of a reply: why there is none, UTF-8. */
        public static final int NONE = 3;

        private Frame() {
        }
    }
}
