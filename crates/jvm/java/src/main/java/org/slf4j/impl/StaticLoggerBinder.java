package org.slf4j.impl;

import dev.throng.LogFactory;
import org.slf4j.ILoggerFactory;
import org.slf4j.spi.LoggerFactoryBinder;

/**
 * The binding that slf4j 1.7 searches: it returns {@link LogFactory}, whose lines are sent with the replies.
 */
public final class StaticLoggerBinder implements LoggerFactoryBinder {
    /** Version of the slf4j interface; not final, so that it is not inlined. */
    @SuppressWarnings("checkstyle:all")
    public static String REQUESTED_API_VERSION = "1.6.99";

    private static final StaticLoggerBinder SINGLETON = new StaticLoggerBinder();

    private final ILoggerFactory factory = new LogFactory();

    private StaticLoggerBinder() {
    }

    public static StaticLoggerBinder getSingleton() {
        return SINGLETON;
    }

    @Override
    public ILoggerFactory getLoggerFactory() {
        return factory;
    }

    @Override
    public String getLoggerFactoryClassStr() {
        return LogFactory.class.getName();
    }
}
