//! The links to a web server of browser pages.

use web::Right;

use crate::operator::console::Console;

/// Prints the links to a web server, and a warning if other machines can reach the server.
pub(super) fn print_links(name: &str, server: &web::Server, console: &mut Console) {
    let wide = name.len().max("read-only".len());
    console.asked_for(&format!("{name:wide$}  {}", server.link(Right::Change)));
    console.asked_for(&format!("{:wide$}  {}", "read-only", server.link(Right::Read)));
    if !server.is_loopback() {
        console.warn(&format!(
            "the page can be reached from other machines at {}, unencrypted; whoever has the first link can change what it shows",
            server.bound()
        ));
    }
}
