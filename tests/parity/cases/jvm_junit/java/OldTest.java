package own;

import junit.framework.TestCase;

public class OldTest extends TestCase {
    private String made = "no";

    public OldTest() {}

    public OldTest(String name) {
        super(name);
    }

    @Override
    protected void setUp() {
        made = "set up";
    }

    public void testPasses() {
        assertEquals("set up", made);
    }

    public void testFails() {
        assertEquals("one", "two");
    }

    public void testThrows() {
        throw new IllegalStateException("thrown");
    }
}
