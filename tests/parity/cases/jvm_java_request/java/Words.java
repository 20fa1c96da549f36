package own;

/** A class that scripts import. */
public final class Words {
    private Words() {}

    public static String twice(String word) {
        return word + word;
    }
}
