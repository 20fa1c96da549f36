//! Carries out what scripts do with the world around them.

use std::fmt::Write;

use super::run::Frame;
use super::value::Value;
use super::world::Deed;
use super::{Language, string};
use crate::function::Level;
use crate::result::{Request, SampleResult};
use crate::text::Thrown;

pub(super) fn act<'s>(
    frame: &mut Frame<'s, '_, '_>,
    deed: Deed,
    one: &Value<'s>,
    two: &Value<'s>,
) -> Result<Value<'s>, Thrown> {
    let name = one.text().unwrap_or_default();
    match deed {
        Deed::Get => Ok(variable(frame, name)),
        Deed::Put => {
            match two.text() {
                Some(value) => frame.env.vars.set_named(frame.env.names, name, value),
                None => frame.env.vars.remove_named(frame.env.names, name),
            }
            Ok(Value::Null)
        }
        Deed::Remove => {
            let old = variable(frame, name);
            frame.env.vars.remove_named(frame.env.names, name);
            Ok(old)
        }
        Deed::Property | Deed::HasProperty | Deed::SetProperty if one.is_null() => Err(null()),
        Deed::SetProperty if two.is_null() => Err(null()),
        Deed::Property => Ok(property(frame, name).unwrap_or_default()),
        Deed::PropertyOr | Deed::TrimmedPropertyOr => {
            if one.is_null() {
                return Err(null());
            }
            let found = match property(frame, name) {
                Some(found) => found,
                None => two.copy(frame.env.core),
            };
            if deed == Deed::PropertyOr || found.is_null() {
                return Ok(found);
            }
            let trimmed = made(frame, |out| out.push_str(string::trim(&found)));
            found.drop(frame.env.core);
            Ok(trimmed)
        }
        Deed::HasProperty => {
            let shared = frame.env.shared;
            Ok(Value::Bool(frame.env.core.cache.property(shared, name).is_some()))
        }
        Deed::SetProperty => {
            let before = frame.env.shared.set_property(name, two.text().unwrap_or_default());
            Ok(before.map_or(Value::Null, |before| Value::Text(before.into())))
        }
        Deed::Log(level) => {
            let logger = frame.place.logger(frame.stage.name);
            frame.env.shared.log_as(level, &logger, one.text().unwrap_or("null"));
            Ok(Value::Null)
        }
        Deed::PrintLine => {
            let mut line = String::new();
            one.write(&mut line);
            frame.env.shared.log(Level::Stdout, line);
            Ok(Value::Null)
        }
        Deed::UserNumber => Ok(Value::Int(frame.env.who.user as i32)),
        Deed::Iteration => Ok(Value::Int(frame.env.who.iteration as i32)),
        Deed::UserName => {
            let who = frame.env.who;
            Ok(made(frame, |out| who.thread_name(out)))
        }
        Deed::GroupName => {
            let name = frame.env.who.group;
            Ok(made(frame, |out| out.push_str(name)))
        }
        Deed::SamplerName => {
            let name = frame.env.who.sampler;
            Ok(made(frame, |out| out.push_str(name)))
        }
        Deed::BaseDir => {
            let folder = frame.env.shared.base_dir.to_string_lossy();
            Ok(made(frame, |out| out.push_str(&folder)))
        }
        Deed::Now => Ok(Value::Long(frame.env.now_ms)),
        Deed::NewId => {
            let mut text = frame.env.core.take();
            crate::function::write_uuid(frame.env, &mut text);
            Ok(Value::Text(text))
        }
        Deed::ParseInt => number(one, string::int).map(Value::Int),
        Deed::ParseLong => number(one, string::long).map(Value::Long),
        Deed::ParseDouble if one.is_null() => Err(null()),
        Deed::ParseDouble => string::double(name).map(Value::Double),
        Deed::ParseBool => Ok(Value::Bool(name.eq_ignore_ascii_case("true"))),
        Deed::Written => Ok(made(frame, |out| one.write(out))),
        Deed::Hex => Ok(made(frame, |out| {
            let _ = write!(out, "{:x}", one.int());
        })),
        Deed::Least => Ok(Value::Int(one.int().min(two.int()))),
        Deed::Greatest => Ok(Value::Int(one.int().max(two.int()))),
        Deed::Argument => argument(frame, one.int()),
        Deed::Parameters => {
            let mut text = frame.env.core.take();
            text.push_str(&frame.parameters);
            Ok(Value::Text(text))
        }
        Deed::ElementName => {
            let name = frame.stage.name;
            Ok(made(frame, |out| out.push_str(name)))
        }
        Deed::Fail | Deed::FailWith => {
            if let Some(finding) = &mut frame.stage.finding {
                match deed {
                    Deed::Fail => finding.failure = one.truth(),
                    _ => finding.say(name),
                }
            }
            Ok(Value::Null)
        }
        _ => match frame.stage.result.take() {
            Some(result) => {
                let value = of_result(frame, deed, result, one);
                frame.stage.result = Some(result);
                Ok(value)
            }
            None => Ok(Value::Null),
        },
    }
}

/// What is read from a result, or changed in it.
fn of_result<'s>(
    frame: &mut Frame<'s, '_, '_>,
    deed: Deed,
    result: &mut SampleResult,
    one: &Value<'s>,
) -> Value<'s> {
    let text = one.text().unwrap_or_default();
    let set = |field: &mut String, value: &str| {
        field.clear();
        field.push_str(value);
    };
    let ms = |nanos: u64| Value::Long((nanos / 1_000_000) as i64);
    let read = |frame: &mut Frame<'s, '_, '_>, text: &str| made(frame, |out| out.push_str(text));
    match deed {
        Deed::Code => return read(frame, &result.code),
        Deed::Message => return read(frame, &result.message),
        Deed::Label => return read(frame, &result.label),
        Deed::Response => return read(frame, &result.text),
        Deed::Headers => return read(frame, &result.response_headers),
        Deed::Url => return read(frame, &result.url),
        Deed::IsSuccessful => return Value::Bool(result.success),
        Deed::Elapsed => return Value::Long(result.elapsed_ms()),
        Deed::Latency => return ms(result.latency),
        Deed::ConnectTime => return ms(result.connect),
        Deed::SetCode => set(&mut result.code, text),
        Deed::SetMessage => set(&mut result.message, text),
        Deed::SetLabel => set(&mut result.label, text),
        Deed::SetSamplerData => set(&mut result.sampler_data, text),
        Deed::SetSuccessful => result.success = one.truth(),
        Deed::SetIgnore => result.ignore = true,
        Deed::SetCodeOk => set(&mut result.code, "200"),
        Deed::SetMessageOk => set(&mut result.message, "OK"),
        Deed::SetOk => {
            set(&mut result.code, "200");
            set(&mut result.message, "OK");
            result.success = true;
        }
        Deed::StopUser => ask(result, one, Request::StopUser),
        Deed::StopTest => ask(result, one, Request::StopTest),
        Deed::StopTestNow => ask(result, one, Request::StopTestNow),
        _ => {}
    }
    Value::Null
}

fn ask(result: &mut SampleResult, asked: &Value<'_>, request: Request) {
    if asked.truth() {
        result.request = result.request.max(request);
    }
}

fn null() -> Thrown {
    Thrown::new("java.lang.NullPointerException", "")
}

fn made<'s>(frame: &mut Frame<'s, '_, '_>, write: impl FnOnce(&mut String)) -> Value<'s> {
    let mut text = frame.env.core.take();
    write(&mut text);
    Value::Text(text)
}

fn variable<'s>(frame: &mut Frame<'s, '_, '_>, name: &str) -> Value<'s> {
    let env = &mut *frame.env;
    match env.vars.get_named(env.names, name) {
        Some(value) => {
            let mut text = env.core.take();
            text.push_str(value);
            Value::Text(text)
        }
        None => Value::Null,
    }
}

fn property<'s>(frame: &mut Frame<'s, '_, '_>, name: &str) -> Option<Value<'s>> {
    let mut text = frame.env.core.take();
    let shared = frame.env.shared;
    match frame.env.core.cache.property(shared, name) {
        Some(value) => {
            text.push_str(value);
            Some(Value::Text(text))
        }
        None => {
            frame.env.core.give(text);
            None
        }
    }
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

/// One of the parameters, which are words between blanks.
fn argument<'s>(frame: &mut Frame<'s, '_, '_>, at: i32) -> Result<Value<'s>, Thrown> {
    let mut text = frame.env.core.take();
    let count = frame.parameters.split(' ').filter(|word| !word.is_empty()).count();
    // Groovy counts from the end what is negative.
    let from_end = frame.place.language == Language::Groovy && at < 0;
    let place = if from_end { i64::from(at) + count as i64 } else { i64::from(at) };
    let mut words = frame.parameters.split(' ').filter(|word| !word.is_empty());
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
