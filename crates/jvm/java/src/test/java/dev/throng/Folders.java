package dev.throng;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Folders that tests need. */
final class Folders {
    private Folders() {
    }

    /** Returns the folder in which plans are searched, next to the repository. */
    static Path plans() {
        String given = System.getenv("THRONG_CORPUS");
        return (given == null ? Path.of("../../../../shared/corpus/jmx") : Path.of(given)).toAbsolutePath().normalize();
    }

    /** Creates a JMeter home in that folder, with the files that SaveService reads. */
    static Path home(Path folder) throws IOException {
        Path bin = Files.createDirectories(folder.toAbsolutePath().resolve("home/bin"));
        try (InputStream in = Folders.class.getClassLoader().getResourceAsStream("bin/saveservice.properties")) {
            Files.write(bin.resolve("saveservice.properties"), in.readAllBytes());
        }
        return bin.getParent();
    }
}
