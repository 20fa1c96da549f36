package dev.throng;

import java.util.ArrayList;
import java.util.List;

/**
 * What is wrong with the plan's Java-backed elements and texts, as SETUP answers it.
 */
final class Findings {
    private final List<Records.Finding> all = new ArrayList<>();

    /** {@code about}: an element, or a text as messages name one. */
    synchronized void add(int severity, int about, int line, String message) {
        Records.Finding finding = new Records.Finding();
        finding.severity = severity;
        finding.about = about;
        finding.line = line;
        finding.message = message;
        all.add(finding);
    }

    void tell(Output out) {
        out.i32(all.size());
        for (Records.Finding finding : all) {
            finding.write(out);
        }
    }
}
