package org.apache.jmeter.threads;

/**
 * Opens the constructor of JMeter's context, which only its own package may call.
 */
public abstract class OpenContext extends JMeterContext {
    protected OpenContext() {
        super();
    }
}
