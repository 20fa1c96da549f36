//! Transport of messages to Java and of replies back: in this process, or to a child process.

use std::time::Duration;

/// Carries a message, on the thread that got it from [`Carrier::serve`].
pub(crate) type Carry<'a> = dyn FnMut(&[u8]) -> Result<Vec<u8>, String> + 'a;

/// Carries messages between worker threads and Java.
pub(crate) trait Carrier: Send + Sync + std::fmt::Debug {
    /// Lets this thread carry messages for as long as `work` goes on. In Java it has that name; `work` gets the number that the thread which runs Java has in
    /// the system.
    fn serve(&self, name: &str, work: &mut dyn FnMut(i32, &mut Carry<'_>)) -> Result<(), String>;

    /// The reason why Java's own process has ended, if there is one and it has.
    fn ended(&self) -> Option<String> {
        None
    }

    /// Java ends, and this process with it, by the same exit code, or by `least` in place of 0; it may take its time.
    fn exit(&self, patience: Duration, least: u8);
}
