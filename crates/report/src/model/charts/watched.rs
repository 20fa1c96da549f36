//! Hosts that were watched.

use record::Unit;

use super::Chart;
use super::source::Source;
use crate::captions::course;
use crate::model::columns::Column;
use crate::model::timeline::Timeline;
use crate::model::{Watched, words};

/// A chart for each host and unit: figures of different units have no common axis.
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
        timeline.charts.push(Chart {
            id: format!("watched.{host}.{unit}"),
            title: words(format!("{host}: {en}"), format!("{host}：{zh}")),
            caption: course(loudest, &timeline.at_ms).unwrap_or_else(|| words("", "")),
            columns: columns.iter().map(|column| column.id.clone()).collect(),
            log: false,
            bands: Vec::new(),
            page: "targets",
        });
        timeline.columns.extend(columns);
    }
}

/// The hosts that have charts, with their columns.
pub(in crate::model) fn hosts(timeline: &Timeline) -> Vec<Watched> {
    let mut found: Vec<Watched> = Vec::new();
    for chart in timeline.charts.iter().filter(|chart| chart.page == "targets") {
        let host = chart.title.en.rsplit_once(':').map_or(&*chart.title.en, |(host, _)| host);
        match found.iter_mut().find(|known| known.host == host) {
            Some(known) => known.columns.extend(chart.columns.iter().cloned()),
            None => found.push(Watched { host: host.to_owned(), columns: chart.columns.clone() }),
        }
    }
    found
}
