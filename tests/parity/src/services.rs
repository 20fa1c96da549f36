//! The scripted target of a case, and its optional services: TLS, databases, targets for datagrams and metrics, a name
//! server.

use crate::closed::Closed;
use crate::datagrams::Datagrams;
use crate::figures::Collector;
use crate::golden::Outcome;
use crate::names::Names;
use crate::normal::{self, Rules};
use crate::programs::Programs;
use crate::server::{self, Server};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// All services of a case that listen on ports, from its start to its end.
pub(crate) struct Services {
    server: Server,
    closed: Closed,
    front: Option<Front>,
    collector: Option<Collector>,
    datagrams: Option<Datagrams>,
    database: Option<Database>,
    names: Option<Names>,
}

impl Services {
    /// Starts the services that the files in `work` and the rules demand.
    pub(crate) fn start(rules: &Rules, work: &Path, programs: &Programs, recording: bool) -> Self {
        // A port without a listener, for refused connections. The port stays reserved until the case ends.
        let closed = Closed::hold();
        let server = Server::start(work, &[("closed", closed.port.to_string())]);
        let front = rules.tls.as_deref();
        let front = front.map(|options| Front::start(programs, work, server.port(), options));
        Self {
            server,
            closed,
            front,
            collector: rules.figures.then(Collector::start),
            datagrams: Datagrams::start(work),
            database: rules.server.as_deref().map(Database::start),
            names: Names::start(work, recording),
        }
    }

    /// Returns the port of the scripted target.
    pub(crate) fn port(&self) -> u16 {
        self.server.port()
    }

    /// Returns the properties with the ports of the services, for the plan.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let secure = self.front.as_ref().map_or(0, |front| front.port);
        let optional = [
            ("throng.dns.port", self.names.as_ref().map(Names::port)),
            ("datagrams", self.datagrams.as_ref().map(Datagrams::port)),
            ("dbport", self.database.as_ref().map(|server| server.port)),
            ("collector", self.collector.as_ref().map(Collector::port)),
        ];
        [("port", self.port()), ("closed", self.closed.port), ("secure", secure)]
            .into_iter()
            .chain(optional.into_iter().filter_map(|(name, port)| Some((name, port?))))
            .map(|(name, port)| format!("-J{name}={port}"))
            .collect()
    }

    /// Returns the names that replace port numbers in golden files.
    pub(crate) fn ports(&self) -> Vec<(&'static str, u16)> {
        let mut ports = vec![("PORT", self.port()), ("CLOSED", self.closed.port)];
        ports.extend(self.front.as_ref().map(|front| ("SECURE", front.port)));
        ports.extend(self.database.as_ref().map(|server| ("DBPORT", server.port)));
        ports
    }

    /// Returns the number of requests that the scripted target has received so far.
    pub(crate) fn seen(&self) -> usize {
        self.server.seen().len()
    }

    /// Ends the services after the engine has ended; returns everything that they received.
    pub(crate) fn end(self, rules: &Rules, ports: &[(&str, u16)]) -> Outcome {
        drop(self.front);
        let select = "SELECT item, amount FROM moves ORDER BY item, amount";
        let texts = [
            ("figures.txt", self.collector.as_ref().map(Collector::figures)),
            ("names.txt", self.names.as_ref().map(Names::asked)),
            ("datagrams.txt", self.datagrams.as_ref().map(Datagrams::seen)),
            ("tables.txt", self.database.as_ref().map(|server| server.command("sql", &[select]))),
            ("requests.txt", Some(normal::requests(&self.server.seen(), rules, ports))),
        ];
        texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?))).collect()
    }
}

/// TLS in front of the scripted target, provided by a target of the program under test.
pub(crate) struct Front {
    process: Child,
    pub(crate) port: u16,
}

impl Front {
    /// Starts the TLS front in a folder, for the port `to`, with these options.
    pub(crate) fn start(programs: &Programs, work: &Path, to: u16, options: &[String]) -> Self {
        let mut all = vec![format!("to={to}")];
        all.extend_from_slice(options);
        let mut command = programs.target("tls-front", &all);
        command.current_dir(work).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the front starts");
        let mut line = String::new();
        let output = process.stdout.take().expect("its output");
        BufReader::new(output).read_line(&mut line).expect("where it listens");
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        Self { port: port.expect("a port"), process }
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A database server in its own folder, which ends with the case.
pub(crate) struct Database {
    script: PathBuf,
    folder: PathBuf,
    pub(crate) port: u16,
}

impl Database {
    /// Starts the database server with this name in `tests/servers`.
    pub(crate) fn start(name: &str) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../servers").join(name);
        // The folder is outside the case's files, because the server runs as another system user.
        let folder = std::env::temp_dir().join(format!(
            "parity-{name}-{}-{}",
            std::process::id(),
            server::bind().1.port()
        ));
        let mut server = Self { script, folder, port: 0 };
        server.port = server.command("start", &[]).trim().parse().expect("the port of the server");
        server
    }

    pub(crate) fn command(&self, what: &str, further: &[&str]) -> String {
        let output = Command::new(&self.script).arg(what).arg(&self.folder).args(further).output();
        let output = output.expect("the script of the server runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = Command::new(&self.script).arg("stop").arg(&self.folder).output();
    }
}
