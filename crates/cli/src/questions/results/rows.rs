//! The record of a result file, as far as its rows allow: a sample counts in the second in which it ended.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use record::{Has, Label, Part, Record, Second};
use stats::hist::{Bins, layout};
use stats::jtl::Columns;
use stats::jtl::read::Table;

/// The beginning of a transaction's message.
const TRANSACTION: &str = "Number of samples in transaction";

/// A part that is being counted, with its times.
#[derive(Default)]
struct Counting {
    part: Part,
    times: BTreeMap<u32, u64>,
}

impl Counting {
    fn add(&mut self, elapsed_ms: u64, failed: bool, sent: u64, received: u64) {
        let part = &mut self.part;
        part.count += 1;
        part.errors += u64::from(failed);
        part.sent += sent;
        part.received += received;
        part.elapsed += elapsed_ms * 1_000_000;
        part.longest = part.longest.max(elapsed_ms * 1_000_000);
        *self.times.entry(layout::index_of(elapsed_ms * 1000)).or_default() += 1;
    }

    fn done(self) -> Part {
        let bins = Bins::try_from(self.times.into_iter().collect::<Vec<_>>()).unwrap_or_default();
        Part { response: bins.clone(), service: bins, ..self.part }
    }
}

#[derive(Default)]
struct Counted {
    all: Counting,
    labels: BTreeMap<u32, Counting>,
    users: u64,
}

/// Reads a file. The error is a sentence for the user.
pub(super) fn read(path: &Path) -> Result<Record, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("cannot read {}: {error}", path.display());
    let file = File::open(path).map_err(|error| wrong(&error))?;
    let table = Table::read(file, &Columns::default()).map_err(|error| wrong(&error))?;
    let (Some(start), Some(elapsed), Some(label)) =
        (table.column("timeStamp"), table.column("elapsed"), table.column("label"))
    else {
        return Err(wrong(&"it has no columns timeStamp, elapsed and label"));
    };
    let [success, message, received, sent, users] =
        ["success", "responseMessage", "bytes", "sentBytes", "allThreads"]
            .map(|name| table.column(name));
    let (mut labels, mut numbers) = (Vec::new(), HashMap::new());
    let mut seconds: BTreeMap<i64, Counted> = BTreeMap::new();
    let (mut first, mut unread) = (i64::MAX, 0);
    for row in &table.rows {
        let field = |at: Option<usize>| at.and_then(|at| row.get(at)).map_or("", String::as_str);
        let whole = |at: Option<usize>| field(at).parse::<u64>().unwrap_or(0);
        let (Ok(begun), Ok(ms)) = (row[start].parse::<i64>(), row[elapsed].parse::<u64>()) else {
            unread += 1;
            continue;
        };
        first = first.min(begun);
        let transaction = field(message).starts_with(TRANSACTION);
        let number = *numbers.entry((row[label].clone(), transaction)).or_insert_with(|| {
            labels.push(Label { name: Arc::from(&*row[label]), transaction, folded: 0 });
            labels.len() as u32 - 1
        });
        let end = begun + ms as i64;
        let second = seconds.entry(end.div_euclid(1000)).or_default();
        second.users = second.users.max(whole(users));
        let failed = success.is_some() && field(success) != "true";
        let add = |counting: &mut Counting| counting.add(ms, failed, whole(sent), whole(received));
        add(second.labels.entry(number).or_default());
        if !transaction {
            add(&mut second.all);
        }
    }
    if seconds.is_empty() {
        let why = if unread > 0 { "no row has a time in milliseconds" } else { "it has no rows" };
        return Err(wrong(&why));
    }
    let mut record = Record { labels, seconds: in_order(seconds), ..Record::default() };
    record.has = Has { users: users.is_some(), ..Has::default() };
    record.frame.start_ms = first;
    record.frame.length_ms = record.seconds.last().map_or(0, |last| last.at_ms - first);
    record.frame.load.users = record.seconds.iter().map(|second| second.users).max().unwrap_or(0);
    Ok(record)
}

/// Seconds without gaps. The first and the last are pieces, which is not known of the others.
fn in_order(mut counted: BTreeMap<i64, Counted>) -> Vec<Second> {
    let (Some(first), Some(last)) =
        (counted.keys().next().copied(), counted.keys().next_back().copied())
    else {
        return Vec::new();
    };
    let mut users = 0;
    // A file whose times are far apart is not one of a run.
    (first..=last.min(first + 7 * 86_400))
        .map(|at| {
            let of = counted.remove(&at).unwrap_or_default();
            if of.users > 0 {
                users = of.users;
            }
            Second {
                at_ms: (at + 1) * 1000,
                ms: 1000,
                users,
                all: of.all.done(),
                labels: of
                    .labels
                    .into_iter()
                    .map(|(number, counting)| (number, counting.done()))
                    .collect(),
                ..Second::default()
            }
        })
        .collect()
}
