package dev.throng;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.ILoggerFactory;
import org.slf4j.Logger;
import org.slf4j.helpers.FormattingTuple;
import org.slf4j.helpers.MarkerIgnoringBase;
import org.slf4j.helpers.MessageFormatter;

/**
 * Makes loggers whose lines go to {@link Logs}: information, warnings and errors, as JMeter's own configuration has it, or
 * what the run's own levels let through.
 */
public final class LogFactory implements ILoggerFactory {
    private static final int OFF = Logs.ERROR + 1;
    private static final Map<String, Line> LOGGERS = new ConcurrentHashMap<>();
    /** Levels of categories and of what is below them; that of the empty one is for all others. */
    private static final Map<String, Integer> LEVELS = new ConcurrentHashMap<>(Map.of("", Logs.INFO));

    /** For the binding. */
    public LogFactory() {
    }

    /** Sets levels, {@code category=LEVEL} a line each, of loggers that there are and of those to come. */
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
                return Logs.TRACE;
            case "DEBUG":
                return Logs.DEBUG;
            case "INFO":
                return Logs.INFO;
            case "WARN":
            case "WARNING":
                return Logs.WARN;
            case "ERROR":
            case "FATAL":
                return Logs.ERROR;
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
            return says(Logs.TRACE);
        }

        @Override
        public void trace(String text) {
            say(Logs.TRACE, text, null);
        }

        @Override
        public void trace(String text, Object one) {
            if (says(Logs.TRACE)) {
                say(Logs.TRACE, MessageFormatter.format(text, one));
            }
        }

        @Override
        public void trace(String text, Object one, Object two) {
            if (says(Logs.TRACE)) {
                say(Logs.TRACE, MessageFormatter.format(text, one, two));
            }
        }

        @Override
        public void trace(String text, Object... all) {
            if (says(Logs.TRACE)) {
                say(Logs.TRACE, MessageFormatter.arrayFormat(text, all));
            }
        }

        @Override
        public void trace(String text, Throwable thrown) {
            say(Logs.TRACE, text, thrown);
        }

        @Override
        public boolean isDebugEnabled() {
            return says(Logs.DEBUG);
        }

        @Override
        public void debug(String text) {
            say(Logs.DEBUG, text, null);
        }

        @Override
        public void debug(String text, Object one) {
            if (says(Logs.DEBUG)) {
                say(Logs.DEBUG, MessageFormatter.format(text, one));
            }
        }

        @Override
        public void debug(String text, Object one, Object two) {
            if (says(Logs.DEBUG)) {
                say(Logs.DEBUG, MessageFormatter.format(text, one, two));
            }
        }

        @Override
        public void debug(String text, Object... all) {
            if (says(Logs.DEBUG)) {
                say(Logs.DEBUG, MessageFormatter.arrayFormat(text, all));
            }
        }

        @Override
        public void debug(String text, Throwable thrown) {
            say(Logs.DEBUG, text, thrown);
        }

        @Override
        public boolean isInfoEnabled() {
            return says(Logs.INFO);
        }

        @Override
        public void info(String text) {
            say(Logs.INFO, text, null);
        }

        @Override
        public void info(String text, Object one) {
            if (says(Logs.INFO)) {
                say(Logs.INFO, MessageFormatter.format(text, one));
            }
        }

        @Override
        public void info(String text, Object one, Object two) {
            if (says(Logs.INFO)) {
                say(Logs.INFO, MessageFormatter.format(text, one, two));
            }
        }

        @Override
        public void info(String text, Object... all) {
            if (says(Logs.INFO)) {
                say(Logs.INFO, MessageFormatter.arrayFormat(text, all));
            }
        }

        @Override
        public void info(String text, Throwable thrown) {
            say(Logs.INFO, text, thrown);
        }

        @Override
        public boolean isWarnEnabled() {
            return says(Logs.WARN);
        }

        @Override
        public void warn(String text) {
            say(Logs.WARN, text, null);
        }

        @Override
        public void warn(String text, Object one) {
            if (says(Logs.WARN)) {
                say(Logs.WARN, MessageFormatter.format(text, one));
            }
        }

        @Override
        public void warn(String text, Object one, Object two) {
            if (says(Logs.WARN)) {
                say(Logs.WARN, MessageFormatter.format(text, one, two));
            }
        }

        @Override
        public void warn(String text, Object... all) {
            if (says(Logs.WARN)) {
                say(Logs.WARN, MessageFormatter.arrayFormat(text, all));
            }
        }

        @Override
        public void warn(String text, Throwable thrown) {
            say(Logs.WARN, text, thrown);
        }

        @Override
        public boolean isErrorEnabled() {
            return says(Logs.ERROR);
        }

        @Override
        public void error(String text) {
            say(Logs.ERROR, text, null);
        }

        @Override
        public void error(String text, Object one) {
            if (says(Logs.ERROR)) {
                say(Logs.ERROR, MessageFormatter.format(text, one));
            }
        }

        @Override
        public void error(String text, Object one, Object two) {
            if (says(Logs.ERROR)) {
                say(Logs.ERROR, MessageFormatter.format(text, one, two));
            }
        }

        @Override
        public void error(String text, Object... all) {
            if (says(Logs.ERROR)) {
                say(Logs.ERROR, MessageFormatter.arrayFormat(text, all));
            }
        }

        @Override
        public void error(String text, Throwable thrown) {
            say(Logs.ERROR, text, thrown);
        }
    }
}
