//! Options that replace the plan's load.

use std::time::Duration;

use clap::Args;
use plan::load::{LoadOverrides, LoadSettings};

/// Load that replaces the load of the plan's thread groups.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Load, instead of the load of the plan's thread groups")]
pub(crate) struct LoadFlags {
    /// Total users, divided among the thread groups as in the plan.
    #[arg(long, value_name = "N", conflicts_with = "rps", value_parser = clap::value_parser!(u32).range(0..=50_000_000))]
    pub(crate) users: Option<u32>,
    /// Iterations started per second, however long responses take.
    #[arg(long, value_name = "R", value_parser = rate)]
    pub(crate) rps: Option<f64>,
    /// With --rps: maximum concurrent users; further starts are skipped and counted [default: 10000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50_000_000))]
    max_users: Option<u32>,
    /// Ramp-up time of users or rate.
    #[arg(long, value_name = "TIME", value_parser = answers::time::parse)]
    ramp: Option<Duration>,
    /// Time at full load, after the ramp-up.
    #[arg(long, value_name = "TIME", value_parser = answers::time::parse)]
    hold: Option<Duration>,
    /// With --ramp: ramp up in this many equal steps.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    steps: Option<u32>,
    /// Total time, including the ramp-up.
    #[arg(long, value_name = "TIME", conflicts_with = "hold", value_parser = answers::time::parse)]
    pub(crate) duration: Option<Duration>,
    /// Iterations per user; with --rps, total number of starts.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=2_000_000_000))]
    iterations: Option<u32>,
    /// Load of one thread group, like 'Buyers=users:50,ramp:10s'; GROUP=off leaves the group out. May be given several
    /// times.
    #[arg(long, value_name = "GROUP=…", value_parser = scenario)]
    scenario: Vec<(String, Option<LoadSettings>)>,
}

impl LoadFlags {
    /// Returns the load that the options define. The error is a message for the user.
    pub(crate) fn given(self) -> Result<LoadOverrides, String> {
        let all = LoadSettings {
            users: self.users,
            rate: self.rps,
            max_users: self.max_users,
            ramp: self.ramp,
            hold: self.hold,
            steps: self.steps,
            duration: self.duration,
            iterations: self.iterations,
        };
        all.check()?;
        if let Some(name) = twice(&self.scenario) {
            return Err(format!("--scenario names the thread group {name:?} twice"));
        }
        Ok(LoadOverrides { all, groups: self.scenario, ..LoadOverrides::default() })
    }
}

fn twice(groups: &[(String, Option<LoadSettings>)]) -> Option<&str> {
    let before = |at: usize, name: &String| groups[..at].iter().any(|(other, _)| other == name);
    let found = groups.iter().enumerate().find(|(at, (name, _))| before(*at, name));
    found.map(|(_, (name, _))| name.as_str())
}

/// Parses a rate per second.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    match text.strip_suffix("/s").unwrap_or(text).trim().parse::<f64>() {
        Ok(rate) if rate.is_finite() && (0.0..=10_000_000.0).contains(&rate) => Ok(rate),
        _ => Err("it must be a number of starts per second, like 200 or 0.5".into()),
    }
}

/// Parses the load of one thread group: `GROUP=users:50,ramp:10s` or `GROUP=off`.
fn scenario(text: &str) -> Result<(String, Option<LoadSettings>), String> {
    let Some((group, values)) = text.rsplit_once('=') else {
        return Err("write it like 'Buyers=users:50,ramp:10s' or 'Buyers=off'".into());
    };
    if values.trim() == "off" {
        return Ok((group.to_string(), None));
    }
    let mut ask = LoadSettings::default();
    for pair in values.split(',') {
        let Some((key, value)) = pair.split_once(':') else {
            return Err(format!("{pair:?} has no value: write it like users:50, ramp:10s or off"));
        };
        set(&mut ask, key.trim(), value.trim())?;
    }
    ask.check()?;
    Ok((group.to_string(), Some(ask)))
}

/// Names of the values that can be set for a thread group.
pub(crate) const KEYS: [&str; 8] =
    ["users", "rps", "max-users", "ramp", "hold", "steps", "duration", "iterations"];

/// Sets one value of a load by its name.
pub(crate) fn set(ask: &mut LoadSettings, key: &str, value: &str) -> Result<(), String> {
    let number =
        || value.parse::<u32>().map_err(|_| format!("{key}: {value:?} is not a whole number"));
    let time = || answers::time::parse(value).map_err(|words| format!("{key}: {words}"));
    match key {
        "users" => ask.users = Some(number()?),
        "rps" => ask.rate = Some(rate(value).map_err(|words| format!("{key}: {words}"))?),
        "max-users" => ask.max_users = Some(number()?.max(1)),
        "ramp" => ask.ramp = Some(time()?),
        "hold" => ask.hold = Some(time()?),
        "steps" => ask.steps = Some(number()?.max(1)),
        "duration" => ask.duration = Some(time()?),
        "iterations" => ask.iterations = Some(number()?),
        _ => {
            let near = crate::inputs::suggest::nearest(key, KEYS.into_iter());
            let hint = near.map_or_else(
                || format!("known are {}", KEYS.join(", ")),
                |near| format!("did you mean {near}?"),
            );
            return Err(format!("{key:?} is not known for a thread group: {hint}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_a_load_of_its_own_or_is_left_out() {
        let (name, ask) = scenario("A=B=users:50,ramp:10s").expect("a load");
        assert_eq!(name, "A=B");
        let ask = ask.expect("a load");
        assert_eq!((ask.users, ask.ramp), (Some(50), Some(Duration::from_secs(10))));
        assert_eq!(scenario("Guests=off"), Ok(("Guests".into(), None)));
        for (text, words) in [
            ("Guests", "write it like"),
            ("Guests=many", "has no value"),
            ("Guests=usres:3", "did you mean users?"),
            ("Guests=users:x", "is not a whole number"),
            ("Guests=ramp:10", "has no unit"),
            ("Guests=users:1,rps:2", "set either users or rps"),
        ] {
            let error = scenario(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn rates_are_numbers_per_second() {
        assert_eq!(rate("200"), Ok(200.0));
        assert_eq!(rate("0.5/s"), Ok(0.5));
        for text in ["", "x", "-1", "inf", "nan"] {
            assert!(rate(text).is_err(), "{text}");
        }
    }
}
