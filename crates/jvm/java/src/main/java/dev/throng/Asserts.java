package dev.throng;

import java.util.ArrayList;
import java.util.List;
import org.apache.jmeter.assertions.Assertion;
import org.apache.jmeter.assertions.AssertionResult;
import org.apache.jmeter.samplers.SampleResult;
import org.apache.jmeter.testelement.AbstractScopedAssertion;
import org.apache.jmeter.testelement.TestElement;
import org.apache.jorphan.util.JMeterError;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs assertions as a JMeter thread does, with scopes, sub-results, and exceptions that become failures. Collects the
 * assertion results that belong to the sample itself.
 */
final class Asserts {
    /** Maximum depth of sub-results that are examined. */
    private static final int DEPTH = 3;

    private static Logger log() {
        return LoggerFactory.getLogger("org.apache.jmeter.threads.JMeterThread");
    }

    private final SampleResult sample;
    final List<AssertionResult> ofSample = new ArrayList<>();

    Asserts(SampleResult sample) {
        this.sample = sample;
    }

    void check(Assertion assertion) {
        if (assertion instanceof AbstractScopedAssertion) {
            AbstractScopedAssertion scoped = (AbstractScopedAssertion) assertion;
            String scope = scoped.fetchScope();
            boolean all = scoped.isScopeAll(scope);
            if (all || scoped.isScopeParent(scope) || scoped.isScopeVariable(scope)) {
                ask(assertion, sample);
            }
            if (all || scoped.isScopeChildren(scope)) {
                descend(assertion, sample, DEPTH);
            }
        } else {
            ask(assertion, sample);
        }
    }

    /** Returns true if one of the collected results has failed the sample. */
    boolean explainFailure() {
        for (AssertionResult answer : ofSample) {
            if (answer.isError() || answer.isFailure()) {
                return true;
            }
        }
        return false;
    }

    private void descend(Assertion assertion, SampleResult parent, int levels) {
        if (levels < 0) {
            return;
        }
        boolean childFailed = false;
        for (SampleResult child : parent.getSubResults()) {
            ask(assertion, child);
            descend(assertion, child, levels - 1);
            childFailed |= !child.isSuccessful();
        }
        if (childFailed && parent.isSuccessful()) {
            AssertionResult result = new AssertionResult(((TestElement) assertion).getName());
            result.setResultForFailure("One or more sub-samples failed");
            add(parent, result);
            parent.setSuccessful(false);
        }
    }

    private void ask(Assertion assertion, SampleResult result) {
        AssertionResult answer;
        try {
            answer = assertion.getResult(result);
        } catch (AssertionError e) {
            log().debug("Error processing Assertion.", e);
            answer = new AssertionResult("Assertion failed! See log file (debug level, only).");
            answer.setFailure(true);
            answer.setFailureMessage(e.toString());
        } catch (JMeterError e) {
            log().error("Error processing Assertion.", e);
            answer = failed(e);
        } catch (Exception e) {
            log().error("Exception processing Assertion.", e);
            answer = failed(e);
        }
        result.setSuccessful(result.isSuccessful() && !(answer.isError() || answer.isFailure()));
        add(result, answer);
    }

    private static AssertionResult failed(Throwable e) {
        AssertionResult answer = new AssertionResult("Assertion failed! See log file.");
        answer.setError(true);
        answer.setFailureMessage(e.toString());
        return answer;
    }

    private void add(SampleResult result, AssertionResult answer) {
        result.addAssertionResult(answer);
        if (result == sample) {
            ofSample.add(answer);
        }
    }
}
