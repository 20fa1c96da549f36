package dev.throng;

import dev.throng.Message.ResultAction;
import dev.throng.Message.ResultFlags;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.MalformedURLException;
import java.net.URL;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.jmeter.assertions.AssertionResult;
import org.apache.jmeter.protocol.http.sampler.HTTPSampleResult;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.threads.JMeterContext.TestLogicalAction;

/**
 * Converts results between messages and JMeter's objects. Each worker has one instance. It stores the encoded form of the
 * job's result, so that only a changed result is sent back, and only a changed body.
 */
final class Results {
    /** Actions by the numbers of {@link Message.ResultAction}. */
    private static final TestLogicalAction[] ACTIONS = new TestLogicalAction[4];

    private static final VarHandle START;
    private static final VarHandle END;
    private static final VarHandle ELAPSED;
    private static final VarHandle SAMPLER_DATA;
    private static final VarHandle ENCODING;
    private static final VarHandle SUB_INDEX;

    static {
        ACTIONS[ResultAction.GO_ON] = TestLogicalAction.CONTINUE;
        ACTIONS[ResultAction.NEXT_OF_THREAD] = TestLogicalAction.START_NEXT_ITERATION_OF_THREAD;
        ACTIONS[ResultAction.NEXT_OF_LOOP] = TestLogicalAction.START_NEXT_ITERATION_OF_CURRENT_LOOP;
        ACTIONS[ResultAction.BREAK_LOOP] = TestLogicalAction.BREAK_CURRENT_LOOP;
        try {
            MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(SampleResult.class, MethodHandles.lookup());
            START = lookup.findVarHandle(SampleResult.class, "startTime", long.class);
            END = lookup.findVarHandle(SampleResult.class, "endTime", long.class);
            ELAPSED = lookup.findVarHandle(SampleResult.class, "elapsedTime", long.class);
            SAMPLER_DATA = lookup.findVarHandle(SampleResult.class, "samplerData", String.class);
            ENCODING = lookup.findVarHandle(SampleResult.class, "dataEncoding", String.class);
            SUB_INDEX = lookup.findVarHandle(SampleResult.class, "subResultIndex", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Results that were read, and the body of each. */
    private final List<SampleResult> read = new ArrayList<>();
    private final List<byte[]> bodies = new ArrayList<>();
    /** URLs that were read, and the string of each in the message. */
    private final List<URL> urls = new ArrayList<>();
    private final List<String> urlTexts = new ArrayList<>();
    /** Parts of the message that contain the result without bodies: pairs of start and end. */
    private final List<int[]> stretches = new ArrayList<>();
    private int stretchFrom;
    /** Fields of the current result, on the way between its object and the message. */
    private final Records.ResultHead head = new Records.ResultHead();
    private URL lastUrl;
    private String lastUrlText;

    /** Reads the result of a job. The output of {@link #write} can be compared with it. */
    SampleResult readMain(Input in) {
        stretchFrom = in.at;
        SampleResult result = read(in, null);
        stretches.add(new int[] {stretchFrom, in.at});
        return result;
    }

    void release() {
        if (!read.isEmpty()) {
            read.clear();
            bodies.clear();
            urls.clear();
            urlTexts.clear();
            stretches.clear();
        }
    }

    private SampleResult read(Input in, SampleResult parent) {
        int headAt = in.at;
        head.read(in);
        int flags = head.flags;
        boolean http = (flags & ResultFlags.HTTP) != 0;
        SampleResult result = http ? new HTTPSampleResult() : new SampleResult();
        take(result);
        if (http) {
            HTTPSampleResult of = (HTTPSampleResult) result;
            of.setHTTPMethod(head.method.isEmpty() ? null : head.method);
            of.setCookies(head.cookies);
            of.setQueryString(head.query);
            of.setRedirectLocation(head.redirect.isEmpty() ? null : head.redirect);
        }
        if ((flags & ResultFlags.BODY) != 0) {
            stretches.add(new int[] {stretchFrom, in.at});
            result.setResponseData(in.blob());
            stretchFrom = in.at;
            // Results are compared without bodies. The flags are the first field.
            Input.patch(in.bytes, headAt, flags & ~ResultFlags.BODY);
        }
        read.add(result);
        bodies.add(result.getResponseData());
        int assertions = in.i32();
        for (int i = 0; i < assertions; i++) {
            Records.Assertion found = Records.Assertion.of(in);
            AssertionResult assertion = new AssertionResult(found.name);
            assertion.setFailure(found.failure);
            assertion.setError(found.error);
            if (found.message != null) {
                assertion.setFailureMessage(found.message);
            }
            result.addAssertionResult(assertion);
        }
        int subs = in.i32();
        for (int i = 0; i < subs; i++) {
            result.storeSubResult(read(in, result), false);
        }
        SUB_INDEX.set(result, subs);
        if (parent != null) {
            result.setParent(parent);
        }
        return result;
    }

    /** Copies the fields of the head to a result, except those that only HTTP results have. */
    private void take(SampleResult result) {
        int flags = head.flags;
        result.setSuccessful((flags & ResultFlags.SUCCESS) != 0);
        if ((flags & ResultFlags.IGNORED) != 0) {
            result.setIgnore();
        }
        result.setStopThread((flags & ResultFlags.STOP_USER) != 0);
        result.setStopTest((flags & ResultFlags.STOP_TEST) != 0);
        result.setStopTestNow((flags & ResultFlags.STOP_TEST_NOW) != 0);
        if ((flags & ResultFlags.TEXT) != 0) {
            result.setDataType(SampleResult.TEXT);
        } else if ((flags & ResultFlags.BINARY) != 0) {
            result.setDataType(SampleResult.BINARY);
        }
        if (head.action < ACTIONS.length) {
            result.setTestLogicalAction(ACTIONS[head.action]);
        }
        result.setSampleLabel(head.label);
        result.setResponseCode(head.code);
        result.setResponseMessage(head.message);
        result.setURL(url(head.url));
        result.setRequestHeaders(head.requestHeaders);
        if (!head.samplerData.isEmpty()) {
            result.setSamplerData(head.samplerData);
        }
        result.setResponseHeaders(head.responseHeaders);
        result.setContentType(head.contentType);
        if (!head.encoding.isEmpty()) {
            result.setDataEncoding(head.encoding);
        }
        result.setResultFileName(head.file);
        result.setThreadName(head.thread);
        START.set(result, head.startMs);
        END.set(result, head.endMs);
        result.setTimeStamp(result.isStampedAtStart() ? head.startMs : head.endMs);
        ELAPSED.set(result, head.elapsedMs);
        result.setLatency(head.latencyMs);
        result.setConnectTime(head.connectMs);
        result.setIdleTime(head.idleMs);
        result.setBytes(head.bytes);
        result.setHeadersSize((int) head.headersSize);
        result.setBodySize(head.bodySize);
        result.setSentBytes(head.sent);
        result.setSampleCount(head.count);
        result.setGroupThreads(head.groupActive);
        result.setAllThreads(head.allActive);
    }

    private URL url(String text) {
        if (text.isEmpty()) {
            return null;
        }
        try {
            if (!text.equals(lastUrlText)) {
                lastUrl = new URL(text);
                lastUrlText = text;
            }
        } catch (MalformedURLException e) {
            return null;
        }
        urls.add(lastUrl);
        urlTexts.add(text);
        return lastUrl;
    }

    private String text(URL url) {
        for (int i = 0; i < urls.size(); i++) {
            if (urls.get(i) == url) {
                return urlTexts.get(i);
            }
        }
        return url.toExternalForm();
    }

    /** Writes a result with at most this number of its assertion results, from the first on. */
    void write(Output out, SampleResult result, int assertions) {
        int known = -1;
        for (int i = 0; i < read.size(); i++) {
            if (read.get(i) == result) {
                known = i;
            }
        }
        byte[] body = result.getResponseData();
        boolean sendsBody = known < 0 || bodies.get(known) != body;
        head.flags = flags(result) | (sendsBody ? ResultFlags.BODY : 0);
        head.action = Math.max(0, Arrays.asList(ACTIONS).indexOf(result.getTestLogicalAction()));
        give(result);
        head.write(out);
        if (sendsBody) {
            out.blob(body);
        }
        AssertionResult[] all = result.getAssertionResults();
        int count = Math.min(assertions, all.length);
        out.i32(count);
        for (int i = 0; i < count; i++) {
            write(out, all[i]);
        }
        SampleResult[] subs = result.getSubResults();
        out.i32(subs.length);
        for (SampleResult sub : subs) {
            write(out, sub, Integer.MAX_VALUE);
        }
    }

    private static int flags(SampleResult result) {
        return (result.isSuccessful() ? ResultFlags.SUCCESS : 0) | (result.isIgnore() ? ResultFlags.IGNORED : 0)
                | (result instanceof HTTPSampleResult ? ResultFlags.HTTP : 0)
                | (result.isStopThread() ? ResultFlags.STOP_USER : 0) | (result.isStopTest() ? ResultFlags.STOP_TEST : 0)
                | (result.isStopTestNow() ? ResultFlags.STOP_TEST_NOW : 0)
                | (SampleResult.TEXT.equals(result.getDataType()) ? ResultFlags.TEXT : 0)
                | (SampleResult.BINARY.equals(result.getDataType()) ? ResultFlags.BINARY : 0);
    }

    /** Copies the fields of a result to the head. */
    private void give(SampleResult result) {
        head.label = result.getSampleLabel();
        head.code = result.getResponseCode();
        head.message = result.getResponseMessage();
        head.url = result.getURL() == null ? "" : text(result.getURL());
        head.requestHeaders = result.getRequestHeaders();
        head.samplerData = (String) SAMPLER_DATA.get(result);
        HTTPSampleResult http = result instanceof HTTPSampleResult ? (HTTPSampleResult) result : null;
        head.method = http == null ? "" : http.getHTTPMethod();
        head.cookies = http == null ? "" : http.getCookies();
        head.query = http == null ? "" : http.getQueryString();
        head.redirect = http == null ? "" : http.getRedirectLocation();
        head.responseHeaders = result.getResponseHeaders();
        head.contentType = result.getContentType();
        head.encoding = (String) ENCODING.get(result);
        head.file = result.getResultFileName();
        head.thread = result.getThreadName();
        head.startMs = result.getStartTime();
        head.endMs = result.getEndTime();
        head.elapsedMs = result.getTime();
        head.latencyMs = result.getLatency();
        head.connectMs = result.getConnectTime();
        head.idleMs = result.getIdleTime();
        head.bytes = result.getBytesAsLong();
        head.headersSize = result.getHeadersSize();
        head.bodySize = result.getBodySizeAsLong();
        head.sent = result.getSentBytes();
        head.count = result.getSampleCount();
        head.errors = result.getErrorCount();
        head.groupActive = result.getGroupThreads();
        head.allActive = result.getAllThreads();
    }

    static void write(Output out, AssertionResult assertion) {
        Records.Assertion found = new Records.Assertion();
        found.name = assertion.getName();
        found.failure = assertion.isFailure();
        found.error = assertion.isError();
        found.message = assertion.getFailureMessage();
        found.write(out);
    }

    /** Returns true if the written result equals the encoded result of the job. */
    boolean unchanged(Output written, byte[] message) {
        int at = 0;
        for (int[] stretch : stretches) {
            int length = stretch[1] - stretch[0];
            if (written.length - at < length
                    || !Arrays.equals(written.bytes, at, at + length, message, stretch[0], stretch[1])) {
                return false;
            }
            at += length;
        }
        return at == written.length;
    }
}
