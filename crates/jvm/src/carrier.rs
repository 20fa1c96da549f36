//! The way of a message to Java and of its reply back: in this process, or to a child process.

/// Carries a message, on the thread that got it from [`Carrier::serve`].
pub(crate) type Carry<'a> = dyn FnMut(&[u8]) -> Result<Vec<u8>, String> + 'a;

/// Who carries messages for worker threads.
pub(crate) trait Carrier: Send + Sync + std::fmt::Debug {
    /// Lets this thread carry messages for as long as `work` goes on; in Java, it has that name.
    fn serve(&self, name: &str, work: &mut dyn FnMut(&mut Carry<'_>)) -> Result<(), String>;
}
