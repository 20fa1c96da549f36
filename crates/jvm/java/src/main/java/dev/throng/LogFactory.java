package dev.throng;

import dev.throng.Message.LogLevel;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.ILoggerFactory;
import org.slf4j.Logger;
import org.slf4j.helpers.FormattingTuple;
import org.slf4j.helpers.MarkerIgnoringBase;
import org.slf4j.helpers.MessageFormatter;

/**
 * Creates loggers that write to {@link Logs}. By default they log information, warnings and errors, as in JMeter's
 * configuration; the run's log levels change that.
 */
public final class LogFactory implements ILoggerFactory {
    private static final int OFF = LogLevel.ERROR + 1;
    private static final Map<String, Line> LOGGERS = new ConcurrentHashMap<>();
    /** Levels by category, which also apply to subcategories. The empty category has the default level. */
    private static final Map<String, Integer> LEVELS = new ConcurrentHashMap<>(Map.of("", LogLevel.INFO));

    /** Constructor for the slf4j binding. */
    public LogFactory() {
    }

    /** Sets the levels of existing and future loggers, one {@code category=LEVEL} per line. */
    static void setLevels(String lines) {
        lines.lines().forEach(line -> {
            int at = line.lastIndexOf('=');
            Integer level = level(line.substring(at + 1));
            if (level != null) {
                LEVELS.put(at < 0 ? "" : line.substring(0, at), level);
            }
        });
        LOGGERS.values().forEach(line -> line.level = levelOf(line.getName()));
    }

    private static Integer level(String name) {
        switch (name.toUpperCase(Locale.ROOT)) {
            case "ALL":
            case "TRACE":
                return LogLevel.TRACE;
            case "DEBUG":
                return LogLevel.DEBUG;
            case "INFO":
                return LogLevel.INFO;
            case "WARN":
            case "WARNING":
                return LogLevel.WARN;
            case "ERROR":
            case "FATAL":
                return LogLevel.ERROR;
            case "OFF":
                return OFF;
            default:
                return null;
        }
    }

    private static int levelOf(String name) {
        String category = name;
        while (true) {
            Integer level = LEVELS.get(category);
            if (level != null) {
                return level;
            }
            category = category.substring(0, Math.max(category.lastIndexOf('.'), 0));
        }
    }

    @Override
    public Logger getLogger(String name) {
        Logger known = LOGGERS.get(name);
        return known != null ? known : LOGGERS.computeIfAbsent(name, Line::new);
    }

    private static final class Line extends MarkerIgnoringBase implements Logger {
        private static final long serialVersionUID = 1L;

        private volatile int level;

        Line(String name) {
            this.name = name;
            level = levelOf(name);
        }

        private boolean says(int what) {
            return what >= level;
        }

        private void say(int what, String text, Throwable thrown) {
            if (says(what)) {
                Logs.add(what, name, text, thrown);
            }
        }

        private void say(int what, FormattingTuple line) {
            Logs.add(what, name, line.getMessage(), line.getThrowable());
        }

        @Override
        public boolean isTraceEnabled() {
            return says(LogLevel.TRACE);
        }

        @Override
        public void trace(String text) {
            say(LogLevel.TRACE, text, null);
        }

        @Override
        public void trace(String text, Object one) {
            if (says(LogLevel.TRACE)) {
                say(LogLevel.TRACE, MessageFormatter.format(text, one));
            }
        }

        @Override
        public void trace(String text, Object one, Object two) {
            if (says(LogLevel.TRACE)) {
                say(LogLevel.TRACE, MessageFormatter.format(text, one, two));
            }
        }

        @Override
        public void trace(String text, Object... all) {
            if (says(LogLevel.TRACE)) {
                say(LogLevel.TRACE, MessageFormatter.arrayFormat(text, all));
            }
        }

        @Override
        public void trace(String text, Throwable thrown) {
            say(LogLevel.TRACE, text, thrown);
        }

        @Override
        public boolean isDebugEnabled() {
            return says(LogLevel.DEBUG);
        }

        @Override
        public void debug(String text) {
            say(LogLevel.DEBUG, text, null);
        }

        @Override
        public void debug(String text, Object one) {
            if (says(LogLevel.DEBUG)) {
                say(LogLevel.DEBUG, MessageFormatter.format(text, one));
            }
        }

        @Override
        public void debug(String text, Object one, Object two) {
            if (says(LogLevel.DEBUG)) {
                say(LogLevel.DEBUG, MessageFormatter.format(text, one, two));
            }
        }

        @Override
        public void debug(String text, Object... all) {
            if (says(LogLevel.DEBUG)) {
                say(LogLevel.DEBUG, MessageFormatter.arrayFormat(text, all));
            }
        }

        @Override
        public void debug(String text, Throwable thrown) {
            say(LogLevel.DEBUG, text, thrown);
        }

        @Override
        public boolean isInfoEnabled() {
            return says(LogLevel.INFO);
        }

        @Override
        public void info(String text) {
            say(LogLevel.INFO, text, null);
        }

        @Override
        public void info(String text, Object one) {
            if (says(LogLevel.INFO)) {
                say(LogLevel.INFO, MessageFormatter.format(text, one));
            }
        }

        @Override
        public void info(String text, Object one, Object two) {
            if (says(LogLevel.INFO)) {
                say(LogLevel.INFO, MessageFormatter.format(text, one, two));
            }
        }

        @Override
        public void info(String text, Object... all) {
            if (says(LogLevel.INFO)) {
                say(LogLevel.INFO, MessageFormatter.arrayFormat(text, all));
            }
        }

        @Override
        public void info(String text, Throwable thrown) {
            say(LogLevel.INFO, text, thrown);
        }

        @Override
        public boolean isWarnEnabled() {
            return says(LogLevel.WARN);
        }

        @Override
        public void warn(String text) {
            say(LogLevel.WARN, text, null);
        }

        @Override
        public void warn(String text, Object one) {
            if (says(LogLevel.WARN)) {
                say(LogLevel.WARN, MessageFormatter.format(text, one));
            }
        }

        @Override
        public void warn(String text, Object one, Object two) {
            if (says(LogLevel.WARN)) {
                say(LogLevel.WARN, MessageFormatter.format(text, one, two));
            }
        }

        @Override
        public void warn(String text, Object... all) {
            if (says(LogLevel.WARN)) {
                say(LogLevel.WARN, MessageFormatter.arrayFormat(text, all));
            }
        }

        @Override
        public void warn(String text, Throwable thrown) {
            say(LogLevel.WARN, text, thrown);
        }

        @Override
        public boolean isErrorEnabled() {
            return says(LogLevel.ERROR);
        }

        @Override
        public void error(String text) {
            say(LogLevel.ERROR, text, null);
        }

        @Override
        public void error(String text, Object one) {
            if (says(LogLevel.ERROR)) {
                say(LogLevel.ERROR, MessageFormatter.format(text, one));
            }
        }

        @Override
        public void error(String text, Object one, Object two) {
            if (says(LogLevel.ERROR)) {
                say(LogLevel.ERROR, MessageFormatter.format(text, one, two));
            }
        }

        @Override
        public void error(String text, Object... all) {
            if (says(LogLevel.ERROR)) {
                say(LogLevel.ERROR, MessageFormatter.arrayFormat(text, all));
            }
        }

        @Override
        public void error(String text, Throwable thrown) {
            say(LogLevel.ERROR, text, thrown);
        }
    }
}
