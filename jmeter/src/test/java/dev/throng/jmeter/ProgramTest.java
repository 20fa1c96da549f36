package dev.throng.jmeter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramTest {
    @TempDir
    Path folder;

    private final Program.Places places = new Program.Places();

    private File program(String name) throws IOException {
        File file = folder.resolve(name).toFile();
        file.getParentFile().mkdirs();
        Files.write(file.toPath(), new byte[0]);
        assertTrue(file.setExecutable(true));
        return file;
    }

    private void record(String path) throws IOException {
        places.record = folder.resolve(Program.RECORD).toFile();
        Files.write(places.record.toPath(), (path + "\n").getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void propertyThenChoiceThenRecordThenPath() throws Exception {
        places.path = "/nowhere" + File.pathSeparator + program("path/throng").getParent();
        assertEquals(program("path/throng"), Program.find(places));
        record(program("recorded").getPath());
        assertEquals(program("recorded"), Program.find(places));
        places.chosen = program("chosen").getPath();
        assertEquals(program("chosen"), Program.find(places));
        places.property = " " + program("property").getPath() + " ";
        assertEquals(program("property"), Program.find(places));
    }

    @Test
    void aPropertyThatNamesNoProgramIsNotReplacedByAnother() throws Exception {
        places.path = program("path/throng").getParent();
        places.property = folder.resolve("none").toString();
        String words = assertThrows(Program.NotFound.class, () -> Program.find(places)).getMessage();
        assertTrue(words.contains("none") && words.contains(Program.PROPERTY), words);
    }

    @Test
    void aProgramThatHasMovedIsNamed() throws Exception {
        record("/gone/throng");
        String words = assertThrows(Program.NotFound.class, () -> Program.find(places)).getMessage();
        assertTrue(words.contains("/gone/throng") && words.contains("PATH"), words);
    }
}
