//! Messages as bytes: four bytes of length, least significant first, then the message in postcard format.
//!
//! Reading copies only the rest of an unfinished frame. A length above [`LONGEST`] is an error: the sender does not
//! speak this protocol.

use postcard::ser_flavors::Flavor;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum length of a message in bytes. A plan of hundreds of MiB is a mistake.
const LONGEST: usize = 256 << 20;

/// Output of the serializer that appends to a vector, and copies contiguous bytes in one piece.
struct Appending(Vec<u8>);

impl Flavor for Appending {
    type Output = Vec<u8>;

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}

/// Appends a message as a frame.
pub(crate) fn push(out: &mut Vec<u8>, message: &impl Serialize) -> Result<(), String> {
    let start = out.len();
    out.extend([0; 4]);
    // Moving the buffer in and out avoids a copy.
    match postcard::serialize_with_flavor(message, Appending(std::mem::take(out))) {
        Ok(filled) => *out = filled,
        Err(error) => return Err(format!("cannot encode a message: {error}")),
    }
    let length = out.len() - start - 4;
    if length > LONGEST {
        out.truncate(start);
        return Err(format!("a message of {length} bytes exceeds the limit of {LONGEST} bytes"));
    }
    out[start..start + 4].copy_from_slice(&(length as u32).to_le_bytes());
    Ok(())
}

/// Received bytes from which complete messages are taken.
#[derive(Debug)]
pub(crate) struct Incoming {
    bytes: Vec<u8>,
    at: usize,
    /// Maximum length of an accepted message in bytes.
    most: usize,
}

impl Default for Incoming {
    fn default() -> Self {
        Self::of_at_most(LONGEST)
    }
}

impl Incoming {
    /// Creates a reader that accepts messages of at most `most` bytes.
    pub(crate) fn of_at_most(most: usize) -> Self {
        Self { bytes: Vec::new(), at: 0, most }
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        if self.at > 0 {
            self.bytes.drain(..self.at);
            self.at = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Removes and returns the next complete message; `None` if more bytes are needed.
    pub(crate) fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, String> {
        let rest = &self.bytes[self.at..];
        let Some((length, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > self.most {
            return Err(format!(
                "received a message length of {length} bytes; the limit is {} bytes",
                self.most
            ));
        }
        let Some(message) = rest.get(..length) else { return Ok(None) };
        let message = postcard::from_bytes(message)
            .map_err(|error| format!("cannot decode a message: {error}"));
        self.at += 4 + length;
        if self.at == self.bytes.len() {
            // The buffer is empty: release the memory of large messages.
            self.at = 0;
            self.bytes.clear();
            self.bytes.shrink_to(64 << 10);
        }
        message.map(Some)
    }
}

/// Forwards only complete frames of a stream, and keeps the bytes of an incomplete frame. So the stream can break at
/// any byte, and its reader can continue with the frames of another stream.
#[derive(Debug, Default)]
pub(crate) struct Whole {
    rest: Vec<u8>,
}

impl Whole {
    /// Adds received bytes, and returns all frames that are now complete. Bytes after an invalid length are forwarded,
    /// so that the reader rejects them.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.rest.extend_from_slice(bytes);
        let mut at = 0;
        while let Some((length, rest)) = self.rest[at..].split_first_chunk::<4>() {
            let length = u32::from_le_bytes(*length) as usize;
            if length > LONGEST {
                at = self.rest.len();
            } else if rest.len() < length {
                break;
            } else {
                at += 4 + length;
            }
        }
        let rest = self.rest.split_off(at);
        std::mem::replace(&mut self.rest, rest)
    }

    /// Drops the incomplete frame at the end of a stream.
    pub(crate) fn clear(&mut self) {
        self.rest = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{FromWorker, Report, ToWorker};
    use stats::{Counter, Recorder, Sample};

    #[test]
    fn messages_survive_every_split() {
        let mut bytes = Vec::new();
        push(&mut bytes, &ToWorker::Start { groups: vec![0, 3], at: -5, properties: vec![] })
            .unwrap();
        push(&mut bytes, &ToWorker::End).unwrap();
        for split in 0..bytes.len() {
            let mut incoming = Incoming::default();
            let mut got = Vec::new();
            for part in [&bytes[..split], &bytes[split..]] {
                incoming.add(part);
                while let Some(message) = incoming.next::<ToWorker>().unwrap() {
                    got.push(format!("{message:?}"));
                }
            }
            assert_eq!(
                got,
                ["Start { groups: [0, 3], at: -5, properties: [] }", "End"],
                "split at {split}"
            );
        }
    }

    #[test]
    fn a_stream_that_ends_within_a_frame_leaves_nothing_of_it() {
        let mut bytes = Vec::new();
        push(&mut bytes, &ToWorker::End).unwrap();
        push(&mut bytes, &ToWorker::Stop { now: true }).unwrap();
        for split in 0..=bytes.len() {
            let mut whole = Whole::default();
            let mut out = whole.add(&bytes[..split]);
            assert!(out.is_empty() || bytes.starts_with(&out), "split at {split}");
            out.extend(whole.add(&bytes[split..]));
            assert_eq!(out, bytes, "split at {split}");
        }
        let mut whole = Whole::default();
        let first = whole.add(&bytes[..bytes.len() - 1]);
        whole.clear();
        assert_eq!([first, whole.add(&bytes)].concat().len(), bytes.len() + 5);
        assert_eq!(Whole::default().add(&[255; 9]).len(), 9, "what is no frame is passed on");
    }

    #[test]
    fn a_report_comes_back_as_it_was() {
        let mut recorder = Recorder::new();
        let label = recorder.intern("Home");
        recorder.record(&Sample { elapsed: 2_500_000, sent: 7, ..Sample::new(label, 1_000) });
        recorder.add(Counter::ConnOpened, 3);
        let mut report = Report { seq: 9, active: vec![1, 2], ..Report::default() };
        recorder.drain(&mut report.snapshot);
        let mut bytes = Vec::new();
        push(&mut bytes, &FromWorker::Report(Box::new(report))).unwrap();
        let mut incoming = Incoming::default();
        incoming.add(&bytes);
        let Some(FromWorker::Report(report)) = incoming.next().unwrap() else { panic!("a report") };
        assert_eq!((report.seq, report.active.as_slice()), (9, &[1, 2][..]));
        assert_eq!(report.snapshot.counters.get(Counter::ConnOpened), 3);
        let tally = report.snapshot.labels[0].tally;
        assert_eq!((&*report.snapshot.labels[0].name, tally.count, tally.sent), ("Home", 1, 7));
    }

    #[test]
    fn what_is_not_ours_is_an_error() {
        let mut incoming = Incoming::default();
        incoming.add(b"GET / HTTP/1.1\r\n");
        assert!(incoming.next::<ToWorker>().is_err());
        let mut incoming = Incoming::default();
        incoming.add(&[1, 0, 0, 0, 99]);
        assert!(incoming.next::<ToWorker>().unwrap_err().contains("decode"));
    }
}
