package dev.throng;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;

/** Tests changes of properties: the reply of each thread contains those that it has not sent yet. */
class PropsTest {
    private final Props props = new Props(new Properties());
    private long told;

    /** Returns the changes after a number, as {@code number name=value}. */
    private List<String> changes(long since) {
        Output out = new Output();
        told = props.tell(out, since);
        Input in = new Input(out.take());
        List<String> all = new ArrayList<>();
        for (int left = in.i32(); left > 0; left--) {
            all.add(in.i64() + " " + in.str() + "=" + in.optStr());
        }
        return all;
    }

    @Test
    void aThreadTellsItsChangeThoughAnotherHasToldIt() {
        props.record();
        props.setProperty("a", "1");
        assertEquals(List.of("1 a=1"), changes(0));
        long another = told;
        assertEquals(List.of("1 a=1"), changes(0));
        assertEquals(List.of(), changes(another));
    }

    @Test
    void ofEachNameTheLastChangeIsTold() {
        props.setProperty("a", "before");
        props.record();
        props.setProperty("a", "1");
        props.setProperty("b", "2");
        props.remove("a");
        assertEquals(List.of("2 b=2", "3 a=null"), changes(0));
        props.setProperty("b", "4");
        assertEquals(List.of("4 b=4"), changes(told));
    }
}
