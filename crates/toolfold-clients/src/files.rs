//! The only part that touches the disk. A file is written aside and put in place in one step, with the mode and owner that
//! it had; a link is followed, so that a file kept elsewhere stays a link to there.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use toolfold_core::to_hex;

use crate::format::LARGEST;

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{} cannot be read: {source}", .path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{} is not UTF-8 text", .path.display())]
    NotText { path: PathBuf },
    #[error("{} is larger than any configuration", .path.display())]
    TooLarge { path: PathBuf },
    #[error("{} cannot be written: {source}", .path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error("{} was changed by somebody else just now", .path.display())]
    Changed { path: PathBuf },
}

pub(crate) fn is_file(path: &Path) -> bool {
    path.is_file()
}

pub(crate) fn is_there(path: &Path) -> bool {
    path.exists()
}

/// What is in a folder, in order.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

pub(crate) fn on_path(program: &str, paths: &str) -> bool {
    find_program(program, paths).is_some()
}

pub(crate) fn find_program(program: &str, paths: &str) -> Option<PathBuf> {
    let endings: &[&str] = if cfg!(windows) { &[".exe", ".cmd", ""] } else { &[""] };
    let folders = std::env::split_paths(paths).filter(|folder| folder.is_absolute());
    folders
        .flat_map(|folder| endings.iter().map(move |ending| folder.join(format!("{program}{ending}"))))
        .find(|path| path.is_file())
}

/// `None` where there is no such file.
pub fn read(path: &Path) -> Result<Option<String>, FileError> {
    let Some(bytes) = read_bytes(path, LARGEST)? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|_| FileError::NotText { path: path.to_owned() })
}

pub(crate) fn read_bytes(path: &Path, largest: u64) -> Result<Option<Vec<u8>>, FileError> {
    let unreadable = |source| FileError::Read { path: path.to_owned(), source };
    let file = match open_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(unreadable)?,
    };
    let mut bytes = Vec::new();
    file.take(largest + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > largest {
        return Err(FileError::TooLarge { path: path.to_owned() });
    }
    Ok(Some(bytes))
}

/// Opens a file, and nothing else, without waiting: to open a pipe is to wait for whoever writes into it. What it is, is asked
/// of what was opened: what stands at a path can be exchanged between a look and the next.
pub fn open_file(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits() as i32);
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(std::io::Error::other(NoFile)),
    }
}

/// Something stands there that is no file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not a file")]
pub struct NoFile;

/// Puts a text in place of another. `before` is what was read: where the file is no longer that, nothing is written.
pub fn replace(path: &Path, before: Option<&str>, after: &str) -> Result<(), FileError> {
    let target = followed(path);
    if read(&target)?.as_deref() != before {
        return Err(FileError::Changed { path: path.to_owned() });
    }
    write(&target, after).map_err(|source| FileError::Write { path: path.to_owned(), source })
}

/// Takes a file away that is still what it should be.
pub(crate) fn take_away(path: &Path, before: &str) -> Result<(), FileError> {
    if read(path)?.as_deref() != Some(before) {
        return Err(FileError::Changed { path: path.to_owned() });
    }
    fs::remove_file(path).map_err(|source| FileError::Write { path: path.to_owned(), source })
}

/// A file of our own, for this user alone.
pub(crate) fn write_own(path: &Path, text: &str) -> Result<(), FileError> {
    write(path, text).map_err(|source| FileError::Write { path: path.to_owned(), source })
}

pub(crate) fn forget(path: &Path) {
    // What is left behind is read by nobody.
    let _ = fs::remove_file(path);
}

pub(crate) fn digest(text: &str) -> String {
    digest_bytes(text.as_bytes())
}

pub(crate) fn digest_bytes(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes))
}

/// A file of a bundle. One that is there is the same: the folder's name is made from the content.
pub(crate) fn unpack(path: &Path, bytes: &[u8], is_program: bool) -> Result<(), FileError> {
    let unwritable = |source| FileError::Write { path: path.to_owned(), source };
    fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).map_err(unwritable)?;
    fs::write(path, bytes).map_err(unwritable)?;
    if is_program { make_program(path).map_err(unwritable) } else { Ok(()) }
}

#[cfg(unix)]
fn make_program(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_program(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Where a link leads, also when nothing is there yet.
fn followed(path: &Path) -> PathBuf {
    if let Ok(whole) = path.canonicalize() {
        return whole;
    }
    match fs::read_link(path) {
        Ok(link) => path.parent().unwrap_or(Path::new("")).join(link),
        Err(_) => path.to_owned(),
    }
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let aside = folder.join(format!(".{name}.{}.new", std::process::id()));
    let written = write_aside(&aside, text, path).and_then(|()| fs::rename(&aside, path));
    if written.is_err() {
        forget(&aside);
    }
    written?;
    // The name lasts once the folder is on the disk too; where folders cannot be opened, nothing is lost.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

fn write_aside(aside: &Path, text: &str, like: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    for_this_user_alone(&mut options);
    // Left by a process that was killed, and had this number.
    forget(aside);
    let mut file = options.open(aside)?;
    file.write_all(text.as_bytes())?;
    if let Ok(about) = fs::metadata(like) {
        keep_owner(aside, &about);
        file.set_permissions(about.permissions())?;
    }
    file.sync_all()
}

#[cfg(unix)]
fn for_this_user_alone(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn for_this_user_alone(_: &mut OpenOptions) {}

/// Only root can give a file away; for anybody else it is theirs already.
#[cfg(unix)]
fn keep_owner(path: &Path, about: &fs::Metadata) {
    use std::os::unix::fs::MetadataExt;
    let _ = std::os::unix::fs::chown(path, Some(about.uid()), Some(about.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_: &Path, _: &fs::Metadata) {}
