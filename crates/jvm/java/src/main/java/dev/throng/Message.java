package dev.throng;

/**
 * Numbers in messages. Generated from crates/messages/messages.txt; to regenerate, run
 * {@code UPDATE_MESSAGES=1 cargo test -p throng-messages}.
 */
public final class Message {
    private Message() {
    }

    /** The kind of a message: its first byte. */
    public static final class Kind {
        /** Sends Java its part of the plan: Setup. The reply is a SetupReply. */
        public static final int SETUP = 1;
        /** Starts the test: a list of Variable. The reply is a StartReply. */
        public static final int START = 2;
        /** Work for a user, described by a Job. The reply is a JobReply. */
        public static final int JOB = 3;
        /** A user has ended: its number, a u64. The reply is an EndReply. */
        public static final int USER_END = 4;
        /** The test has ended. The reply is an EndReply. */
        public static final int END = 5;
        /** Interrupts a job, which an Interruption names. The reply is the status. */
        public static final int INTERRUPT = 6;
        /** A list of Property, changed by native code while jobs run. The reply is an EndReply. */
        public static final int PROPERTIES = 7;
        /** The reply comes when something ends the JVM (System.exit), which then waits for allow_exit. */
        public static final int AWAIT_EXIT = 8;
        /** Allows the JVM to end. */
        public static final int ALLOW_EXIT = 9;
        /** Waits a limited time for threads that the plan started. The reply: status, message about threads left. */
        public static final int LINGER = 10;
        /** Ends the process as System.exit does, with an exit code (a u8). There is no reply. */
        public static final int EXIT_WITH = 11;
        /** Reads the heap and its collections. The reply is the status and a Memory. */
        public static final int MEMORY = 12;

        private Kind() {
        }
    }

    /** The status of a reply: its first byte. */
    public static final class Status {
        /** Java has done the work. */
        public static final int WELL = 0;
        /** The bridge itself failed; the rest of the reply is the reason, a str. */
        public static final int FAILED = 1;
        /** JMeter abandons the sample after an exception. Like well, without the fields that depend on the act. */
        public static final int ABANDONED = 2;
        /** Like abandoned, but a Java Error ends the user. The Error's message, a str, follows the status. */
        public static final int FATAL = 3;

        private Status() {
        }
    }

    /** The kind of work that an element does. */
    public static final class Role {
        /** A config element, which configures samplers. */
        public static final int CONFIG = 0;
        /** A pre-processor, which runs before samplers. */
        public static final int BEFORE = 1;
        /** A timer, which returns a delay. */
        public static final int TIMER = 2;
        /** A sampler, which makes a sample. */
        public static final int SAMPLER = 3;
        /** A post-processor, which runs after samplers. */
        public static final int AFTER = 4;
        /** An assertion, which checks results. */
        public static final int ASSERTION = 5;
        /** A listener, which receives results. */
        public static final int LISTENER = 6;
        /** A controller, which chooses the next sampler. */
        public static final int CONTROLLER = 7;

        private Role() {
        }
    }

    /** The data that an element reads besides variables and properties. */
    public static final class Reads {
        /** The current sample's result, or the previous sample's if there is none. */
        public static final int RESULT = 1;
        /** The object of the current sampler. */
        public static final int SAMPLER = 2;
        /** The cookies of the current sampler. */
        public static final int COOKIES = 4;
        /** The body of the sample's result. */
        public static final int BODY = 8;
        /** The previous result (prev), which differs from the processed result only for a transaction's sample. */
        public static final int PREVIOUS = 16;
        /** The element reads nothing: it runs natively, and Java may lack its class. */
        public static final int NATIVE = 32;

        private Reads() {
        }
    }

    /** The severity of a problem that Java finds in the plan. */
    public static final class Severity {
        /** A warning: the element or script runs nevertheless. */
        public static final int WARNING = 0;
        /** An error: the element or script will not run. */
        public static final int ERROR = 1;

        private Severity() {
        }
    }

    /** Number for a finding about the first text. Each further text has the next lower number. */
    static final int FIRST_TEXT = -2;

    /** Flags of a job that Java runs. */
    public static final class JobFlags {
        /** The job is the first of an iteration. */
        public static final int FIRST = 1;
        /** JMeter would have disabled certificate checks by now, so Java must disable its checks, too. */
        public static final int TRUSTS = 2;

        private JobFlags() {
        }
    }

    /** The job runs before users have variables. */
    static final int NO_GROUP = -1;

    /** The work of a job. An act below 16 runs the elements in ids, in order; before without ids reads the request. */
    public static final class Act {
        /** Run pre-processors. */
        public static final int BEFORE = 1;
        /** Run timers, which return delays. */
        public static final int TIMER = 2;
        /** Run a sampler, which makes a sample. */
        public static final int SAMPLER = 3;
        /** Run post-processors. */
        public static final int AFTER = 4;
        /** Run assertions, which check the result. */
        public static final int ASSERTION = 5;
        /** Send the result to listeners. */
        public static final int LISTENER = 6;
        /** Evaluate texts with functions of Java. */
        public static final int EVALUATE = 16;
        /** Notify elements of the start of an iteration. */
        public static final int ITERATION = 17;
        /** Notify elements of the start of the user. */
        public static final int START = 18;
        /** Ask a controller for the next sampler. */
        public static final int CONTROLLER = 19;

        private Act() {
        }
    }

    /** A request of a script; of several requests the highest counts. */
    public static final class Ask {
        /** The script requests nothing. */
        public static final int NOTHING = 0;
        /** The script requests to leave the innermost loop. */
        public static final int BREAK_LOOP = 1;
        /** The script requests the next iteration of the innermost loop. */
        public static final int NEXT_OF_LOOP = 2;
        /** The script requests the next iteration of the thread. */
        public static final int NEXT_OF_THREAD = 3;
        /** The script requests the end of the user. */
        public static final int STOP_USER = 4;
        /** The script requests the end of the test. */
        public static final int STOP_TEST = 5;
        /** The script requests the end of the test at once. */
        public static final int STOP_TEST_NOW = 6;

        private Ask() {
        }
    }

    /** Stands in place of a slot for a variable without a slot; the variable's name follows. */
    static final int NAMED = -1;

    /** The level of a log line. */
    public static final class LogLevel {
        /** Level of trace lines. */
        public static final int TRACE = 0;
        /** Level of debug lines. */
        public static final int DEBUG = 1;
        /** Level of information lines. */
        public static final int INFO = 2;
        /** Level of warnings. */
        public static final int WARN = 3;
        /** Level of errors. */
        public static final int ERROR = 4;

        private LogLevel() {
        }
    }

    /** Flags of a result. */
    public static final class ResultFlags {
        /** The sample is successful. */
        public static final int SUCCESS = 1;
        /** The sample is ignored. */
        public static final int IGNORED = 2;
        /** The sample is an HTTP sample. */
        public static final int HTTP = 4;
        /** The sample requests the end of the user. */
        public static final int STOP_USER = 8;
        /** The sample requests the end of the test. */
        public static final int STOP_TEST = 16;
        /** The sample requests the end of the test at once. */
        public static final int STOP_TEST_NOW = 32;
        /** The data of the sample are text. */
        public static final int TEXT = 64;
        /** The data of the sample are binary. */
        public static final int BINARY = 128;
        /** The message contains the body of the result. */
        public static final int BODY = 256;

        private ResultFlags() {
        }
    }

    /** The point at which the user continues after the sample. */
    public static final class ResultAction {
        /** The user continues with the next element. */
        public static final int GO_ON = 0;
        /** The user continues with the next iteration of the thread. */
        public static final int NEXT_OF_THREAD = 1;
        /** The user continues with the next iteration of the innermost loop. */
        public static final int NEXT_OF_LOOP = 2;
        /** The user continues after the innermost loop. */
        public static final int BREAK_LOOP = 3;

        private ResultAction() {
        }
    }

    /** Attributes that a server has set explicitly in a cookie. */
    public static final class CookieFlags {
        /** The server has set the cookie's path. */
        public static final int PATH_GIVEN = 1;
        /** The server has set the cookie's domain. */
        public static final int DOMAIN_GIVEN = 2;

        private CookieFlags() {
        }
    }

    /** The form in which a message contains the sampler. */
    public static final class SamplerForm {
        /** No script has used the sampler. */
        public static final int UNSEEN = 0;
        /** The message contains an HTTP sampler, as a Request. */
        public static final int HTTP = 1;
        /** The message contains a sampler of another class, as a Given. */
        public static final int ELEMENT = 2;
        /** The sampler is unchanged from the plan. */
        public static final int PLANNED = 3;

        private SamplerForm() {
        }
    }

    /** Options of an HTTP request. */
    public static final class RequestFlags {
        /** The sampler follows redirects, each as a sub-result. */
        public static final int FOLLOW_REDIRECTS = 1;
        /** The sampler follows redirects without sub-results. */
        public static final int AUTO_REDIRECTS = 2;
        /** The sampler keeps the connection open. */
        public static final int KEEP_ALIVE = 4;
        /** The sampler sends the body as multipart. */
        public static final int MULTIPART = 8;
        /** The sampler sends multipart bodies as browsers do. */
        public static final int COMPATIBLE = 16;
        /** The sampler sends the body unchanged. */
        public static final int RAW = 32;
        /** The sampler loads embedded resources. */
        public static final int LOADS_EMBEDDED = 64;
        /** The sampler replaces the response by its MD5 sum. */
        public static final int MD5 = 128;
        /** A script has changed headers that other samplers also send. */
        public static final int LASTING = 256;

        private RequestFlags() {
        }
    }

    /** The kind of a question to a Java-backed controller. */
    public static final class Turn {
        /** A new call to a controller, for the next sampler. */
        public static final int NEXT = 0;
        /** The innermost open call to a controller continues. */
        public static final int GO_ON = 1;

        private Turn() {
        }
    }

    /** The answer to a request that a Java-backed controller has made. */
    public static final class Answer {
        /** The answer is no sampler; the number is 1 if the child is done. */
        public static final int NOTHING = 0;
        /** The answer is the number of a sampler. */
        public static final int SAMPLER = 1;
        /** The answer is the number of a transaction, whose sample is complete. */
        public static final int TRANSACTION = 2;

        private Answer() {
        }
    }

    /** The kind of a notice to a Java-backed controller. */
    public static final class Tell {
        /** The controller is initialised. */
        public static final int INITIALIZE = 1;
        /** The controller's loop has ended. */
        public static final int END_OF_LOOP = 2;
        /** The controller's loop starts its next iteration. */
        public static final int NEXT_LOOP = 3;
        /** The controller's loop is left. */
        public static final int BREAK_LOOP = 4;
        /** The controller around this controller begins an iteration. */
        public static final int ITERATION = 5;

        private Tell() {
        }
    }

    /** The kind of a Java-backed controller's reply. */
    public static final class SaidKind {
        /** The controller has no more samplers in this iteration. */
        public static final int NOTHING = 0;
        /** The controller has chosen the next sampler. */
        public static final int SAMPLER = 1;
        /** The controller has chosen the complete sample of a transaction below it. */
        public static final int TRANSACTION = 2;
        /** The controller requests something before it can choose. */
        public static final int ASKS = 3;

        private SaidKind() {
        }
    }

    /** A request of a Java-backed controller, which must be answered before it can choose. */
    public static final class Need {
        /** Return the next sampler of a child. */
        public static final int NEXT = 0;
        /** Initialise a child controller. */
        public static final int INITIALIZE = 1;
        /** Notify a child of the end of its loop. */
        public static final int END_OF_LOOP = 2;
        /** Return 1 if a child is done. */
        public static final int IS_DONE = 3;
        /** Begin the controller's iteration, counted from 0. */
        public static final int BEGINS = 4;
        /** Begin the controller's iteration, counted from 1. */
        public static final int BEGINS_FROM_ONE = 5;

        private Need() {
        }
    }

    /** The kind of a frame in the streams of a child process. */
    public static final class Frame {
        /** A thread begins; the content is its name, the reply its number in the operating system (i64). */
        public static final int BEGIN = 0;
        /** A message or its reply. */
        public static final int CALL = 1;
        /** The thread of the frame is no longer needed. */
        public static final int LEAVE = 2;
        /** Sent instead of a reply; the content is the reason, in UTF-8. */
        public static final int NONE = 3;

        private Frame() {
        }
    }
}
