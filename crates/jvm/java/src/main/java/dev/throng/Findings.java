package dev.throng;

import java.util.ArrayList;
import java.util.List;

/**
 * What is wrong with the plan's hosted elements and texts, as SETUP answers it.
 */
final class Findings {
    private record Finding(int severity, int element, int line, String message) {
    }

    private final List<Finding> all = new ArrayList<>();

    synchronized void add(int severity, int element, int line, String message) {
        all.add(new Finding(severity, element, line, message));
    }

    void tell(Output out) {
        out.i32(all.size());
        for (Finding finding : all) {
            out.u8(finding.severity);
            out.i32(finding.element);
            out.i32(finding.line);
            out.str(finding.message);
        }
    }
}
