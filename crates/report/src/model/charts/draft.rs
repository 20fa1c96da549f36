//! A chart that is being built. Its caption follows from its columns.

use answers::verdict::Words;

use super::Chart;
use crate::captions::{course, together};
use crate::model::columns::Column;
use crate::model::timeline::Timeline;
use crate::model::words;

/// A chart that is being built.
pub(super) struct Draft {
    id: &'static str,
    page: &'static str,
    title: Words,
    pub(super) columns: Vec<Column>,
    log: bool,
    bands: Vec<(String, String)>,
    /// Number of columns, from the first on, that the caption describes. `about` replaces them by one named column.
    said: usize,
    about: Option<&'static str>,
}

pub(super) fn draft(id: &'static str, page: &'static str, en: &str, zh: &str) -> Draft {
    let (columns, bands) = (Vec::new(), Vec::new());
    Draft { id, page, title: words(en, zh), columns, log: false, bands, said: 2, about: None }
}

impl Draft {
    pub(super) fn with(
        mut self,
        id: &str,
        en: &str,
        zh: &str,
        unit: &'static str,
        values: &[Option<f64>],
    ) -> Self {
        self.columns.push(Column::new(id, words(en, zh), unit, values));
        self
    }

    /// Adds a column as `with` does, but only if one of its values is not 0.
    pub(super) fn maybe(
        self,
        id: &str,
        en: &str,
        zh: &str,
        unit: &'static str,
        values: &[Option<f64>],
    ) -> Self {
        let something = values.iter().flatten().any(|value| *value != 0.0);
        if something { self.with(id, en, zh, unit, values) } else { self }
    }

    pub(super) fn band(mut self, low: &str, high: &str) -> Self {
        self.bands.push((low.to_owned(), high.to_owned()));
        self
    }

    pub(super) fn log(mut self) -> Self {
        self.log = true;
        self
    }

    pub(super) fn saying(mut self, columns: usize) -> Self {
        self.said = columns;
        self
    }

    /// Makes the caption of the chart describe this column.
    pub(super) fn about(mut self, column: &'static str) -> Self {
        self.about = Some(column);
        self
    }

    pub(super) fn into(self, timeline: &mut Timeline) {
        let known = |column: &Column| column.values.iter().any(Option::is_some);
        if !self.columns.iter().any(known) {
            return;
        }
        let told = |column: &&Column| self.about.is_none_or(|id| column.id == id);
        let span = timeline.span();
        let sentences = self.columns.iter().filter(told).filter_map(|column| course(column, span));
        timeline.charts.push(Chart {
            id: self.id.to_owned(),
            title: self.title,
            caption: together(sentences.take(self.said)),
            columns: self.columns.iter().map(|column| column.id.clone()).collect(),
            log: self.log,
            bands: self.bands,
            page: self.page,
            subject: None,
        });
        timeline.columns.extend(self.columns);
    }
}
