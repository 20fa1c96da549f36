package dev.throng;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Folders that runs of a corpus need. */
final class CorpusFolder {
    private CorpusFolder() {
    }

    /** Where plans are looked for: beside the repository. */
    static Path plans() {
        String given = System.getenv("THRONG_CORPUS");
        return (given == null ? Path.of("../../../../shared/corpus/jmx") : Path.of(given)).toAbsolutePath().normalize();
    }

    /** A folder with what SaveService reads. */
    static Path homeOfClassPath() throws IOException {
        Path bin = Files.createDirectories(Path.of("home").toAbsolutePath().resolve("bin"));
        try (InputStream in = CorpusFolder.class.getClassLoader().getResourceAsStream("bin/saveservice.properties")) {
            Files.write(bin.resolve("saveservice.properties"), in.readAllBytes());
        }
        return bin.getParent();
    }
}
