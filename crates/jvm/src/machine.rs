//! The JVM in this process: loads its library at the start, and carries bytes to the bridge and back.
//!
//! A process has at most one JVM, which stays until the process ends. A failure in Java is returned as an error
//! message. Only a crash of the JVM itself ends the process; its report is then in the run's folder for traces.

use std::time::Duration;

use jni::errors::{Error, JniError};
use jni::refs::LoaderContext;
use jni::strings::JNIString;
use jni::vm::{AttachConfig, InitArgsBuilder, JavaVM};
use jni::{Env, JNIVersion, bind_java_type};

use crate::carrier::{Carrier, Carry};
use crate::java::Java;

/// Number of local JNI references that one call needs.
const REFERENCES: usize = 8;

/// A running JVM in this process.
pub(crate) struct Machine {
    vm: JavaVM,
}

// The bridge's entry point. Its class and method are looked up once.
bind_java_type! {
    Host => dev.throng.Host,
    methods {
        static fn call(message: jbyte[]) -> jbyte[],
    },
}

impl Machine {
    /// Starts the only JVM of this process.
    pub(crate) fn start(java: &Java, class_path: &str, options: &[String]) -> Result<Self, String> {
        // The thread that creates the JVM becomes Java's main thread, and Java changes its stack. So a separate
        // thread creates the JVM.
        let starting = std::thread::Builder::new().name("java start".into()).stack_size(8 << 20);
        std::thread::scope(|scope| {
            let started = starting
                .spawn_scoped(scope, || start(java, class_path, options))
                .map_err(|error| format!("cannot start a thread: {error}"))?;
            started
                .join()
                .unwrap_or_else(|_| Err("the thread that started the JVM panicked".into()))
        })
    }
}

fn start(java: &Java, class_path: &str, options: &[String]) -> Result<Machine, String> {
    let mut args = InitArgsBuilder::new().version(JNIVersion::V10);
    let class_path = format!("-Djava.class.path={class_path}");
    for option in std::iter::once(&class_path).chain(options) {
        args.try_option(option.as_str())
            .map_err(|error| format!("Java does not accept the option {option:?}: {error}"))?;
    }
    let args = args.build().map_err(|error| error.to_string())?;
    let library = java.library.as_path();
    let vm = JavaVM::with_libjvm(args, || Ok(library)).map_err(|error| {
        format!("cannot start Java {} in {}: {error}", java.version, java.home.display())
    })?;
    vm.attach_current_thread(|env| HostAPI::get(env, &LoaderContext::default()).map(|_| ()))
        .map_err(|error| format!("cannot load the bridge: {error}"))?;
    Ok(Machine { vm })
}

impl Carrier for Machine {
    fn serve(&self, name: &str, work: &mut dyn FnMut(i32, &mut Carry<'_>)) -> Result<(), String> {
        let name = JNIString::from(name);
        let attached = || AttachConfig::new().scoped(true).thread_name(&name);
        self.vm
            .attach_current_thread_with_config(attached, Some(REFERENCES), |env| {
                let thread = rustix::thread::gettid().as_raw_nonzero().get();
                work(thread, &mut |message| call(env, message));
                Ok::<_, Error>(())
            })
            .map_err(|error| format!("cannot attach a thread to the JVM: {error}"))
    }

    fn exit(&self, patience: Duration, _: u8) {
        std::thread::sleep(patience);
    }
}

/// Sends one message to the bridge and returns its reply.
fn call(env: &mut Env<'_>, message: &[u8]) -> Result<Vec<u8>, String> {
    let called = env.with_local_frame(REFERENCES, |env| -> Result<Vec<u8>, Error> {
        let message = env.byte_array_from_slice(message)?;
        let reply = Host::call(env, message)?;
        env.convert_byte_array(reply)
    });
    called.map_err(|error| words(env, error))
}

/// Returns an error's text, with Java's own message. Clears the pending exception.
fn words(env: &mut Env<'_>, error: Error) -> String {
    let error = match error {
        Error::JavaException => env.exception_catch().err().unwrap_or(Error::JavaException),
        error => error,
    };
    env.exception_clear();
    match error {
        Error::CaughtJavaException { name, msg, .. } if msg.is_empty() => name,
        Error::CaughtJavaException { name, msg, .. } => format!("{name}: {msg}"),
        Error::JniCall(JniError::NoMemory) => {
            "java.lang.OutOfMemoryError: the Java heap (--jvm-heap) has no room for a message"
                .to_owned()
        }
        Error::NullPtr(_) => "the bridge sent no reply".to_owned(),
        error => error.to_string(),
    }
}

impl std::fmt::Debug for Machine {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Machine")
    }
}
