//! A Redis command in wire format: an array of bulk strings.

use memchr::memchr;

/// Maximum number of arguments of a Redis command.
const MOST: usize = 1024;

/// Arguments of a Redis command, and the command's length in bytes.
type Command<'a> = (Vec<&'a [u8]>, usize);

/// Parses the first command of the input; returns its arguments and its length, or `None` if it is incomplete.
pub(super) fn read(input: &[u8]) -> Result<Option<Command<'_>>, ()> {
    let Some((count, mut at)) = number(b'*', input)? else { return Ok(None) };
    if count == 0 || count > MOST {
        return Err(());
    }
    let mut arguments = Vec::with_capacity(count);
    for _ in 0..count {
        let Some((length, head)) = number(b'$', &input[at..])? else { return Ok(None) };
        let begin = at + head;
        let end = begin.checked_add(length).ok_or(())?;
        let Some(argument) = input.get(begin..end) else { return Ok(None) };
        match input[end..] {
            [b'\r', b'\n', ..] => {}
            [] | [b'\r'] => return Ok(None),
            _ => return Err(()),
        }
        arguments.push(argument);
        at = end + 2;
    }
    Ok(Some((arguments, at)))
}

/// Parses a line that consists of the byte `kind` and a number; returns the number and the length of the line.
fn number(kind: u8, input: &[u8]) -> Result<Option<(usize, usize)>, ()> {
    match input.first() {
        None => return Ok(None),
        Some(first) if *first != kind => return Err(()),
        Some(_) => {}
    }
    let Some(end) = memchr(b'\n', input) else { return Ok(None) };
    let digits = input[1..end].strip_suffix(b"\r").ok_or(())?;
    let digits = std::str::from_utf8(digits).map_err(|_| ())?;
    Ok(Some((digits.parse().map_err(|_| ())?, end + 1)))
}
