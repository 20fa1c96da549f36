//! Credentials of an operator: from the environment, or lent by another machine for a run.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

use super::server::{read, var};

/// Reads an environment variable. An empty variable counts as unset.
pub(crate) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Collects the operator's credentials from the environment, to send them to another machine: each variable with its
/// value, or with the content of the file that the value names.
pub(crate) fn credentials() -> Result<Vec<(String, String)>, String> {
    let mut credentials = Vec::new();
    for name in [var::USER, var::PASSWORD, var::TOKEN] {
        credentials.extend(env(name).map(|value| (name.to_owned(), value)));
    }
    for name in FILES {
        if let Some(path) = env(name) {
            credentials.push((name.to_owned(), read(name, &path)?));
        }
    }
    Ok(credentials)
}

/// Environment variables whose values are paths of credential files.
const FILES: [&str; 4] = [var::CREDS, var::CA, var::OPERATOR_SECRET, var::SEAL];

/// Credentials received from another machine. Credentials that are files are written to a folder that only this user
/// can read. Dropping this value deletes the folder.
#[derive(Debug)]
pub(crate) struct LentCredentials {
    variables: Vec<(String, String)>,
    folder: PathBuf,
}

impl LentCredentials {
    pub(crate) fn new(credentials: Vec<(String, String)>) -> std::io::Result<Self> {
        let folder = std::env::temp_dir().join(format!("throng-proofs-{}", std::process::id()));
        fs::DirBuilder::new().mode(0o700).create(&folder)?;
        let mut this = Self { variables: credentials, folder };
        for (name, value) in &mut this.variables {
            if let Some(at) = FILES.iter().position(|file| file == name) {
                let path = this.folder.join(at.to_string());
                let how = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
                how?.write_all(value.as_bytes())?;
                *value = path.to_string_lossy().into_owned();
            }
        }
        Ok(this)
    }

    pub(crate) fn var(&self, name: &str) -> Option<String> {
        let found = self.variables.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    }
}

impl Drop for LentCredentials {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lent_proofs_are_private_and_gone_at_the_end() {
        use std::os::unix::fs::PermissionsExt;
        let credentials = [(var::USER, "me"), (var::SEAL, "key"), (var::CA, "ca")];
        let credentials = credentials.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let lent = LentCredentials::new(credentials.into()).expect("a folder");
        assert_eq!(lent.var(var::USER).as_deref(), Some("me"));
        assert_eq!(lent.var(var::CREDS), None);
        let path = PathBuf::from(lent.var(var::SEAL).expect("a file"));
        assert_eq!(fs::read(&path).expect("readable"), b"key");
        let mode = |path: &std::path::Path| {
            fs::metadata(path).expect("there").permissions().mode() & 0o777
        };
        assert_eq!((mode(&path), mode(path.parent().expect("a folder"))), (0o600, 0o700));
        drop(lent);
        assert!(!path.exists());
    }
}
