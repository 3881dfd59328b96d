//! Tools that read files below the working directory. They never write, and they never open what could block: pipes and
//! devices are not files here.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::folder::Folder;
use super::search;
use super::tool::{Answer, Reply, Tool, flag, integer, text};

/// The most bytes that are read of one file.
pub(crate) const LARGEST_FILE: u64 = 4 << 20;
const MOST_LINES: usize = 2000;
const MOST_ENTRIES: usize = 1000;

pub(crate) fn tools() -> Vec<Tool> {
    let path = "A path below the working directory";
    let count = json!({"type": "integer"});
    vec![
        Tool::new(
            "read_file",
            "Read a file",
            "Read a text file below the working directory, whole or some of its lines.",
            |arguments| read(&Folder::working()?, arguments),
        )
        .needs("path", text(path))
        .takes("from_line", integer("The first line to read, counted from 1", 1, 1, i64::from(u32::MAX)))
        .takes("lines", integer("The most lines to read", 500, 1, 2000))
        .varies(),
        Tool::new(
            "list_directory",
            "List a directory",
            "List the files and directories in a directory below the working directory, with their sizes.",
            |arguments| list(&Folder::working()?, arguments),
        )
        .takes("path", text("A directory below the working directory; the working directory itself if left out"))
        .takes("hidden", flag("Show names that begin with a dot too"))
        .gives(json!({"path": {"type": "string"}, "entries": {"type": "array", "items": {"type": "object"}},
            "more": {"type": "boolean", "description": "There are entries that are not shown"}}))
        .varies(),
        Tool::new(
            "search_files",
            "Search files",
            "Search the text files below the working directory for a regular expression, by line. What is \
             hidden, and directories of dependencies or build output, are left out.",
            |arguments| search::search(&Folder::working()?, arguments),
        )
        .needs("pattern", text("The regular expression to look for"))
        .takes("path", text("The directory or file to search; the working directory if left out"))
        .takes("name", text("Only files whose name matches, such as *.rs"))
        .takes("ignore_case", flag("Upper and lower case are the same"))
        .takes("limit", integer("The most lines to give", 50, 1, 500))
        .gives(json!({"matches": {"type": "array", "items": {"type": "object"}}, "files_searched": count,
            "more": {"type": "boolean", "description": "The search stopped before the end"}}))
        .varies(),
        Tool::new(
            "file_info",
            "Describe a file",
            "Tell the kind, size and time of last change of a file or directory below the working directory.",
            |arguments| info(&Folder::working()?, arguments),
        )
        .needs("path", text(path))
        .gives(json!({"path": {"type": "string"}, "kind": {"type": "string"}, "bytes": count,
            "modified": {"type": ["string", "null"]}, "read_only": {"type": "boolean"}}))
        .varies(),
    ]
}

pub(crate) fn read(folder: &Folder, arguments: &Arguments<'_>) -> Answer {
    let path = folder.resolve(arguments.text("path")?)?;
    let shown = folder.show(&path);
    let content = content(&path).map_err(|problem| format!("{shown} {problem}"))?;
    let first = arguments.count("from_line", 1, u32::MAX as usize)?;
    let most = arguments.count("lines", 500, MOST_LINES)?;
    let total = content.lines().count();
    if first > total.max(1) {
        return Err(format!("{shown} has {total} lines; there is no line {first}."));
    }
    let lines: Vec<&str> = content.lines().skip(first - 1).take(most).collect();
    let last = first - 1 + lines.len();
    let mut text = lines.join("\n");
    if last < total {
        text.push_str(&format!(
            "\n\n({shown}: lines {first} to {last} of {total}. Go on with from_line {}.)",
            last + 1
        ));
    }
    Ok(Reply::Text(text))
}

/// The text of a file, or what it is instead (to be said after its name).
pub(crate) fn content(path: &Path) -> Result<String, String> {
    let unreadable = |_| "cannot be opened: permission may be missing.".to_owned();
    let metadata = path.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err("is a directory. Use list_directory.".to_owned());
    }
    if !metadata.is_file() {
        return Err("is not a regular file.".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    // The size may grow while it is read: what is read is bounded, not only what is promised.
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(format!("is larger than {} MiB. Use search_files to find the part you need.", LARGEST_FILE >> 20));
    }
    if bytes.contains(&0) {
        return Err("is not text.".to_owned());
    }
    String::from_utf8(bytes).map_err(|_| "is not text in UTF-8.".to_owned())
}

pub(crate) fn list(folder: &Folder, arguments: &Arguments<'_>) -> Answer {
    let path = folder.resolve(arguments.text_or("path", "")?)?;
    let shown = folder.show(&path);
    let hidden = arguments.flag("hidden")?;
    let listing = std::fs::read_dir(&path).map_err(|_| format!("{shown} is not a directory that can be read."))?;
    let mut entries: Vec<(String, Value)> = listing
        .flatten()
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry))
        .filter(|(name, _)| hidden || !name.starts_with('.'))
        // Of a link itself, not of what it points to: that may lie outside.
        .filter_map(|(name, entry)| Some((name.clone(), describe(&name, &entry.path().symlink_metadata().ok()?))))
        .collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    let more = entries.len() > MOST_ENTRIES;
    let entries: Vec<Value> = entries.into_iter().take(MOST_ENTRIES).map(|(_, entry)| entry).collect();
    Ok(Reply::Json(json!({"path": shown, "entries": entries, "more": more})))
}

fn describe(name: &str, metadata: &Metadata) -> Value {
    let mut entry = json!({"name": name, "kind": kind(metadata)});
    if metadata.is_file() {
        entry["bytes"] = metadata.len().into();
    }
    entry
}

fn kind(metadata: &Metadata) -> &'static str {
    match metadata.file_type() {
        kind if kind.is_dir() => "directory",
        kind if kind.is_file() => "file",
        kind if kind.is_symlink() => "link",
        _ => "other",
    }
}

pub(crate) fn info(folder: &Folder, arguments: &Arguments<'_>) -> Answer {
    let path = folder.resolve(arguments.text("path")?)?;
    let shown = folder.show(&path);
    let metadata = path.metadata().map_err(|_| format!("{shown} cannot be looked at: permission may be missing."))?;
    let modified = metadata.modified().ok().and_then(|time| jiff::Timestamp::try_from(time).ok());
    let modified = modified.and_then(|time| time.round(jiff::Unit::Second).ok()).map(|time| time.to_string());
    Ok(Reply::Json(json!({
        "path": shown, "kind": kind(&metadata), "bytes": metadata.len(), "modified": modified,
        "read_only": metadata.permissions().readonly(),
    })))
}
