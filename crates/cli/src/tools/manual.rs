//! `throng completions` and `throng man`: generates shell completions and manual pages from the flags, so that they
//! always agree.

use std::fs;
use std::io;
use std::path::Path;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::flags;
use crate::exit::Exit;
use crate::print::terminal;

/// Prints the completions for a shell.
pub(crate) fn completions(shell: Shell) -> Exit {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut flags::command(), "throng", &mut text);
    terminal::out(&String::from_utf8_lossy(&text));
    Exit::Ok
}

/// Prints `throng.1`, or writes all pages into a folder, which is created.
pub(crate) fn pages(folder: Option<&Path>) -> Exit {
    let done = match folder {
        None => page(flags::command()).map(|text| terminal::out(&String::from_utf8_lossy(&text))),
        Some(folder) => write(folder),
    };
    match done {
        Ok(()) => Exit::Ok,
        Err(error) => {
            let place = folder.map_or_else(String::new, |path| format!(" in {}", path.display()));
            terminal::error(&format!("the manual cannot be written{place}: {error}"));
            Exit::Usage
        }
    }
}

fn write(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(flags::command(), folder)?;
    terminal::err(&format!("the pages are in {}\n", folder.display()));
    Ok(())
}

fn page(command: Command) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    Man::new(command).render(&mut text)?;
    Ok(text)
}
