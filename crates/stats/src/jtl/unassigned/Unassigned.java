/** Prints the code points below U+10000 that are unassigned in Java, as rows of a Rust array. */
public class Unassigned {
    public static void main(String[] args) {
        int start = -1, n = 0;
        StringBuilder line = new StringBuilder("   ");
        for (int c = 0; c <= 0x10000; c++) {
            boolean is = c < 0x10000 && !Character.isDefined((char) c);
            if (is && start < 0) start = c;
            if (!is && start >= 0) {
                String one = String.format(" (0x%04x, 0x%04x),", start, c - 1);
                if (line.length() + one.length() > 100) { System.out.println(line); line = new StringBuilder("   "); }
                line.append(one);
                start = -1; n++;
            }
        }
        System.out.println(line);
        System.err.println(n);
    }
}
