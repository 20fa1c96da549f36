package dev.throng;

import org.apache.jmeter.samplers.AbstractSampler;
import org.apache.jmeter.samplers.Entry;
import org.apache.jmeter.samplers.SampleResult;

/** Stands for a native sampler, or for the sample of a native transaction, among what a controller in Java gives. */
public final class GivenSampler extends AbstractSampler {
    private static final long serialVersionUID = 1L;

    /** {@link Message.SaidKind#SAMPLER} or {@link Message.SaidKind#TRANSACTION}. */
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
