package own;

/** Something for scripts to import. */
public final class Words {
    private Words() {}

    public static String twice(String word) {
        return word + word;
    }
}
