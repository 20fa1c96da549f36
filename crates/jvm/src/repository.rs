//! Sources of artefacts: Maven's local repository on this machine, then a remote repository, by default Maven Central.
//!
//! Each file is compared with a known checksum, so its source need not be trusted. A mirror can be set by flag or
//! environment variable, or is taken from Maven's settings.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quick_xml::events::Event;
use sha2::{Digest, Sha256};
use ureq::Agent;

use crate::artefacts::Artefact;

/// Address of Maven Central.
pub(crate) const CENTRAL: &str = "https://repo.maven.apache.org/maven2";

/// Number of attempts to download an artefact.
const TRIES: u32 = 3;

/// A source of artefacts.
#[derive(Debug)]
pub struct Repository {
    /// Address of the remote repository.
    pub url: String,
    /// Maven's local repository, `~/.m2/repository`.
    local: Option<PathBuf>,
    agent: Agent,
}

impl Repository {
    /// Returns the repository at `url`, or else the mirror in Maven's settings, or else Maven Central.
    pub fn new(url: Option<&str>) -> Self {
        let maven = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".m2"));
        let settings = maven.as_ref().map(|folder| folder.join("settings.xml"));
        let mirror = || mirror(&std::fs::read_to_string(settings?).ok()?);
        let url = url.map(str::to_owned).or_else(mirror).unwrap_or_else(|| CENTRAL.to_owned());
        let local = maven.map(|folder| folder.join("repository"));
        Self::at(&url, local)
    }

    /// Returns the repository at `url`. Artefacts are first searched in `local`, Maven's local repository.
    pub fn at(url: &str, local: Option<PathBuf>) -> Self {
        let config = Agent::config_builder()
            .timeout_connect(Some(Duration::from_secs(20)))
            .timeout_recv_response(Some(Duration::from_secs(60)))
            .timeout_global(Some(Duration::from_secs(600)))
            .tls_config(trust::by_roots_of_system())
            .build();
        Self { url: url.trim_end_matches('/').to_owned(), local, agent: config.into() }
    }

    /// Returns the content of an artefact.
    ///
    /// # Errors
    ///
    /// The reason why the artefact cannot be downloaded.
    pub fn get(&self, artefact: &Artefact) -> Result<Vec<u8>, String> {
        let path = artefact.path();
        let local = self.local.as_ref().and_then(|folder| std::fs::read(folder.join(&path)).ok());
        if let Some(content) = local.filter(|content| is(artefact, content)) {
            return Ok(content);
        }
        let url = format!("{}/{path}", self.url);
        let mut trouble = String::new();
        for _ in 0..TRIES {
            match self.fetch(&url, artefact.bytes) {
                Ok(content) if is(artefact, &content) => return Ok(content),
                Ok(content) => {
                    trouble = format!(
                        "{url} has unexpected content: {} bytes with SHA-256 {}, not {} bytes with {}",
                        content.len(),
                        sum(&content),
                        artefact.bytes,
                        artefact.sha256
                    );
                }
                Err((words, true)) => return Err(words),
                Err((words, false)) => trouble = words,
            }
        }
        Err(trouble)
    }

    /// Downloads a file. An error contains a message, and true if a further attempt would fail too.
    fn fetch(&self, url: &str, bytes: u64) -> Result<Vec<u8>, (String, bool)> {
        let failed = |error: ureq::Error| {
            let for_good = matches!(&error, ureq::Error::StatusCode(status) if *status < 500);
            (format!("cannot fetch {url}: {error}"), for_good)
        };
        let mut answer = self.agent.get(url).call().map_err(failed)?;
        let mut content = Vec::with_capacity(bytes as usize);
        answer
            .body_mut()
            .as_reader()
            // One byte more than expected is enough to see that the length is wrong.
            .take(bytes + 1)
            .read_to_end(&mut content)
            .map_err(|error| (format!("cannot fetch {url}: {error}"), false))?;
        Ok(content)
    }
}

/// Returns true if the content has the artefact's length and checksum.
pub(crate) fn is(artefact: &Artefact, content: &[u8]) -> bool {
    content.len() as u64 == artefact.bytes && sum(content) == artefact.sha256
}

/// Returns true if the file has the artefact's content.
pub(crate) fn is_file(artefact: &Artefact, file: &Path) -> bool {
    let length = file.metadata().map(|data| data.len());
    length.is_ok_and(|length| length == artefact.bytes)
        && std::fs::read(file).is_ok_and(|content| is(artefact, &content))
}

/// Returns the SHA-256 of the content in hexadecimal digits.
pub(crate) fn sum(content: &[u8]) -> String {
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16));
    Sha256::digest(content).iter().flat_map(digits).flatten().collect()
}

/// Returns the address of the mirror for Maven Central in Maven's settings. A mirror is for Maven Central if its
/// pattern is `*`, `external:*`, or a list with `central`.
fn mirror(settings: &str) -> Option<String> {
    let mut reader = quick_xml::Reader::from_str(settings);
    let (mut inside, mut tag) = (false, String::new());
    let (mut url, mut of) = (String::new(), String::new());
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) => {
                start.local_name().as_ref().clone_into(&mut tag);
                if tag == "mirror" {
                    inside = true;
                    url.clear();
                    of.clear();
                }
            }
            Event::Text(text) if inside => {
                let text: &str = &text;
                match tag.as_str() {
                    "url" => url.push_str(text.trim()),
                    "mirrorOf" => of.push_str(text.trim()),
                    _ => {}
                }
            }
            Event::End(end) => {
                tag.clear();
                if end.local_name().as_ref() == "mirror" {
                    inside = false;
                    let mut names = of.split(',').map(str::trim);
                    if !url.is_empty()
                        && names.any(|of| ["*", "external:*", "central"].contains(&of))
                    {
                        return Some(url);
                    }
                }
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_of_central_are_honoured() {
        let settings = |of: &str| {
            format!(
                "<settings><!-- x --><mirrors><mirror><id>other</id><mirrorOf>external:http:*</mirrorOf><url>http://0.0.0.0/</url></mirror>\
                 <mirror><id>m</id><url> https://mirror/m2 </url><mirrorOf>{of}</mirrorOf></mirror></mirrors></settings>"
            )
        };
        for of in ["*", "central", "a, central", "external:*"] {
            assert_eq!(mirror(&settings(of)).as_deref(), Some("https://mirror/m2"), "{of}");
        }
        assert_eq!(mirror(&settings("snapshots")), None);
        assert_eq!(mirror("<settings/>"), None);
        assert_eq!(mirror("no settings <"), None);
    }

    #[test]
    fn sums_are_those_of_sha_256() {
        assert!(sum(b"abc").starts_with("ba7816bf8f01cfea"));
    }
}
