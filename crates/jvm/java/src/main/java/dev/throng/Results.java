package dev.throng;

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
 * Results between messages and JMeter's objects. One of these belongs to each worker and remembers what the job's result
 * was read from, so that only a result that was changed is sent back, and a body only if it is another one.
 */
final class Results {
    private static final int SUCCESS = 1;
    private static final int IGNORE = 1 << 1;
    private static final int HTTP = 1 << 2;
    private static final int STOP_THREAD = 1 << 3;
    private static final int STOP_TEST = 1 << 4;
    private static final int STOP_TEST_NOW = 1 << 5;
    private static final int IS_TEXT = 1 << 6;
    private static final int IS_BINARY = 1 << 7;
    private static final int HAS_BODY = 1 << 8;
    private static final TestLogicalAction[] ACTIONS = {
        TestLogicalAction.CONTINUE, TestLogicalAction.START_NEXT_ITERATION_OF_THREAD,
        TestLogicalAction.START_NEXT_ITERATION_OF_CURRENT_LOOP, TestLogicalAction.BREAK_CURRENT_LOOP,
    };

    private static final VarHandle START;
    private static final VarHandle END;
    private static final VarHandle ELAPSED;
    private static final VarHandle SAMPLER_DATA;
    private static final VarHandle ENCODING;
    private static final VarHandle SUB_INDEX;

    static {
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

    /** Results that were read, and the body that each was read with. */
    private final List<SampleResult> read = new ArrayList<>();
    private final List<byte[]> bodies = new ArrayList<>();
    /** Addresses that were read, and the text of each as it was sent. */
    private final List<URL> urls = new ArrayList<>();
    private final List<String> urlTexts = new ArrayList<>();
    /** The stretches of the message that the result was read from, without bodies: pairs of begin and end. */
    private final List<int[]> stretches = new ArrayList<>();
    private int stretchFrom;
    private URL lastUrl;
    private String lastUrlText;

    /** Reads the result of a job, which {@link #write} can be compared with. */
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
        int flagsAt = in.at;
        int flags = in.i32();
        boolean http = (flags & HTTP) != 0;
        SampleResult result = http ? new HTTPSampleResult() : new SampleResult();
        int action = in.u8();
        result.setSuccessful((flags & SUCCESS) != 0);
        if ((flags & IGNORE) != 0) {
            result.setIgnore();
        }
        result.setStopThread((flags & STOP_THREAD) != 0);
        result.setStopTest((flags & STOP_TEST) != 0);
        result.setStopTestNow((flags & STOP_TEST_NOW) != 0);
        if ((flags & IS_TEXT) != 0) {
            result.setDataType(SampleResult.TEXT);
        } else if ((flags & IS_BINARY) != 0) {
            result.setDataType(SampleResult.BINARY);
        }
        if (action < ACTIONS.length) {
            result.setTestLogicalAction(ACTIONS[action]);
        }
        result.setSampleLabel(in.str());
        result.setResponseCode(in.str());
        result.setResponseMessage(in.str());
        result.setURL(url(in.str()));
        result.setRequestHeaders(in.str());
        String samplerData = in.str();
        if (!samplerData.isEmpty()) {
            result.setSamplerData(samplerData);
        }
        String method = in.str();
        String cookies = in.str();
        String query = in.str();
        String redirect = in.str();
        if (http) {
            HTTPSampleResult of = (HTTPSampleResult) result;
            of.setHTTPMethod(method.isEmpty() ? null : method);
            of.setCookies(cookies);
            of.setQueryString(query);
            of.setRedirectLocation(redirect.isEmpty() ? null : redirect);
        }
        result.setResponseHeaders(in.str());
        result.setContentType(in.str());
        String encoding = in.str();
        if (!encoding.isEmpty()) {
            result.setDataEncoding(encoding);
        }
        result.setResultFileName(in.str());
        result.setThreadName(in.str());
        long start = in.i64();
        long end = in.i64();
        START.set(result, start);
        END.set(result, end);
        result.setTimeStamp(result.isStampedAtStart() ? start : end);
        ELAPSED.set(result, in.i64());
        result.setLatency(in.i64());
        result.setConnectTime(in.i64());
        result.setIdleTime(in.i64());
        result.setBytes(in.i64());
        result.setHeadersSize((int) in.i64());
        result.setBodySize(in.i64());
        result.setSentBytes(in.i64());
        result.setSampleCount(in.i32());
        in.i32();
        result.setGroupThreads(in.i32());
        result.setAllThreads(in.i32());
        if ((flags & HAS_BODY) != 0) {
            stretches.add(new int[] {stretchFrom, in.at});
            result.setResponseData(in.blob());
            stretchFrom = in.at;
            // The comparison is of results without bodies.
            in.bytes[flagsAt + 1] &= ~1;
        }
        read.add(result);
        bodies.add(result.getResponseData());
        int assertions = in.i32();
        for (int i = 0; i < assertions; i++) {
            AssertionResult assertion = new AssertionResult(in.str());
            assertion.setFailure(in.bool());
            assertion.setError(in.bool());
            String message = in.optStr();
            if (message != null) {
                assertion.setFailureMessage(message);
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

    /** Writes a result; of its assertion results only the first so many. */
    void write(Output out, SampleResult result, int assertions) {
        boolean http = result instanceof HTTPSampleResult;
        int known = -1;
        for (int i = 0; i < read.size(); i++) {
            if (read.get(i) == result) {
                known = i;
            }
        }
        byte[] body = result.getResponseData();
        boolean sendsBody = known < 0 || bodies.get(known) != body;
        int flags = (result.isSuccessful() ? SUCCESS : 0) | (result.isIgnore() ? IGNORE : 0) | (http ? HTTP : 0)
                | (result.isStopThread() ? STOP_THREAD : 0) | (result.isStopTest() ? STOP_TEST : 0)
                | (result.isStopTestNow() ? STOP_TEST_NOW : 0)
                | (SampleResult.TEXT.equals(result.getDataType()) ? IS_TEXT : 0)
                | (SampleResult.BINARY.equals(result.getDataType()) ? IS_BINARY : 0) | (sendsBody ? HAS_BODY : 0);
        out.i32(flags);
        out.u8(Math.max(0, Arrays.asList(ACTIONS).indexOf(result.getTestLogicalAction())));
        out.str(result.getSampleLabel());
        out.str(result.getResponseCode());
        out.str(result.getResponseMessage());
        out.str(result.getURL() == null ? "" : text(result.getURL()));
        out.str(result.getRequestHeaders());
        out.str((String) SAMPLER_DATA.get(result));
        if (http) {
            HTTPSampleResult of = (HTTPSampleResult) result;
            out.str(of.getHTTPMethod());
            out.str(of.getCookies());
            out.str(of.getQueryString());
            out.str(of.getRedirectLocation());
        } else {
            out.i32(0);
            out.i32(0);
            out.i32(0);
            out.i32(0);
        }
        out.str(result.getResponseHeaders());
        out.str(result.getContentType());
        out.str((String) ENCODING.get(result));
        out.str(result.getResultFileName());
        out.str(result.getThreadName());
        out.i64(result.getStartTime());
        out.i64(result.getEndTime());
        out.i64(result.getTime());
        out.i64(result.getLatency());
        out.i64(result.getConnectTime());
        out.i64(result.getIdleTime());
        out.i64(result.getBytesAsLong());
        out.i64(result.getHeadersSize());
        out.i64(result.getBodySizeAsLong());
        out.i64(result.getSentBytes());
        out.i32(result.getSampleCount());
        out.i32(result.getErrorCount());
        out.i32(result.getGroupThreads());
        out.i32(result.getAllThreads());
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

    static void write(Output out, AssertionResult assertion) {
        out.str(assertion.getName());
        out.bool(assertion.isFailure());
        out.bool(assertion.isError());
        out.optStr(assertion.getFailureMessage());
    }

    /** Whether what was written says the same as what the job's result was read from. */
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
