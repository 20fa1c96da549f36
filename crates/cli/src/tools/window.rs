//! `throng jmeter install-plugin`: installs the plug-in for JMeter's window in a JMeter, or removes it.

use std::path::Path;

use jvm::{Change, Window};

use crate::exit::Exit;
use crate::print::terminal;

pub(crate) fn run(home: &Path, remove: bool) -> Exit {
    let done = if remove { jvm::remove_plugin(home) } else { install(home) };
    match done {
        Ok(window) => {
            tell(&window, home);
            Exit::Ok
        }
        Err(words) => {
            terminal::error(&words);
            Exit::Usage
        }
    }
}

fn install(home: &Path) -> Result<Window, String> {
    let program = std::env::current_exe()
        .map_err(|error| format!("the path of this program is not known: {error}"))?;
    jvm::install_plugin(home, &program)
}

/// Prints the result of installing or removing the plug-in, the next step for the user, and a warning if JMeter has
/// another version than the tested one.
fn tell(window: &Window, home: &Path) {
    let jar = window.jar.display();
    let first = match window.change {
        Change::Installed => format!("The plug-in is installed: {jar}"),
        Change::Replaced => format!("The plug-in was replaced by this version: {jar}"),
        Change::Already => format!("The plug-in was there already: {jar}"),
        Change::Removed => format!("The plug-in was removed: {jar}"),
        Change::None => format!("There was no plug-in in {}", home.display()),
    };
    terminal::out(&format!("{first}\n"));
    match window.change {
        Change::Installed | Change::Replaced => terminal::out(
            "Restart JMeter: its menu bar then has \"Throng\". The plug-in uses this program, unless the property throng.program names another.\n",
        ),
        Change::Already => terminal::out("The plug-in uses this program now.\n"),
        Change::Removed => terminal::out("A running JMeter keeps the plug-in until it exits.\n"),
        Change::None => {}
    }
    if let Some(version) = &window.version
        && window.change != Change::Removed
        && window.change != Change::None
        && version != jvm::VERSION
    {
        terminal::warning(&format!(
            "this is JMeter {version}; the plug-in is tested with JMeter {}",
            jvm::VERSION
        ));
    }
}
