//! Finding the file and reading its text. A file that was searched for is only trusted where this user or root owns
//! it: a `toolfold.toml` that somebody left in `/tmp` would otherwise decide which programs are started below it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::options::LoadOptions;
use crate::report::{Place, Report};

pub(crate) const FILE_NAME: &str = "toolfold.toml";

/// A configuration is text that somebody wrote; a disk image given by mistake need not be read to its end.
const LARGEST: u64 = 4 * 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Toml,
    Json,
}

pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) format: Format,
}

impl Source {
    /// The folder that paths in the file are relative to.
    pub(crate) fn base(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }
}

/// The file's text; `None` where there is no file, or it cannot be read (reported).
pub(crate) fn read(options: &LoadOptions, report: &mut Report) -> Option<Source> {
    let named = options.file.clone().or_else(|| options.variable("TOOLFOLD_CONFIG").map(PathBuf::from));
    let path = match named {
        Some(file) => options.directory.join(file),
        None => search(options, report)?,
    };
    report.enter(shown(&path, &options.directory), "");
    let text = read_text(&path, report)?;
    let format = format_of(&path, &text);
    Some(Source { path, text, format })
}

/// As short as it can be said from the working directory.
pub(crate) fn shown(path: &Path, directory: &Path) -> PathBuf {
    path.strip_prefix(directory).unwrap_or(path).to_owned()
}

fn search(options: &LoadOptions, report: &mut Report) -> Option<PathBuf> {
    let above = options.directory.ancestors();
    let folders = above.chain(options.user_config_dir.as_deref());
    folders.map(|folder| folder.join(FILE_NAME)).find(|path| path.is_file() && is_trusted(path, options, report))
}

fn is_trusted(path: &Path, options: &LoadOptions, report: &mut Report) -> bool {
    let trusted = owned_by_us(path);
    if !trusted {
        report.enter(shown(path, &options.directory), "");
        let hint = "if you trust it, name it with --config".to_owned();
        report.warn(&Place::default(), "passed over: it belongs to another user", hint);
        report.leave();
    }
    trusted
}

#[cfg(unix)]
fn owned_by_us(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let us = rustix::process::geteuid().as_raw();
    std::fs::metadata(path).is_ok_and(|metadata| [0, us].contains(&metadata.uid()))
}

#[cfg(not(unix))]
fn owned_by_us(_: &Path) -> bool {
    true
}

fn read_text(path: &Path, report: &mut Report) -> Option<String> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes));
    let place = Place::default();
    match read {
        Err(error) => {
            let (message, hint) = unreadable(&error);
            report.error(&place, message, hint.to_owned());
            None
        }
        Ok(_) if bytes.len() as u64 > LARGEST => {
            report.error(&place, "is larger than 4 MiB, too large for a configuration", None);
            None
        }
        Ok(_) => into_text(bytes, report),
    }
}

fn unreadable(error: &std::io::Error) -> (String, &'static str) {
    match error.kind() {
        ErrorKind::NotFound => {
            ("does not exist".to_owned(), "name another file with --config, or none to have toolfold.toml searched for")
        }
        ErrorKind::PermissionDenied => ("may not be read".to_owned(), "give yourself the right to read it: chmod u+r"),
        ErrorKind::IsADirectory => ("is a folder".to_owned(), "name the file in it"),
        _ => (format!("cannot be read: {error}"), "name another file with --config"),
    }
}

fn into_text(bytes: Vec<u8>, report: &mut Report) -> Option<String> {
    match String::from_utf8(bytes) {
        // Some editors put a byte order mark in front; neither parser wants it.
        Ok(text) => Some(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
            let hint = "save it as UTF-8".to_owned();
            report.error(&Place::default(), format!("is not UTF-8 text (line {line})"), hint);
            None
        }
    }
}

fn format_of(path: &Path, text: &str) -> Format {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => Format::Json,
        Some("toml") => Format::Toml,
        // Neither: a TOML document cannot begin with a brace, a JSON one of ours must.
        _ if text.trim_start().starts_with('{') => Format::Json,
        _ => Format::Toml,
    }
}
