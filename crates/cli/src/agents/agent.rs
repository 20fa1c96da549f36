//! `throng agent`: an agent that a run has started by ssh, or an agent that waits at a NATS server until a run
//! reserves it.

use fleet::nats::{Server, Waiting, wait};

use crate::args::flags::AgentFlags;
use crate::exit::Exit;
use crate::operator::interrupt::Interrupt;
use crate::print::terminal;

pub(crate) fn run(flags: AgentFlags) -> Exit {
    let allowed = flags.allow_target.join(",");
    if let Err(words) = engine::allowed_targets(&allowed) {
        return failed(&format!("--allow-target: {words}"), Exit::Usage);
    }
    if flags.stdio {
        let ended = match flags.simulated {
            Some(shape) => fleet::remote::simulated::main(shape),
            None => fleet::remote::agent(&allowed, flags.again.as_deref()),
        };
        return match ended {
            Ok(()) => Exit::Ok,
            Err(error) => failed(&error.to_string(), Exit::Usage),
        };
    }
    // An empty environment variable counts as not set.
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let Some(url) = &given(flags.nats) else {
        let words = "an agent waits at a NATS server: throng agent --nats nats://host:4222/pool; runs with --fleet ssh:… \
                     start theirs by themselves";
        return failed(words, Exit::Usage);
    };
    let server = match Server::read(url) {
        Ok(server) => server,
        Err(words) => return failed(&format!("--nats {words}"), Exit::Usage),
    };
    let targets = flags
        .allow_target
        .iter()
        .filter(|target| !target.is_empty())
        .map(|target| format!("--allow-target={target}"));
    let waiting = Waiting {
        server,
        pool: given(flags.pool),
        name: given(flags.name),
        zone: given(flags.zone),
        labels: flags.label,
        operator: given(flags.operator_key),
        once: flags.once,
        arguments: targets.collect(),
    };
    let Ok(interrupt) = Interrupt::install() else { return Exit::Bug };
    let ended = wait(&waiting, &|| interrupt.asked() > 0, &mut |words| {
        terminal::err(&format!("{words}\n"));
    });
    match ended {
        Ok(()) => Exit::Ok,
        Err(words) => failed(&words, Exit::Usage),
    }
}

fn failed(words: &str, exit: Exit) -> Exit {
    terminal::error(words);
    exit
}
