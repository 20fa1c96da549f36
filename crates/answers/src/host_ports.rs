//! Local ports of a watched host that connections in TIME_WAIT occupy, and the time at which no port is left.
//!
//! Some hosts open a connection to a backend service for each request and close it. Each closed connection keeps
//! its port for 60 s, so r connections per second occupy 60·r ports (Little's law). If that exceeds the port range,
//! the range is used up after range/r seconds. The verdict applies this calculation to the past, and a running test
//! to the future.

use std::collections::VecDeque;

/// Seconds that a closed connection keeps its port. Source: Linux, include/net/tcp.h, TCP_TIMEWAIT_LEN.
pub const TIME_WAIT_S: f64 = 60.0;
/// Number of ports assumed for a host that does not report it: 32768 to 60999. Source: Linux,
/// Documentation/networking/ip-sysctl.
pub const DEFAULT_PORTS: f64 = 28_232.0;

/// Largest number of readings that a trend is computed from: the latest ones.
const TREND: usize = 10;
/// Smallest number of readings that a trend is computed from.
const TREND_LEAST: usize = 5;
/// Smallest share of readings with more connections in TIME_WAIT than the previous reading, for a forecast.
const RISING: f64 = 0.8;
/// Smallest share of a host's ports that must be in TIME_WAIT for a forecast, if the host's count of opened connections
/// supports the forecast.
const USED: f64 = 0.3;
/// Smallest share of a host's ports that must be in TIME_WAIT for a forecast, if no count of opened connections
/// supports the forecast.
const USED_ALONE: f64 = 0.7;
/// Smallest ratio of connections that the host opens per second to the growth of its connections in TIME_WAIT, for a
/// forecast: accepted connections take no port of the range.
const OWN: f64 = 0.5;

/// Metrics of a host at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Time of the reading, epoch ms.
    pub at_ms: i64,
    /// Number of connections in TIME_WAIT.
    pub waiting: f64,
    /// Connections per second that the host opened.
    pub opened: Option<f64>,
    /// Connections per second that the host accepted.
    pub accepted: Option<f64>,
}

/// Forecast that the ports of a host run out if the trend continues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// Time of the last reading, epoch ms.
    pub at_ms: i64,
    /// Number of connections in TIME_WAIT at the last reading.
    pub waiting: f64,
    /// Ports taken per second.
    pub per_s: f64,
    /// Half the width of the 95 % interval of `per_s`.
    pub half: f64,
    /// Time at which no port is left, epoch ms.
    pub gone_ms: i64,
    /// True if the host's count of opened connections supports the forecast.
    pub borne_out: bool,
}

/// Time in ms between two neighbouring readings above which at least one second without a reading lies between them.
const GAP_MS: i64 = 1500;

/// Limits the TIME_WAIT count of each reading to connections that the host can have opened itself within 60 s. A
/// server that closes connections which others opened also has them in TIME_WAIT, but its own ports are free. A
/// reading covers the time since the previous reading, at most `longest_ms`. After a second without a reading, the
/// next reading may cover one second or two. If it covers one, the missing second may have opened as many
/// connections as the previous reading reports: when two readings fall into the same second, one of them is not
/// kept.
pub fn own(readings: &[Reading], longest_ms: i64) -> Vec<Reading> {
    let Some(first) = readings.first() else { return Vec::new() };
    let mut opened: VecDeque<(i64, f64)> = VecDeque::from([(first.at_ms, first.waiting)]);
    let (mut before, mut last_per_s) = (first.at_ms, 0.0_f64);
    let mut own = Vec::with_capacity(readings.len());
    for reading in readings {
        let Some(per_s) = reading.opened else {
            own.push(*reading);
            continue;
        };
        let time = (reading.at_ms - before).min(longest_ms);
        let most = if time > GAP_MS { per_s.max(last_per_s) } else { per_s };
        opened.push_back((reading.at_ms, most * time as f64 / 1000.0));
        (before, last_per_s) = (reading.at_ms, per_s);
        let gone = reading.at_ms - (TIME_WAIT_S * 1000.0) as i64;
        while opened.front().is_some_and(|(at, _)| *at < gone) {
            opened.pop_front();
        }
        let most: f64 = opened.iter().map(|(_, count)| count).sum();
        own.push(Reading { waiting: reading.waiting.min(most), ..*reading });
    }
    own
}

/// Predicts when a host with `ports` ports has no free port left. Returns `None` if the readings do not show that its
/// ports run out.
pub fn forecast(readings: &[Reading], ports: f64) -> Option<Forecast> {
    let readings = &readings[readings.len().saturating_sub(TREND)..];
    let (first, last) = (readings.first()?, readings.last()?);
    if readings.len() < TREND_LEAST || last.waiting > ports {
        return None;
    }
    let rising = readings.windows(2).filter(|pair| pair[1].waiting > pair[0].waiting).count();
    if (rising as f64) < RISING * (readings.len() - 1) as f64 {
        return None;
    }
    let points = readings.iter().map(|r| ((r.at_ms - first.at_ms) as f64 / 1000.0, r.waiting));
    let (per_s, half) = slope(&points.collect::<Vec<_>>());
    // A closed connection returns its port after 60 s, so a low rate of closed connections never uses up the range.
    if per_s * TIME_WAIT_S <= ports {
        return None;
    }
    let of = |figure: fn(&Reading) -> Option<f64>| {
        let values: Vec<f64> = readings.iter().filter_map(figure).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let (opened, accepted) = (of(|r| r.opened), of(|r| r.accepted).unwrap_or(0.0));
    if opened.is_some_and(|opened| opened < OWN * per_s) {
        return None;
    }
    let borne_out = opened.is_some() && accepted < OWN * per_s;
    let used = if borne_out { USED } else { USED_ALONE };
    if last.waiting < used * ports {
        return None;
    }
    let left_s = (ports - last.waiting) / per_s;
    let gone_ms = last.at_ms + (left_s * 1000.0) as i64;
    Some(Forecast { at_ms: last.at_ms, waiting: last.waiting, per_s, half, gone_ms, borne_out })
}

/// Fits a line by least squares; returns the growth per second and half of the width of its 95 % interval.
fn slope(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len() as f64;
    let (t, v) = points.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / n, sum.1 + p.1 / n));
    let width: f64 = points.iter().map(|p| (p.0 - t).powi(2)).sum::<f64>().max(1e-9);
    let slope = points.iter().map(|p| (p.0 - t) * (p.1 - v)).sum::<f64>() / width;
    let rest: f64 = points.iter().map(|p| (p.1 - v - slope * (p.0 - t)).powi(2)).sum();
    (slope, 1.96 * (rest / (n - 2.0).max(1.0) / width).sqrt())
}

/// Latest readings of a host during a run, for a forecast.
#[derive(Clone, Debug, Default)]
pub struct Ahead {
    readings: VecDeque<Reading>,
    told: bool,
}

impl Ahead {
    /// Adds a reading. Returns the forecast once, when it first exists.
    pub fn add(&mut self, reading: Reading, ports: f64) -> Option<Forecast> {
        if self.told {
            return None;
        }
        if self.readings.len() == TREND {
            self.readings.pop_front();
        }
        self.readings.push_back(reading);
        let found = forecast(self.readings.make_contiguous(), ports);
        self.told = found.is_some();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns readings of a host that closes `per_s` connections per second from the first second on.
    fn closing(per_s: f64, seconds: i64) -> Vec<Reading> {
        let reading = |at: i64| Reading {
            at_ms: at * 1000,
            waiting: per_s * (at as f64).min(TIME_WAIT_S),
            opened: Some(per_s),
            accepted: Some(1.0),
        };
        (0..seconds).map(reading).collect()
    }

    #[test]
    fn the_second_is_named_in_which_no_port_is_left() {
        let readings = closing(400.0, 8);
        let found = forecast(&readings, 5000.0).expect("2800 of 5000 wait");
        assert_eq!((found.gone_ms, found.borne_out), (12_500, true));
        assert!((found.per_s - 400.0).abs() < 1e-6 && found.half < 1e-6, "{found:?}");
        assert!(forecast(&readings[..4], 5000.0).is_none(), "four readings are no trend");
    }

    #[test]
    fn a_pace_that_the_range_bears_is_no_forecast() {
        for seconds in [8, 55, 100] {
            assert!(forecast(&closing(80.0, seconds), 5000.0).is_none(), "{seconds} s");
        }
        // After 60 s, as many ports are released as are taken.
        assert!(forecast(&closing(84.0, 100), 5000.0).is_none());
    }

    #[test]
    fn connections_that_others_opened_take_no_port() {
        let mut readings = closing(400.0, 8);
        for reading in &mut readings {
            (reading.opened, reading.accepted) = (Some(2.0), Some(400.0));
        }
        assert!(forecast(&readings, 5000.0).is_none());
        // If the host opens and accepts equally many connections, the owners of the waiting ones are unknown. So the
        // higher threshold applies, and the forecast is not supported.
        for reading in &mut readings {
            reading.opened = Some(400.0);
        }
        assert!(forecast(&readings, 5000.0).is_none());
        assert!(forecast(&readings, 3500.0).is_some_and(|found| !found.borne_out));
    }

    #[test]
    fn what_others_opened_does_not_count() {
        // The ports are used up at 12 s. From then on the host closes connections that others opened, and the count
        // still grows.
        let mut readings = closing(400.0, 20);
        for reading in readings.iter_mut().filter(|r| r.at_ms > 12_000) {
            (reading.opened, reading.accepted) = (Some(0.0), Some(400.0));
        }
        let counted: Vec<f64> = own(&readings, i64::MAX).iter().map(|r| r.waiting).collect();
        assert_eq!(readings.last().map(|r| r.waiting), Some(7600.0));
        assert_eq!((counted[11], counted[12], counted[19]), (4400.0, 4800.0, 4800.0));
    }

    #[test]
    fn a_reading_that_was_lost_when_the_ports_ran_out_hides_nothing() {
        let mut readings = closing(400.0, 14);
        for reading in readings.iter_mut().filter(|r| r.at_ms > 11_000) {
            (reading.opened, reading.accepted, reading.waiting) = (Some(0.0), Some(400.0), 4400.0);
        }
        // The reading of 11 s fell into the next second and was lost; the next reading reports no opened connection
        // since.
        readings.remove(11);
        let counted: Vec<f64> = own(&readings, i64::MAX).iter().map(|r| r.waiting).collect();
        assert_eq!((counted[10], counted[11], counted[12]), (4000.0, 4400.0, 4400.0));
        assert_eq!(own(&readings, 1000)[12].waiting, 4000.0);
    }

    #[test]
    fn a_run_that_goes_on_is_told_once() {
        let mut ahead = Ahead::default();
        let told: Vec<i64> = closing(400.0, 12)
            .into_iter()
            .filter_map(|reading| ahead.add(reading, 5000.0))
            .map(|found| found.at_ms)
            .collect();
        assert_eq!(told, [4000]);
    }
}
