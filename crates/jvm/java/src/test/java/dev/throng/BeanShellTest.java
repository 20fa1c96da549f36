package dev.throng;

import dev.throng.Message.Act;
import dev.throng.Message.Role;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import bsh.EvalError;
import bsh.Interpreter;
import bsh.ParsedInterpreter;
import java.util.HashMap;
import org.junit.jupiter.api.Test;

/** Tests that a script that is parsed once has the same effects as in BeanShell each time. */
class BeanShellTest {
    private static final String[] SCRIPTS = {
        "1 + 1",
        "",
        ";",
        "// nothing",
        "int n = 3; n * 2;",
        "String a = m.get(\"x\"); m.put(\"y\", a + 1); a;",
        "return 5; 6;",
        "if (count == void) count = 0; count++; count;",
        "int f(int x) { return x * 2; } f(21);",
        "int fact(int x) { if (x < 2) return 1; return x * fact(x - 1); } fact(10);",
        "int s = 0; for (int i = 0; i < 10; i++) { if (i == 5) continue; if (i == 8) break; s += i; } s;",
        "for (k : new int[] {1, 2, 3}) t = k; t;",
        "int[] a = new int[n2 = 3]; a[1] = 7; a.length + a[1];",
        "import java.util.*; List l = new ArrayList(); l.add(1); l.size();",
        "undefined.call();",
        "m.nothing();",
        "int x = \"text\";",
        "throw new IllegalStateException(\"no\");",
        "try { throw new RuntimeException(\"a\"); } catch (RuntimeException e) { e.getMessage(); }",
        "y = ;",
        "m.put(\"before\", \"1\"); y = ;",
        "switch (3) { case 3: r = \"three\"; break; default: r = \"other\"; } r;",
        "class K { int v = 4; } new K().v;",
        "this.interpreter.get(\"m\") == m;",
        "eval(\"1 + 2\")",
        "print(\"\"); null;",
        "a1 = new Object[2][3]; a1[1].length;",
        "Runnable r1 = new Runnable() { run() { m.put(\"ran\", \"yes\"); } }; r1.run(); m.get(\"ran\");",
        "while (true) { if (++w > 3) break; } w;",
        "(String) null;",
        "x1 = 08;",
        "\"unfinished",
        "getSourceFileInfo();",
        "String s2 = \"a\"; s2.foo;",
    };

    private static String run(Interpreter interpreter, String script) throws EvalError {
        HashMap<String, Object> m = new HashMap<>();
        m.put("x", "1");
        StringBuilder all = new StringBuilder();
        interpreter.set("m", m);
        interpreter.set("w", 0);
        for (int i = 0; i < 3; i++) {
            try {
                Object value = interpreter.eval(script);
                all.append(value).append(' ').append(value == null ? "" : value.getClass().getName());
            } catch (EvalError e) {
                String source;
                try {
                    source = e.getErrorSourceFile();
                } catch (RuntimeException of) {
                    source = "none";
                }
                all.append(e).append(" at ").append(e.getErrorLineNumber()).append(" in ").append(source);
            }
            all.append(m.get("y")).append(m.get("before")).append('\n');
        }
        // Strings of objects contain their addresses, which vary.
        return all.toString().replaceAll("@[0-9a-f]+", "@");
    }

    @Test
    void runsAsBeanShell() throws EvalError {
        for (String script : SCRIPTS) {
            assertEquals(run(new Interpreter(), script), run(new ParsedInterpreter(), script), script);
        }
    }

    @Test
    void jmeterTakesIt() {
        Play play = new Play();
        int id = play.beanshell(Role.BEFORE, "vars.put(\"is\", this.interpreter.getParent().getClass().getName());", false, 0);
        play.start();
        Play.Reply reply = play.job().run(Act.BEFORE, id);
        assertTrue("bsh.ParsedInterpreter".equals(reply.vars.get("is")), reply.vars + " " + reply.log);
    }
}
