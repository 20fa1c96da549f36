package dev.throng.jmeter;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SecondsTest {
    @TempDir
    Path folder;

    private void write(String text) throws Exception {
        Files.write(folder.resolve("seconds.jsonl"), text.getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    @Test
    void linesAreAddedAsTheyAreComplete() throws Exception {
        Seconds seconds = new Seconds(folder.toFile());
        seconds.read();
        assertEquals(" ", seconds.words(false));
        write("{\"at_ms\": 1000, \"users\": 2, \"samples\": 3, \"errors\": 1, \"p95_ms\": 12.34}\n{\"at_ms\": 62000, \"users\": 1234,");
        seconds.read();
        assertEquals("0:01   users 2   samples 3   errors 1   now 3/s, p95 12.3 ms", seconds.words(false));
        write(" \"samples\": 1000, \"errors\": 0, \"p95_ms\": 250.0, \"more\": {}}\n");
        seconds.read();
        seconds.read();
        assertEquals("1:02   users 1,234   samples 1,003   errors 1   now 1,000/s, p95 250 ms", seconds.words(false));
        assertEquals("1:02   users 1,234   samples 1,003   errors 1   mean 16.2/s", seconds.words(true));
    }

    @Test
    void aFileThatIsBegunAnewIsReadOn() throws Exception {
        Seconds seconds = new Seconds(folder.toFile());
        String line = "{\"at_ms\": %d000, \"users\": 1, \"samples\": 5, \"errors\": 1, \"p95_ms\": 1.0}\n";
        write(String.format(line, 1));
        seconds.read();
        // The file is not read until it is the older file.
        write(String.format(line, 2));
        Files.move(folder.resolve("seconds.jsonl"), folder.resolve("seconds.1.jsonl"));
        seconds.read();
        write(String.format(line, 3));
        seconds.read();
        assertEquals("0:03   users 1   samples 15   errors 3   mean 5.0/s", seconds.words(true));
        // Lines of a file that no longer exists are not counted.
        Files.move(folder.resolve("seconds.jsonl"), folder.resolve("seconds.2.jsonl"));
        write(String.format(line, 4));
        seconds.read();
        assertEquals("0:04   users 1   samples 20   errors 4   mean 5.0/s", seconds.words(true));
    }
}
