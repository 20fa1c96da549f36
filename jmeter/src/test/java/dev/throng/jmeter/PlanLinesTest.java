package dev.throng.jmeter;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;

class PlanLinesTest {
    private static final String PLAN = String.join("\n",
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<jmeterTestPlan version=\"1.2\">",
            "  <hashTree>",
            "    <TestPlan testname=\"Same\">",
            "      <elementProp name=\"v\" elementType=\"Arguments\"><collectionProp name=\"a\"/></elementProp>",
            "    </TestPlan>",
            "    <hashTree>",
            "      <ThreadGroup testname=\"Same\">",
            "        <stringProp name=\"script\">hashTree &lt;hashTree&gt;\n\n\u0001 ü</stringProp>",
            "      </ThreadGroup>",
            "      <hashTree>",
            "        <hashTreeLike testname=\"Same\"/>",
            "        <hashTree/>",
            "        <Sampler testname=\"Same\" enabled=\"false\"/>",
            "        <hashTree>",
            "          <Timer testname=\"Same\"/>",
            "          <hashTree />",
            "        </hashTree>",
            "      </hashTree>",
            "    </hashTree>",
            "  </hashTree>",
            "</jmeterTestPlan>", "");

    private final PlanLines lines = new PlanLines(PLAN.getBytes(StandardCharsets.UTF_8));

    @Test
    void elementsAreCountedInTheOrderOfTheTree() {
        assertEquals(5, lines.elements());
    }

    @Test
    void aLineBelongsToTheElementThatBeganLast() {
        int[][] expected = {{1, -1}, {3, -1}, {4, 0}, {5, 0}, {8, 1}, {9, 1}, {11, 1}, {12, 1}, {14, 2}, {16, 3}, {18, 4}, {99, 4}};
        for (int[] pair : expected) {
            assertEquals(pair[1], lines.at(pair[0]), "line " + pair[0]);
        }
    }

    @Test
    void whatIsNoPlanHasNoElements() {
        for (String text : new String[] {"", "<", "<a", "</a></a>", "<hashTree>", "x<hashTree/>"}) {
            assertEquals(0, new PlanLines(text.getBytes(StandardCharsets.UTF_8)).elements(), text);
        }
        assertEquals(1, new PlanLines("<hashTree><a".getBytes(StandardCharsets.UTF_8)).elements());
    }
}
