package bsh;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * BeanShell's interpreter, which parses a text once for each thread instead of at every use: parsing is most of what a short
 * script costs. Statements are evaluated as BeanShell evaluates them, with its own nodes. A text that does not parse is left
 * to BeanShell, which runs what stands before the mistake; so is one with classes, which a node makes only once.
 */
public class ParsedInterpreter extends Interpreter {
    private static final long serialVersionUID = 1L;
    /** So many texts are kept for each thread; texts with values in them could be any number. */
    private static final int MOST = 200;
    private static final Map<Thread, Map<String, Parsed>> OF_THREAD = new ConcurrentHashMap<>();
    private static final Parsed NOTHING = new Parsed(null, null);

    /** The statements of a text, and what BeanShell calls the text in its messages. */
    private record Parsed(SimpleNode[] statements, String source) {
    }

    /** What statements are evaluated in: as BeanShell makes one for each use, without its parser. */
    private transient Interpreter local;

    /** As JMeter makes one for each BeanShell element of each user. */
    public ParsedInterpreter() {
        super();
        // Forty kilobytes of buffers that only a console needs.
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
