package dev.throng;

import java.io.Reader;
import javax.script.Bindings;
import javax.script.Compilable;
import javax.script.CompiledScript;
import javax.script.Invocable;
import javax.script.ScriptContext;
import javax.script.ScriptEngine;
import javax.script.ScriptEngineFactory;
import javax.script.ScriptEngineManager;
import javax.script.ScriptException;
import javax.script.SimpleBindings;
import org.codehaus.groovy.jsr223.GroovyCompiledScript;
import org.codehaus.groovy.jsr223.GroovyScriptEngineFactory;
import org.codehaus.groovy.jsr223.GroovyScriptEngineImpl;

/**
 * A Groovy engine that is created lazily. JMeter requests an engine at every use of a script, and Groovy creates a class
 * loader and two streams for each engine. This class creates Groovy's engine only when it evaluates or compiles, so never
 * for a cached script. Each compilation has a separate engine, as in JMeter.
 */
final class GroovyEngine implements ScriptEngine, Compilable, Invocable {
    private GroovyScriptEngineImpl engine;
    private Bindings globals;

    /** Registers this engine, so that JMeter's elements and functions use it. */
    static void register(ScriptEngineManager manager) {
        Factory factory = new Factory();
        for (String name : factory.getNames()) {
            manager.registerEngineName(name, factory);
        }
    }

    private static final class Factory extends GroovyScriptEngineFactory {
        @Override
        public ScriptEngine getScriptEngine() {
            return new GroovyEngine();
        }
    }

    private synchronized GroovyScriptEngineImpl engine() {
        if (engine == null) {
            engine = new GroovyScriptEngineImpl();
            if (globals != null) {
                engine.setBindings(globals, ScriptContext.GLOBAL_SCOPE);
            }
        }
        return engine;
    }

    @Override
    public CompiledScript compile(String script) throws ScriptException {
        return new GroovyScript((GroovyCompiledScript) engine().compile(script), engine());
    }

    @Override
    public CompiledScript compile(Reader script) throws ScriptException {
        return new GroovyScript((GroovyCompiledScript) engine().compile(script), engine());
    }

    @Override
    public Bindings createBindings() {
        return new SimpleBindings();
    }

    @Override
    public void setBindings(Bindings bindings, int scope) {
        if (engine == null && scope == ScriptContext.GLOBAL_SCOPE) {
            globals = bindings;
        } else {
            engine().setBindings(bindings, scope);
        }
    }

    @Override
    public Object eval(String script, ScriptContext context) throws ScriptException {
        return engine().eval(script, context);
    }

    @Override
    public Object eval(Reader reader, ScriptContext context) throws ScriptException {
        return engine().eval(reader, context);
    }

    @Override
    public Object eval(String script) throws ScriptException {
        return engine().eval(script);
    }

    @Override
    public Object eval(Reader reader) throws ScriptException {
        return engine().eval(reader);
    }

    @Override
    public Object eval(String script, Bindings bindings) throws ScriptException {
        return engine().eval(script, bindings);
    }

    @Override
    public Object eval(Reader reader, Bindings bindings) throws ScriptException {
        return engine().eval(reader, bindings);
    }

    @Override
    public void put(String key, Object value) {
        engine().put(key, value);
    }

    @Override
    public Object get(String key) {
        return engine().get(key);
    }

    @Override
    public Bindings getBindings(int scope) {
        return engine().getBindings(scope);
    }

    @Override
    public ScriptContext getContext() {
        return engine().getContext();
    }

    @Override
    public void setContext(ScriptContext context) {
        engine().setContext(context);
    }

    @Override
    public ScriptEngineFactory getFactory() {
        return engine().getFactory();
    }

    @Override
    public Object invokeMethod(Object object, String name, Object... arguments) throws ScriptException, NoSuchMethodException {
        return engine().invokeMethod(object, name, arguments);
    }

    @Override
    public Object invokeFunction(String name, Object... arguments) throws ScriptException, NoSuchMethodException {
        return engine().invokeFunction(name, arguments);
    }

    @Override
    public <T> T getInterface(Class<T> type) {
        return engine().getInterface(type);
    }

    @Override
    public <T> T getInterface(Object object, Class<T> type) {
        return engine().getInterface(object, type);
    }
}
