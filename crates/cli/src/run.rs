//! `throng run`.

use crate::exit::Exit;
use crate::request::Request;

pub(crate) fn run(request: Request) -> Exit {
    let _ = request;
    Exit::Bug
}
