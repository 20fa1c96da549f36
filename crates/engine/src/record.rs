//! From a result to rows: one row per result, then its sub-results, as JMeter writes them.

use plan::plan::ListenerId;
use plan::result::SampleResult;
use stats::jtl::Row;

use crate::core::Core;
use crate::rows::Rows;
use crate::wheel::Index;

/// Sub-results deeper than this are not written.
const DEPTH: u32 = 10;
/// Columns of `sample_variables` that a row can hold.
const VARIABLES: usize = 64;

impl Core<'_> {
    /// Writes the core's result to the result files of all samples and to those of `listeners`.
    /// `named`: with the user's name; JMeter leaves it out where a transaction saw no sample.
    pub(crate) fn write_rows(&mut self, index: Index, listeners: &[ListenerId], named: bool) {
        if self.rows.is_idle() {
            return;
        }
        let mut thread_name = self.texts.take();
        let user = &self.users[index];
        let group = &self.run.groups[user.group as usize];
        if named {
            thread_name.push_str(&group.name);
            push_number(&mut thread_name, ' ', group.number);
            push_number(&mut thread_name, '-', user.number + 1);
        }
        let mut values = [None; VARIABLES];
        let count = self.rows.variables.len().min(VARIABLES);
        for (value, name) in values.iter_mut().zip(self.rows.variables.iter()) {
            *value = user.vars.get_named(&self.plan.names, name);
        }
        let about = About {
            thread_name: &thread_name,
            active: if named { self.run.counts.active(user.group) } else { (0, 0) },
            variables: &values[..count],
            hostname: &self.run.hostname,
            encoding: &self.run.settings.default_encoding,
        };
        let rows = &mut self.rows;
        let mut sinks = [0usize; 16];
        let mut used = 0;
        for sink in rows.sinks_for(listeners) {
            // Listeners that share a file write a sample once.
            let file = rows.file(sink);
            if used < sinks.len() && !sinks[..used].iter().any(|other| rows.file(*other) == file) {
                sinks[used] = sink;
                used += 1;
            }
        }
        for sink in &sinks[..used] {
            if rows.takes(*sink, self.result.success) {
                write(rows, *sink, &self.result, &about, 0);
            }
        }
        self.texts.give(thread_name);
    }
}

/// What a row says beyond its result.
struct About<'a> {
    thread_name: &'a str,
    /// Active users of the group, and of all.
    active: (u32, u32),
    variables: &'a [Option<&'a str>],
    hostname: &'a str,
    /// The encoding of results that name none.
    encoding: &'a str,
}

fn write(rows: &mut Rows, sink: usize, result: &SampleResult, about: &About<'_>, depth: u32) {
    let ms = |nanos| stats::sample::millis(nanos);
    let active = if result.deep { (0, 0) } else { about.active };
    let row = Row {
        timestamp_ms: result.start_ms,
        elapsed_ms: ms(result.elapsed),
        label: &result.label,
        code: &result.code,
        message: &result.message,
        thread_name: if result.deep && result.raw { "" } else { about.thread_name },
        data_type: result.data_type,
        success: result.success,
        failure_message: result.failure_message(),
        bytes: result.bytes,
        sent_bytes: result.sent,
        grp_threads: active.0,
        all_threads: active.1,
        url: (!result.url.is_empty()).then_some(&*result.url),
        filename: "",
        latency_ms: ms(result.latency),
        encoding: if result.encoding.is_empty() { about.encoding } else { &result.encoding },
        sample_count: result.count,
        error_count: if result.count > 1 { result.errors } else { u32::from(!result.success) },
        hostname: about.hostname,
        idle_ms: ms(result.idle),
        connect_ms: ms(result.connect),
        variables: about.variables,
    };
    rows.write(sink, &row);
    if depth < DEPTH && rows.with_subresults(sink) {
        for sub in result.subs() {
            write(rows, sink, sub, about, depth + 1);
        }
    }
}

fn push_number(text: &mut String, before: char, number: u32) {
    text.push(before);
    text.push_str(itoa::Buffer::new().format(number));
}
