//! Output of results to listeners. A CSV file gets a row for the result and for each sub-result; an XML file gets
//! one element that contains them, as JMeter writes it. The core renders both into the chunk of each file. Backend
//! Listeners get the values that their statistics need.

use std::sync::Arc;

use plan::plan::{BackendKind, ListenerId, ListenerKind};
use plan::result::SampleResult;
use stats::backend::{self, Taken};
use stats::jtl::{Columns, Detail, Finding, Http, Printer, Row};

use crate::ids::UserId;
use crate::sample::reporting::Reporting;

/// Maximum depth of written sub-results.
const DEPTH: u32 = 10;
/// Maximum number of `sample_variables` columns in a row.
const VARIABLES: usize = 64;

impl Reporting<'_, '_> {
    /// Returns true if results are written, saved or sent anywhere.
    pub(crate) fn reports_results(&self) -> bool {
        self.sinks.reports_results()
    }

    /// Passes a result to `listeners`, in JMeter's order. `named` is true if the thread name is included; JMeter omits
    /// the name for a transaction without samples.
    pub(crate) fn write_rows(
        &mut self,
        index: UserId,
        listeners: &[ListenerId],
        part: Part,
        named: bool,
        result: &mut SampleResult,
    ) {
        if !self.reports_results() {
            return;
        }
        let mut thread_name = self.cx.texts.take();
        let active = if named { self.write_thread_name(index, &mut thread_name) } else { (0, 0) };
        let mut written = Written::default();
        let (from, to) = match part {
            Part::From(from) => (from, listeners.len()),
            Part::Between(from, to) => (from, to),
            Part::Listeners => (0, listeners.len()),
        };
        for (at, id) in listeners.iter().enumerate().take(to) {
            match &self.cx.plan.listeners[id.0 as usize].kind {
                ListenerKind::File(_) if at < from => {
                    // This listener has received the sample, so its file is marked as written.
                    if let Some(sink) = self.sinks.rows.of(*id)
                        && self.sinks.rows.takes(sink, result.success)
                    {
                        written.add(self.sinks.rows.file(sink));
                    }
                }
                _ if at < from => {}
                ListenerKind::File(_) => {
                    if let Some(sink) = self.sinks.rows.of(*id) {
                        self.write_to(index, sink, &mut written, &thread_name, active, result);
                    }
                }
                ListenerKind::Saver(saver) => self.save_response(index, *id, saver, result),
                ListenerKind::JavaBacked(_) => {}
                ListenerKind::Backend(_) => self.feed(*id, &thread_name, active.1, result),
            }
        }
        let roots = if matches!(part, Part::From(_)) { self.sinks.rows.roots().len() } else { 0 };
        for at in 0..roots {
            let sink = self.sinks.rows.roots()[at];
            self.write_to(index, sink, &mut written, &thread_name, active, result);
        }
        self.cx.texts.give(thread_name);
    }

    /// Writes the JMeter thread name of a user. Returns the number of active users in its group and in the run.
    pub(crate) fn write_thread_name(&self, index: UserId, out: &mut String) -> (u32, u32) {
        self.cx.write_thread_name(index, out)
    }

    fn write_to(
        &mut self,
        index: UserId,
        sink: usize,
        written: &mut Written,
        thread_name: &str,
        active: (u32, u32),
        result: &SampleResult,
    ) {
        let file = self.sinks.rows.file(sink);
        if !self.sinks.rows.takes(sink, result.success) || !written.add(file) {
            return;
        }
        let names = Arc::clone(&self.sinks.rows.variables);
        let mut values = [None; VARIABLES];
        let count = names.len().min(VARIABLES);
        let root = self.cx.users.root(index);
        for (value, name) in values.iter_mut().zip(names.iter()) {
            *value = self.cx.users[root].vars.get_named(&self.cx.plan.names, name);
        }
        let about = About {
            thread_name,
            active,
            variables: &values[..count],
            names: &names,
            hostname: &self.cx.run.hostname,
            stamp_end: self.cx.run.settings.results.stamp_end,
            encoding: &self.cx.run.settings.bodies.default_encoding,
        };
        let columns = self.sinks.rows.columns(sink);
        self.sinks.rows.add(sink, |out| {
            if columns.xml {
                let mut printer = Printer::new(out);
                write_element(&mut printer, &columns, result, &about, 0);
                printer.end_line();
            } else {
                write_rows(out, &columns, result, &about, 0);
            }
        });
    }

    /// Passes a result to a Backend Listener.
    fn feed(&mut self, id: ListenerId, thread_name: &str, active: u32, result: &SampleResult) {
        let feed = self.sinks.feeds.iter_mut().find(|feed| feed.0 == id);
        let Some((_, feed)) = feed else { return };
        let ms = |nanos| stats::sample::millis(nanos);
        if feed.kind == BackendKind::InfluxRaw {
            let times = [ms(result.elapsed), ms(result.latency), ms(result.connect)];
            let [elapsed, latency, connect] = times.map(|ms| ms as i64);
            let start = stamp(result, self.cx.run.settings.results.stamp_end);
            let times = [start, elapsed, latency, connect];
            let failed = !result.success;
            return feed.add_line(|measurement, out| {
                backend::raw_line(measurement, &result.label, thread_name, failed, times, out);
            });
        }
        let error = (!result.success).then(|| match result.failure_message() {
            Some(message) if !message.is_empty() => {
                Box::new(("Assertion failed".to_owned(), message.to_owned()))
            }
            _ => Box::new((result.code.clone(), result.message.clone())),
        });
        let taken = Taken {
            elapsed_ms: ms(result.elapsed),
            success: result.success,
            count: result.count,
            errors: errors(result),
            sent: result.sent,
            received: result.bytes,
            hits: hits(result),
            of_parts: is_transaction(result) && result.sub_count == 0,
            active,
            error,
        };
        feed.add(&result.label, taken);
    }
}

/// The selection of listeners that receive a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Listeners from this index on, then the result files of all samples. The file of the command line comes last.
    From(usize),
    /// Listeners from the first index up to, but not including, the second.
    Between(usize, usize),
    /// All listeners, but not the result files of all samples.
    Listeners,
}

/// Files that have received the sample. If listeners share a file, it receives the sample once.
#[derive(Default)]
struct Written {
    files: [usize; 16],
    count: usize,
}

impl Written {
    /// Adds a file. Returns true if the file has not received the sample yet.
    fn add(&mut self, file: usize) -> bool {
        if self.count >= self.files.len() || self.files[..self.count].contains(&file) {
            return false;
        }
        self.files[self.count] = file;
        self.count += 1;
        true
    }
}

fn is_transaction(result: &SampleResult) -> bool {
    result.message.starts_with(plan::element::TRANSACTION)
}

/// Returns the number of requests in a result as JMeter counts them: the requests of its sub-results, plus 1 for the
/// result itself unless it is only a container of the sub-results.
fn hits(result: &SampleResult) -> u32 {
    let own = if is_transaction(result) && result.sub_count > 0 { 0 } else { result.count };
    own + result.subs().iter().map(hits).sum::<u32>()
}

fn errors(result: &SampleResult) -> u32 {
    if result.count > 1 { result.errors } else { u32::from(!result.success) }
}

/// Data that a row contains in addition to its result.
struct About<'a> {
    thread_name: &'a str,
    /// Number of active users of the group, and of the whole run.
    active: (u32, u32),
    variables: &'a [Option<&'a str>],
    /// Names of the `sample_variables`.
    names: &'a [String],
    hostname: &'a str,
    /// True if time stamps are end times.
    stamp_end: bool,
    /// Encoding for results that declare no encoding.
    encoding: &'a str,
}

/// Returns the time stamp of a result, in milliseconds.
fn stamp(result: &SampleResult, at_end: bool) -> i64 {
    let length = stats::sample::signed_millis(result.idle.saturating_add_unsigned(result.elapsed));
    result.start_ms + if at_end { length } else { 0 }
}

fn row<'a>(result: &'a SampleResult, about: &About<'a>) -> Row<'a> {
    let ms = |nanos| stats::sample::millis(nanos);
    let (thread_name, active) = result.thread_of(about.thread_name, about.active);
    Row {
        timestamp_ms: stamp(result, about.stamp_end),
        elapsed_ms: ms(result.elapsed),
        label: &result.label,
        code: &result.code,
        message: &result.message,
        thread_name,
        data_type: result.data_type,
        success: result.success,
        failure_message: result.failure_message(),
        bytes: result.bytes,
        sent_bytes: result.sent,
        grp_threads: active.0,
        all_threads: active.1,
        url: (!result.url.is_empty()).then_some(&*result.url),
        filename: &result.file_name,
        latency_ms: ms(result.latency),
        encoding: if result.encoding.is_empty() { about.encoding } else { &result.encoding },
        sample_count: result.count,
        error_count: errors(result),
        hostname: about.hostname,
        idle_ms: stats::sample::signed_millis(result.idle),
        connect_ms: ms(result.connect),
        variables: about.variables,
    }
}

fn write_rows(
    out: &mut Vec<u8>,
    columns: &Columns,
    result: &SampleResult,
    about: &About<'_>,
    depth: u32,
) {
    columns.row(&row(result, about), out);
    if depth < DEPTH && columns.subresults {
        for sub in result.subs() {
            write_rows(out, columns, sub, about, depth + 1);
        }
    }
}

fn write_element(
    printer: &mut Printer<'_>,
    columns: &Columns,
    result: &SampleResult,
    about: &About<'_>,
    depth: u32,
) {
    let row = row(result, about);
    let data = &*result.sampler_data;
    let http = Http {
        cookies: &result.cookies,
        method: (!result.method.is_empty()).then_some(&*result.method),
        query_string: &result.query_string,
        redirect_location: result.has_location.then_some(&*result.redirect_location),
    };
    let detail = Detail {
        http: result.http.then_some(http),
        own_encoding: &result.encoding,
        response_headers: &result.response_headers,
        request_headers: &result.request_headers,
        response: &result.text,
        sampler_data: (result.tells_sampler_data || !data.is_empty()).then_some(data),
    };
    columns.begin(printer, &row, &detail, about.names);
    if columns.assertions {
        for entry in result.assertions() {
            let message = entry.has_message.then_some(&*entry.message);
            let (failure, error) = (entry.failure, entry.error);
            columns.finding(printer, &Finding { name: &entry.name, failure, error, message });
        }
    }
    if depth < DEPTH && columns.subresults {
        for sub in result.subs() {
            write_element(printer, columns, sub, about, depth + 1);
        }
    }
    columns.finish(printer, &row, &detail);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stamps_are_those_of_the_start_or_of_the_end() {
        let result = SampleResult {
            start_ms: 1000,
            elapsed: 20_000_000,
            idle: 3_000_000,
            ..SampleResult::default()
        };
        assert_eq!([false, true].map(|at_end| stamp(&result, at_end)), [1000, 1023]);
    }

    #[test]
    fn files_of_a_sample_are_written_once() {
        let mut written = Written::default();
        assert_eq!([3, 4, 3, 4].map(|file| written.add(file)), [true, true, false, false]);
    }
}
