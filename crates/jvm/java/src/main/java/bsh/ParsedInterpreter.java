package bsh;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * BeanShell's interpreter, with a cache: it parses a script once per thread instead of at each use, because parsing is
 * most of the cost of a short script. BeanShell's own nodes evaluate the statements. BeanShell itself runs scripts with a
 * syntax error, up to the error, and scripts with classes, because a node can create a class only once.
 */
public class ParsedInterpreter extends Interpreter {
    private static final long serialVersionUID = 1L;
    /** Maximum number of cached scripts per thread. Scripts with values in their text could be any number. */
    private static final int MOST = 200;
    private static final Map<Thread, Map<String, Parsed>> OF_THREAD = new ConcurrentHashMap<>();
    private static final Parsed NOTHING = new Parsed(null, null);

    /** The parsed statements of a script, and the name of the script in BeanShell's messages. */
    private record Parsed(SimpleNode[] statements, String source) {
    }

    /** Interpreter that evaluates statements: like the one that BeanShell creates for each use, but without a parser. */
    private transient Interpreter local;

    /** Creates an interpreter, as JMeter does for each BeanShell element of each user. */
    public ParsedInterpreter() {
        super();
        // Releases 40 KB of buffers that only a console needs.
        parser = null;
    }

    @Override
    public Object eval(String text, NameSpace names) throws EvalError {
        if (names != globalNameSpace) {
            return super.eval(text, names);
        }
        Map<String, Parsed> known = OF_THREAD.get(Thread.currentThread());
        if (known == null) {
            OF_THREAD.keySet().removeIf(thread -> !thread.isAlive());
            known = new HashMap<>();
            OF_THREAD.put(Thread.currentThread(), known);
        }
        Parsed parsed = known.get(text);
        if (parsed == null) {
            if (known.size() >= MOST) {
                known.clear();
            }
            parsed = parse(text);
            known.put(text, parsed);
        }
        return parsed == NOTHING ? super.eval(text, names) : run(parsed, names);
    }

    private static Parsed parse(String text) {
        if (text.contains("class")) {
            return NOTHING;
        }
        String whole = text.endsWith(";") ? text : text + ";";
        String shown = whole.replace('\n', ' ').replace('\r', ' ');
        if (shown.length() > 80) {
            shown = shown.substring(0, 80) + " . . . ";
        }
        String source = "inline evaluation of: ``" + shown + "''";
        List<SimpleNode> statements = new ArrayList<>();
        Parser parser = new Parser(new StringReader(whole));
        try {
            boolean over = false;
            while (!over) {
                over = parser.Line();
                if (parser.jjtree.nodeArity() > 0) {
                    SimpleNode statement = (SimpleNode) parser.jjtree.rootNode();
                    statement.setSourceFile(source);
                    statements.add(statement);
                }
                parser.jjtree.reset();
            }
        } catch (ParseException | TokenMgrError e) {
            return NOTHING;
        }
        return new Parsed(statements.toArray(new SimpleNode[0]), source);
    }

    private Object run(Parsed parsed, NameSpace names) throws EvalError {
        if (local == null || !parsed.source.equals(local.sourceFileInfo)) {
            local = new Interpreter(new StringReader(""), out, err, false, names, this, parsed.source);
            local.parser = null;
        }
        String where = "Sourced file: " + parsed.source;
        CallStack callstack = new CallStack(names);
        Object value = null;
        for (SimpleNode statement : parsed.statements) {
            try {
                value = statement.eval(callstack, local);
                if (callstack.depth() > 1) {
                    throw new InterpreterError("Callstack growing: " + callstack);
                }
            } catch (InterpreterError e) {
                throw failed(where + " internal Error: ", statement, callstack, e);
            } catch (EvalError e) {
                if (e.getNode() == null) {
                    e.setNode(statement);
                }
                e.reThrow(where);
            } catch (Exception e) {
                throw failed(where + " unknown error: ", statement, callstack, e);
            }
            if (value instanceof ReturnControl) {
                value = ((ReturnControl) value).value;
                break;
            }
        }
        return Primitive.unwrap(value);
    }

    private static EvalError failed(String where, SimpleNode statement, CallStack callstack, Throwable cause) {
        EvalError error = new EvalError(where + cause.getMessage(), statement, callstack);
        error.initCause(cause);
        return error;
    }
}
