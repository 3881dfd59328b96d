//! Toolfold into a client's own file, and out again. A plan says what would be written; nothing happens before it is
//! applied. What was done is noted in the state folder, so that it can be undone: to the byte where the file is still what we
//! made of it, and by taking our entry alone out where the client has written since.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::edit::{self, EditError, Edited, Shape, Slot, Traces};
use crate::environment::Environment;
use crate::files::{self, FileError};
use crate::format::FileFormat;
use crate::own::is_own_entry;
use crate::rules::{PlacedRule, without_rules};
use crate::table::{Allow, KnownClient, Passes, Way};

#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("{} has no file that Toolfold could be written into", .0)]
    OnlyRead(&'static str),
    #[error("{0} takes no URL: it has to start Toolfold itself")]
    NoUrl(&'static str),
    #[error("{0} has no way to let one tool through without a question")]
    NoAllow(&'static str),
    #[error("{0} has no rules that name tools")]
    NoRules(&'static str),
    #[error("{}: Toolfold is not in it under the name `{name}`, and rules alone would break it", .path.display())]
    NoEntry { path: PathBuf, name: String },
    #[error("there is no home folder to look in")]
    NoHome,
    #[error("there is no folder to keep a backup in")]
    NoState,
    #[error("{}: there is an entry `toolfold` already, and it is not Toolfold", .0.display())]
    Taken(PathBuf),
    #[error("{}: {source}", .path.display())]
    Edit { path: PathBuf, source: EditError },
    #[error(transparent)]
    File(#[from] FileError),
}

#[derive(Debug)]
pub struct InstallPlan {
    pub client: &'static KnownClient,
    /// The client's own file.
    pub path: PathBuf,
    /// None where everything is as it should be.
    pub changes: Vec<FileChange>,
    /// Where it is noted what was done.
    pub(crate) book: String,
}

#[derive(Debug)]
pub struct FileChange {
    pub path: PathBuf,
    /// `None`: there is no such file yet.
    pub before: Option<String>,
    /// `None`: the file goes.
    pub after: Option<String>,
    /// What goes in and out, for people: nothing of the rest of the file is in it.
    pub preview: String,
    pub(crate) noted: Option<Noted>,
}

/// What is remembered of one file that was changed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Noted {
    pub(crate) path: PathBuf,
    pub(crate) format: FileFormat,
    pub(crate) slot: Slot,
    traces: Traces,
    /// Of what we made of it.
    sha256: String,
    /// What was there before.
    backup: Backup,
    /// In place of the one slot: rules, of which there are many in one file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rules: Vec<PlacedRule>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Backup {
    /// There was no file.
    Nothing,
    File(PathBuf),
    /// Somebody else has written between two installs: what was there before is no longer what to go back to.
    Outdated,
}

pub fn plan_install(
    environment: &Environment,
    client: &'static KnownClient,
    way: &Way,
    allow_search: bool,
) -> Result<InstallPlan, InstallError> {
    if !client.is_written {
        return Err(InstallError::OnlyRead(client.name));
    }
    if allow_search && client.allow.is_none() {
        return Err(InstallError::NoAllow(client.name));
    }
    let path = client.own_file(environment).ok_or(InstallError::NoHome)?;
    let before = files::read(&path)?;
    let text = before.as_deref().unwrap_or_default();
    let failed = |source| InstallError::Edit { path: path.clone(), source };
    let root = client.format.parse(text).map_err(|broken| failed(broken.into()))?;
    let slot = client.own_slot(&root);
    let entry = client.entry(way, allow_search).ok_or(InstallError::NoUrl(client.name))?;
    let entry = match edit::get(&root, &slot) {
        Some(old) if !is_own_entry(old) => return Err(InstallError::Taken(path)),
        Some(old) => merged(old, entry, client, way),
        None => entry,
    };
    let mut changes = Vec::new();
    if let Some(edited) = edit::set(client.format, text, &slot, &entry).map_err(failed)? {
        changes.push(FileChange::new(path.clone(), client.format, slot, before, edited));
    }
    if let (true, Some(Allow::Listed { file, container, item })) = (allow_search, client.allow) {
        changes.extend(allow(&file.paths(environment), container, item)?);
    }
    Ok(InstallPlan { client, path, changes, book: client.id.to_owned() })
}

/// Our keys new, and whatever else somebody has added to our entry.
fn merged(old: &Value, new: Value, client: &KnownClient, way: &Way) -> Value {
    let spelling = &client.spelling;
    let ours = [Some(spelling.command), spelling.args, spelling.url, spelling.nested, spelling.kind.map(|kind| kind.0)];
    let is_url = matches!(way, Way::Reach { .. });
    let foreign = |key: &str| {
        !ours.contains(&Some(key))
            && new.get(key).is_none()
            && !(is_url && ["env", "cwd", "environment"].contains(&key))
    };
    let kept = old.as_object().into_iter().flatten().filter(|(key, _)| foreign(key));
    let mut merged = new.as_object().cloned().unwrap_or_default();
    // Variables that somebody else wants handed on are handed on, and a value that somebody wrote there stays.
    match client.passes {
        Passes::Listed(key) => {
            if let (Some(Value::Array(names)), Some(old)) = (merged.get_mut(key), old[key].as_array()) {
                let new = std::mem::replace(names, old.clone());
                names.extend(new.into_iter().filter(|name| !old.contains(name)));
            }
        }
        Passes::Mapped(key) => {
            if let (Some(Value::Object(map)), Some(old)) = (merged.get_mut(key), old[key].as_object()) {
                map.extend(old.clone());
            }
        }
        Passes::Everything => {}
    }
    merged.extend(kept.map(|(key, value)| (key.clone(), value.clone())));
    Value::Object(merged)
}

fn allow(paths: &[PathBuf], container: &[&str], item: &str) -> Result<Option<FileChange>, InstallError> {
    let path = paths.first().ok_or(InstallError::NoHome)?.clone();
    let before = files::read(&path)?;
    let container = container.iter().map(|key| (*key).to_owned()).collect();
    let slot = Slot { container, shape: Shape::Strings, name: item.to_owned() };
    let edited = edit::set(FileFormat::Json, before.as_deref().unwrap_or_default(), &slot, &Value::from(item));
    let edited = edited.map_err(|source| InstallError::Edit { path: path.clone(), source })?;
    Ok(edited.map(|edited| FileChange::new(path, FileFormat::Json, slot, before, edited)))
}

impl FileChange {
    fn new(path: PathBuf, format: FileFormat, slot: Slot, before: Option<String>, edited: Edited) -> FileChange {
        let preview = preview(before.as_deref().unwrap_or_default(), &edited);
        FileChange::noted(path, format, before, edited.text, preview, (slot, edited.traces, Vec::new()))
    }

    /// A change with what has to be known to undo it.
    pub(crate) fn noted(
        path: PathBuf,
        format: FileFormat,
        before: Option<String>,
        after: String,
        preview: String,
        (slot, traces, rules): (Slot, Traces, Vec<PlacedRule>),
    ) -> FileChange {
        let (sha256, backup) = (files::digest(&after), Backup::Nothing);
        let noted = Noted { path: path.clone(), format, slot, traces, sha256, backup, rules };
        FileChange { path, before, after: Some(after), preview, noted: Some(noted) }
    }
}

/// A line for each that goes in (`+`) or out (`-`), with its number. Only what is spliced is shown: a line beside it could
/// hold somebody's key.
pub(crate) fn preview(before: &str, edited: &Edited) -> String {
    let mut text = String::new();
    for splice in &edited.splices {
        let line = before[..splice.at].matches('\n').count() + 1;
        for (sign, part) in [('-', &splice.removed), ('+', &splice.inserted)] {
            for (number, part) in
                part.trim_matches(['\r', '\n']).lines().enumerate().filter(|(_, part)| !matches!(part.trim(), "" | ","))
            {
                let number = line + number + usize::from(splice.inserted.starts_with(['\r', '\n']));
                text.push_str(&format!("{number:>5} {sign} {}\n", part.trim_end()));
            }
        }
    }
    text
}

/// Writes what was planned; the backups, one for each file that was there.
pub fn apply_install(environment: &Environment, plan: &InstallPlan) -> Result<Vec<PathBuf>, InstallError> {
    let book = Book::open(environment, &plan.book)?;
    let mut noted = book.read();
    let mut backups = Vec::new();
    for change in &plan.changes {
        let (Some(note), Some(after)) = (&change.noted, &change.after) else { continue };
        let earlier = noted.iter().find(|other| other.path == change.path && other.slot == note.slot).cloned();
        let unchanged =
            |other: &Noted| change.before.as_deref().is_some_and(|text| files::digest(text) == other.sha256);
        let (backup, traces) = match (&earlier, &change.before) {
            (Some(other), _) if unchanged(other) => (other.backup.clone(), other.traces.clone()),
            (Some(other), _) => (Backup::Outdated, other.traces.clone()),
            (None, None) => (Backup::Nothing, note.traces.clone()),
            (None, Some(text)) => {
                let path = book.keep(&change.path, text)?;
                backups.push(path.clone());
                (Backup::File(path), note.traces.clone())
            }
        };
        noted.retain(|other| !(other.path == change.path && other.slot == note.slot));
        noted.push(Noted { backup, traces, ..note.clone() });
        // Noted first: an install that was noted and did not happen is undone without harm.
        book.write(&noted)?;
        files::replace(&change.path, change.before.as_deref(), after)?;
    }
    Ok(backups)
}

/// What taking Toolfold out of a client's files would do.
pub fn plan_undo(environment: &Environment, client: &'static KnownClient) -> Result<InstallPlan, InstallError> {
    let path = client.own_file(environment).ok_or(InstallError::NoHome)?;
    let noted = Book::open(environment, client.id).map(|book| book.read()).unwrap_or_default();
    let mut changes = Vec::new();
    for note in &noted {
        changes.extend(undo_noted(note)?);
    }
    // Written by hand, or by a Toolfold that had another state folder.
    if client.is_written && !noted.iter().any(|note| note.path == path) {
        changes.extend(undo_unknown(client, &path)?);
    }
    Ok(InstallPlan { client, path, changes, book: client.id.to_owned() })
}

pub(crate) fn undo_noted(note: &Noted) -> Result<Option<FileChange>, InstallError> {
    let Some(now) = files::read(&note.path)? else { return Ok(None) };
    if files::digest(&now) == note.sha256 {
        let after = match &note.backup {
            Backup::Nothing => Some(None),
            Backup::File(backup) => files::read(backup)?.map(Some),
            Backup::Outdated => None,
        };
        if let Some(after) = after {
            let what = if after.is_some() { "as it was before" } else { "taken away, as it was not there before" };
            let preview = format!("      - {what}\n");
            return Ok(Some(FileChange { path: note.path.clone(), before: Some(now), after, preview, noted: None }));
        }
    }
    if !note.rules.is_empty() {
        return without_rules(note, now);
    }
    take_out(&note.path, note.format, &note.slot, &note.traces, now)
}

fn undo_unknown(client: &KnownClient, path: &Path) -> Result<Option<FileChange>, InstallError> {
    let Some(now) = files::read(path)? else { return Ok(None) };
    let failed = |source| InstallError::Edit { path: path.to_owned(), source };
    let root = client.format.parse(&now).map_err(|broken| failed(broken.into()))?;
    let slot = client.own_slot(&root);
    take_out(path, client.format, &slot, &Traces::default(), now)
}

fn take_out(
    path: &Path,
    format: FileFormat,
    slot: &Slot,
    traces: &Traces,
    now: String,
) -> Result<Option<FileChange>, InstallError> {
    let failed = |source| InstallError::Edit { path: path.to_owned(), source };
    let root = format.parse(&now).map_err(|broken| failed(broken.into()))?;
    let is_ours = |entry: &Value| slot.shape == Shape::Strings || is_own_entry(entry);
    if !edit::get(&root, slot).is_some_and(is_ours) {
        return Ok(None);
    }
    let edited = edit::remove(format, &now, slot, traces).map_err(failed)?;
    Ok(edited.map(|edited| {
        let preview = preview(&now, &edited);
        FileChange { path: path.to_owned(), before: Some(now), after: Some(edited.text), preview, noted: None }
    }))
}

pub fn apply_undo(environment: &Environment, plan: &InstallPlan) -> Result<(), InstallError> {
    for change in &plan.changes {
        match (&change.before, &change.after) {
            (before, Some(after)) => files::replace(&change.path, before.as_deref(), after)?,
            (Some(before), None) => files::take_away(&change.path, before)?,
            (None, None) => {}
        }
    }
    if let Ok(book) = Book::open(environment, &plan.book) {
        book.close();
    }
    Ok(())
}

/// What was done to one client's files.
pub(crate) struct Book {
    folder: PathBuf,
    name: String,
}

impl Book {
    pub(crate) fn open(environment: &Environment, name: &str) -> Result<Book, InstallError> {
        let folder = environment.state.as_ref().ok_or(InstallError::NoState)?.join("installed");
        Ok(Book { folder, name: name.to_owned() })
    }

    fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.name))
    }

    pub(crate) fn read(&self) -> Vec<Noted> {
        let text = files::read(&self.path()).ok().flatten().unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn write(&self, noted: &[Noted]) -> Result<(), InstallError> {
        let text = serde_json::to_string_pretty(noted).unwrap_or_default();
        Ok(files::write_own(&self.path(), &text)?)
    }

    /// One for each content, so that no backup is ever overwritten by another.
    fn keep(&self, path: &Path, text: &str) -> Result<PathBuf, InstallError> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let kept = self.folder.join(format!("{}-{}-{name}", self.name, &files::digest(text)[..12]));
        files::write_own(&kept, text)?;
        Ok(kept)
    }

    /// The backups stay: they are the person's.
    fn close(&self) {
        files::forget(&self.path());
    }
}
