//! `throng demo`: a bundled example against its bundled target, both inside this program.

use std::path::PathBuf;

use crate::exit::Exit;
use crate::flags::DemoFlags;

pub(crate) fn run(flags: DemoFlags) -> Exit {
    let _ = (flags.name, flags.properties.sources(), flags.json, PathBuf::from(&flags.runs));
    Exit::Bug
}
