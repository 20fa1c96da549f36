//! Parses a date pattern into items.

use super::{Field, Item, Names, Number, OffsetStyle, Part, Sign, Style};

/// Parses a date pattern into items; the error is Java's message.
pub(super) fn items(pattern: &str) -> Result<Vec<Item>, String> {
    Reader { pattern, rest: pattern.chars().peekable(), depth: 0 }.items()
}

/// State of parsing a date pattern.
struct Reader<'p> {
    pattern: &'p str,
    rest: std::iter::Peekable<std::str::Chars<'p>>,
    depth: u32,
}

impl Reader<'_> {
    fn items(&mut self) -> Result<Vec<Item>, String> {
        let mut items = Vec::new();
        while let Some(current) = self.rest.next() {
            match current {
                'a'..='z' | 'A'..='Z' => {
                    let count = 1 + self.run_of(current);
                    let item =
                        if current == 'p' { self.padded(count)? } else { letter(current, count)? };
                    items.push(item);
                }
                '\'' => self.quoted(&mut items)?,
                '[' => {
                    self.depth += 1;
                    if self.depth > 32 {
                        return Err("Optional sections are nested too deeply".into());
                    }
                    items.push(Item::Optional(self.items()?));
                }
                ']' if self.depth == 0 => {
                    return Err("Pattern invalid as it contains ] without previous [".into());
                }
                ']' => {
                    self.depth -= 1;
                    break;
                }
                '{' | '}' | '#' => {
                    return Err(format!("Pattern includes reserved character: '{current}'"));
                }
                _ => items.push(Item::Literal(current)),
            }
        }
        join_numbers(&mut items);
        Ok(items)
    }

    fn run_of(&mut self, letter: char) -> usize {
        std::iter::from_fn(|| self.rest.next_if_eq(&letter)).count()
    }

    fn padded(&mut self, width: usize) -> Result<Item, String> {
        let Some(next) = self.rest.next_if(char::is_ascii_alphabetic) else {
            return Err(format!(
                "Pad letter 'p' must be followed by valid pad pattern: {}",
                self.pattern
            ));
        };
        let count = 1 + self.run_of(next);
        Ok(Item::Pad(width, Box::new(letter(next, count)?)))
    }

    fn quoted(&mut self, items: &mut Vec<Item>) -> Result<(), String> {
        if self.rest.next_if_eq(&'\'').is_some() {
            items.push(Item::Literal('\''));
            return Ok(());
        }
        loop {
            match self.rest.next() {
                None => {
                    return Err(format!(
                        "Pattern ends with an incomplete string literal: {}",
                        self.pattern
                    ));
                }
                Some('\'') if self.rest.next_if_eq(&'\'').is_none() => return Ok(()),
                Some(literal) => items.push(Item::Literal(literal)),
            }
        }
    }
}

/// Returns the pattern item that `count` times `letter` stands for.
fn letter(letter: char, count: usize) -> Result<Item, String> {
    if count > 19 && matches!(letter, 'u' | 'y' | 'Y' | 'g' | 'A' | 'n' | 'N') {
        return Err(format!("The minimum width must be from 1 to 19 inclusive but was {count}"));
    }
    let letters = Letters { letter, count };
    (letters.of_date().or_else(|| letters.of_time()).or_else(|| letters.of_zone()))
        .unwrap_or_else(|| Err(format!("Unknown pattern letter: {letter}")))
}

/// A pattern letter with the number of its consecutive occurrences.
#[derive(Clone, Copy)]
struct Letters {
    letter: char,
    count: usize,
}

impl Letters {
    /// Returns the date item for the letter, or `None` if the letter does not belong to dates.
    fn of_date(self) -> Option<Result<Item, String>> {
        let Self { letter, count } = self;
        Some(match letter {
            'u' => self.year(Field::Year),
            'y' => self.year(Field::YearOfEra),
            'Y' => self.year(Field::WeekYear),
            'G' => self.name(Names::Era),
            'Q' | 'q' if count < 3 => self.plain(Field::Quarter),
            'Q' | 'q' => self.name(Names::Quarter),
            'M' | 'L' if count < 3 => self.plain(Field::Month),
            'M' | 'L' => self.name(Names::Month),
            'w' if count <= 2 => self.number(Field::WeekOfYear, 2, Sign::NotNegative),
            'W' if count == 1 => self.number(Field::WeekOfMonth, 19, Sign::Normal),
            'e' if count <= 2 => self.number(Field::WeekdayHere, 2, Sign::NotNegative),
            'c' if count == 1 => self.number(Field::WeekdayHere, 2, Sign::NotNegative),
            'c' if count == 2 => Err("Invalid pattern \"cc\"".into()),
            'E' | 'e' | 'c' => self.name(Names::Weekday),
            'F' if count == 1 => self.plain(Field::AlignedWeekday),
            'D' if count == 1 => self.plain(Field::DayOfYear),
            'D' if count <= 3 => self.number(Field::DayOfYear, 3, Sign::NotNegative),
            'd' => self.plain(Field::Day),
            'g' => self.number(Field::JulianDay, 19, Sign::Normal),
            'w' | 'W' | 'F' | 'D' => self.too_many(),
            _ => return None,
        })
    }

    /// Returns the time item for the letter, or `None` if the letter does not belong to the time of the day.
    fn of_time(self) -> Option<Result<Item, String>> {
        let Self { letter, count } = self;
        Some(match letter {
            'a' if count == 1 => Ok(Item::Name(Names::AmPm, Style::Short)),
            'a' => self.too_many(),
            'h' => self.plain(Field::ClockHourOfHalf),
            'H' => self.plain(Field::Hour),
            'k' => self.plain(Field::ClockHour),
            'K' => self.plain(Field::HourOfHalf),
            'm' => self.plain(Field::Minute),
            's' => self.plain(Field::Second),
            'S' if count <= 9 => Ok(Item::Fraction(count as u8)),
            'S' => Err(format!("The minimum width must be from 0 to 9 inclusive but was {count}")),
            'A' => self.number(Field::MilliOfDay, 19, Sign::NotNegative),
            'n' => self.number(Field::Nano, 19, Sign::NotNegative),
            'N' => self.number(Field::NanoOfDay, 19, Sign::NotNegative),
            _ => return None,
        })
    }

    /// Returns the zone or offset item for the letter, or `None` if the letter does not belong to zones.
    fn of_zone(self) -> Option<Result<Item, String>> {
        let Self { letter, count } = self;
        Some(match letter {
            'V' if count == 2 => Ok(Item::ZoneId),
            'V' => Err("Pattern letter count must be 2: V".into()),
            'z' if count <= 4 => Ok(Item::ZoneName { full: count == 4 }),
            'z' => self.too_many(),
            'v' if count == 1 || count == 4 => Ok(Item::ZoneName { full: count == 4 }),
            'v' => Err("Wrong number of pattern letters: v".into()),
            'O' if count == 1 || count == 4 => Ok(Item::Localized { full: count == 4 }),
            'O' => Err("Pattern letter count must be 1 or 4: O".into()),
            'Z' if count == 4 => Ok(Item::Localized { full: true }),
            'Z' => self.offset(if count == 5 { "Z" } else { "+0000" }, RFC_822),
            'X' => self.offset("Z", ISO_8601),
            'x' => {
                let zero = ["+00", "+0000", "+00:00", "+0000", "+00:00"];
                self.offset(zero[(count - 1).min(4)], ISO_8601)
            }
            _ => return None,
        })
    }

    fn year(self, field: Field) -> Result<Item, String> {
        match self.count {
            2 => Ok(Item::TwoDigits(field, 0)),
            1 | 3 => self.number(field, 19, Sign::Normal),
            _ => self.number(field, 19, Sign::ExceedsPad),
        }
    }

    /// Returns a number item with at least one digit per letter, and at most `max` digits.
    fn number(self, field: Field, max: u8, sign: Sign) -> Result<Item, String> {
        let min = self.count.min(19) as u8;
        Ok(Item::Number(Number { field, min, max, sign, following: 0 }))
    }

    /// Returns a number item: for one letter of any width, for two letters of exactly two digits.
    fn plain(self, field: Field) -> Result<Item, String> {
        match self.count {
            1 => self.number(field, 19, Sign::Normal),
            2 => self.number(field, 2, Sign::NotNegative),
            _ => self.too_many(),
        }
    }

    fn name(self, names: Names) -> Result<Item, String> {
        match self.count {
            1..=3 => Ok(Item::Name(names, Style::Short)),
            4 => Ok(Item::Name(names, Style::Full)),
            5 => Ok(Item::Name(names, Style::Narrow)),
            _ => self.too_many(),
        }
    }

    fn offset(self, zero: &'static str, styles: [Offset; 5]) -> Result<Item, String> {
        match styles.get(self.count - 1) {
            Some(&(colon, minutes, seconds)) => {
                Ok(Item::Offset(OffsetStyle { colon, minutes, seconds, zero }))
            }
            None => self.too_many(),
        }
    }

    fn too_many(self) -> Result<Item, String> {
        Err(format!("Too many pattern letters: {}", self.letter))
    }
}

/// Style of an offset: true for colons, then when minutes and when seconds are shown.
type Offset = (bool, Part, Part);

/// Offset styles for one to five letters `X` or `x`.
const ISO_8601: [Offset; 5] = [
    (false, Part::IfAny, Part::Never),
    (false, Part::Always, Part::Never),
    (true, Part::Always, Part::Never),
    (false, Part::Always, Part::IfAny),
    (true, Part::Always, Part::IfAny),
];

/// Offset styles for one to five letters `Z`. Four letters are another kind of item, so their entry is not used.
const RFC_822: [Offset; 5] = {
    let plain = (false, Part::Always, Part::Never);
    [plain, plain, plain, plain, (true, Part::Always, Part::IfAny)]
};

/// Adjusts numbers that follow each other without a separator: each but the first gets a fixed width, and the first
/// leaves digits for them.
fn join_numbers(items: &mut [Item]) {
    let mut first: Option<usize> = None;
    for at in 0..items.len() {
        let fixed = match &items[at] {
            Item::Number(number)
                if number.min == number.max && number.sign == Sign::NotNegative =>
            {
                Some(number.max)
            }
            Item::TwoDigits(..) => Some(2),
            Item::Fraction(digits) => Some(*digits),
            Item::Number(_) => None,
            _ => {
                first = None;
                continue;
            }
        };
        match (first, fixed) {
            (Some(first), Some(width)) => match &mut items[first] {
                Item::Number(Number { following, .. }) | Item::TwoDigits(_, following) => {
                    *following = following.saturating_add(width);
                }
                _ => {}
            },
            _ => first = Some(at),
        }
    }
}
