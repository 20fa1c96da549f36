package dev.throng.jmeter;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The lines on which the elements of a saved plan begin, in the order of JMeter's tree from top to bottom.
 *
 * <p>Several elements may have the same name, so only the line identifies the element of a finding. The parser relies on
 * JMeter's writer, which uses {@code <} only for tags. Characters that XML does not permit are accepted.
 */
final class PlanLines {
    private final List<Integer> begins = new ArrayList<>();

    PlanLines(byte[] plan) {
        // The open tags: true for each that is a hashTree.
        List<Boolean> open = new ArrayList<>();
        int line = 1;
        for (int at = 0; at < plan.length; at++) {
            if (plan[at] == '\n') {
                line++;
            }
            if (plan[at] != '<' || at + 1 == plan.length) {
                continue;
            }
            int begin = line;
            int end = at + 1;
            while (end < plan.length && plan[end] != '>') {
                line += plan[end] == '\n' ? 1 : 0;
                end++;
            }
            byte first = plan[at + 1];
            if (first == '/') {
                if (!open.isEmpty()) {
                    open.remove(open.size() - 1);
                }
            } else if (first != '?' && first != '!') {
                boolean isTree = isTree(plan, at + 1, end);
                boolean inTree = !open.isEmpty() && open.get(open.size() - 1);
                if (inTree && !isTree) {
                    begins.add(begin);
                }
                if (plan[end - 1] != '/') {
                    open.add(isTree);
                }
            }
            at = end;
        }
    }

    private static boolean isTree(byte[] plan, int from, int to) {
        String tag = new String(plan, from, Math.min(to - from, 9), StandardCharsets.ISO_8859_1);
        return tag.startsWith("hashTree") && (tag.length() == 8 || tag.charAt(8) == '/' || tag.charAt(8) == ' ');
    }

    /** Returns the number of elements. */
    int elements() {
        return begins.size();
    }

    /** Returns the index of the element to which the line belongs; -1 for a line before the first element. */
    int at(int line) {
        int found = -1;
        for (int begin : begins) {
            if (begin > line) {
                break;
            }
            found++;
        }
        return found;
    }
}
