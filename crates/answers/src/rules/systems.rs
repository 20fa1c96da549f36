//! Advice for the operating system of the generator, if the failure messages identify it. Each system has its own
//! limits and names. Throng itself runs on Linux; result files may come from any system.

use record::Record;
use record::wordings::{System, is_abort};

use super::say::words;
use crate::verdict::Words;

/// Returns the operating system that wrote the failure messages of a record.
pub(super) fn system(record: &Record) -> Option<System> {
    record.causes.iter().find_map(|cause| System::of(&cause.message))
}

/// Returns the advice for exhausted local ports.
pub(super) fn ports(system: Option<System>) -> Words {
    match system {
        Some(System::Windows) => words!(ports_advice_windows),
        Some(System::MacOs) => words!(ports_advice_macos),
        Some(System::Linux) | None => words!(ports_advice_linux),
    }
}

/// Returns the advice for exhausted file descriptors.
pub(super) fn files(system: Option<System>) -> Words {
    match system {
        Some(System::Windows) => words!(files_advice_windows),
        Some(System::MacOs) => words!(files_advice_macos),
        Some(System::Linux) | None => words!(files_advice_linux),
    }
}

/// Returns the advice for connects without a response. The system gives up after its own number of SYNs: Windows after
/// 21 s, macOS after 75 s (`net.inet.tcp.keepinit`), Linux after 127 s (`tcp_syn_retries` of 6).
pub(super) fn connect_timeouts(system: Option<System>) -> Words {
    let end = match system {
        Some(System::Windows) => words!(connect_limit_windows),
        Some(System::MacOs) => words!(connect_limit_macos),
        Some(System::Linux) => words!(connect_limit_linux),
        None => Words::default(),
    };
    let advice = words!(connect_timeout_advice(end));
    Words { en: advice.en.trim_end().to_owned(), zh: advice.zh }
}

/// Returns the advice for broken connections.
pub(super) fn resets(system: Option<System>, text: &str) -> Words {
    if system == Some(System::Windows) && is_abort(text) {
        return words!(reset_by_windows_advice);
    }
    words!(reset_advice)
}
