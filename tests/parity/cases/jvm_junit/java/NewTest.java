package own;

import static org.junit.Assert.assertTrue;

import org.junit.Before;
import org.junit.Test;

public class NewTest {
    private boolean before;

    @Before
    public void before() {
        before = true;
    }

    @Test
    public void passes() {
        assertTrue(before);
    }

    @Test(expected = IllegalArgumentException.class)
    public void expected() {
        throw new IllegalArgumentException("expected");
    }

    @Test
    public void fails() {
        assertTrue("a message", false);
    }
}
