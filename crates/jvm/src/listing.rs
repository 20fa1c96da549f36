//! The classes on a class path, read from the directories of its jars: no class is loaded, so no code of a plan's jars
//! runs.
//!
//! It costs reading the directory of each jar, a few megabytes for a whole JMeter, and only if there are classes to
//! look for.

use std::fs::File;
use std::path::Path;

use crate::class_path::ClassPath;

/// Returns the `classes`, given by full names, that no entry of the class path contains.
pub(crate) fn missing<'a>(path: &ClassPath, mut classes: Vec<&'a str>) -> Vec<&'a str> {
    for entry in &path.entries {
        if classes.is_empty() {
            break;
        }
        remove_found(entry, &mut classes);
    }
    classes
}

fn remove_found(entry: &Path, classes: &mut Vec<&str>) {
    let file = |class: &str| class.replace('.', "/") + ".class";
    if entry.is_dir() {
        classes.retain(|class| !entry.join(file(class)).is_file());
    } else if entry.is_file()
        && let Ok(jar) = File::open(entry)
        && let Ok(archive) = zip::ZipArchive::new(jar)
    {
        classes.retain(|class| archive.index_for_name(&file(class)).is_none());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn classes_are_found_in_folders_and_jars() {
        let folder = tempfile::tempdir().expect("a folder");
        let jar = folder.path().join("one.jar");
        let mut writer = zip::ZipWriter::new(File::create(&jar).expect("a file"));
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file("com/example/One.class", options).expect("an entry");
        writer.write_all(b"no class").expect("written");
        writer.finish().expect("a jar");
        let below = folder.path().join("com/example");
        std::fs::create_dir_all(&below).expect("a folder");
        std::fs::write(below.join("Two.class"), "").expect("a file");
        std::fs::write(folder.path().join("odd.jar"), "no jar").expect("a file");
        let entries = vec![jar, folder.path().join("odd.jar"), folder.path().to_owned()];
        let path = ClassPath { entries, ..ClassPath::default() };
        let classes = vec!["com.example.One", "com.example.Two", "com.example.Three"];
        assert_eq!(missing(&path, classes), ["com.example.Three"]);
    }
}
