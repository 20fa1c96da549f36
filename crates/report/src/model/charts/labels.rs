//! The columns of labels. The timeline has no charts for them; the page builds one for each label.

use answers::criterion::Times;
use stats::hist::Hist;

use super::source::Source;
use crate::model::columns::Column;
use crate::model::labels::{self, Order};
use crate::model::timeline::Timeline;
use crate::model::words;

pub(super) fn of_labels(source: &Source<'_>, order: &Order, timeline: &mut Timeline) {
    let times = Times::judged(source.record);
    let knows_errors = source.record.knows_errors();
    for (place, label) in order.timed() {
        let mut values: [Vec<Option<f64>>; 4] = std::array::from_fn(|_| Vec::new());
        for instant in source.instants {
            let (mut hist, mut count, mut errors) = (Hist::new(), 0, 0);
            for part in source.seconds(instant).iter().filter_map(|second| second.labels.get(label))
            {
                hist.add(times.of(&part));
                (count, errors) = (count + part.count, errors + part.errors);
            }
            let quantile = |p| (hist.total() > 0).then(|| hist.quantile(p) as f64);
            values[0].push(Some(count as f64 / instant.length()));
            values[1].push(knows_errors.then(|| errors as f64 / instant.length()));
            values[2].push(quantile(0.5));
            values[3].push(quantile(0.95));
        }
        let names = [
            ("Rate", "速率", "/s"),
            ("Errors", "错误", "/s"),
            ("p50", "p50", "us"),
            ("p95", "p95", "us"),
        ];
        for ((id, (en, zh, unit)), values) in
            labels::columns(place).into_iter().zip(names).zip(values)
        {
            timeline.columns.push(Column::new(id, words(en, zh), unit, &values).of_label(place));
        }
    }
}
