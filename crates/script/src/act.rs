//! Executes the operations of scripts on their surroundings: variables, properties, results, the log.

use std::fmt::Write;

use lang::log::Level;

use super::run::Frame;
use super::value::Value;
use super::world::Operation;
use super::{Language, string};
use crate::{Finding, Request, Sample, Thrown, World};

pub(super) fn perform<'s, W: World>(
    frame: &mut Frame<'s, '_, W>,
    operation: Operation,
    one: &Value<'s>,
    two: &Value<'s>,
) -> Result<Value<'s>, Thrown> {
    let name = one.text().unwrap_or_default();
    match operation {
        Operation::Get => Ok(variable(frame, name)),
        Operation::Put => Ok(set_variable(frame, name, two.text())),
        Operation::Remove => {
            let old = variable(frame, name);
            frame.world.remove_variable(name);
            Ok(old)
        }
        Operation::Property
        | Operation::PropertyOr
        | Operation::TrimmedPropertyOr
        | Operation::HasProperty
        | Operation::SetProperty => of_properties(frame, operation, one, two),
        Operation::Log(level) => {
            log(frame, level, one.text().unwrap_or("null"));
            Ok(Value::Null)
        }
        Operation::PrintLine => {
            print_line(frame, one);
            Ok(Value::Null)
        }
        Operation::UserNumber => Ok(Value::Int(frame.world.user_number() as i32)),
        Operation::Iteration => Ok(Value::Int(frame.world.iteration() as i32)),
        Operation::UserName => Ok(told(frame, |world, out| world.thread_name(out))),
        Operation::GroupName => Ok(told(frame, |world, out| out.push_str(world.group()))),
        Operation::SamplerName => Ok(told(frame, |world, out| out.push_str(world.sampler()))),
        Operation::BaseDir => Ok(told(frame, |world, out| world.base_dir(out))),
        Operation::Now => Ok(Value::Long(frame.world.now_ms())),
        Operation::NewId => Ok(told(frame, W::new_id)),
        Operation::ParseInt => number(one, string::int).map(Value::Int),
        Operation::ParseLong => number(one, string::long).map(Value::Long),
        Operation::ParseDouble if one.is_null() => Err(null()),
        Operation::ParseDouble => string::double(name).map(Value::Double),
        Operation::ParseBool => Ok(Value::Bool(name.eq_ignore_ascii_case("true"))),
        Operation::Written => Ok(made(frame, |out| one.write(out))),
        Operation::Hex => Ok(made(frame, |out| {
            let _ = write!(out, "{:x}", one.int());
        })),
        Operation::Least => Ok(Value::Int(one.int().min(two.int()))),
        Operation::Greatest => Ok(Value::Int(one.int().max(two.int()))),
        Operation::Argument => argument(frame, one.int()),
        Operation::Parameters => {
            let parameters = frame.stage.parameters;
            Ok(made(frame, |out| out.push_str(parameters)))
        }
        Operation::ElementName => {
            let name = frame.stage.name;
            Ok(made(frame, |out| out.push_str(name)))
        }
        Operation::Fail | Operation::FailWith => {
            if let Some(finding) = &mut frame.stage.finding {
                fail(*finding, operation, one);
            }
            Ok(Value::Null)
        }
        _ => Ok(of_result(frame, operation, one)),
    }
}

/// Reads or changes a property. Throws if the property name is `null`.
fn of_properties<'s, W: World>(
    frame: &mut Frame<'s, '_, W>,
    operation: Operation,
    one: &Value<'s>,
    two: &Value<'s>,
) -> Result<Value<'s>, Thrown> {
    if one.is_null() {
        return Err(null());
    }
    let name = one.text().unwrap_or_default();
    match operation {
        Operation::HasProperty => Ok(Value::Bool(frame.world.property(name).is_some())),
        Operation::SetProperty if two.is_null() => Err(null()),
        Operation::SetProperty => {
            let before = frame.world.set_property(name, two.text().unwrap_or_default());
            Ok(before.map_or(Value::Null, Value::Text))
        }
        Operation::Property => Ok(property(frame, name).unwrap_or_default()),
        _ => {
            let found = match property(frame, name) {
                Some(found) => found,
                None => two.copy(frame.world.buffers()),
            };
            if operation == Operation::PropertyOr || found.is_null() {
                return Ok(found);
            }
            let trimmed = made(frame, |out| out.push_str(string::trim(&found)));
            found.drop(frame.world.buffers());
            Ok(trimmed)
        }
    }
}

/// Reads or changes the sample result, if there is one.
fn of_result<'s, W: World>(
    frame: &mut Frame<'s, '_, W>,
    operation: Operation,
    one: &Value<'s>,
) -> Value<'s> {
    let Some(result) = frame.stage.result.take() else { return Value::Null };
    let value = read_or_change(frame, operation, result, one);
    frame.stage.result = Some(result);
    value
}

fn read_or_change<'s, W: World>(
    frame: &mut Frame<'s, '_, W>,
    operation: Operation,
    result: &mut W::Sample,
    one: &Value<'s>,
) -> Value<'s> {
    let text = one.text().unwrap_or_default();
    let ms = |nanos: u64| Value::Long((nanos / 1_000_000) as i64);
    let read = |frame: &mut Frame<'s, '_, W>, text: &str| made(frame, |out| out.push_str(text));
    match operation {
        Operation::Code => return read(frame, result.code()),
        Operation::Message => return read(frame, result.message()),
        Operation::Label => return read(frame, result.label()),
        Operation::Response => return read(frame, result.text()),
        Operation::Headers => return read(frame, result.headers()),
        Operation::Url => return read(frame, result.url()),
        Operation::IsSuccessful => return Value::Bool(result.is_successful()),
        Operation::Elapsed => return Value::Long(result.elapsed_ms()),
        Operation::Latency => return ms(result.latency()),
        Operation::ConnectTime => return ms(result.connect()),
        Operation::SetCode => result.set_code(text),
        Operation::SetMessage => result.set_message(text),
        Operation::SetLabel => result.set_label(text),
        Operation::SetSamplerData => result.set_sampler_data(text),
        Operation::SetSuccessful => result.set_successful(one.truth()),
        Operation::SetIgnore => result.set_ignore(),
        Operation::SetCodeOk => result.set_code("200"),
        Operation::SetMessageOk => result.set_message("OK"),
        Operation::SetOk => {
            result.set_code("200");
            result.set_message("OK");
            result.set_successful(true);
        }
        Operation::StopUser => ask(result, one, Request::StopUser),
        Operation::StopTest => ask(result, one, Request::StopTest),
        Operation::StopTestNow => ask(result, one, Request::StopTestNow),
        _ => {}
    }
    Value::Null
}

fn ask(result: &mut impl Sample, asked: &Value<'_>, request: Request) {
    if asked.truth() {
        result.ask(request);
    }
}

fn log<W: World>(frame: &mut Frame<'_, '_, W>, level: Level, text: &str) {
    let logger = frame.place.logger(frame.stage.name);
    frame.world.log(level, &logger, text);
}

fn print_line<W: World>(frame: &mut Frame<'_, '_, W>, value: &Value<'_>) {
    let mut line = String::new();
    value.write(&mut line);
    frame.world.print_line(line);
}

fn fail(finding: &mut impl Finding, operation: Operation, one: &Value<'_>) {
    match operation {
        Operation::Fail => finding.set_failure(one.truth()),
        _ => finding.say(one.text().unwrap_or_default()),
    }
}

fn null() -> Thrown {
    Thrown::new("java.lang.NullPointerException", "")
}

fn made<'s, W: World>(frame: &mut Frame<'s, '_, W>, write: impl FnOnce(&mut String)) -> Value<'s> {
    let mut text = frame.world.buffers().take();
    write(&mut text);
    Value::Text(text)
}

fn told<'s, W: World>(
    frame: &mut Frame<'s, '_, W>,
    write: impl FnOnce(&mut W, &mut String),
) -> Value<'s> {
    let mut text = frame.world.buffers().take();
    write(frame.world, &mut text);
    Value::Text(text)
}

fn variable<'s, W: World>(frame: &mut Frame<'s, '_, W>, name: &str) -> Value<'s> {
    copied(frame, |world| world.variable(name)).unwrap_or_default()
}

/// Sets a variable, or removes it if `value` is `None`.
fn set_variable<'s, W: World>(
    frame: &mut Frame<'s, '_, W>,
    name: &str,
    value: Option<&str>,
) -> Value<'s> {
    match value {
        Some(value) => frame.world.set_variable(name, value),
        None => frame.world.remove_variable(name),
    }
    Value::Null
}

fn property<'s, W: World>(frame: &mut Frame<'s, '_, W>, name: &str) -> Option<Value<'s>> {
    copied(frame, |world| world.property(name))
}

/// Returns a string of the script's world, copied into a reused buffer.
fn copied<'s, W: World>(
    frame: &mut Frame<'s, '_, W>,
    read: impl FnOnce(&mut W) -> Option<&str>,
) -> Option<Value<'s>> {
    let mut text = frame.world.buffers().take();
    if let Some(value) = read(frame.world) {
        text.push_str(value);
        return Some(Value::Text(text));
    }
    frame.world.buffers().give(text);
    None
}

fn number<T>(text: &Value<'_>, read: fn(&str) -> Result<T, Thrown>) -> Result<T, Thrown> {
    match text.text() {
        Some(text) => read(text),
        None => {
            let message = "Cannot parse null string";
            Err(Thrown::new("java.lang.NumberFormatException", message))
        }
    }
}

/// Returns the script's parameter with this index; parameters are words separated by blanks.
fn argument<'s, W: World>(frame: &mut Frame<'s, '_, W>, at: i32) -> Result<Value<'s>, Thrown> {
    let mut text = frame.world.buffers().take();
    let count = frame.stage.parameters.split(' ').filter(|word| !word.is_empty()).count();
    // Groovy counts a negative index from the end.
    let from_end = frame.place.language == Language::Groovy && at < 0;
    let place = if from_end { i64::from(at) + count as i64 } else { i64::from(at) };
    let mut words = frame.stage.parameters.split(' ').filter(|word| !word.is_empty());
    match usize::try_from(place).ok().and_then(|place| words.nth(place)) {
        Some(word) => {
            text.push_str(word);
            Ok(Value::Text(text))
        }
        None => {
            let message = format!("Index {at} out of bounds for length {count}");
            Err(Thrown::new("java.lang.ArrayIndexOutOfBoundsException", message))
        }
    }
}
