//! Metrics that a file names once at its beginning and then identifies by position: metrics of the generator,
//! metrics of its machine, and counters. A program ignores metrics that it does not know.
//!
//! Fractions, loads and seconds are written as whole millionths.

use stats::machine::Machine;
use stats::{Counter, Counters};

use super::bytes::{In, Out};
use crate::second::Generator;

/// A numeric type of a metric, with its conversion to a whole number.
trait Figure {
    fn to_whole(&self) -> u64;
    fn of_whole(whole: u64) -> Self;
}

impl Figure for u64 {
    fn to_whole(&self) -> u64 {
        *self
    }

    fn of_whole(whole: u64) -> Self {
        whole
    }
}

impl Figure for u32 {
    fn to_whole(&self) -> u64 {
        u64::from(*self)
    }

    fn of_whole(whole: u64) -> Self {
        u32::try_from(whole).unwrap_or(u32::MAX)
    }
}

impl Figure for f64 {
    fn to_whole(&self) -> u64 {
        (self * 1e6).round() as u64
    }

    fn of_whole(whole: u64) -> Self {
        whole as f64 / 1e6
    }
}

/// `None` is written as 0, and a value as the value plus one.
impl Figure for Option<u64> {
    fn to_whole(&self) -> u64 {
        self.map_or(0, |n| n.saturating_add(1))
    }

    fn of_whole(whole: u64) -> Self {
        whole.checked_sub(1)
    }
}

macro_rules! figures {
    ($names:ident, $get:ident, $set:ident, $of:ty { $($name:literal = $($field:ident).+,)* }) => {
        const $names: &[&str] = &[$($name,)*];

        fn $get(of: &$of) -> Vec<u64> {
            vec![$(Figure::to_whole(&of.$($field).+),)*]
        }

        fn $set(to: &mut $of, name: &str, whole: u64) {
            match name {
                $($name => to.$($field).+ = Figure::of_whole(whole),)*
                _ => {}
            }
        }
    };
}

figures!(GENERATOR, of_generator, set_generator, Generator {
    "cpu_s" = cpu_s,
    "memory" = memory,
    "threads" = threads,
    "workers" = workers,
    "run_queue_s" = run_queue_s,
    "stolen" = stolen,
    "stall_ns" = stall,
    "connect_retries" = connect_retries,
    "ports_left" = ports_left,
    "time_wait" = time_wait,
    "rows_waiting" = rows_waiting,
    "write_s" = write_s,
    "collection_s" = collection_s,
    "collections" = collections,
    "quota" = quota,
    "quota_periods" = quota_periods,
    "quota_stopped" = quota_stopped,
});

figures!(MACHINE, of_machine, set_machine, Machine {
    "sockets_in_use" = sockets.in_use,
    "sockets_established" = sockets.established,
    "sockets_time_wait" = sockets.time_wait,
    "sockets_orphans" = sockets.orphans,
    "sockets_allocated" = sockets.allocated,
    "sockets_memory" = sockets.memory,
    "local_ports" = local_ports,
    "segments_out" = segments_out,
    "retransmitted" = retransmitted,
    "syn_retransmitted" = syn_retransmitted,
    "zero_windows_offered" = zero_windows_offered,
    "zero_windows_wanted" = zero_windows_wanted,
    "zero_windows_left" = zero_windows_left,
    "listen_overflows" = listen_overflows,
    "listen_drops" = listen_drops,
    "aborted_memory" = aborted_memory,
    "aborted_timeout" = aborted_timeout,
    "aborted_unread" = aborted_unread,
    "memory_pressures" = memory_pressures,
    "time_wait_overflows" = time_wait_overflows,
    "resets_sent" = resets_sent,
    "load" = load,
    "processors" = processors,
    "cpu" = cpu,
    "stolen" = stolen,
    "memory_total" = memory_total,
    "memory_available" = memory_available,
});

/// The names of the metrics of a file, in the order of their positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    counters: Vec<String>,
    generator: Vec<String>,
    machine: Vec<String>,
}

/// Names of the two heap metrics, used and maximum. A file has both or neither.
const HEAP: [&str; 2] = ["heap_used", "heap_most"];

impl Columns {
    /// Returns the names of all metrics that this program supports.
    pub(crate) fn known() -> Self {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            counters: Counter::ALL.iter().map(|counter| counter.name().to_owned()).collect(),
            generator: owned(&[GENERATOR, &HEAP].concat()),
            machine: owned(MACHINE),
        }
    }

    pub(crate) fn write(&self, out: &mut Out) {
        for names in [&self.counters, &self.generator, &self.machine] {
            out.list(names, |out, name| out.text(name));
        }
    }

    pub(crate) fn read(from: &mut In<'_>) -> Self {
        let mut names = || from.list(In::text);
        Self { counters: names(), generator: names(), machine: names() }
    }

    pub(crate) fn write_counters(counters: &Counters, out: &mut Out) {
        let values: Vec<u64> = Counter::ALL.iter().map(|counter| counters.get(*counter)).collect();
        write(&values, out);
    }

    pub(crate) fn read_counters(&self, from: &mut In<'_>) -> Counters {
        let mut counters = Counters::default();
        read(&self.counters, from, |name, value| {
            if let Some(counter) = Counter::ALL.iter().find(|counter| counter.name() == name) {
                counters.add(*counter, value);
            }
        });
        counters
    }

    pub(crate) fn write_generator(generator: &Generator, out: &mut Out) {
        let mut values = of_generator(generator);
        let heap = generator.heap.map(|(used, most)| [used, most]);
        values.extend(heap.map_or([0; 2], |heap| heap.map(|n| n.saturating_add(1))));
        write(&values, out);
    }

    pub(crate) fn read_generator(&self, from: &mut In<'_>) -> Generator {
        let mut generator = Generator::default();
        let mut heap = [None; 2];
        read(&self.generator, from, |name, value| {
            match HEAP.iter().position(|part| *part == name) {
                Some(at) => heap[at] = value.checked_sub(1),
                None => set_generator(&mut generator, name, value),
            }
        });
        if let [Some(used), Some(most)] = heap {
            generator.heap = Some((used, most));
        }
        generator
    }

    pub(crate) fn write_machine(machine: &Machine, out: &mut Out) {
        write(&of_machine(machine), out);
    }

    pub(crate) fn read_machine(&self, from: &mut In<'_>) -> Machine {
        let mut machine = Machine::default();
        machine.sockets.states_from = "sums";
        read(&self.machine, from, |name, value| set_machine(&mut machine, name, value));
        machine
    }
}

/// Writes the values that are not 0, each after the distance of its position from the previous one.
fn write(values: &[u64], out: &mut Out) {
    let there = || values.iter().enumerate().filter(|value| *value.1 != 0);
    out.number(there().count() as u64);
    let mut before = 0;
    for (at, value) in there() {
        out.number((at - before) as u64);
        out.number(*value);
        before = at;
    }
}

fn read(names: &[String], from: &mut In<'_>, mut each: impl FnMut(&str, u64)) {
    let mut at = 0usize;
    let values = from.list(|from| (from.number() as usize, from.number()));
    for (distance, value) in values {
        at = at.saturating_add(distance);
        if let Some(name) = names.get(at) {
            each(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back<T>(names: &Columns, out: &Out, read: fn(&Columns, &mut In<'_>) -> T) -> T {
        let mut from = In::new(&out.0);
        let value = read(names, &mut from);
        assert!(from.is_empty() && !from.is_odd());
        value
    }

    #[test]
    fn figures_come_as_they_went() {
        let names = Columns::known();
        let generator = Generator {
            cpu_s: 1.25,
            threads: 3,
            ports_left: Some(0),
            heap: Some((5, 0)),
            stall: u64::MAX,
            ..Generator::default()
        };
        let mut out = Out::default();
        Columns::write_generator(&generator, &mut out);
        assert_eq!(read_back(&names, &out, Columns::read_generator), generator);
        let mut machine = Machine { load: 0.5, processors: 2, ..Machine::default() };
        (machine.sockets.states_from, machine.sockets.established) = ("sums", 7);
        let mut out = Out::default();
        Columns::write_machine(&machine, &mut out);
        assert_eq!(read_back(&names, &out, Columns::read_machine), machine);
        let mut counters = Counters::default();
        counters.add(Counter::ALL[Counter::ALL.len() - 1], 5);
        counters.add(Counter::ConnOpened, 1);
        let mut out = Out::default();
        Columns::write_counters(&counters, &mut out);
        assert_eq!(read_back(&names, &out, Columns::read_counters), counters);
    }

    #[test]
    fn figures_of_another_program_are_passed_over() {
        let names = Columns {
            counters: ["of_tomorrow", "conn_opened"].map(str::to_owned).into(),
            ..Columns::default()
        };
        let mut out = Out::default();
        write(&[9, 4, 3], &mut out);
        let counters = read_back(&names, &out, Columns::read_counters);
        assert_eq!(counters.get(Counter::ConnOpened), 4);
    }
}
