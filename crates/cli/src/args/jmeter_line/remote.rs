//! JMeter's remote hosts: `-R host1,host2`, `-r` for the hosts of the property `remote_hosts`, `-G` for their
//! properties, and `-X`.
//!
//! Each host runs the whole plan, as JMeter's remote engines do. If both are given, `-R` overrides `-r`, as in
//! JMeter. `-X` has no effect, because everything that a run starts on a host always ends with the run.

use fleet::remote::Way;

use super::Given;
use crate::args::request::Request;
use crate::inputs::properties::{Properties, Setting};

/// Adds the options about remote hosts to the request. The error is a message for the user.
pub(crate) fn apply(given: &[Given<'_>], request: &mut Request) -> Result<(), String> {
    let of = |short: char| given.iter().filter(move |option| option.flag.short == short);
    for option in of('G') {
        let (name, value) = (option.first, option.second.to_string_lossy());
        request.sources.global.push(if value.is_empty() {
            Setting::File(name.into())
        } else {
            Setting::Jmeter(name.to_string_lossy().into(), value.into())
        });
    }
    let Some(option) = of('R').chain(of('r')).next() else { return Ok(()) };
    if request.fleet.is_some() {
        return Err(format!(
            "{} and --fleet both name machines: with -R each runs the whole plan, with --fleet its users are divided",
            option.shown()
        ));
    }
    let hosts = if option.flag.short == 'R' {
        option.first.to_string_lossy().into_owned()
    } else {
        let now_ms = jiff::Timestamp::now().as_millisecond();
        // The run itself prints the warnings about property files that the user has not named.
        let (properties, _) = Properties::load(&request.sources, now_ms)?;
        properties.get("remote_hosts").unwrap_or("127.0.0.1").to_owned()
    };
    request.fleet = Some(Way::whole(&hosts)?);
    Ok(())
}
