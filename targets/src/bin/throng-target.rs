//! `throng-target NAME`: runs one target without the load generator.
//!
//! Prints `listening on URL` on one line, and serves until it is killed or its run time is over.

use std::io::Write;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use targets::{Config, TargetInfo, TlsConfig, names, start};

const USAGE: &str = "usage: throng-target NAME [--port N] [--listen ADDRESS] [--tls] [--option KEY=VALUE]... [--seconds N]";

fn main() -> ExitCode {
    let mut out = std::io::stdout();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.is_empty()
        || arguments.iter().any(|argument| argument == "--help" || argument == "-h")
    {
        // Nobody reads the output, so a write error is ignored.
        let _ = out.write_all(help().as_bytes());
        return ExitCode::SUCCESS;
    }
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "throng-target: {why}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> Result<(), String> {
    let (config, seconds) = read(arguments)?;
    // A target with several processes starts this program for each of them.
    let config = config.respawn(std::env::args_os().skip(1));
    let running = start(config).map_err(|error| error.to_string())?;
    // The caller waits for the line with the URL before it sends requests.
    writeln!(std::io::stdout(), "listening on {}", running.url())
        .map_err(|error| error.to_string())?;
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    while !running.is_over() && end.is_none_or(|end| Instant::now() < end) {
        thread::sleep(Duration::from_millis(100));
    }
    running.stop();
    Ok(())
}

fn read(arguments: &[String]) -> Result<(Config, Option<u64>), String> {
    let mut arguments = arguments.iter();
    let name = arguments.next().ok_or(USAGE)?;
    let mut config = Config::new(name);
    let mut seconds = None;
    while let Some(flag) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{flag} needs a value"));
        let number =
            |text: &String| text.parse::<u64>().map_err(|error| format!("{flag} {text}: {error}"));
        match flag.as_str() {
            "--port" => {
                let port = number(value()?)?;
                config.listen.set_port(
                    u16::try_from(port).map_err(|error| format!("--port {port}: {error}"))?,
                );
            }
            "--listen" => {
                let text = value()?;
                config
                    .listen
                    .set_ip(text.parse().map_err(|error| format!("--listen {text}: {error}"))?);
            }
            "--tls" => config = config.tls(TlsConfig::default()),
            "--seconds" => seconds = Some(number(value()?)?),
            "--option" => {
                let text = value()?;
                let (key, value) = text
                    .split_once('=')
                    .ok_or_else(|| format!("--option {text}: KEY=VALUE is wanted"))?;
                config = config.option(key, value);
            }
            _ => return Err(format!("unknown flag {flag}\n{USAGE}")),
        }
    }
    Ok((config, seconds))
}

fn help() -> String {
    let mut text = format!("{USAGE}\n");
    for target in names() {
        text.push_str(&format!("\n{:<10} {}\n", target.name, target.what));
        for option in target.options {
            text.push_str(&format!(
                "    {:<10} {} [{}]\n",
                option.key, option.what, option.default
            ));
        }
    }
    text.push_str("\nall targets\n");
    for option in TargetInfo::common() {
        text.push_str(&format!("    {:<10} {} [{}]\n", option.key, option.what, option.default));
    }
    text
}
