//! The charts of watched hosts.

use answers::machines::machines;
use answers::verdict::{Subject, Words};
use record::{Record, Unit};
use stats::grouped::things;

use super::Chart;
use super::source::Source;
use crate::captions::course;
use crate::model::columns::Column;
use crate::model::timeline::Timeline;
use crate::model::{Watched, words};

/// Adds a chart for each host and unit, because metrics of different units have no common axis.
pub(super) fn watched(source: &Source<'_>, timeline: &mut Timeline) {
    let record = source.record;
    let mut groups: Vec<(&str, Unit, Vec<u32>)> = Vec::new();
    for (number, series) in record.series.iter().enumerate() {
        let number = number as u32;
        match groups
            .iter_mut()
            .find(|(host, unit, _)| *host == &*series.host && *unit == series.unit)
        {
            Some((_, _, list)) => list.push(number),
            None => groups.push((&series.host, series.unit, vec![number])),
        }
    }
    let mut settled: Vec<&str> = Vec::new();
    for (host, unit, list) in groups {
        let (unit, en, zh) = match unit {
            Unit::Share => ("share", "shares", "占比"),
            Unit::Bytes => ("bytes", "bytes", "字节"),
            Unit::Seconds => ("s", "times", "时间"),
            Unit::PerSecond => ("/s", "rates", "速率"),
            Unit::Count => ("count", "counts", "数量"),
        };
        let columns: Vec<Column> = list
            .iter()
            .map(|number| {
                let values = source.last(|second| {
                    second.watched.iter().find(|(of, _)| of == number).map(|(_, value)| *value)
                });
                let name = &*record.series[*number as usize].metric;
                Column::new(format!("watched.{number}"), words(name, name), unit, &values)
            })
            .filter(|column| column.values.iter().any(Option::is_some))
            .collect();
        let Some(loudest) = columns.iter().find(|column| column.says_something()) else { continue };
        let caption = course(loudest, timeline.span()).unwrap_or_else(|| words("", ""));
        // The caption of a host's first chart begins with the host's settings.
        let is_first = !settled.contains(&host);
        settled.push(host);
        let settings = settings(record, host).filter(|_| is_first);
        let caption = match settings {
            Some(of) => words(format!("{} {}", of.en, caption.en), of.zh + &caption.zh),
            None => caption,
        };
        timeline.charts.push(Chart {
            id: format!("watched.{host}.{unit}"),
            title: words(format!("{host}: {en}"), format!("{host}：{zh}")),
            caption,
            columns: columns.iter().map(|column| column.id.clone()).collect(),
            log: false,
            bands: Vec::new(),
            page: "targets",
            subject: Some(Subject::Host(host.to_owned())),
        });
        timeline.columns.extend(columns);
    }
}

/// Returns the effective settings of the JVM on a host, and its largest number of threads.
fn settings(record: &Record, host: &str) -> Option<Words> {
    let known = machines(record).into_iter().find(|machine| machine.host == host)?;
    let Words { mut en, mut zh } = known.words();
    let is_threads = |one: &record::Series| &*one.host == host && &*one.metric == "threads";
    if let Some(number) = record.series.iter().position(is_threads) {
        let all = record.seconds.iter().flat_map(|second| &second.watched);
        let threads =
            all.filter(|one| one.0 as usize == number).map(|one| one.1).fold(0.0, f64::max);
        en += &format!("; at most {}", things(threads as u64, "thread"));
        zh += &format!("；最多 {threads} 个线程");
    }
    Some(words(format!("Java machine: {en}."), format!("Java 虚拟机：{zh}。")))
}

/// Returns the hosts that have charts, with their columns.
pub(in crate::model) fn hosts(timeline: &Timeline) -> Vec<Watched> {
    let mut found: Vec<Watched> = Vec::new();
    for chart in &timeline.charts {
        let Some(Subject::Host(host)) = &chart.subject else { continue };
        match found.iter_mut().find(|known| known.host == *host) {
            Some(known) => known.columns.extend(chart.columns.iter().cloned()),
            None => found.push(Watched { host: host.clone(), columns: chart.columns.clone() }),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use record::{Fact, Second, Series};

    use super::*;
    use crate::model::instants::instants;

    #[test]
    fn settings_of_a_java_machine_stand_above_the_first_chart_of_its_host() {
        let series = |host: &str, metric: &str, unit| Series {
            host: host.into(),
            metric: metric.into(),
            unit,
        };
        let fact = |name: &str, value: &str| Fact {
            host: "app".into(),
            name: name.into(),
            value: value.into(),
        };
        let second = |n: i64| Second {
            at_ms: n * 1000,
            ms: 1000,
            watched: vec![(0, 5e8), (1, 40.0 + n as f64), (2, 7.0)],
            ..Second::default()
        };
        let record = Record {
            series: vec![
                series("app", "heap", Unit::Bytes),
                series("app", "threads", Unit::Count),
                series("db", "threads", Unit::Count),
            ],
            facts: vec![
                fact(Fact::HEAP_MAX, "1073741824"),
                fact(Fact::COLLECTORS, "G1"),
                fact("of another version", "x"),
            ],
            seconds: (1..=12).map(second).collect(),
            ..Record::default()
        };
        let instants = instants(&record.seconds, 100);
        let mut timeline = Timeline::none();
        watched(&Source { record: &record, instants: &instants }, &mut timeline);
        let captions: Vec<&str> = timeline.charts.iter().map(|chart| &*chart.caption.en).collect();
        assert_eq!(captions.len(), 3);
        let settings = "Java machine: heap at most 1.0 GiB, G1; at most 52 threads. heap";
        assert!(captions[0].starts_with(settings), "{captions:?}");
        assert!(captions[1..].iter().all(|caption| !caption.contains("Java")), "{captions:?}");
        assert!(
            timeline.charts[0]
                .caption
                .zh
                .starts_with("Java 虚拟机：堆上限 1.0 GiB、G1；最多 52 个线程。")
        );
    }
}
