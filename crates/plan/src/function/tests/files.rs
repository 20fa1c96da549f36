//! Tests of file functions, in a temporary folder.

use std::path::PathBuf;
use std::sync::Arc;

use super::compiled;
use crate::function::{Memory, Shared};
use crate::template::Thrown;
use crate::world::World;

/// A folder that is deleted when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("throng-function-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, content: &[u8]) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().into()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Sets the variable `f` to a file name, so that names need no escapes.
fn with_file(world: &mut World, file: &str) {
    world.set("f", file);
}

#[test]
fn rows_of_a_file_are_shared_and_stay_until_the_next() {
    let folder = Folder::new("csv");
    let file = folder.write("users.csv", b"ann,1\nbob,\nlast\n\nhidden,9\n");
    let ([name, number, next, beyond], mut world, _) = compiled([
        "${__CSVRead(${f},0)}",
        "${__CSVRead(${f},1)}",
        "${__CSVRead(${f},next)}",
        "${__CSVRead(${f},2)}|",
    ]);
    with_file(&mut world, &file);
    let row = |world: &mut World| [world.eval(&name), world.eval(&number)];
    assert_eq!(row(&mut world), ["ann", "1"]);
    assert_eq!(row(&mut world), ["ann", "1"], "the row stays");
    assert_eq!(world.eval(&next), "");
    assert_eq!(row(&mut world), ["bob", ""]);
    assert_eq!(world.eval(&beyond), "|");
    // Another user gets the next row; after the last row, reading restarts at the first row.
    let first = std::mem::take(&mut world.memory);
    assert_eq!(row(&mut world), ["last", ""]);
    world.memory = Memory::default();
    assert_eq!(row(&mut world), ["ann", "1"]);
    world.memory = first;
    assert_eq!(row(&mut world), ["bob", ""]);
}

#[test]
fn a_csv_file_has_an_alias_and_a_place_beside_the_plan() {
    let folder = Folder::new("alias");
    folder.write("data.txt", b"a;b\nc;d\n");
    let ([open, read, first], mut world, _) =
        compiled(["${__CSVRead(data.txt,*x)}", "${__CSVRead(*x,1)}", "${__CSVRead(,0)}"]);
    let (log, _) = std::sync::mpsc::channel();
    world.shared = Arc::new(Shared::new([("csvread.delimiter", ";")], &folder.0, log));
    assert_eq!([&read, &open, &read].map(|text| world.eval(text)), ["", "", "b"]);
    // A call without a file name uses the only open file. The file is opened a second time for this call, with separate
    // rows.
    assert_eq!(world.eval(&first), "a");
}

#[test]
fn lines_come_one_after_another_and_start_again() {
    let folder = Folder::new("lines");
    let file = folder.write("lines.txt", b"one\r\ntwo\n\nfour");
    let ([first, second], mut world, _) =
        compiled(["${__StringFromFile(${f})}${StringFromFile_}", "${__StringFromFile(${f},)}"]);
    with_file(&mut world, &file);
    let all: Vec<_> = (0..5).map(|_| world.eval(&first)).collect();
    assert_eq!(all, ["oneone", "twotwo", "", "fourfour", "oneone"]);
    assert_eq!(world.eval(&second), "one", "each call has its own position");
}

#[test]
fn files_of_a_sequence_follow_each_other_and_end_the_user() {
    let folder = Folder::new("sequence");
    folder.write("f07.txt", b"a\nb\n");
    folder.write("f08.txt", b"c\n");
    let ([text], mut world, _) = compiled(["${__StringFromFile(${f},v,7,8)}"]);
    with_file(&mut world, &format!("'{}/f'00'.txt'", folder.0.to_str().unwrap()));
    let all: Vec<_> = (0..3).map(|_| world.eval(&text)).collect();
    assert_eq!(all, ["a", "b", "c"]);
    assert_eq!(world.eval(&text), "");
    assert!(world.core.thrown.take().is_some_and(|thrown| thrown.stops_user()));
}

#[test]
fn an_empty_file_has_no_lines() {
    let folder = Folder::new("empty");
    let file = folder.write("empty.txt", b"");
    let ([text], mut world, _) = compiled(["${__StringFromFile(${f})}"]);
    with_file(&mut world, &file);
    assert_eq!(world.eval(&text), "null");
}

#[test]
fn whole_files_are_read_again_when_they_change() {
    let folder = Folder::new("whole");
    let file = folder.write("a.txt", "ä\n".as_bytes());
    let ([utf8, latin, wide, unknown], mut world, _) = compiled([
        "${__FileToString(${f},,v)}|${v}",
        "${__FileToString(${f}, ISO-8859-1 )}",
        "${__FileToString(${f},UTF-16)}",
        "${__FileToString(${f},nope)}",
    ]);
    with_file(&mut world, &file);
    assert_eq!(world.eval(&utf8), "ä\n|ä\n");
    assert_eq!(world.eval(&latin), "Ã¤\n");
    folder.write("a.txt", b"longer");
    assert_eq!(world.eval(&utf8), "longer|longer");
    folder.write("a.txt", &[0xff, 0xfe, b'x', 0]);
    assert_eq!(world.eval(&wide), "x");
    assert_eq!(world.eval(&unknown), "");
    assert_eq!(
        world.core.thrown.take().map(|thrown| thrown.class),
        Some("java.nio.charset.UnsupportedCharsetException")
    );
    assert!(!Thrown { class: "x", message: String::new() }.stops_user());
}

#[test]
fn strings_are_appended_to_files_unless_told_otherwise() {
    let folder = Folder::new("append");
    let file = folder.0.join("out.txt").to_str().unwrap().to_owned();
    // If the plan itself names the file, the file may be in any folder.
    let calls = [
        format!(r"${{__StringToFile({file},a\n)}}"),
        format!("${{__StringToFile({file},b,False)}}"),
        format!("${{__StringToFile({file},ä,true,UTF-16BE)}}"),
        format!("${{__StringToFile( {file} ,c,)}}"),
    ];
    let ([append, replace, wide, blank], mut world, _) =
        compiled(calls.each_ref().map(String::as_str));
    let read = || std::fs::read(&file).unwrap();
    assert_eq!([&append, &append].map(|text| world.eval(text)), ["true", "true"]);
    assert_eq!(read(), b"a\na\n");
    assert_eq!([&replace, &wide, &blank].map(|text| world.eval(text)), ["true", "true", "true"]);
    assert_eq!(read(), b"b\0\xe4c");
}
