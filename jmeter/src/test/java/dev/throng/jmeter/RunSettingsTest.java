package dev.throng.jmeter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;

import org.junit.jupiter.api.Test;

class RunSettingsTest {
    private final RunSettings settings = new RunSettings();

    @Test
    void nothingSetIsThePlansOwnLoad() throws Exception {
        assertEquals(Arrays.asList(), settings.options());
    }

    @Test
    void loadPropertiesAndOptionsBecomeALine() throws Exception {
        settings.users = " 50 ";
        settings.ramp = "10s";
        settings.duration = "5m";
        settings.properties = "host=a b\n\n# no property\n  -Jtoken=x=y \n";
        settings.more = "--fail 'p95 < 500ms' --workers 2";
        assertEquals(Arrays.asList("--users=50", "--ramp=10s", "--duration=5m", "-Jhost=a b", "-Jtoken=x=y", "--fail", "p95 < 500ms",
                "--workers", "2"), settings.options());
    }

    @Test
    void fullRowsAreXmlWithResponses() throws Exception {
        settings.areRowsFull = true;
        assertTrue(settings.options().contains("-Jjmeter.save.saveservice.output_format=xml"));
        assertTrue(settings.options().contains("-Jjmeter.save.saveservice.response_data=true"));
    }

    @Test
    void mistakesAreNamed() {
        settings.properties = "host";
        assertTrue(assertThrows(RunSettings.Mistake.class, settings::options).getMessage().contains("host"));
        settings.properties = "";
        settings.users = "5";
        settings.rate = "5";
        assertTrue(assertThrows(RunSettings.Mistake.class, settings::options).getMessage().contains("not both"));
        assertThrows(RunSettings.Mistake.class, () -> RunSettings.words("a 'b"));
    }

    @Test
    void wordsAreThoseOfAShell() throws Exception {
        assertEquals(Arrays.asList("a", "b c", "d\"e", "", "f\\g", "h i"), RunSettings.words(" a 'b c' d\\\"e '' 'f\\g' h\\ i "));
        assertEquals(Arrays.asList(), RunSettings.words("  "));
    }

    @Test
    void aDurationIsReadForTheBar() {
        String[][] pairs = {{"", "0.0"}, {"90", "90.0"}, {"1m30s", "90.0"}, {"1.5h", "5400.0"}, {"500ms", "0.5"}, {"x", "0.0"},
            {"5 minutes", "0.0"}};
        for (String[] pair : pairs) {
            settings.duration = pair[0];
            assertEquals(pair[1], String.valueOf(settings.seconds()), pair[0]);
        }
    }
}
