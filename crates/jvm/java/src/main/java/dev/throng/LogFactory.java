package dev.throng;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.ILoggerFactory;
import org.slf4j.Logger;
import org.slf4j.helpers.FormattingTuple;
import org.slf4j.helpers.MarkerIgnoringBase;
import org.slf4j.helpers.MessageFormatter;

/**
 * Makes loggers whose lines go to {@link Logs}: information, warnings and errors, as JMeter's own configuration has it.
 */
public final class LogFactory implements ILoggerFactory {
    private final Map<String, Logger> loggers = new ConcurrentHashMap<>();

    /** For the binding. */
    public LogFactory() {
    }

    @Override
    public Logger getLogger(String name) {
        Logger known = loggers.get(name);
        return known != null ? known : loggers.computeIfAbsent(name, Line::new);
    }

    private static final class Line extends MarkerIgnoringBase implements Logger {
        private static final long serialVersionUID = 1L;

        Line(String name) {
            this.name = name;
        }

        private void say(int level, FormattingTuple line) {
            Logs.add(level, name, line.getMessage(), line.getThrowable());
        }

        @Override
        public boolean isTraceEnabled() {
            return false;
        }

        @Override
        public void trace(String text) {
        }

        @Override
        public void trace(String text, Object one) {
        }

        @Override
        public void trace(String text, Object one, Object two) {
        }

        @Override
        public void trace(String text, Object... all) {
        }

        @Override
        public void trace(String text, Throwable thrown) {
        }

        @Override
        public boolean isDebugEnabled() {
            return false;
        }

        @Override
        public void debug(String text) {
        }

        @Override
        public void debug(String text, Object one) {
        }

        @Override
        public void debug(String text, Object one, Object two) {
        }

        @Override
        public void debug(String text, Object... all) {
        }

        @Override
        public void debug(String text, Throwable thrown) {
        }

        @Override
        public boolean isInfoEnabled() {
            return true;
        }

        @Override
        public void info(String text) {
            Logs.add(Logs.INFO, name, text, null);
        }

        @Override
        public void info(String text, Object one) {
            say(Logs.INFO, MessageFormatter.format(text, one));
        }

        @Override
        public void info(String text, Object one, Object two) {
            say(Logs.INFO, MessageFormatter.format(text, one, two));
        }

        @Override
        public void info(String text, Object... all) {
            say(Logs.INFO, MessageFormatter.arrayFormat(text, all));
        }

        @Override
        public void info(String text, Throwable thrown) {
            Logs.add(Logs.INFO, name, text, thrown);
        }

        @Override
        public boolean isWarnEnabled() {
            return true;
        }

        @Override
        public void warn(String text) {
            Logs.add(Logs.WARN, name, text, null);
        }

        @Override
        public void warn(String text, Object one) {
            say(Logs.WARN, MessageFormatter.format(text, one));
        }

        @Override
        public void warn(String text, Object one, Object two) {
            say(Logs.WARN, MessageFormatter.format(text, one, two));
        }

        @Override
        public void warn(String text, Object... all) {
            say(Logs.WARN, MessageFormatter.arrayFormat(text, all));
        }

        @Override
        public void warn(String text, Throwable thrown) {
            Logs.add(Logs.WARN, name, text, thrown);
        }

        @Override
        public boolean isErrorEnabled() {
            return true;
        }

        @Override
        public void error(String text) {
            Logs.add(Logs.ERROR, name, text, null);
        }

        @Override
        public void error(String text, Object one) {
            say(Logs.ERROR, MessageFormatter.format(text, one));
        }

        @Override
        public void error(String text, Object one, Object two) {
            say(Logs.ERROR, MessageFormatter.format(text, one, two));
        }

        @Override
        public void error(String text, Object... all) {
            say(Logs.ERROR, MessageFormatter.arrayFormat(text, all));
        }

        @Override
        public void error(String text, Throwable thrown) {
            Logs.add(Logs.ERROR, name, text, thrown);
        }
    }
}
