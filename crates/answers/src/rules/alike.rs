//! Compares names of instances of one kind, which differ only in a number or an id: `web-1` and `web-2`,
//! `10.0.0.1:80` and `10.0.0.2:80`.

/// Smallest number of characters of a generated id.
const ID: usize = 4;
/// Number of hexadecimal digits from which a string is an id even if all digits are letters.
const LONG: usize = 12;

/// True if two names belong to instances of one kind. Names that differ in a word belong to different kinds: `static`
/// and `app`, `HIT` and `MISS`. So do two lists of different length.
pub(super) fn are_alike(a: &str, b: &str) -> bool {
    let (a, b) = (tokens(a), tokens(b));
    let same = |at: usize| {
        a[at].eq_ignore_ascii_case(b[at])
            || are_ids(a[at], b[at])
            || is_generated(&a, at) && is_generated(&b, at)
    };
    a.len() == b.len() && (0..a.len()).all(same)
}

/// Replaces each number and each generated id of a string by `#`.
pub(super) fn without_ids(text: &str) -> String {
    let tokens = tokens(text);
    let is_number = |token: &str| token.contains(|c: char| c.is_ascii_digit());
    let is_id = |at: usize| is_number(tokens[at]) || is_generated(&tokens, at);
    (0..tokens.len()).map(|at| if is_id(at) { "#" } else { tokens[at] }).collect()
}

/// Splits a string into words and the separators between them.
fn tokens(text: &str) -> Vec<&str> {
    let (mut tokens, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let is_word = first.is_alphanumeric();
        let end = rest.find(|c: char| c.is_alphanumeric() != is_word).unwrap_or(rest.len());
        let (token, behind) = rest.split_at(end);
        tokens.push(token);
        rest = behind;
    }
    tokens
}

/// True if two words can be ids of two instances: numbers with the same letters around them, single letters, or a
/// number and a letter.
fn are_ids(a: &str, b: &str) -> bool {
    let stem = |word: &str| -> String {
        word.chars().filter(|c| !c.is_ascii_digit()).collect::<String>().to_ascii_lowercase()
    };
    let is_letter = |word: &str| word.len() == 1 && word.chars().all(char::is_alphabetic);
    let numbered = |word: &str| word.contains(|c: char| c.is_ascii_digit());
    let zone = |word: &str| is_letter(&stem(word)) && word.ends_with(char::is_alphabetic);
    let both = |is: &dyn Fn(&str) -> bool| is(a) && is(b);
    both(&numbered) && (stem(a) == stem(b) || both(&zone)) || both(&is_letter)
}

/// Returns true if a token looks like a generated id. A token without vowels, or of hexadecimal letters only,
/// counts only if it follows another id, as in Kubernetes pod names, because words such as `https` and `feed` look
/// the same.
fn is_generated(tokens: &[&str], at: usize) -> bool {
    let word = tokens[at];
    let is_mute = !word.contains(|c: char| "aeiouyAEIOUY".contains(c));
    let is_behind = || at >= 2 && tokens[at - 1] == "-" && is_made(tokens[at - 2]);
    is_made(word) || word.len() >= ID && word.is_ascii() && (is_mute || is_hex(word)) && is_behind()
}

fn is_hex(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// True if a word is an id by itself: hexadecimal and either long or starting with a digit, or with digits between
/// letters.
fn is_made(word: &str) -> bool {
    let digits: Vec<bool> = word.bytes().map(|byte| byte.is_ascii_digit()).collect();
    let changes = digits.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let is_long = word.len() >= LONG || digits.first() == Some(&true) && changes > 0;
    word.len() >= ID && word.is_ascii() && (is_hex(word) && is_long || changes >= 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_differ_in_numbers_and_ids() {
        for (a, b) in [
            ("web-1", "web-2"),
            ("app01.example.com", "app17.example.com"),
            ("10.0.0.1:8080", "10.0.0.12:8080"),
            ("a", "b"),
            ("1.1 node1", "1.1 node2"),
            ("ip-10-0-0-1 eu-west-1a", "ip-10-0-3-4 eu-west-1b"),
            ("shop-7d4b9c5f8-x2k4q", "shop-7d4b9c5f8-bcdfg"),
            ("3f2a9b1c8d7e", "9e8d7c6b5a40"),
            ("cache-iad-1, cache-fra-7", "cache-iad-2, cache-fra-7"),
            ("web-7d9f8c6b5-x2k4q", "web-6c5b9f7d8-q4k2x"),
            ("web-7d9f8c6b5-x2k4q", "web-7d9f8c6b5-bfdcc"),
            ("node-facadefacade", "node-deadbeefcafe"),
            ("app-9fbc", "app-8ade"),
        ] {
            assert!(are_alike(a, b) && are_alike(b, a), "{a}, {b}");
        }
        for (a, b) in [
            ("app", "static"),
            ("app1", "gateway"),
            ("app1", "static2"),
            ("HIT", "MISS"),
            ("full scan", "index"),
            ("cache-iad-1, cache-fra-7", "cache-fra-7"),
            ("1.1 varnish", "1.1 origin-gw, 1.1 varnish"),
            ("edge-1", "origin-1"),
            ("10.0.0.1:80", "unix:/run/app.sock"),
            ("db01", "fe02"),
            ("grpc-7d9f8c6b5-x2k4q", "http-7d9f8c6b5-x2k4q"),
        ] {
            assert!(!are_alike(a, b) && !are_alike(b, a), "{a}, {b}");
        }
    }

    #[test]
    fn words_are_no_ids() {
        let words = [
            "feed", "cafe", "face", "dead", "added", "facade", "http", "https", "html", "grpc",
            "mssql", "FEED", "nginx",
        ];
        for a in words {
            assert_eq!(without_ids(&format!("/{a}/x-{a}")), format!("/{a}/x-{a}"));
            for b in words.into_iter().filter(|b| !a.eq_ignore_ascii_case(b)) {
                assert!(!are_alike(a, b), "{a}, {b}");
                assert!(!are_alike(&format!("{a}-1"), &format!("{b}-2")), "{a}, {b}");
            }
        }
    }

    #[test]
    fn paths_are_the_same_without_ids() {
        assert_eq!(without_ids("GET /item/17?page=2"), without_ids("GET /item/4?page=31"));
        assert_eq!(without_ids("/c/3f2a9b1c8d7e/x"), "/c/#/x");
        assert_ne!(without_ids("/small"), without_ids("/big"));
        assert_eq!(without_ids(""), "");
    }
}
