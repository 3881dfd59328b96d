//! Tools that read files below the working directory. They never write, and they never open what could block: pipes and
//! devices are not files here.

use std::fs::File;
use std::io::Read;

use rustix::fs::{AtFlags, Dir, FileType, Stat, statat};
use serde_json::{Value, json};
use toolfold_core::Fuel;

use crate::arguments::Arguments;
use crate::folder::{Folder, Handle};
use crate::page::Page;
use crate::problem::{Problem, told};
use crate::search;
use crate::tool::{Replied, Reply, Tool, flag, integer, text};

/// The most bytes that are read of one file.
pub(crate) const LARGEST_FILE: u64 = 4 << 20;
const MOST_LINES: usize = 2000;
const MOST_ENTRIES: usize = 1000;
/// Names of a directory that are looked at.
pub(crate) const MOST_NAMES: usize = 20_000;

pub(crate) fn tools() -> Vec<Tool> {
    let path = "A path below the working directory";
    let count = json!({"type": "integer"});
    vec![
        Tool::new(
            "read_file",
            "Read a file",
            "Read a text file below the working directory, whole or some of its lines.",
            |arguments| read(&Folder::working(arguments.private)?, arguments),
        )
        .needs("path", text(path))
        .takes("from_line", integer("The first line to read, counted from 1", 1, 1, i64::from(u32::MAX)))
        .takes("lines", integer("The most lines to read", 500, 1, 2000))
        .varies(),
        Tool::new(
            "list_directory",
            "List a directory",
            "List the files and directories in a directory below the working directory, with their sizes.",
            |arguments| list(&Folder::working(arguments.private)?, arguments),
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
            |arguments| search::search(&Folder::working(arguments.private)?, arguments),
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
            |arguments| info(&Folder::working(arguments.private)?, arguments),
        )
        .needs("path", text(path))
        .gives(json!({"path": {"type": "string"}, "kind": {"type": "string"}, "bytes": count,
            "modified": {"type": ["string", "null"]}, "read_only": {"type": "boolean"}}))
        .varies(),
    ]
}

pub(crate) fn read(folder: &Folder, arguments: &Arguments<'_>) -> Replied {
    let found = folder.open(arguments.word("path")?)?;
    let shown = &found.shown;
    let first = arguments.count("from_line", 1, u32::MAX as usize)?;
    let most = arguments.count("lines", 500, MOST_LINES)?;
    let content = match found.handle {
        Handle::File(file) => content(file, arguments.fuel)?.map_err(|problem| told!("{shown} {problem}"))?,
        Handle::Directory(_) => return Err(told!("{shown} is a directory. Use list_directory.")),
        Handle::Other => return Err(told!("{shown} is not a regular file.")),
    };
    let total = content.lines().count();
    if first > total.max(1) {
        return Err(told!("{shown} has {total} lines; there is no line {first}."));
    }
    let mut page = Page::new(arguments.fuel, "Read fewer `lines`, or use search_files to find the part you need.");
    let mut last = first - 1;
    for line in content.lines().skip(first - 1).take(most) {
        page.push(if last == first - 1 { "" } else { "\n" })?;
        page.push(line)?;
        last += 1;
    }
    if last < total {
        let next = last + 1;
        page.push(&format!("\n\n({shown}: lines {first} to {last} of {total}. Go on with from_line {next}.)"))?;
    }
    Ok(Reply::Text(page.finish()))
}

/// What a file is instead of a text, to be said after its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoText {
    #[error("cannot be opened: permission may be missing.")]
    Unreadable,
    #[error("is larger than {} MiB. Use search_files to find the part you need.", LARGEST_FILE >> 20)]
    TooLarge,
    #[error("is not text.")]
    Binary,
    #[error("is not text in UTF-8.")]
    OtherEncoding,
}

/// The text of a file.
pub(crate) fn content(file: File, fuel: &Fuel) -> Result<Result<String, NoText>, Problem> {
    let mut bytes = Vec::new();
    // The size may grow while it is read: what is read is bounded, not only what is promised.
    if file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).is_err() {
        return Ok(Err(NoText::Unreadable));
    }
    fuel.burn_for(bytes.len(), 16)?;
    Ok(if bytes.len() as u64 > LARGEST_FILE {
        Err(NoText::TooLarge)
    } else if bytes.contains(&0) {
        Err(NoText::Binary)
    } else {
        String::from_utf8(bytes).map_err(|_| NoText::OtherEncoding)
    })
}

pub(crate) fn list(folder: &Folder, arguments: &Arguments<'_>) -> Replied {
    let found = folder.open(arguments.word_or("path", "")?)?;
    let (shown, hidden) = (found.shown, arguments.flag("hidden")?);
    let unreadable = || told!("{shown} is not a directory that can be read.");
    let Handle::Directory(directory) = found.handle else { return Err(unreadable()) };
    let mut entries: Vec<(String, Value)> = Vec::new();
    for entry in Dir::read_from(&directory).map_err(|_| unreadable())?.take(MOST_NAMES) {
        arguments.fuel.burn(50)?;
        let Ok(entry) = entry else { break };
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == "." || name == ".." || (name.starts_with('.') && !hidden) {
            continue;
        }
        // Of a link itself, not of what it points to: that may lie outside.
        if let Ok(stat) = statat(&directory, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
            entries.push((name.clone(), describe(&name, &stat)));
        }
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    let more = entries.len() > MOST_ENTRIES;
    let entries: Vec<Value> = entries.into_iter().take(MOST_ENTRIES).map(|(_, entry)| entry).collect();
    Ok(Reply::Json(json!({"path": shown, "entries": entries, "more": more})))
}

fn describe(name: &str, stat: &Stat) -> Value {
    let mut entry = json!({"name": name, "kind": kind(stat)});
    if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
        entry["bytes"] = stat.st_size.into();
    }
    entry
}

fn kind(stat: &Stat) -> &'static str {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => "directory",
        FileType::RegularFile => "file",
        FileType::Symlink => "link",
        _ => "other",
    }
}

pub(crate) fn info(folder: &Folder, arguments: &Arguments<'_>) -> Replied {
    let found = folder.open(arguments.word("path")?)?;
    let modified = jiff::Timestamp::from_second(found.stat.st_mtime).ok().map(|time| time.to_string());
    Ok(Reply::Json(json!({
        "path": found.shown, "kind": kind(&found.stat), "bytes": found.stat.st_size, "modified": modified,
        "read_only": found.stat.st_mode & 0o222 == 0,
    })))
}
