//! Character classes with the meaning of Java's `Character`.
//!
//! ORO asks Java about single UTF-16 units, so letters and digits outside the basic plane do not count, and whitespace
//! excludes non-breaking spaces. A class is stored as ORO's list of decisions, and becomes a set of ranges when it is
//! rendered. Building a set walks over some hundred ranges, once per pattern.

use std::sync::LazyLock;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, HirKind};

/// A named set of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    Word,
    Space,
    Digit,
    LetterOrDigit,
    Letter,
    Blank,
    Control,
    Graph,
    Lower,
    Print,
    Punctuation,
    Upper,
    HexDigit,
    Ascii,
}

impl Set {
    /// Returns the character set of the POSIX class `[:name:]`.
    pub(super) fn posix(name: &str) -> Option<Self> {
        Some(match name {
            "alnum" => Self::LetterOrDigit,
            "word" => Self::Word,
            "alpha" => Self::Letter,
            "blank" => Self::Blank,
            "cntrl" => Self::Control,
            "digit" => Self::Digit,
            "graph" => Self::Graph,
            "lower" => Self::Lower,
            "print" => Self::Print,
            "punct" => Self::Punctuation,
            "space" => Self::Space,
            "upper" => Self::Upper,
            "xdigit" => Self::HexDigit,
            "ascii" => Self::Ascii,
            _ => return None,
        })
    }

    /// Returns the set of the escape `\letter`, such as `\w`, and true if the escape stands for the set's complement.
    pub(super) fn of_letter(letter: char) -> Option<(Self, bool)> {
        Some(match letter {
            'w' => (Self::Word, false),
            'W' => (Self::Word, true),
            's' => (Self::Space, false),
            'S' => (Self::Space, true),
            'd' => (Self::Digit, false),
            'D' => (Self::Digit, true),
            _ => return None,
        })
    }

    fn ranges(self, ignore_case: bool) -> ClassUnicode {
        const SYMBOLS: &str = r"\p{Pd}\p{Ps}\p{Pe}\p{Pc}\p{Po}\p{Sm}\p{Sc}\p{Sk}";
        match self {
            Self::Word => WORD.clone(),
            Self::Space => SPACE.clone(),
            Self::Digit => DIGIT.clone(),
            Self::LetterOrDigit => parsed(r"[\p{L}\p{Nd}]"),
            Self::Letter => parsed(r"\p{L}"),
            Self::Blank => parsed(r"\p{Z}"),
            Self::Control => parsed(r"[\x00-\x1F\x7F-\x9F]"),
            Self::Graph => parsed(&format!(r"[\p{{L}}\p{{Nd}}{SYMBOLS}]")),
            Self::Print => parsed(&format!(r"[\p{{Z}}\p{{L}}\p{{Nd}}{SYMBOLS}]")),
            Self::Punctuation => parsed(&format!("[{SYMBOLS}]")),
            Self::Lower | Self::Upper if ignore_case => parsed(r"[\p{Lowercase}\p{Uppercase}]"),
            Self::Lower => parsed(r"\p{Lowercase}"),
            Self::Upper => UPPER.clone(),
            Self::HexDigit => parsed("[0-9a-fA-F]"),
            Self::Ascii => parsed(r"[\x00-\x7F]"),
        }
    }
}

static WORD: LazyLock<ClassUnicode> = LazyLock::new(|| parsed(r"[\p{L}\p{Nd}_]"));
static DIGIT: LazyLock<ClassUnicode> = LazyLock::new(|| parsed(r"\p{Nd}"));
static UPPER: LazyLock<ClassUnicode> = LazyLock::new(|| parsed(r"\p{Uppercase}"));
static SPACE: LazyLock<ClassUnicode> = LazyLock::new(|| {
    parsed(r"[\t-\r\x1C-\x20\u1680\u2000-\u2006\u2008-\u200A\u2028\u2029\u205F\u3000]")
});
static UPPER_TO_LOWER: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
    let ranges = UPPER.ranges().iter();
    ranges
        .flat_map(|range| range.start()..=range.end())
        .map(|upper| (upper, lower(upper)))
        .collect()
});

/// Parses a set from the notation of `regex_syntax`, and removes characters outside the basic plane.
fn parsed(notation: &str) -> ClassUnicode {
    let mut class = match regex_syntax::parse(notation).map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(regex_syntax::hir::Class::Unicode(class))) => class,
        // This cannot happen, because the notations are the constants above.
        _ => ClassUnicode::empty(),
    };
    class.intersect(&ClassUnicode::new([ClassUnicodeRange::new('\0', '\u{FFFF}')]));
    class
}

/// Returns true for a character that Java's `Character.isWhitespace` accepts.
pub(super) fn is_whitespace(value: char) -> bool {
    SPACE.ranges().iter().any(|range| range.start() <= value && value <= range.end())
}

/// Converts an upper case character to lower case, like Java for one UTF-16 unit; any other character is unchanged.
pub(super) fn lower(value: char) -> char {
    if value.is_ascii() {
        return value.to_ascii_lowercase();
    }
    if value > '\u{FFFF}' || !value.is_uppercase() {
        return value;
    }
    value.to_lowercase().next().unwrap_or(value)
}

/// Converts a lower case character to upper case.
pub(super) fn upper(value: char) -> char {
    let mut upper = value.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(one), None) => one,
        _ => value,
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Item {
    Range(char, char),
    Set { set: Set, complement: bool, flips: bool },
}

/// A character class. As in ORO, the first item of the class that contains a character decides.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Class {
    negated: bool,
    items: Vec<Item>,
}

impl Class {
    pub(super) fn new(negated: bool) -> Self {
        Self { negated, items: Vec::new() }
    }

    /// Returns the character class of all characters.
    pub(super) fn any() -> Self {
        Self::new(true)
    }

    /// Returns the character class of all characters except the newline.
    pub(super) fn dot() -> Self {
        Self { negated: true, items: vec![Item::Range('\n', '\n')] }
    }

    /// Returns the character class of a named set, or of its complement.
    pub(super) fn of(set: Set, complement: bool) -> Self {
        Self { negated: false, items: vec![Item::Set { set, complement, flips: false }] }
    }

    pub(super) fn push_range(&mut self, mut from: char, mut to: char, ignore_case: bool) {
        if ignore_case && from.is_uppercase() && to.is_uppercase() {
            (from, to) = (lower(from), lower(to));
        }
        if from <= to {
            self.items.push(Item::Range(from, to));
        }
    }

    /// Adds a named set. A negated POSIX class (`flips`) inverts the decision of this item and of all later items.
    pub(super) fn push_set(&mut self, set: Set, complement: bool, flips: bool) {
        self.items.push(Item::Set { set, complement, flips });
    }

    /// Returns the characters of the class. With `ignore_case`, characters are included if their lower case is in the
    /// class.
    pub(super) fn ranges(&self, ignore_case: bool) -> ClassUnicode {
        let mut answer = !self.negated;
        let mut open = ClassUnicode::new([ClassUnicodeRange::new('\0', char::MAX)]);
        let mut chosen = ClassUnicode::empty();
        for item in &self.items {
            let mut ranges = match item {
                Item::Range(from, to) => ClassUnicode::new([ClassUnicodeRange::new(*from, *to)]),
                Item::Set { set, complement, flips } => {
                    answer ^= flips;
                    let mut ranges = set.ranges(ignore_case);
                    if *complement {
                        ranges.negate();
                    }
                    ranges
                }
            };
            if answer {
                ranges.intersect(&open);
                chosen.union(&ranges);
            }
            open.difference(&ranges);
        }
        if !answer {
            chosen.union(&open);
        }
        if ignore_case { with_upper_case(&chosen) } else { chosen }
    }
}

/// Returns the set with the upper case characters added whose lower case is in the set.
pub(super) fn with_upper_case(set: &ClassUnicode) -> ClassUnicode {
    let holds = |value: char| {
        let at = set.ranges().partition_point(|range| range.end() < value);
        set.ranges().get(at).is_some_and(|range| range.start() <= value)
    };
    let mut all = set.clone();
    all.difference(&UPPER);
    let added = UPPER_TO_LOWER.iter().filter(|(_, lower)| holds(*lower));
    all.union(&ClassUnicode::new(added.map(|(upper, _)| ClassUnicodeRange::new(*upper, *upper))));
    all
}
