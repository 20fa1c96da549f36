package dev.throng.jmeter;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.util.Arrays;
import java.util.List;

import org.junit.jupiter.api.Test;

class CommandTest {
    private static List<String> properties(String... line) {
        return Command.properties(Arrays.asList(line));
    }

    @Test
    void propertiesOfJMetersOwnLineArePassed() {
        assertEquals(Arrays.asList("-J", "a=b", "-J", "c=d e", "-D", "x=1", "-J", "long=1"),
                properties("-Ja=b", "-t", "plan.jmx", "-J", "c=d e", "-Dx=1", "--jmeterproperty", "long=1"));
    }

    @Test
    void filesOfPropertiesAreNamedFromTheRoot() {
        String here = new File("more.properties").getAbsolutePath();
        assertEquals(Arrays.asList("-q", here, "-q", "/a/b", "-p", here),
                properties("-qmore.properties", "--addprop=/a/b", "-p", "more.properties"));
    }

    @Test
    void otherOptionsAreNotPassed() {
        assertEquals(Arrays.asList(), properties("-t", "plan.jmx", "-l", "out.jtl", "-n", "-LDEBUG", "--testfile", "x"));
    }
}
