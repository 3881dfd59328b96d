//! Which configurations somebody has looked at and said yes to. A `toolfold.toml` that was merely found, in a folder that
//! was cloned or unpacked, names programs to start and variables to send away: it is used once its path *and* its content
//! have been trusted.
//!
//! One small file for each, in the state folder: two that trust at once cannot undo each other, and a damaged one
//! costs one file its trust.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toolfold_core::to_hex;

#[derive(Debug, Clone)]
pub struct TrustList {
    folder: PathBuf,
}

/// What is remembered of one configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedFile {
    pub path: PathBuf,
    /// Of the content, in hexadecimal.
    pub sha256: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Trusted,
    /// It was trusted, and is no longer what it was then.
    Changed,
    Unknown,
}

#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("{} cannot be read: {source}", .path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{} belongs to another user", .path.display())]
    Stranger { path: PathBuf },
    #[error("{} cannot be written: {source}", .path.display())]
    Write { path: PathBuf, source: std::io::Error },
}

impl TrustList {
    /// What is remembered in this state folder.
    pub fn new(state: &Path) -> TrustList {
        TrustList { folder: state.join("trusted") }
    }

    /// Trusts a file as it is now.
    pub fn add(&self, path: &Path) -> Result<TrustedFile, TrustError> {
        let unreadable = |source| TrustError::Read { path: path.to_owned(), source };
        let whole = path.canonicalize().map_err(unreadable)?;
        if !crate::source::owned_by_us(&whole) {
            return Err(TrustError::Stranger { path: whole });
        }
        let content = fs::read(&whole).map_err(unreadable)?;
        let trusted = TrustedFile { sha256: hash(&content), path: whole };
        let note = self.note(&trusted.path);
        self.write(&note, &trusted).map_err(|source| TrustError::Write { path: note, source })?;
        Ok(trusted)
    }

    /// Whether there was something to take back.
    pub fn revoke(&self, path: &Path) -> Result<bool, TrustError> {
        // A file that is gone can still be trusted, should it come back.
        let note = self.note(&path.canonicalize().unwrap_or_else(|_| path.to_owned()));
        match fs::remove_file(&note) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(source) => Err(TrustError::Write { path: note, source }),
        }
    }

    /// In order of path.
    pub fn list(&self) -> Vec<TrustedFile> {
        let notes = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut all: Vec<TrustedFile> = notes.filter_map(|note| read(&note.path())).collect();
        all.sort_by(|a, b| a.path.cmp(&b.path));
        all
    }

    /// Of a file whose content was read already: it must be the content that is used, not one read later.
    pub fn verdict(&self, path: &Path, content: &[u8]) -> Verdict {
        let Ok(whole) = path.canonicalize() else { return Verdict::Unknown };
        match read(&self.note(&whole)) {
            Some(known) if known.path != whole => Verdict::Unknown,
            Some(known) if known.sha256 == hash(content) => Verdict::Trusted,
            Some(_) => Verdict::Changed,
            None => Verdict::Unknown,
        }
    }

    /// Where it is written down that a file is trusted.
    pub(crate) fn note(&self, whole: &Path) -> PathBuf {
        self.folder.join(format!("{}.json", hash(whole.as_os_str().as_encoded_bytes())))
    }

    fn write(&self, note: &Path, trusted: &TrustedFile) -> std::io::Result<()> {
        let (mut folder, mut file) = (DirBuilder::new(), OpenOptions::new());
        for_this_user_alone(&mut folder, &mut file);
        folder.recursive(true).create(&self.folder)?;
        let aside = note.with_extension(format!("{}.new", std::process::id()));
        let mut writer = file.write(true).create(true).truncate(true).open(&aside)?;
        writer.write_all(serde_json::to_string(trusted)?.as_bytes())?;
        writer.sync_all()?;
        fs::rename(&aside, note)
    }
}

#[cfg(unix)]
fn for_this_user_alone(folder: &mut DirBuilder, file: &mut OpenOptions) {
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
    folder.mode(0o700);
    file.mode(0o600);
}

#[cfg(not(unix))]
fn for_this_user_alone(_: &mut DirBuilder, _: &mut OpenOptions) {}

fn read(note: &Path) -> Option<TrustedFile> {
    // Whoever could write here could have said yes for the user.
    crate::source::owned_by_us(note)
        .then(|| fs::read(note).ok())
        .flatten()
        .and_then(|text| serde_json::from_slice(&text).ok())
}

fn hash(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes))
}
