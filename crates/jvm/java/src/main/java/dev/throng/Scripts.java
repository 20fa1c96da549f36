package dev.throng;

import dev.throng.Message.Severity;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.script.Compilable;
import javax.script.CompiledScript;
import javax.script.ScriptEngine;
import javax.script.ScriptException;
import org.apache.jmeter.testelement.property.FunctionProperty;
import org.apache.jmeter.testelement.property.JMeterProperty;
import org.apache.jmeter.util.CompiledScripts;
import org.apache.jmeter.util.JSR223TestElement;
import org.slf4j.LoggerFactory;

/**
 * Compiles the scripts of JSR223 elements before the test, so that errors are found early and the first user need not
 * wait. Scripts whose text contains variables or functions are known only at run time.
 */
final class Scripts {
    private static final Pattern LINE = Pattern.compile("(?:\\.groovy: |line |line number )(\\d+)");

    private Scripts() {
    }

    /**
     * Makes JMeter use our interpreter instead of BeanShell's. JMeter finds the class by its name, in the class loader of
     * the thread that first needs it.
     */
    static void hostBeanShell() {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        ClassLoader ours = Scripts.class.getClassLoader();
        try {
            thread.setContextClassLoader(new ClassLoader(ours) {
                @Override
                public Class<?> loadClass(String name) throws ClassNotFoundException {
                    return super.loadClass(name.equals("bsh.Interpreter") ? "bsh.ParsedInterpreter" : name);
                }
            });
            Class.forName("org.apache.jmeter.util.BeanShellInterpreter", true, ours);
        } catch (ClassNotFoundException | LinkageError e) {
            LoggerFactory.getLogger(Scripts.class).info("No BeanShell in the class path");
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    static void prepare(Loaded test, Findings findings) {
        try {
            GroovyEngine.register(JSR223TestElement.getInstance());
        } catch (LinkageError e) {
            // Without Groovy in the class path, this optimization is not needed.
            LoggerFactory.getLogger(Scripts.class).info("No Groovy in the class path");
        }
        for (Element element : test.elements) {
            if (element.prototype instanceof JSR223TestElement) {
                prepare(element, findings);
            }
        }
    }

    private static void prepare(Element element, Findings findings) {
        String file = fixed(element, "filename");
        String script = fixed(element, "script");
        String language = fixed(element, "scriptLanguage");
        if (file == null || script == null || language == null || !file.isEmpty() || script.isEmpty()) {
            return;
        }
        try {
            ScriptEngine engine = JSR223TestElement.getInstance().getEngineByName(language.isEmpty() ? "groovy" : language);
            if (engine == null) {
                findings.add(Severity.WARNING, element.id, 0, "the class path has no script engine for the language " + language);
            } else if (engine instanceof Compilable && !engine.getClass().getName().startsWith("bsh.")) {
                CompiledScript compiled = ((Compilable) engine).compile(script);
                if (!element.freshEngine) {
                    CompiledScripts.put(script, compiled);
                }
            }
        } catch (ScriptException e) {
            findings.add(Severity.WARNING, element.id, line(e), message(e));
        } catch (Exception | LinkageError e) {
            findings.add(Severity.WARNING, element.id, 0, Setup.reason(e));
        }
    }

    /** Returns a property with a constant value; null if its value is known only at run time. */
    private static String fixed(Element element, String name) {
        JMeterProperty property = element.prototype.getProperty(name);
        return property instanceof FunctionProperty ? null : property.getStringValue();
    }

    private static int line(ScriptException e) {
        if (e.getLineNumber() > 0) {
            return e.getLineNumber();
        }
        Matcher matcher = LINE.matcher(String.valueOf(e.getMessage()));
        return matcher.find() ? Integer.parseInt(matcher.group(1)) : 0;
    }

    /** Returns the line with the error itself, without the text that the engine adds around it. */
    private static String message(ScriptException e) {
        String text = String.valueOf(e.getMessage());
        for (String line : text.split("\\R")) {
            Matcher matcher = Pattern.compile("^.*\\.groovy: \\d+: (.*?)(?: @ line \\d+, column \\d+\\.)?$").matcher(line);
            if (matcher.matches()) {
                return matcher.group(1);
            }
        }
        return text.lines().filter(line -> !line.isBlank()).findFirst().orElse("does not compile");
    }
}
