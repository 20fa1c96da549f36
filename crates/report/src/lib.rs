//! Reports of runs. Pure: from a record or rows of a result file to figures and pages; writes no file.
//!
//! | module | holds |
//! |---|---|
//! | `model` | the data of a page, as its script reads it |
//! | `captions` | sentences made from figures |
//! | `first` | the first screen, static: readable without script |
//! | `svg`, `html` | pictures; markup with everything from outside escaped |
//! | `file` | a page as one file |
//! | `live` | the page of a run that goes on |
//! | `jmeter` | the figures of JMeter's HTML dashboard, digit for digit |
pub mod captions;
pub mod file;
pub mod first;
pub mod html;
pub mod jmeter;
pub mod live;
pub mod model;
pub mod svg;

use answers::verdict::Language;

/// The comparison of two sides as one HTML file.
pub fn comparison(page: &model::ComparisonPage, language: Language) -> String {
    let mut heading = html::Html::new();
    first::comparison::heading(&mut heading, page);
    let title = first::comparison::title(page);
    file::page(&title, &heading, &first::comparison::screen(page), page, language)
}

/// A sweep as one HTML file.
pub fn sweep(page: &model::SweepPage, language: Language) -> String {
    let mut heading = html::Html::new();
    first::sweep::heading(&mut heading, page);
    file::page(&page.about.run, &heading, &first::sweep::screen(page), page, language)
}

/// A search for capacity as one HTML file.
pub fn capacity(page: &model::CapacityPage, language: Language) -> String {
    let mut heading = html::Html::new();
    first::capacity::heading(&mut heading, page);
    file::page(&page.about.run, &heading, &first::capacity::screen(page), page, language)
}

/// The report of a run as one HTML file.
pub fn run(page: &model::RunPage, language: Language) -> String {
    let mut heading = html::Html::new();
    first::heading(&mut heading, &page.about);
    file::page(&page.about.title, &heading, &first::run(page), page, language)
}
