package dev.throng;

import dev.throng.Message.Act;
import dev.throng.Message.Role;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.HashMap;
import java.util.Map;
import javax.script.Compilable;
import javax.script.ScriptEngineManager;
import javax.script.ScriptException;
import javax.script.SimpleBindings;
import org.junit.jupiter.api.Test;

/** Tests that the bridge runs compiled Groovy scripts with the same effects as Groovy's own engine. */
class GroovyTest {
    private static final String[] SCRIPTS = {
        "1 + 1",
        "a + b",
        "missing",
        "missing()",
        "missing(1, 'x')",
        "def twice(x) { x * 2 }; twice(21)",
        "def twice(x) { x * 2 }; [1, 2].collect { twice(it) }.sum()",
        "f = { it + 1 }; f(2)",
        "g(4)",
        "c = a; c",
        "binding.variables.keySet().sort().join(',')",
        "binding.hasVariable('a') + '' + binding.hasVariable('zz')",
        "nothing == null",
        "int n = 0; for (i in 0..<5) { n += i }; n",
        "class K { int v = 3; int twice() { v * 2 } }; new K().twice()",
        "import groovy.transform.Field\n@Field int x = 7\nx",
        "assert a == 2",
        "throw new IllegalStateException('x')",
        "this.class.superclass.name",
        "out.class.simpleName",
        "context.getAttribute('a')",
        "new String('a').foo()",
        "a.foo",
        "evaluate('40 + a')",
        "return",
        "println ''; 5",
        "def m(String s) { s }; m(5)",
        "this.metaClass.respondsTo(this, 'run').size()",
        "\"x${a}y\"",
    };

    private static String run(boolean ours, String script) {
        ScriptEngineManager manager = new ScriptEngineManager();
        if (ours) {
            GroovyEngine.register(manager);
        }
        Map<String, Object> variables = new HashMap<>();
        variables.put("a", 1);
        variables.put("b", "two");
        variables.put("nothing", null);
        try {
            variables.put("g", ((Compilable) manager.getEngineByName("groovy")).compile("return { it * 3 }").eval());
            Object value = ((Compilable) manager.getEngineByName("groovy")).compile(script).eval(new SimpleBindings(variables));
            return value + " " + (value == null ? null : value.getClass().getName());
        } catch (ScriptException e) {
            return e.toString().replaceAll("Script\\d+", "Script");
        } catch (StackOverflowError e) {
            // For a method that the script has with other parameters, Groovy's engine calls its closure endlessly.
            return "overflow";
        } catch (Error e) {
            return e.toString().replaceAll("Script\\d+", "Script");
        }
    }

    @Test
    void runsAsGroovysOwnEngine() {
        for (String script : SCRIPTS) {
            String theirs = run(false, script);
            if (!theirs.equals("overflow")) {
                assertEquals(theirs, run(true, script), script);
            }
        }
    }

    @Test
    void functionsOfOneScriptAreNotThoseOfAnother() {
        Play play = new Play();
        int defines = play.jsr223(Role.BEFORE, "def mine() { 'm' }; vars.put('r', mine())", 0);
        int uses = play.jsr223(Role.BEFORE, "vars.put('r', mine())", 0);
        play.start();
        assertEquals("m", play.job().run(Act.BEFORE, defines).vars.get("r"));
        assertNull(play.job().run(Act.BEFORE, uses).vars.get("r"));
    }
}
