//! Transport of messages to Java and of replies back: in this process, or to a child process.

use std::time::Duration;

/// Function that sends a message to Java and returns the reply. The function works only on the thread that runs
/// [`Carrier::serve`].
pub(crate) type Carry<'a> = dyn FnMut(&[u8]) -> Result<Vec<u8>, String> + 'a;

/// Carries messages between worker threads and Java.
pub(crate) trait Carrier: Send + Sync + std::fmt::Debug {
    /// Lets this thread carry messages while `work` runs. In Java, the thread is called `name`. `work` gets the
    /// operating system's ID of the thread that runs Java, and the function that carries a message.
    fn serve(&self, name: &str, work: &mut dyn FnMut(i32, &mut Carry<'_>)) -> Result<(), String>;

    /// Returns the reason why Java's own process has ended; `None` if there is no such process or it still runs.
    fn ended(&self) -> Option<String> {
        None
    }

    /// Waits up to `patience` for Java to end, and then ends this process with Java's exit code, or with `least` if the
    /// code is 0.
    fn exit(&self, patience: Duration, least: u8);
}
