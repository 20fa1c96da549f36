//! Throng against JMeter 5.6.3, case by case: every request as the target saw it and every row of the results.
//!
//! JMeter's side is recorded in `tests/parity/cases/*/golden`, so nothing here needs Java; `tests/parity/record`
//! records it anew. `tests/parity/README.md` says what a case holds and what is masked.

#[path = "../../../tests/parity/case.rs"]
mod case;
#[path = "../../../tests/parity/diff.rs"]
mod diff;
#[path = "../../../tests/parity/normal.rs"]
mod normal;
#[path = "../../../tests/parity/server.rs"]
mod server;

/// One test per folder; `every_folder_is_listed` keeps the list complete.
macro_rules! cases {
    ($($name:ident)*) => {
        const LISTED: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { case::check(stringify!($name)); })*
    };
}

cases! {
    http_content_type
    http_defaults_merge
    http_full_url
    http_get
    http_headers_merge
    http_headers_special
    http_keepalive
    http_methods
    http_params_get
    http_params_post
    http_path_chars
    http_raw_body
    http_unnamed_body
    http_url_errors
}

#[test]
fn every_folder_is_listed() {
    let mut folders: Vec<String> = std::fs::read_dir(case::folder())
        .expect("the cases")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    folders.sort();
    let mut listed = LISTED.to_vec();
    listed.sort_unstable();
    assert_eq!(folders, listed);
}
