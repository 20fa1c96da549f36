package dev.throng.jmeter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;

class FindingTest {
    private static final String JSON = "{'file': '/p/a.jmx', 'runs': false, 'native': 3, 'ignored': 1, 'jvm': 1, 'unsupported': 1,"
            + " 'elements': ["
            + "{'level': 'native', 'class': 'TestPlan', 'name': 'P', 'file': '/p/a.jmx', 'line': 4, 'path': 'P', 'consequence': ''},"
            + "{'level': 'jvm', 'class': 'J', 'name': 'J', 'file': '/p/a.jmx', 'line': 5, 'path': 'P > J', 'consequence': ''},"
            + "{'level': 'unsupported', 'class': 'U', 'name': 'U', 'file': '/p/b.jmx', 'line': 6, 'path': 'P > I > U',"
            + " 'consequence': 'no samples'}],"
            + " 'findings': [{'severity': 'warning', 'code': 'w', 'message': 'm', 'file': '/p/a.jmx', 'line': 9, 'element': 'P > E',"
            + " 'help': null}, {'severity': 'error', 'code': 'e', 'message': 'M', 'file': '/p/a.jmx', 'line': 0, 'element': null,"
            + " 'help': 'H'}], 'warnings': ['the property x has no effect'], 'more': 1}";

    private static Finding.Report report(String json) throws IOException {
        return new Finding.Report(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8), new File("/p/a.jmx"));
    }

    @Test
    void theWorstFindingsComeFirst() throws IOException {
        Finding.Report report = report(JSON);
        String kinds = report.findings.stream().map(finding -> finding.kind.words).collect(Collectors.joining(", "));
        assertEquals("error, cannot run, warning, warning, in Java", kinds);
        assertEquals("no samples", report.findings.get(1).message);
        assertEquals("U", report.findings.get(1).element());
        assertEquals("H", report.findings.get(0).help);
        assertEquals("", report.findings.get(2).help);
        assertEquals(3, report.natively);
    }

    @Test
    void aLineOfAnotherFileIsNotTakenForOneOfThePlan() throws IOException {
        Finding.Report report = report(JSON);
        assertEquals(0, report.findings.get(1).line);
        assertEquals("/p/b.jmx", report.findings.get(1).file);
        assertEquals(9, report.findings.get(2).line);
    }

    @Test
    void outputThatIsSomethingElseIsAnError() {
        for (String text : new String[] {"", "{}", "[1]", "error: no such file", "{'findings': 1, 'elements': []}"}) {
            assertThrows(IOException.class, () -> report(text), text);
        }
    }
}
