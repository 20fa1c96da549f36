//! Data files for each agent: the lines of the agent's users, with blank lines in place of the others.
//!
//! Line k of a data file belongs to user k mod users. That user is in a share of the run, and the share belongs to an
//! agent. A file is cut if this holds in every round: reading stops at the last line, or the number of lines is a
//! multiple of the users. A file is sent completely if the plan also reads it in other ways, if there is only one
//! agent, or if it is short.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use plan::state::{DealtFile, UnsplittableFile};

use super::manifest::{self, Manifest};
use super::wire::Named;

/// The data files that the plan's elements read, each with its name. If the lines of a file are distributed over the
/// users, also the rule of the distribution.
pub type Dealt = Vec<(String, Option<DealtFile>)>;

/// Length in bytes below which a file is sent completely.
const WORTH: u64 = 64 << 10;

/// The data files that are cut, by their index in the manifest.
#[derive(Debug, Default)]
pub(crate) struct Cuts {
    files: BTreeMap<usize, DealtFile>,
    /// Messages for the user about data files.
    pub(crate) notes: Vec<String>,
}

impl Cuts {
    /// Determines the files to cut.
    pub(crate) fn find(manifest: &Manifest, dealt: &Dealt, agents: usize) -> Self {
        let mut cuts = Self::default();
        if agents < 2 {
            return cuts;
        }
        for (at, (named, path)) in manifest.files.iter().enumerate() {
            if named.length < WORTH || named.path.starts_with('/') || !manifest.is_data(&named.path)
            {
                continue;
            }
            let of =
                |name: &str| manifest::normal(name).is_some_and(|(_, path)| path == named.path);
            let mut reads =
                dealt.iter().filter(|(name, _)| of(name)).map(|(_, file)| file.as_ref());
            let Some(Some(file)) = reads.next() else { continue };
            if reads.any(|other| other.is_none_or(|other| !other.is_dealt_as(file))) {
                continue;
            }
            let why = match file.lines(path) {
                Ok(0) => continue,
                Ok(lines) if !file.recycle || lines % u64::from(file.users) == 0 => {
                    cuts.files.insert(at, file.clone());
                    continue;
                }
                Ok(lines) => format!(
                    "it is reread from the start, and its number of lines ({lines}) is not a multiple of its users ({})",
                    file.users
                ),
                Err(UnsplittableFile::Form(why)) => why.to_owned(),
                Err(UnsplittableFile::Unreadable(_)) => continue,
            };
            cuts.notes.push(format!(
                "data file {} is sent to each machine completely: {why}",
                named.path
            ));
        }
        cuts
    }

    /// Returns the number of data files that are cut.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns the files that each agent receives. `shares` lists the shares of each agent. Cut files are written into
    /// `folder`.
    pub(crate) fn files(
        &self,
        manifest: &Manifest,
        shares: &[Vec<u32>],
        folder: &Path,
    ) -> Result<Vec<Vec<(Named, PathBuf)>>, String> {
        let mut files = vec![manifest.files.clone(); shares.len()];
        // The number of the agent that each share belongs to.
        let mut agents = vec![0; shares.iter().map(Vec::len).sum()];
        for (agent, shares) in shares.iter().enumerate() {
            for share in shares {
                if let Some(of) = agents.get_mut(*share as usize) {
                    *of = agent;
                }
            }
        }
        for (at, of) in &self.files {
            let (named, path) = &manifest.files[*at];
            let words = |error: io::Error| format!("{}: {error}", folder.display());
            fs::create_dir_all(folder).map_err(words)?;
            let into: Vec<PathBuf> =
                (0..shares.len()).map(|agent| folder.join(format!("{at}-{agent}"))).collect();
            let mut out = Vec::new();
            for path in &into {
                out.push(BufWriter::with_capacity(64 << 10, File::create(path).map_err(words)?));
            }
            let users = u64::from(of.users);
            let owner = |line: u64| agents[(line % users) as usize % agents.len()];
            of.deal(path, &mut out, owner).map_err(|odd| match odd {
                UnsplittableFile::Unreadable(error) => {
                    format!("cannot split {}: {error}", path.display())
                }
                UnsplittableFile::Form(why) => format!("{} has changed: {why}", path.display()),
            })?;
            for ((mut out, into), files) in out.into_iter().zip(into).zip(&mut files) {
                out.flush().map_err(words)?;
                let (hash, length) = manifest::hash(&into).map_err(words)?;
                files[*at] = (Named { hash, length, path: named.path.clone() }, into);
            }
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn plan(mode: &str, recycle: bool, more: &str) -> String {
        format!(
            r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testclass="TestPlan" testname="P"/><hashTree>
<ThreadGroup testclass="ThreadGroup" testname="G"><stringProp name="ThreadGroup.num_threads">6</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">1</stringProp></elementProp></ThreadGroup><hashTree>
<CSVDataSet testclass="CSVDataSet" testname="d"><stringProp name="filename">data.csv</stringProp><stringProp name="variableNames">a</stringProp>
<stringProp name="delimiter">,</stringProp><stringProp name="shareMode">{mode}</stringProp><boolProp name="recycle">{recycle}</boolProp></CSVDataSet><hashTree/>
{more}</hashTree></hashTree></hashTree></jmeterTestPlan>"#
        )
    }

    /// Cuts a file for three agents, the second of which has two shares. Returns the line numbers that each agent gets;
    /// `None` if the file is sent completely.
    fn dealt(name: &str, plan: &str, lines: usize) -> Option<Vec<Vec<usize>>> {
        let folder =
            std::env::temp_dir().join(format!("throng-cuts-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        let pad = "x".repeat(64);
        let content = (0..lines).fold(String::new(), |all, n| all + &format!("{n:064},{pad}\n"));
        fs::write(folder.join("data.csv"), content).expect("a file");
        let (document, _) = jmx::parse("p", plan.as_bytes().to_vec()).expect("XML");
        let manifest = manifest::manifest(&document, &HashMap::new(), &folder).expect("files");
        let settings = plan::compile::Settings {
            properties: HashMap::new(),
            folder: folder.clone(),
            java_backing: false,
        };
        let compiled = plan::compile::compile(&document, &settings).plan.expect("a plan");
        let dealt = plan::state::dealt_files(&compiled, &[6]);
        let cuts = Cuts::find(&manifest, &dealt, 3);
        let made = (cuts.len() == 1).then(|| {
            let shares = [vec![0], vec![1, 3], vec![2]];
            let files = cuts.files(&manifest, &shares, &folder.join("cut")).expect("cut");
            let own = |files: Vec<(Named, PathBuf)>| {
                let text = fs::read_to_string(&files[0].1).expect("a file");
                let kept = text.lines().enumerate().filter(|(_, line)| !line.is_empty());
                assert_eq!(text.lines().count(), lines);
                kept.map(|(at, _)| at).collect()
            };
            files.into_iter().map(own).collect()
        });
        let _ = fs::remove_dir_all(folder);
        made
    }

    #[test]
    fn each_agent_gets_the_lines_of_its_users() {
        let agents =
            dealt("own", &plan("shareMode.all", false, ""), 1000).expect("a file that is cut");
        // Of six users, 0 and 4 are in share 0 of four, 1 and 5 in share 1, 2 in share 2, and 3 in share 3.
        assert_eq!(agents[0][..5], [0, 4, 6, 10, 12]);
        assert_eq!(agents[1][..5], [1, 3, 5, 7, 9]);
        assert_eq!(agents[2][..5], [2, 8, 14, 20, 26]);
        assert_eq!(agents.iter().map(Vec::len).sum::<usize>(), 1000);
    }

    #[test]
    fn files_that_begin_anew_are_cut_only_where_each_round_is_dealt_alike() {
        assert!(dealt("round", &plan("shareMode.all", true, ""), 1002).is_some());
        assert!(dealt("shifted", &plan("shareMode.all", true, ""), 1000).is_none());
    }

    #[test]
    fn files_that_are_read_otherwise_are_sent_whole() {
        assert!(dealt("thread", &plan("shareMode.thread", false, ""), 1000).is_none());
        let twice = r#"<CSVDataSet testclass="CSVDataSet" testname="e"><stringProp name="filename">./data.csv</stringProp><stringProp name="variableNames">b</stringProp>
<stringProp name="delimiter">,</stringProp><stringProp name="shareMode">shareMode.thread</stringProp></CSVDataSet><hashTree/>"#;
        assert!(dealt("twice", &plan("shareMode.all", false, twice), 1000).is_none());
        let function = r#"<DebugSampler testclass="DebugSampler" testname="${__FileToString(data.csv)}"/><hashTree/>"#;
        let in_a_text = plan("shareMode.all", false, function).replace("testname=\"P\"/>", "testname=\"P\"><stringProp name=\"TestPlan.comments\">${__CSVRead(data.csv,0)}</stringProp></TestPlan>");
        assert!(dealt("function", &in_a_text, 1000).is_none());
        assert!(dealt("short", &plan("shareMode.all", false, ""), 10).is_none());
    }
}
