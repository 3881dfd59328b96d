//! Finding the file and reading its text. One that was found by looking upwards is used where this user or root owns it
//! and somebody has trusted it: a `toolfold.toml` left in `/tmp`, or cloned with a repository, would otherwise decide which
//! programs are started below it. One that was named, and the user's own, need no more than to be there.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::options::LoadOptions;
use crate::report::{Place, Report};
use crate::trust::{TrustList, Verdict};

pub(crate) const FILE_NAME: &str = "toolfold.toml";

/// A configuration is text that somebody wrote; a disk image given by mistake need not be read to its end.
const LARGEST: u64 = 4 * 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    Toml,
    Json,
}

pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) format: Syntax,
}

impl Source {
    /// The folder that paths in the file are relative to.
    pub(crate) fn base(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }
}

/// What was found: a file to use, and those that were passed over because nobody trusts them.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) source: Option<Source>,
    pub(crate) untrusted: Vec<PathBuf>,
    /// The files that decided whether what was found is trusted.
    pub(crate) notes: Vec<PathBuf>,
}

/// The file's text; none where there is no file, or it cannot be read (reported).
pub(crate) fn read(options: &LoadOptions, report: &mut Report) -> Found {
    let named = options.file.clone().or_else(|| options.variable("TOOLFOLD_CONFIG").map(PathBuf::from));
    match named {
        Some(file) => {
            let source = read_source(options.directory.join(file), options, report);
            Found { source, ..Found::default() }
        }
        None => search(options, report),
    }
}

/// The nearest `toolfold.toml` in a folder or above it, trusted or not.
pub fn nearest(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().map(|folder| folder.join(FILE_NAME)).find(|path| path.is_file())
}

fn read_source(path: PathBuf, options: &LoadOptions, report: &mut Report) -> Option<Source> {
    report.enter(shown(&path, &options.directory), "");
    let text = into_text(read_bytes(&path, report)?, report)?;
    Some(Source { format: format_of(&path, &text), text, path })
}

/// As short as it can be said from the working directory.
pub(crate) fn shown(path: &Path, directory: &Path) -> PathBuf {
    path.strip_prefix(directory).unwrap_or(path).to_owned()
}

fn search(options: &LoadOptions, report: &mut Report) -> Found {
    let mut found = Found::default();
    let users = options.user_config_dir.as_ref().map(|folder| folder.join(FILE_NAME));
    for path in options.directory.ancestors().map(|folder| folder.join(FILE_NAME)).filter(|path| path.is_file()) {
        if Some(&path) == users.as_ref() {
            break;
        }
        if !owned_by_us(&path) {
            let hint = "if you trust it, name it with --config".to_owned();
            pass_over(&path, "passed over: it belongs to another user", hint, options, report);
            continue;
        }
        if options.trusting {
            found.source = read_source(path, options, report);
            return found;
        }
        report.enter(shown(&path, &options.directory), "");
        let Some(bytes) = read_bytes(&path, report) else { return found };
        report.leave();
        match verdict(&path, &bytes, options, &mut found) {
            Verdict::Trusted => {
                report.enter(shown(&path, &options.directory), "");
                found.source = into_text(bytes, report).map(|text| Source { text, format: Syntax::Toml, path });
                return found;
            }
            verdict => {
                let why = match verdict {
                    Verdict::Changed => "not used: it has changed since it was trusted",
                    _ => "not used: it was found here, and nobody has trusted it yet",
                };
                let hint = format!("look at it, then run: toolfold trust {}", word(&path));
                pass_over(&path, why, hint, options, report);
                found.untrusted.push(path);
            }
        }
    }
    if let Some(path) = users.filter(|path| path.is_file()) {
        if owned_by_us(&path) {
            found.source = read_source(path, options, report);
        } else {
            let hint = "if you trust it, name it with --config".to_owned();
            pass_over(&path, "passed over: it belongs to another user", hint, options, report);
        }
    }
    found
}

/// Without a state folder nothing can have been trusted.
fn verdict(path: &Path, bytes: &[u8], options: &LoadOptions, found: &mut Found) -> Verdict {
    let Some(trust) = options.data_dir.as_deref().map(TrustList::new) else { return Verdict::Unknown };
    found.notes.extend(path.canonicalize().ok().map(|whole| trust.note(&whole)));
    trust.verdict(path, bytes)
}

fn pass_over(path: &Path, why: &str, hint: String, options: &LoadOptions, report: &mut Report) {
    report.enter(shown(path, &options.directory), "");
    report.warn(&Place::default(), why, hint);
    report.leave();
}

/// A path as a word of a command line, in one line and with nothing in it that acts on a terminal.
fn word(path: &Path) -> String {
    let text = path.display().to_string();
    if text.chars().all(|c| c.is_alphanumeric() || "/._-+@:,=".contains(c)) {
        return text;
    }
    if toolfold_core::shown(&text) == text && !text.contains(['\n', '\t']) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    let mut word = "$'".to_owned();
    for byte in text.bytes() {
        match byte {
            b'\'' | b'\\' => word.extend(['\\', char::from(byte)]),
            b' '..=b'~' => word.push(char::from(byte)),
            _ => word.push_str(&format!("\\x{byte:02x}")),
        }
    }
    word + "'"
}

#[cfg(unix)]
pub(crate) fn owned_by_us(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let us = rustix::process::geteuid().as_raw();
    std::fs::metadata(path).is_ok_and(|metadata| [0, us].contains(&metadata.uid()))
}

#[cfg(not(unix))]
pub(crate) fn owned_by_us(_: &Path) -> bool {
    true
}

fn read_bytes(path: &Path, report: &mut Report) -> Option<Vec<u8>> {
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
        Ok(_) => Some(bytes),
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

fn format_of(path: &Path, text: &str) -> Syntax {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => Syntax::Json,
        Some("toml") => Syntax::Toml,
        // Neither: a TOML document cannot begin with a brace, a JSON one of ours must.
        _ if text.trim_start().starts_with('{') => Syntax::Json,
        _ => Syntax::Toml,
    }
}
