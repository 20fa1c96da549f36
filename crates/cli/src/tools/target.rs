//! `throng target`: runs a bundled system under test by itself.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use targets::{Config, TargetInfo, TlsConfig};

use crate::args::flags::TargetFlags;
use crate::exit::Exit;
use crate::operator::interrupt::Interrupt;
use crate::print::terminal;

/// Runs a target until Ctrl-C or until its time limit. Without a name, lists the targets.
pub(crate) fn run(flags: TargetFlags) -> Exit {
    let Some(name) = &flags.name else {
        terminal::out(&list());
        return Exit::Ok;
    };
    let mut config = Config::new(name.clone()).listen(SocketAddr::new(flags.listen, flags.port));
    if flags.tls {
        config = config.tls(TlsConfig::default());
    }
    // A target with several processes starts this program once for each.
    config = config.respawn(std::env::args_os().skip(1));
    for option in &flags.options {
        let Some((key, value)) = option.split_once('=') else {
            terminal::error(&format!("{option} is not KEY=VALUE"));
            return Exit::Usage;
        };
        config = config.option(key, value);
    }
    // The signal handler is installed before the target starts, so that a signal always ends the program cleanly.
    let Ok(interrupt) = Interrupt::install() else { return Exit::Bug };
    match targets::start(config) {
        Ok(running) => {
            // Scripts wait for this line before they send requests.
            terminal::out(&format!("listening on {}\n", running.url()));
            let end = flags.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
            while interrupt.asked() == 0
                && !running.is_over()
                && end.is_none_or(|end| Instant::now() < end)
            {
                std::thread::sleep(Duration::from_millis(50));
            }
            running.stop();
            Exit::Ok
        }
        Err(error) => {
            terminal::error(&error.to_string());
            Exit::Usage
        }
    }
}

fn list() -> String {
    let mut out = String::from("Targets, with their options (--option KEY=VALUE):\n");
    for target in targets::names() {
        out.push_str(&format!("\n{:<10} {}\n", target.name, target.what));
        options(&mut out, target.options);
    }
    out.push_str("\nEvery target has\n");
    options(&mut out, TargetInfo::common());
    out
}

fn options(out: &mut String, options: &[targets::OptionInfo]) {
    for option in options {
        let key = if option.default.is_empty() {
            option.key.to_string()
        } else {
            format!("{}={}", option.key, option.default)
        };
        out.push_str(&format!("    {key:<18} {}\n", option.what));
    }
}
