import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.jmeter.engine.util.CompoundVariable;
import org.apache.jmeter.engine.util.ReplaceStringWithFunctions;
import org.apache.jmeter.testelement.property.JMeterProperty;
import org.apache.jmeter.testelement.property.StringProperty;
import org.apache.jmeter.threads.JMeterContextService;
import org.apache.jmeter.threads.JMeterVariables;
import org.apache.jmeter.util.JMeterUtils;

/**
 * Writes the tables anew: reads the expressions in the first column and lets JMeter evaluate them.
 *
 *   java -cp "$JMETER/lib/*:$JMETER/lib/ext/*:$JMETER/bin/ApacheJMeter.jar" Record.java $JMETER parser.tsv functions.tsv jexl3.tsv dates.tsv
 *   java -Dplugins=/path/to/functions.jar;/path/to/fifo.jar -cp "...:/path/to/*" Record.java $JMETER plugins.tsv
 *   java -Duser.timezone=Europe/Berlin ... Record.java $JMETER dates_berlin.tsv
 *
 * The first with -Duser.timezone=UTC; plugins.tsv with the jp@gc plug-ins jmeter-plugins-functions 2.1, jmeter-plugins-fifo 0.2 and
 * jmeter-plugins-cmn-jmeter 0.6.
 */
public class Record {
    static final String[][] VARIABLES = {{"a", "1"}, {"b", "two"}, {"n", "3"}, {"a_3", "A3"}, {"txt", "x${a}y\\,"},
            {"bad", "${__P()}"}, {"e", ""}, {"q$", "dollar"}};

    public static void main(String[] args) throws Exception {
        JMeterUtils.setJMeterHome(args[0]);
        JMeterUtils.loadJMeterProperties(args[0] + "/bin/jmeter.properties");
        JMeterUtils.initLocale();
        JMeterUtils.getJMeterProperties().setProperty("search_paths", System.getProperty("plugins", ""));
        JMeterUtils.getJMeterProperties().setProperty("prop", "  pv ");
        JMeterUtils.getJMeterProperties().setProperty("time.USER1", "dd/MM");
        Thread.currentThread().setName("Group 1-7");
        for (int i = 1; i < args.length; i++) {
            List<String> lines = new ArrayList<>();
            for (String line : Files.readAllLines(Path.of(args[i]))) {
                String expression = line.split("\t", 2)[0];
                lines.add(expression + "\t" + outcome(unescape(expression)));
            }
            Files.write(Path.of(args[i]), lines);
        }
    }

    static String outcome(String expression) {
        JMeterVariables variables = new JMeterVariables();
        for (String[] variable : VARIABLES) {
            variables.put(variable[0], variable[1]);
        }
        JMeterContextService.getContext().setVariables(variables);
        JMeterProperty property;
        try {
            property = new ReplaceStringWithFunctions(new CompoundVariable(), new HashMap<>())
                    .transformValue(new StringProperty("x", expression));
        } catch (Exception e) {
            return "INVALID " + escape(e.getMessage());
        }
        property.setRunningVersion(true);
        String value;
        try {
            value = property.getStringValue();
        } catch (Throwable e) {
            return "THROWS " + e.getClass().getName() + ": " + escape(e.getMessage());
        }
        Map<String, Object> set = new TreeMap<>();
        for (Map.Entry<String, Object> entry : variables.entrySet()) {
            // A variable without a value is not recorded.
            if (entry.getValue() != null) {
                set.put(entry.getKey(), entry.getValue());
            }
        }
        for (String[] variable : VARIABLES) {
            set.remove(variable[0], variable[1]);
        }
        set.keySet().removeIf(name -> name.matches("(TEST)?START\\.(MS|YMD|HMS)"));
        return "= " + escape(value) + (set.isEmpty() ? "" : "\t" + escape(set.toString()));
    }

    static String escape(String text) {
        return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r");
    }

    static String unescape(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\') {
                c = text.charAt(++i);
                c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
            }
            out.append(c);
        }
        return out.toString();
    }
}
