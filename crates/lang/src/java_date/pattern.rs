//! Reads a date pattern into items.

use super::{Field, Item, Names, Number, OffsetStyle, Part, Sign, Style};

/// The items of a pattern; the error is Java's message.
pub(super) fn items(pattern: &str) -> Result<Vec<Item>, String> {
    Reader { pattern, rest: pattern.chars().peekable(), depth: 0 }.items()
}

/// A pattern being read.
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

/// The item of `count` times `letter`.
fn letter(letter: char, count: usize) -> Result<Item, String> {
    let too_many = || Err(format!("Too many pattern letters: {letter}"));
    let digits = count.min(19) as u8;
    let number = |field, min: usize, max, sign| {
        let min = min.min(19) as u8;
        Ok(Item::Number(Number { field, min, max, sign, following: 0 }))
    };
    let plain = |field| match count {
        1 => number(field, 1, 19, Sign::Normal),
        2 => number(field, 2, 2, Sign::NotNegative),
        _ => too_many(),
    };
    let name = |names| match count {
        1..=3 => Ok(Item::Name(names, Style::Short)),
        4 => Ok(Item::Name(names, Style::Full)),
        5 => Ok(Item::Name(names, Style::Narrow)),
        _ => too_many(),
    };
    let offset = |zero, table: [(bool, Part, Part); 5]| {
        let Some((colon, minutes, seconds)) = table.get(count - 1).copied() else {
            return too_many();
        };
        Ok(Item::Offset(OffsetStyle { colon, minutes, seconds, zero }))
    };
    use Part::{Always, IfAny, Never};
    let iso = [
        (false, IfAny, Never),
        (false, Always, Never),
        (true, Always, Never),
        (false, Always, IfAny),
        (true, Always, IfAny),
    ];
    if count > 19 && matches!(letter, 'u' | 'y' | 'Y' | 'g' | 'A' | 'n' | 'N') {
        return Err(format!("The minimum width must be from 1 to 19 inclusive but was {count}"));
    }
    match letter {
        'u' | 'y' | 'Y' => {
            let field = match letter {
                'u' => Field::Year,
                'y' => Field::YearOfEra,
                _ => Field::WeekYear,
            };
            match count {
                2 => Ok(Item::TwoDigits(field, 0)),
                1 | 3 => number(field, count, 19, Sign::Normal),
                _ => number(field, count, 19, Sign::ExceedsPad),
            }
        }
        'G' => name(Names::Era),
        'Q' | 'q' if count < 3 => plain(Field::Quarter),
        'Q' | 'q' => name(Names::Quarter),
        'M' | 'L' if count < 3 => plain(Field::Month),
        'M' | 'L' => name(Names::Month),
        'w' if count <= 2 => number(Field::WeekOfYear, count, 2, Sign::NotNegative),
        'W' if count == 1 => number(Field::WeekOfMonth, 1, 19, Sign::Normal),
        'e' if count <= 2 => number(Field::WeekdayHere, count, 2, Sign::NotNegative),
        'c' if count == 1 => number(Field::WeekdayHere, 1, 2, Sign::NotNegative),
        'c' if count == 2 => Err("Invalid pattern \"cc\"".into()),
        'E' | 'e' | 'c' => name(Names::Weekday),
        'F' if count == 1 => plain(Field::AlignedWeekday),
        'D' if count == 1 => plain(Field::DayOfYear),
        'D' if count <= 3 => number(Field::DayOfYear, count, 3, Sign::NotNegative),
        'd' => plain(Field::Day),
        'g' => number(Field::JulianDay, count, 19, Sign::Normal),
        'a' if count == 1 => Ok(Item::Name(Names::AmPm, Style::Short)),
        'h' => plain(Field::ClockHourOfHalf),
        'H' => plain(Field::Hour),
        'k' => plain(Field::ClockHour),
        'K' => plain(Field::HourOfHalf),
        'm' => plain(Field::Minute),
        's' => plain(Field::Second),
        'S' if count <= 9 => Ok(Item::Fraction(digits)),
        'S' => Err(format!("The minimum width must be from 0 to 9 inclusive but was {count}")),
        'A' => number(Field::MilliOfDay, count, 19, Sign::NotNegative),
        'n' => number(Field::Nano, count, 19, Sign::NotNegative),
        'N' => number(Field::NanoOfDay, count, 19, Sign::NotNegative),
        'V' if count == 2 => Ok(Item::ZoneId),
        'V' => Err("Pattern letter count must be 2: V".into()),
        'z' if count <= 4 => Ok(Item::ZoneName { full: count == 4 }),
        'v' if count == 1 || count == 4 => Ok(Item::ZoneName { full: count == 4 }),
        'v' => Err("Wrong number of pattern letters: v".into()),
        'Z' if count == 4 => Ok(Item::Localized { full: true }),
        'Z' => {
            let plain = (false, Always, Never);
            let zero = if count == 5 { "Z" } else { "+0000" };
            offset(zero, [plain, plain, plain, plain, (true, Always, IfAny)])
        }
        'O' if count == 1 || count == 4 => Ok(Item::Localized { full: count == 4 }),
        'O' => Err("Pattern letter count must be 1 or 4: O".into()),
        'X' => offset("Z", iso),
        'x' => offset(["+00", "+0000", "+00:00", "+0000", "+00:00"][(count - 1).min(4)], iso),
        'w' | 'W' | 'F' | 'D' | 'a' | 'z' => too_many(),
        _ => Err(format!("Unknown pattern letter: {letter}")),
    }
}

/// Numbers without a separator between them: all but the first have a fixed width, which the first must leave over.
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
