//! The charts of data series that the plan extracted from responses: one chart for each series, which also shows
//! the load.

use answers::verdict::Subject;
use record::Second;
use stats::Number;

use super::Chart;
use super::source::Source;
use crate::captions::course;
use crate::model::columns::Column;
use crate::model::timeline::Timeline;
use crate::model::words;

/// Prefix of the ids of charts of data series.
pub(super) const ID: &str = "series.";

pub(super) fn series(source: &Source<'_>, timeline: &mut Timeline) {
    for (at, (name, _)) in source.record.frame.series().enumerate() {
        let of = |second: &Second| {
            let found = second.numbers.iter().find(|(of, _)| *of as usize == at);
            found.map(|(_, number)| *number).filter(|number| number.count > 0)
        };
        let merged = |seconds: &[Second]| {
            let mut sum = Number::default();
            seconds.iter().filter_map(of).for_each(|number| sum.merge(&number));
            sum
        };
        let mean = source.each(|_, seconds| merged(seconds).mean());
        let least = source.least(|second| of(second).map(|number| number.least));
        let most = source.most(|second| of(second).map(|number| number.most));
        if mean.iter().all(Option::is_none) {
            continue;
        }
        let id = |part: &str| format!("{ID}{at}.{part}");
        let columns = [
            Column::new(
                id("mean"),
                words(format!("{name} (mean)"), format!("{name}（平均）")),
                "count",
                &mean,
            ),
            Column::new(id("min"), words("min", "最小"), "count", &least),
            Column::new(id("max"), words("max", "最大"), "count", &most),
        ];
        let caption = course(&columns[0], timeline.span()).unwrap_or_else(|| words("", ""));
        timeline.charts.push(Chart {
            id: format!("{ID}{at}"),
            title: words(name, name),
            caption,
            columns: columns.iter().map(|column| column.id.clone()).collect(),
            log: false,
            bands: vec![(id("min"), id("max"))],
            page: "overview",
            subject: Some(Subject::Series(name.to_owned())),
        });
        timeline.columns.extend(columns);
    }
}
