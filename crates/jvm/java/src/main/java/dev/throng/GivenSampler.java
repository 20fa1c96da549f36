package dev.throng;

import org.apache.jmeter.samplers.AbstractSampler;
import org.apache.jmeter.samplers.Entry;
import org.apache.jmeter.samplers.SampleResult;

/** Represents a native sampler, or the sample of a native transaction, as a child of a controller in Java. */
public final class GivenSampler extends AbstractSampler {
    private static final long serialVersionUID = 1L;

    /** Kind: {@link Message.SaidKind#SAMPLER} or {@link Message.SaidKind#TRANSACTION}. */
    final int kind;
    final int id;

    GivenSampler(int kind, int id) {
        this.kind = kind;
        this.id = id;
    }

    @Override
    public SampleResult sample(Entry entry) {
        return null;
    }
}
