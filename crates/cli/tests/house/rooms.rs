//! Imports between the rooms of a crate: each room imports only from rooms below, and circles of files do not grow.

use std::collections::BTreeMap;

use super::{Callee, files, methods_of_parts, nothing_found};

/// The rooms of the engine with their floors.
const ROOMS: &[(&str, u32)] = &[
    ("time", 0),
    ("ids", 0),
    ("users", 1),
    ("inbox", 1),
    ("reports", 1),
    ("results", 2),
    ("net", 2),
    ("offload", 2),
    ("files", 3),
    ("settings", 3),
    ("completions", 3),
    ("shared", 4),
    ("session", 4),
    ("context", 5),
    ("http", 6),
    ("websocket", 6),
    ("tcp", 6),
    ("redis", 6),
    ("sse", 6),
    ("process", 6),
    ("java", 6),
    ("sample", 7),
    ("flow", 8),
    ("core", 9),
    ("run", 10),
];

/// The rooms of the command line with their floors. The module doc of its `main.rs` has the same order.
const ROOMS_OF_CLI: &[(&str, u32)] = &[
    ("exit", 0),
    ("print", 1),
    ("inputs", 2),
    ("judge", 3),
    ("args", 4),
    ("operator", 5),
    ("checks", 6),
    ("results", 6),
    ("questions", 7),
    ("pages", 8),
    ("run", 9),
    ("agents", 10),
    ("authoring", 10),
    ("tools", 10),
];

/// Returns the imports from rooms of the same floor or of higher floors, and files in no room.
fn imports_upwards(folder: &str, rooms: &[(&str, u32)]) -> Vec<String> {
    let floors: BTreeMap<&str, u32> = rooms.iter().copied().collect();
    let mut found = Vec::new();
    let mut seen = Vec::new();
    for (path, text) in files(&[".rs"]) {
        let Some(inside) = path.strip_prefix(folder) else { continue };
        let room = inside.split('/').next().unwrap_or_default().trim_end_matches(".rs");
        if ["lib", "main"].contains(&room) {
            continue;
        }
        let Some(own) = floors.get(room) else {
            found.push(format!("{path}: {room} is no room"));
            continue;
        };
        seen.push(room.to_owned());
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        for other in imported(text, "crate::") {
            if other != room && floors.get(other.as_str()).is_some_and(|floor| floor >= own) {
                found.push(format!("{path}: {room} (floor {own}) imports {other}"));
            }
        }
    }
    let absent = rooms.iter().filter(|(room, _)| !seen.iter().any(|one| one == room));
    found.extend(absent.map(|(room, _)| format!("{folder}{room} is not there")));
    found
}

#[test]
fn rooms_of_the_engine_import_what_is_below() {
    nothing_found(&imports_upwards("crates/engine/src/", ROOMS));
}

#[test]
fn rooms_of_the_command_line_import_what_is_below() {
    nothing_found(&imports_upwards("crates/cli/src/", ROOMS_OF_CLI));
}

/// Number of files in the largest dependency cycle of each engine room, by imports and by method calls on a core's
/// parts. Rooms that are not listed have no cycle. If a cycle shrinks, lower its number here; no cycle may grow.
const CIRCLES: &[(&str, usize)] =
    &[("core", 9), ("flow", 2), ("java", 3), ("sample", 2), ("session", 4), ("websocket", 4)];

/// Returns the names that a source text imports below a path, such as `crate::`.
fn imported(text: &str, path: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut found = Vec::new();
    for piece in text.split(path).skip(1) {
        let Some(list) = piece.strip_prefix('{') else {
            found.push(word(piece));
            continue;
        };
        let (mut depth, mut starts) = (0, true);
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => starts = true,
                _ if starts && !c.is_whitespace() => {
                    found.push(word(&list[at..]));
                    starts = false;
                }
                _ => {}
            }
        }
    }
    found
}

/// Returns the files of a room's largest dependency cycle.
fn largest_circle<'f>(room: &str, files: &'f BTreeMap<String, String>) -> Vec<&'f str> {
    let mut homes: BTreeMap<Callee, Vec<&str>> = BTreeMap::new();
    for (file, text) in files {
        for (callee, _) in methods_of_parts(file, text) {
            homes.entry(callee).or_default().push(file);
        }
    }
    let needs = |file: &str| -> Vec<&str> {
        let calls = methods_of_parts(file, &files[file]).into_iter().flat_map(|(_, calls)| calls);
        let homes = calls.filter_map(|call| homes.get(&call).filter(|all| all.len() == 1));
        let mut needed: Vec<&str> = homes.map(|all| all[0]).collect();
        let imported = imported(&files[file], &format!("crate::{room}::"));
        needed.extend(files.keys().filter(|one| imported.contains(one)).map(String::as_str));
        needed.retain(|one| *one != file);
        needed
    };
    let needs: BTreeMap<&str, Vec<&str>> = files.keys().map(|one| (&**one, needs(one))).collect();
    let reached = |from: &str| {
        let (mut seen, mut open) = (Vec::new(), vec![from]);
        while let Some(one) = open.pop() {
            let new = needs.get(one).into_iter().flatten().filter(|next| !seen.contains(*next));
            let new: Vec<&str> = new.copied().collect();
            seen.extend(&new);
            open.extend(new);
        }
        seen
    };
    let reached: BTreeMap<&str, Vec<&str>> = needs.keys().map(|one| (*one, reached(one))).collect();
    let circle = |file: &&'f str| -> Vec<&'f str> {
        let both =
            |one: &&String| reached[file].contains(&&***one) && reached[&***one].contains(file);
        files.keys().filter(both).map(String::as_str).collect()
    };
    files.keys().map(|file| circle(&file.as_str())).max_by_key(Vec::len).unwrap_or_default()
}

#[test]
fn circles_of_files_in_a_room_do_not_grow() {
    let mut rooms: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for (path, text) in files(&[".rs"]) {
        let inside = path.strip_prefix("crates/engine/src/").and_then(|path| path.split_once('/'));
        let Some((room, file)) = inside.filter(|(_, file)| !file.ends_with("tests.rs")) else {
            continue;
        };
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        // A folder counts as one file with the module file that it belongs to.
        let file = file.split('/').next().unwrap_or_default().trim_end_matches(".rs");
        rooms
            .entry(room.to_owned())
            .or_default()
            .entry(file.to_owned())
            .or_default()
            .push_str(text);
    }
    let mut found = Vec::new();
    for (room, files) in &rooms {
        let circle = largest_circle(room, files);
        let most = CIRCLES.iter().find(|(of, _)| of == room).map_or(0, |(_, most)| *most);
        if circle.len() > most {
            let (count, files) = (circle.len(), circle.join(", "));
            found.push(format!("{room}: {count} files in a circle, {most} at most: {files}"));
        }
    }
    nothing_found(&found);
}
