//! The targets by name: description, options, and start function of each.
//!
//! The table is the single source for the command line's help, for the check of option names, and for the start.

use std::fs::File;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use socket2::{Domain, Protocol, Socket, Type};

use crate::config::Config;
use crate::delay::Delay;
use crate::error::Error;
use crate::fitness::Fitness;
use crate::fixed::Fixed;
use crate::flaky::Flaky;
use crate::journal::Journal;
use crate::mirror::Mirror;
use crate::reactor::Reactor;
use crate::running::Running;
use crate::service::Service;
use crate::situation::limiter::Limiter;
use crate::situation::{Habits, Situation};
use crate::sse::Sse;
use crate::websocket::odd::Odd;
use crate::{auth, dying, front, mgs, redis, tls, websocket};

/// A target in the list that `throng target` prints.
#[derive(Debug, Clone, Copy)]
pub struct TargetInfo {
    pub name: &'static str,
    pub what: &'static str,
    pub options: &'static [OptionInfo],
}

/// A `key=value` option of a target.
#[derive(Debug, Clone, Copy)]
pub struct OptionInfo {
    pub key: &'static str,
    /// Default value of the option; empty if the option has no default.
    pub default: &'static str,
    pub what: &'static str,
}

pub(crate) const fn option(
    key: &'static str,
    default: &'static str,
    what: &'static str,
) -> OptionInfo {
    OptionInfo { key, default, what }
}

/// Options of every target.
const COMMON: [OptionInfo; 8] = [
    option("tls", "false", "serve HTTPS with a self-signed certificate"),
    option("tls12", "true", "accept TLS 1.2"),
    option("tls13", "true", "accept TLS 1.3"),
    option("tickets", "true", "issue session tickets, so that handshakes can be resumed"),
    option("names", "localhost,127.0.0.1,::1", "names and addresses of the certificate"),
    option("expired", "false", "the certificate is past its time"),
    option(
        "certificate",
        "",
        "have it issued by an authority, whose certificate is written to this file as PEM",
    ),
    option("backlog", "4096", "connections that may wait to be accepted"),
];

// Options that several targets share.
const SEED: OptionInfo = option("seed", "1", "start of the random sequence");
const SIZE: OptionInfo = option("size", "20", "bytes of body");
const CUT: OptionInfo = option("cut", "close", "how: close (a close frame with 4008), fin or rst");
const SLOW: OptionInfo =
    option("slow", "drop", "a peer that does not read: drop, or wait, which keeps all for it");
const UNSENT: OptionInfo =
    option("unsent", "1048576", "bytes that may wait for such a peer before it is dropped");
const LIMIT: OptionInfo = option("limit", "16777216", "bytes of the largest message taken");
const PROTOCOLS: OptionInfo =
    option("protocols", "", "subprotocols spoken, with commas; empty is whatever is asked for");

const FRONT: [OptionInfo; 2] = [
    option("to", "", "port on 127.0.0.1 that everything is passed on to"),
    option(
        "clients",
        "",
        "ask for a certificate; it must be of this key store (password `secret`) or PEM file",
    ),
];

const FIXED: [OptionInfo; 3] = [
    option("status", "200", "status of every answer"),
    SIZE,
    option("header", "", "a response header, `Name: value`; may be given several times"),
];

const FITNESS: [OptionInfo; 3] = [
    option("workers", "2", "requests worked on at once; the rest wait in order of arrival"),
    option("scale", "1", "factor on every sleep"),
    option("seed", "", "take the sleeps from this seed instead of the system's secure generator"),
];

const DELAY: [OptionInfo; 9] = [
    option("kind", "constant", "constant, uniform, lognormal or bimodal"),
    option("ms", "10", "constant: the delay; bimodal: the usual delay"),
    option("min", "5", "uniform: the least"),
    option("max", "15", "uniform: the greatest"),
    option("median", "10", "lognormal: the median"),
    option("sigma", "0.5", "lognormal: standard deviation of the logarithm"),
    option("slow", "100", "bimodal: the rare delay"),
    option("share", "0.05", "bimodal: how many are slow, 0 to 1"),
    SEED,
];

const MIRROR: [OptionInfo; 2] = [
    option("log", "", "file that gets every request as a line of JSON"),
    option("keep", "100000", "requests held in memory"),
];

/// Builds the list of options of `service` or `limiter`: those given, and those for faults of the event loop.
macro_rules! with_habits {
    ($($own:expr,)*) => {
        [
            $($own,)*
            option("close", "never", "connections end behind each answer: never, said or unsaid"),
            option("idle", "0", "milliseconds without a request after which a connection is cut; 0: never"),
            option("cut", "fin", "how an idle connection is cut: fin or rst"),
            option("connections", "0", "further connections are reset; 0: none"),
            option("accept_every", "0", "least milliseconds between two accepts; with a small backlog the queue fills"),
            option("stall", "0", "milliseconds for which nothing at all is done"),
            option("stall_at", "0", "milliseconds from the first connection to the first stall"),
            option("stall_every", "0", "milliseconds from one stall to the next; 0: one stall only"),
            option("loss", "0", "share of the segments sent to the target that are lost, 0 to 1 (Linux)"),
        ]
    };
}

const SERVICE: [OptionInfo; 38] = with_habits![
    option("ms", "10", "time that a request holds a worker, milliseconds"),
    option("workers", "0", "requests worked on at once by each backend; 0: as many as come"),
    option("noise", "0", "standard deviation of each request's time, as a share of it"),
    option(
        "noise_of_seconds",
        "0",
        "standard deviation of a factor that all requests of a second share"
    ),
    option("slow_share", "0", "how many requests are slow, 0 to 1"),
    option("slow", "100", "time of a slow request"),
    option("step", "1", "factor on times from step_at on"),
    option("step_at", "0", "milliseconds from the first request"),
    option("leak", "0", "growth of times in a minute, as a share: 0.5 is half as much again"),
    option("cold", "1", "factor on the first request's time; it falls to 1 over cold_for"),
    option("cold_for", "60000", "milliseconds from the first request until the service is warm"),
    option("cached", "", "time of a URL that was asked for before; empty: no cache"),
    option("forget_at", "0", "milliseconds until the cache is emptied, once; 0: never"),
    option("pool", "0", "requests at once in a pool behind all backends; 0: no pool"),
    option("pool_ms", "0", "time that a request holds its place in the pool, after its worker"),
    option("burn", "0", "milliseconds of processor time for each request, on one processor"),
    SIZE,
    option("bandwidth", "0", "bytes a second of all answers together; 0: no limit"),
    option("backends", "1", "requests take turns; X-Served-By names the backend"),
    option("ill", "0", "number of the backend that is ill; 0: none"),
    option("ill_factor", "5", "factor on the times of the ill backend"),
    option("ill_errors", "0", "share of the ill backend's requests that fail"),
    option("errors", "0", "share of requests that fail at once"),
    option("errors_at", "0", "milliseconds from the first request until they begin to fail"),
    option("errors_for", "0", "milliseconds for which they fail; 0: until the end"),
    option("errors_every", "0", "milliseconds from one such time to the next; 0: one only"),
    option("status", "500", "status of failures"),
    option(
        "patience",
        "0",
        "milliseconds after which a request gets 504, as from a proxy; 0: none"
    ),
    SEED,
];

const LIMITER: [OptionInfo; 15] = with_habits![
    option("rate", "100", "requests a second"),
    option("burst", "20", "requests at once after a pause"),
    option("over", "refuse", "requests above the rate: refuse or delay"),
    option("status", "429", "status of a refusal"),
    option("retry_after", "1", "seconds in the refusal's Retry-After; 0: no such line"),
    option("ms", "10", "time of a request that has its token, milliseconds"),
];

const FLAKY: [OptionInfo; 7] = [
    option("reset", "0.01", "share of requests that are reset"),
    option("close", "0.01", "share of requests whose connection is closed without an answer"),
    option("truncate", "0.01", "share of answers that end in the middle"),
    option("stall", "0", "share of requests that are never answered"),
    option("garbage", "0.01", "share of answers that are not HTTP"),
    option("error", "0.01", "share of requests that get status 500"),
    SEED,
];

const DYING: [OptionInfo; 4] = [
    option("up", "5000", "milliseconds of service before each death"),
    option("down", "2000", "milliseconds until it comes back"),
    option("times", "0", "how often it dies; 0 is for ever"),
    SIZE,
];

const WEBSOCKET_ECHO: [OptionInfo; 9] = [
    option("compression", "false", "agree to permessage-deflate"),
    option("fragment", "0", "bytes in each frame sent; 0 is all in one"),
    PROTOCOLS,
    LIMIT,
    option("idle", "0", "milliseconds of silence after which a connection is cut; 0 is never"),
    CUT,
    SLOW,
    UNSENT,
    option("listen", "", "addresses, with commas and ranges: 127.0.1.1-127.0.1.9"),
];

const CHAT: [OptionInfo; 11] = [
    option("processes", "1", "processes that share the connections"),
    option("listen", "", "addresses, with commas and ranges: 127.0.1.1-127.0.1.52"),
    option("rooms", "100000", "rooms there may be"),
    option("heartbeat", "0", "seconds of silence after which a connection is cut; 0 is never"),
    CUT,
    SLOW,
    UNSENT,
    option("compression", "false", "agree to permessage-deflate; broadcasts stay uncompressed"),
    PROTOCOLS,
    LIMIT,
    option("child", "", "which of the processes this is; they set it themselves"),
];

const REDIS: [OptionInfo; 4] = [
    option("password", "", "ask for it; empty: nobody has to log in"),
    option("user", "default", "the user whose password it is"),
    option("list", "", "`KEY=VALUE` appended to a list at the start; may be given several times"),
    option("set", "", "`KEY=VALUE` added to a set at the start; may be given several times"),
];

const AUTH: [OptionInfo; 5] = [
    option("redis", "127.0.0.1:6379", "address of the Redis server, which has keys `token:TOKEN`"),
    option(
        "pool",
        "8",
        "connections to it, for which requests wait; 0: a new one for each request",
    ),
    option("trace", "0", "share of requests of which a span is written, 0 to 1"),
    option("spans", "", "file for the spans, a line of JSON each; empty: none"),
    SEED,
];

const SSE: [OptionInfo; 6] = [
    option("events", "5", "events of each response, 65535 at most"),
    option("every", "0", "milliseconds between them"),
    option("name", "", "name of every event; empty: none"),
    option("ids", "false", "number the events, from 1"),
    option(
        "retry",
        "0",
        "milliseconds that the first event names as the time before a new request; 0: none",
    ),
    option("tokens", "false", "events as OpenAI's API streams an answer, with [DONE] behind them"),
];

static NAMES: [TargetInfo; 21] = [
    TargetInfo { name: "fixed", what: "the same answer to every request, fast", options: &FIXED },
    TargetInfo {
        name: "fitness",
        what: "POST /setup sleeps 100-1500 ms on a limited number of workers",
        options: &FITNESS,
    },
    TargetInfo {
        name: "delay",
        what: "a known distribution of delays; /stats tells what was applied",
        options: &DELAY,
    },
    TargetInfo {
        name: "service",
        what: "a service with a known fault: few workers, a stall, a step, an ill backend ...",
        options: &SERVICE,
    },
    TargetInfo {
        name: "limiter",
        what: "a rate limiter: a token bucket that refuses or delays",
        options: &LIMITER,
    },
    TargetInfo {
        name: "mirror",
        what: "records every request and answers by path; / lists the paths",
        options: &MIRROR,
    },
    TargetInfo { name: "chunked", what: "the mirror: /chunked", options: &MIRROR },
    TargetInfo { name: "gzip", what: "the mirror: /gzip, /deflate, /br", options: &MIRROR },
    TargetInfo {
        name: "redirects",
        what: "the mirror: /redirect/N, /redirect-to",
        options: &MIRROR,
    },
    TargetInfo { name: "cookies", what: "the mirror: /cookies, /cookies/set", options: &MIRROR },
    TargetInfo { name: "login", what: "the mirror: /login, /private, /logout", options: &MIRROR },
    TargetInfo {
        name: "flaky",
        what: "resets, truncates, stalls and talks rubbish with given probabilities",
        options: &FLAKY,
    },
    TargetInfo {
        name: "dying",
        what: "serves, goes away with all its connections, comes back",
        options: &DYING,
    },
    TargetInfo {
        name: "websocket-echo",
        what: "sends every WebSocket message back; /stats counts",
        options: &WEBSOCKET_ECHO,
    },
    TargetInfo {
        name: "chat",
        what: "WebSocket rooms: join ROOM, say TEXT, ping; /stats counts",
        options: &CHAT,
    },
    TargetInfo {
        name: "tls-front",
        what: "TLS before another server; tells that one how each connection was made",
        options: &FRONT,
    },
    TargetInfo {
        name: "websocket-odd",
        what: "breaks the WebSocket protocol by path; / lists the paths",
        options: &[],
    },
    TargetInfo {
        name: "auth",
        what: "looks tokens up in a Redis server; 200, 401 or 503",
        options: &AUTH,
    },
    TargetInfo {
        name: "mgs",
        what: "a mobile gateway that checks signatures and decrypts; /stats counts",
        options: mgs::OPTIONS,
    },
    TargetInfo { name: "redis", what: "lists and sets behind Redis' protocol", options: &REDIS },
    TargetInfo {
        name: "sse",
        what: "server-sent events at a rate, or a language model's answer in tokens",
        options: &SSE,
    },
];

/// Returns all targets in the order of the list. Options of every target (TLS, backlog) are in [`TargetInfo::common`].
pub fn names() -> &'static [TargetInfo] {
    &NAMES
}

impl TargetInfo {
    /// Returns the options of every target.
    pub fn common() -> &'static [OptionInfo] {
        &COMMON
    }
}

/// Starts a target on its own thread. The target is listening when this function returns.
pub fn start(config: Config) -> Result<Running, Error> {
    check_names(&config)?;
    match config.name.as_str() {
        "websocket-echo" => return websocket::start_echo(&config),
        "chat" => return websocket::start_chat(&config),
        "tls-front" => return front::start(&config),
        "redis" => return redis::start(&config),
        "auth" => return auth::start(&config),
        "mgs" => return mgs::start(&config),
        _ => {}
    }
    let socket = listen(&config)?;
    let addr = socket.local_addr()?.as_socket().unwrap_or(config.listen);
    let tls = config.tls_options()?.map(tls::server).transpose()?;
    let over_tls = tls.is_some();
    let journal = Arc::new(journal(&config)?);
    let (wake, woken) = UnixStream::pair()?;
    let name = format!("target-{}", config.name);
    let thread = std::thread::Builder::new().name(name);
    let thread = if config.name == "dying" {
        let mut life = dying::Life::new(&config, addr, tls)?;
        // The first life uses this listener; each later life opens a new one on the same port.
        thread.spawn(move || life.live(socket, &woken))?
    } else {
        let habits = Habits::new(&config)?;
        let counts = Arc::clone(&habits.counts);
        let service: Box<dyn Service> = match config.name.as_str() {
            "fixed" => Box::new(Fixed::new(&config)?),
            "fitness" => Box::new(Fitness::new(&config)?),
            "delay" => Box::new(Delay::new(&config)?),
            "flaky" => Box::new(Flaky::new(&config)?),
            "websocket-odd" => Box::new(Odd),
            "sse" => Box::new(Sse::new(&config)?),
            "service" => Box::new(Situation::new(&config, counts)?),
            "limiter" => Box::new(Limiter::new(&config, counts)?),
            _ => Box::new(Mirror::new(Arc::clone(&journal))),
        };
        let mut reactor = Reactor::new(socket.into(), &woken, tls, service)?;
        if matches!(config.name.as_str(), "service" | "limiter") {
            reactor.habits(habits, &woken)?;
        }
        thread.spawn(move || {
            // The loop fails only if epoll itself fails. The target then ends, which its clients notice.
            let _ = reactor.run();
            drop(woken);
        })?
    };
    Ok(Running { addr, tls: over_tls, wake: Some(wake), thread: Some(thread), journal })
}

/// Creates a listening socket. Its address can be reused at once after the target stops.
pub(crate) fn listen(config: &Config) -> Result<Socket, Error> {
    let backlog = config.read("backlog", 4096)?;
    let open = || {
        let socket =
            Socket::new(Domain::for_address(config.listen), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        socket.bind(&config.listen.into())?;
        socket.listen(backlog)?;
        Ok(socket)
    };
    open().map_err(|error| Error::Listen(config.listen, error))
}

fn check_names(config: &Config) -> Result<(), Error> {
    let Some(info) = NAMES.iter().find(|info| info.name == config.name) else {
        let known: Vec<_> = NAMES.iter().map(|info| info.name).collect();
        return Err(Error::UnknownTarget(config.name.clone(), known.join(", ")));
    };
    let known = || info.options.iter().chain(&COMMON).map(|option| option.key);
    match config.options.iter().find(|(key, _)| known().all(|name| name != key)) {
        None => Ok(()),
        Some((key, _)) => Err(Error::UnknownOption {
            target: config.name.clone(),
            option: key.clone(),
            known: known().collect::<Vec<_>>().join(", "),
        }),
    }
}

fn journal(config: &Config) -> Result<Journal, Error> {
    let keep = config.read("keep", 100_000)?;
    let file = match config.text("log") {
        None | Some("") => None,
        Some(path) => Some(File::create(path).map_err(|error| Error::Log(path.to_owned(), error))?),
    };
    Ok(Journal::new(keep, file))
}
