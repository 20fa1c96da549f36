//! Samples for a Backend Listener, and their encoding between processes.

use std::collections::HashMap;
use std::sync::Arc;

use plan::plan::ListenerId;
use serde::{Deserialize, Serialize};
use stats::backend::Taken;

/// A batch of samples for a Backend Listener.
#[derive(Debug)]
pub(crate) enum Batch {
    /// Samples for statistics per interval, with their labels.
    Samples(Vec<(Arc<str>, Taken)>),
    /// Lines of InfluxDB's line protocol, one per sample.
    Lines(String),
}

/// Samples of a core for a Backend Listener, in a run of several processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// The listener's index in the plan.
    pub(crate) listener: u32,
    labels: Vec<String>,
    /// Samples with the indices of their labels.
    pub(crate) samples: Vec<(u32, Taken)>,
    /// Lines of InfluxDB's line protocol, one per sample.
    lines: String,
}

impl Figures {
    pub(crate) fn new(listener: ListenerId, batch: Batch) -> Self {
        let mut figures = Self { listener: listener.0, ..Self::default() };
        match batch {
            Batch::Lines(lines) => figures.lines = lines,
            Batch::Samples(samples) => {
                let mut places: HashMap<Arc<str>, u32> = HashMap::new();
                for (label, taken) in samples {
                    let labels = &mut figures.labels;
                    let place = *places.entry(label).or_insert_with_key(|label| {
                        labels.push(label.to_string());
                        (labels.len() - 1) as u32
                    });
                    figures.samples.push((place, taken));
                }
            }
        }
        figures
    }

    pub(crate) fn batch(self) -> Batch {
        if !self.lines.is_empty() {
            return Batch::Lines(self.lines);
        }
        let labels: Vec<Arc<str>> = self.labels.iter().map(|label| label.as_str().into()).collect();
        let with =
            |(place, taken): (u32, Taken)| Some((Arc::clone(labels.get(place as usize)?), taken));
        Batch::Samples(self.samples.into_iter().filter_map(with).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_to_another_process_is_what_comes_out_there() {
        let taken = |elapsed_ms| Taken { elapsed_ms, success: true, count: 1, ..Taken::default() };
        let label = |text: &str| Arc::<str>::from(text);
        let samples = vec![(label("a"), taken(1)), (label("b"), taken(2)), (label("a"), taken(3))];
        let figures = Figures::new(ListenerId(7), Batch::Samples(samples.clone()));
        assert_eq!((figures.listener, figures.labels.len()), (7, 2));
        let Batch::Samples(back) = figures.batch() else { panic!("samples") };
        assert_eq!(back, samples);
        let lines = Figures::new(ListenerId(0), Batch::Lines("x\ny\n".into()));
        assert!(matches!(lines.batch(), Batch::Lines(text) if text == "x\ny\n"));
    }
}
