package dev.throng;

import java.util.ArrayList;
import java.util.List;

/**
 * Problems of the plan's Java-backed elements and strings, as the reply to SETUP lists them.
 */
final class Findings {
    private final List<Records.Finding> all = new ArrayList<>();

    /** Adds a problem. {@code about} is the number of an element, or of a string as in messages. */
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
