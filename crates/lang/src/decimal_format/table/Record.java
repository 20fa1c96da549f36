import java.text.DecimalFormat;
import java.text.DecimalFormatSymbols;
import java.util.Locale;

/**
 * Writes the results of java.text.DecimalFormat: each pattern, then each number of the first line formatted by it, or
 * BAD. Run it with Java 17 and store its output as patterns.tsv.
 */
public class Record {
    private static final String[] PATTERNS = {
        "000", "0", "#", "#,##0", "0,000", "00,00,00", "user_000", "'#'0", "0.00", ".00", "#.##", "0;(0)", "0%", "%", "abc",
        "id1000", "it''s 0", "0#", "0.0.0", "#,", "'", "a;b", "0.", "#.", "/data/f00.csv", "PIN000'.'DAT", "test#.txt",
        "a'b#'0", "0.00x", "x0", "###.###", ".###", "#,##0.00;(#,##0.00)", "0'", "00%", "0;0", "a0b;c0", "0;-0", "0%%",
        "#.#0", "0#0", "#,##0.###", "0;", "", "0 ;(0)", "#.000", "#0.000", "#0.00%", "0.##", "-0", "0;x;y", "#,##", "0,0.0,0",
        "0.0\u2030", "0a0", "/d0/f00.csv", "0.0a0", "a0b;c0d0", "f0.x0.y", "2020/f0.csv", "a;0", "0;#x#", "0;0,", "#;", "0'x'0",
    };
    private static final long[] LONGS = {0, 7, -7, 1234567, Long.MIN_VALUE};
    private static final double[] DOUBLES = {
        0.5, 1.5, 2.5, -0.0, 0.125, -0.0004, 99.995, 1234567.891, -7.25, 0.1, 1e15, 1e-7, 2.675, 1234567890123456.0,
        Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.NaN,
    };

    public static void main(String[] arguments) {
        StringBuilder head = new StringBuilder("pattern");
        for (long number : LONGS) {
            head.append('\t').append(number);
        }
        for (double number : DOUBLES) {
            head.append('\t').append(number);
        }
        System.out.println(head);
        for (String pattern : PATTERNS) {
            System.out.println(pattern + row(pattern));
        }
    }

    private static String row(String pattern) {
        DecimalFormat format;
        try {
            format = new DecimalFormat(pattern, DecimalFormatSymbols.getInstance(Locale.ENGLISH));
        } catch (IllegalArgumentException malformed) {
            return "\tBAD";
        }
        StringBuilder row = new StringBuilder();
        for (long number : LONGS) {
            row.append('\t').append(format.format(number));
        }
        for (double number : DOUBLES) {
            row.append('\t').append(format.format(number));
        }
        return row.toString();
    }
}
