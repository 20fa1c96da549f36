package dev.throng;

import groovy.lang.Binding;
import groovy.lang.Closure;
import groovy.lang.DelegatingMetaClass;
import groovy.lang.MetaClass;
import groovy.lang.MissingMethodException;
import groovy.lang.Script;
import java.io.PrintWriter;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import javax.script.Bindings;
import javax.script.CompiledScript;
import javax.script.ScriptContext;
import javax.script.ScriptEngine;
import javax.script.ScriptException;
import javax.script.SimpleScriptContext;
import org.codehaus.groovy.jsr223.GroovyCompiledScript;
import org.codehaus.groovy.jsr223.GroovyScriptEngineImpl;
import org.codehaus.groovy.runtime.InvokerHelper;

/**
 * A compiled Groovy script that behaves as in Groovy's own engine, without the objects that the engine creates for each
 * run: a context with two streams, a closure for each of forty methods, a metaclass. Observable effects remain: unknown
 * methods are searched among the closures in variables, and {@code out} and {@code context} exist.
 */
final class GroovyScript extends CompiledScript {
    private final GroovyCompiledScript original;
    private final GroovyScriptEngineImpl engine;
    private final Class<?> type;
    private final MethodHandle make;
    private final MetaClass meta;

    GroovyScript(GroovyCompiledScript original, GroovyScriptEngineImpl engine) throws ScriptException {
        this.original = original;
        this.engine = engine;
        try {
            Field field = GroovyCompiledScript.class.getDeclaredField("clasz");
            field.setAccessible(true);
            type = (Class<?>) field.get(original);
            if (Script.class.isAssignableFrom(type)) {
                make = maker();
                meta = new Meta(InvokerHelper.getMetaClass(type), type);
            } else {
                make = null;
                meta = null;
            }
        } catch (ReflectiveOperationException e) {
            throw new ScriptException(e);
        }
    }

    /** Returns the constructor that takes the variables; null if there is none, as in a class that only extends Script. */
    private MethodHandle maker() throws IllegalAccessException {
        try {
            return MethodHandles.publicLookup().findConstructor(type, MethodType.methodType(void.class, Binding.class))
                    .asType(MethodType.methodType(Script.class, Binding.class));
        } catch (NoSuchMethodException e) {
            return null;
        }
    }

    @Override
    public Object eval(Bindings bindings) throws ScriptException {
        if (make == null) {
            return super.eval(bindings);
        }
        try {
            Script script = (Script) make.invokeExact((Binding) new Names(bindings));
            script.setMetaClass(meta);
            return script.run();
        } catch (Exception e) {
            throw new ScriptException(e);
        } catch (Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Object eval(ScriptContext context) throws ScriptException {
        return original.eval(context);
    }

    @Override
    public ScriptEngine getEngine() {
        return engine;
    }

    /** The script's variables as Groovy's binding. */
    private final class Names extends Binding {
        private final Bindings bindings;

        @SuppressWarnings("unchecked")
        Names(Bindings bindings) {
            super((Map<Object, Object>) (Map<?, ?>) bindings);
            this.bindings = bindings;
        }

        @Override
        public Object getVariable(String name) {
            Object value = bindings.get(name);
            if (value == null && !bindings.containsKey(name)) {
                if (name.equals("out")) {
                    return new PrintWriter(System.out, true);
                }
                if (name.equals("context")) {
                    SimpleScriptContext context = new SimpleScriptContext();
                    context.setBindings(bindings, ScriptContext.ENGINE_SCOPE);
                    context.setBindings(engine.getBindings(ScriptContext.GLOBAL_SCOPE), ScriptContext.GLOBAL_SCOPE);
                    return context;
                }
                Bindings globals = engine.getBindings(ScriptContext.GLOBAL_SCOPE);
                if (globals != null && globals.containsKey(name)) {
                    return globals.get(name);
                }
                return super.getVariable(name);
            }
            return value;
        }
    }

    /** Finds closures for methods that the script does not have. */
    private static final class Meta extends DelegatingMetaClass {
        private final Set<String> own = new HashSet<>();

        Meta(MetaClass original, Class<?> type) {
            super(original);
            for (Method method : type.getMethods()) {
                own.add(method.getName());
            }
        }

        @Override
        public Object invokeMethod(Object object, String name, Object[] arguments) {
            try {
                return super.invokeMethod(object, name, arguments);
            } catch (MissingMethodException e) {
                return callGlobal(object, name, arguments, e);
            }
        }

        @Override
        public Object invokeMethod(Object object, String name, Object arguments) {
            if (arguments instanceof Object[]) {
                return invokeMethod(object, name, (Object[]) arguments);
            }
            try {
                return super.invokeMethod(object, name, arguments);
            } catch (MissingMethodException e) {
                return callGlobal(object, name, InvokerHelper.asArray(arguments), e);
            }
        }

        private Object callGlobal(Object object, String name, Object[] arguments, MissingMethodException e) {
            if (object instanceof Script && !own.contains(name)) {
                Binding variables = ((Script) object).getBinding();
                Object value = variables.hasVariable(name) ? variables.getVariable(name) : null;
                if (value instanceof Closure) {
                    return ((Closure<?>) value).call(arguments);
                }
                // The message is the same as that of Groovy's engine.
                throw new MissingMethodException(name, GroovyScriptEngineImpl.class, arguments);
            }
            throw e;
        }
    }
}
