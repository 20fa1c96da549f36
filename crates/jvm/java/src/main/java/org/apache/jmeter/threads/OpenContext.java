package org.apache.jmeter.threads;

/**
 * Makes the constructor of JMeter's context accessible, which is private to its package.
 */
public abstract class OpenContext extends JMeterContext {
    protected OpenContext() {
        super();
    }
}
