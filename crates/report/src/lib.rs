//! Reports of runs: metrics and pages from a record or from the rows of a result file. This crate writes no files.
//!
//! | module | holds |
//! |---|---|
//! | `model` | the data of a page, in the structure that its script reads |
//! | `captions` | sentences made from metrics |
//! | `first` | the static first screen, which is readable without script |
//! | `svg`, `html` | charts; HTML in which all strings from outside are escaped |
//! | `file` | a page as one HTML file |
//! | `markdown` | summaries for pull requests and chats |
//! | `k6` | the summary of a run in the format of k6 |
//! | `tables` | all tables as CSV and JSON |
//! | `live` | the page of a running test |
//! | `jmeter` | the metrics of JMeter's HTML dashboard, digit for digit |
pub mod captions;
pub mod file;
pub mod first;
pub mod html;
pub mod jmeter;
pub mod k6;
pub mod live;
pub mod markdown;
pub mod model;
pub mod svg;
pub mod tables;

use answers::verdict::Language;

/// The page of a run, a sweep, a search for capacity or a comparison.
#[derive(Debug)]
pub enum Page {
    Run(Box<model::RunPage>),
    Sweep(Box<model::SweepPage>),
    Capacity(Box<model::CapacityPage>),
    Comparison(Box<model::ComparisonPage>),
}

impl Page {
    /// Renders the page as one HTML file.
    pub fn html(&self, language: Language) -> String {
        match self {
            Self::Run(page) => run(page, language),
            Self::Sweep(page) => sweep(page, language),
            Self::Capacity(page) => capacity(page, language),
            Self::Comparison(page) => comparison(page, language),
        }
    }

    /// Renders the page as a Markdown summary.
    pub fn markdown(&self, language: Language) -> String {
        match self {
            Self::Run(page) => markdown::run(page, language),
            Self::Sweep(page) => markdown::sweep(page, language),
            Self::Capacity(page) => markdown::capacity(page, language),
            Self::Comparison(page) => markdown::comparison(page, language),
        }
    }

    /// Renders the summary in the format of k6. Returns `None` for pages other than runs.
    pub fn k6(&self) -> Option<String> {
        match self {
            Self::Run(page) => Some(k6::summary(page)),
            Self::Sweep(_) | Self::Capacity(_) | Self::Comparison(_) => None,
        }
    }

    pub fn tables(&self) -> Vec<tables::Table> {
        match self {
            Self::Run(page) => tables::run(page),
            Self::Sweep(page) => tables::sweep(page),
            Self::Capacity(page) => tables::capacity(page),
            Self::Comparison(page) => tables::comparison(page),
        }
    }
}

/// Renders the comparison of two sides as one HTML file.
pub fn comparison(page: &model::ComparisonPage, language: Language) -> String {
    let mut heading = html::Html::new();
    first::comparison::heading(&mut heading, page);
    let title = first::comparison::title(page);
    file::page(&title, &heading, &first::comparison::screen(page), page, language)
}

/// Renders a sweep as one HTML file.
pub fn sweep(page: &model::SweepPage, language: Language) -> String {
    let mut heading = html::Html::new();
    first::sweep::heading(&mut heading, page);
    file::page(&page.about.run, &heading, &first::sweep::screen(page), page, language)
}

/// Renders a search for capacity as one HTML file.
pub fn capacity(page: &model::CapacityPage, language: Language) -> String {
    let mut heading = html::Html::new();
    first::capacity::heading(&mut heading, page);
    file::page(&page.about.run, &heading, &first::capacity::screen(page), page, language)
}

/// Renders the report of a run as one HTML file.
pub fn run(page: &model::RunPage, language: Language) -> String {
    let mut heading = html::Html::new();
    first::heading(&mut heading, &page.about);
    file::page(&page.about.title, &heading, &first::run(page), page, language)
}
