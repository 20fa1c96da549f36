package dev.throng.jmeter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;

class OutputTest {
    private final List<String> pages = new ArrayList<>();
    private final Output output = new Output(pages::add);

    private void say(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        for (byte one : bytes) {
            output.accept(new byte[] {one}, 1);
        }
    }

    @Test
    void linesAreTakenOnceAndWhole() {
        say("a\nü");
        assertEquals("a\n", output.take());
        say("b\n");
        assertEquals("üb\n", output.take());
        assertEquals("", output.take());
    }

    @Test
    void linkAndFolderAreFound() {
        assertNull(output.results());
        say("the Live page  http://elsewhere/\nLive page  http://127.0.0.1:4711/#token\nread-only  http://127.0.0.1:4711/#other\n"
                + "Results: runs/2026 a\n");
        assertEquals(Arrays.asList("http://127.0.0.1:4711/#token"), pages);
        assertEquals("runs/2026 a", output.results());
    }

    @Test
    void outputIsBounded() {
        say(String.join("\n", new String(new char[5_000]).replace("\0", "line "), "end", ""));
        assertTrue(output.take().length() < 4_100);
        for (int line = 0; line < 10_000; line++) {
            say("x\n");
        }
        String taken = output.take();
        assertTrue(taken.startsWith("… 8000 lines are left out\n"), taken.substring(0, 40));
        assertEquals(2_001, taken.split("\n").length);
    }

    @Test
    void whatSteersATerminalIsLeftOut() {
        say("\u001b[31mred\u001b[0m\u0007\u202ea\tb\r\n");
        assertEquals("reda\tb\n", output.take());
    }
}
