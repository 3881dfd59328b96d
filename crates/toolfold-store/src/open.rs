//! Opening a file: making it, telling ours from others', and what becomes of a damaged one.
//!
//! All of it happens under a lock beside the file. SQLite has locks of its own, but the switch to WAL does not wait for
//! them, and of two processes that find the same file damaged only one may move it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::Connection;

use crate::PATIENCE;
use crate::error::StoreError;
use crate::migrations::{self, Schema};

/// What may be lost, and what may not.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Class {
    Memory,
    Record,
    /// A record too large to be looked through whenever it is opened, whose bytes vouch for themselves.
    Audit,
}

impl Class {
    fn schema(self) -> &'static Schema {
        match self {
            Class::Memory => &migrations::MEMORY,
            Class::Record => &migrations::RECORD,
            Class::Audit => &migrations::AUDIT,
        }
    }
}

/// Where a database is, and with that, what its damage means.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    Memory(PathBuf),
    Record(PathBuf),
    /// No file.
    Nowhere(Class),
}

impl Place {
    /// A connection, and what a person should know about how it came to be.
    pub(crate) fn open(&self) -> Result<(Connection, Option<String>), StoreError> {
        match self {
            Place::Memory(path) => memory(path),
            Place::Record(path) => Ok((record(path)?, None)),
            Place::Nowhere(class) => Ok((nowhere(*class)?, None)),
        }
    }

    /// What takes the place of a file that turned out to be damaged; `None`: nothing ever does.
    pub(crate) fn replace(&self) -> Option<Result<Connection, StoreError>> {
        match self {
            Place::Memory(path) => Some(replace(path)),
            Place::Record(_) | Place::Nowhere(_) => None,
        }
    }

    pub(crate) fn exists(&self) -> bool {
        match self {
            Place::Memory(path) | Place::Record(path) => path.exists(),
            Place::Nowhere(_) => false,
        }
    }

    /// For messages.
    pub(crate) fn shown(&self) -> PathBuf {
        match self {
            Place::Memory(path) | Place::Record(path) => path.clone(),
            Place::Nowhere(_) => PathBuf::from("in memory"),
        }
    }

    pub(crate) fn failed(&self, error: &rusqlite::Error) -> StoreError {
        match self {
            Place::Record(path) => StoreError::new(path, error).of_record(),
            Place::Memory(_) | Place::Nowhere(_) => StoreError::new(&self.shown(), error),
        }
    }
}

fn nowhere(class: Class) -> Result<Connection, StoreError> {
    let failed = |error| StoreError::new(Path::new("in memory"), &error);
    let mut connection = Connection::open_in_memory().map_err(failed)?;
    class.schema().apply(&mut connection).map_err(failed)?;
    Ok(connection)
}

fn memory(path: &Path) -> Result<(Connection, Option<String>), StoreError> {
    refuse_folder(path)?;
    make_folder(path)?;
    let _lock = lock(path)?;
    match prepare(path, Class::Memory) {
        Err(StoreError::Damaged { why, .. }) => {
            let kept = move_aside(path)?;
            let notice = format!(
                "the store {} was damaged ({why}): it is kept as {} and a new one was begun",
                path.display(),
                kept.display()
            );
            Ok((prepare(path, Class::Memory)?, Some(notice)))
        }
        prepared => Ok((prepared?, None)),
    }
}

/// Looked through before it is used: a write into a damaged file could take with it what is still to be saved.
fn record(path: &Path) -> Result<Connection, StoreError> {
    refuse_folder(path)?;
    make_folder(path)?;
    let _lock = lock(path)?;
    let connection = prepare(path, Class::Record).map_err(StoreError::of_record)?;
    match damage(&connection) {
        None => Ok(connection),
        Some(why) => Err(StoreError::RecordDamaged { path: path.to_owned(), why }),
    }
}

/// The file of the audit, for whoever keeps it. Like any record it is refused where it is damaged, and never replaced.
pub fn open_audit(path: &Path) -> Result<Connection, StoreError> {
    refuse_folder(path)?;
    make_folder(path)?;
    let _lock = lock(path)?;
    prepare(path, Class::Audit).map_err(StoreError::of_record)
}

fn refuse_folder(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        return Err(StoreError::NotWritable { path: path.to_owned(), why: "it is a folder".to_owned() });
    }
    Ok(())
}

/// A store in place of one that turned out to be damaged. Another process may have seen to it already.
fn replace(path: &Path) -> Result<Connection, StoreError> {
    let _lock = lock(path)?;
    if !is_sound(path) {
        move_aside(path)?;
    }
    prepare(path, Class::Memory)
}

fn is_sound(path: &Path) -> bool {
    let verdict = prepare(path, Class::Memory).map(|connection| damage(&connection).is_none());
    // What cannot even be asked (no rights, busy) is not known to be damaged.
    verdict.unwrap_or_else(|error| !error.is_damage())
}

/// What is wrong with it, in SQLite's words.
fn damage(connection: &Connection) -> Option<String> {
    let checked = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    checked.map_or_else(|error| Some(error.to_string()), |text| (text != "ok").then_some(text))
}

fn prepare(path: &Path, class: Class) -> Result<Connection, StoreError> {
    // A link that leads nowhere yet is followed, not replaced. Where nothing can be begun, what follows says why.
    if path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        let _ = begin(path, class);
    }
    connect(path, class)
}

/// A new file gets its tables under another name: whoever is killed here leaves a whole file or none.
fn begin(path: &Path, class: Class) -> Result<(), StoreError> {
    let new = beside(path, ".new");
    let discard = |file: &Path| {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let _ = std::fs::remove_file(beside(file, suffix));
        }
    };
    discard(&new);
    let made = connect(&new, class).and_then(|connection| {
        connection.close().map_err(|(_, error)| StoreError::new(path, &error))?;
        // The last one to close a file brings its log into it; a log that is left has something that the file has not.
        if beside(&new, "-wal").exists() {
            return Err(StoreError::Interrupted);
        }
        // Of a file that is gone: SQLite would take this log for the new one's.
        discard(path);
        std::fs::rename(&new, path).map_err(|error| StoreError::io(path, &error))?;
        // Its name has to be on the disk before anything in it is acknowledged.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    });
    discard(&new);
    made
}

fn connect(path: &Path, class: Class) -> Result<Connection, StoreError> {
    // Made here and not by SQLite, which would give it to everybody to read. Its companions take over its mode.
    private(OpenOptions::new().append(true).create(true)).open(path).map_err(|error| StoreError::io(path, &error))?;
    let failed = |error| StoreError::new(path, &error);
    let mut connection = Connection::open(path).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    check_owner(&connection, path, class.schema())?;
    configure(&connection, class).map_err(failed)?;
    class.schema().apply(&mut connection).map_err(failed)?;
    Ok(connection)
}

fn check_owner(connection: &Connection, path: &Path, schema: &Schema) -> Result<(), StoreError> {
    let failed = |error| StoreError::new(path, &error);
    let number = |pragma: &str| connection.query_row(pragma, [], |row| row.get::<_, i64>(0)).map_err(failed);
    // The first question that reads the file: here SQLite says so if it is no database.
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    let application = number("PRAGMA application_id")?;
    if tables > 0 && application != schema.application {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    let found = migrations::version(connection).map_err(failed)?;
    if found > schema.newest() {
        return Err(StoreError::TooNew { path: path.to_owned(), found, known: schema.newest() });
    }
    Ok(())
}

/// In WAL mode `NORMAL` loses nothing when a process is killed; when the power goes it may lose the last writes, never
/// the file. That is right for what can be asked of a server again. A record is on the disk before it is acknowledged.
fn configure(connection: &Connection, class: Class) -> rusqlite::Result<()> {
    let synchronous = match class {
        Class::Memory => "NORMAL",
        Class::Record | Class::Audit => "FULL",
    };
    // Manifests are long: fewer, larger pages make for fewer reads. Only a file that is still empty takes this.
    connection.pragma_update(None, "page_size", 16 * 1024)?;
    // Where WAL is impossible (some network disks) SQLite keeps its older journal, which works too.
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update_and_check(None, "journal_size_limit", 16 * 1024 * 1024, |_| Ok(()))
}

fn move_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut kept = beside(path, &format!(".broken-{now}"));
    for again in 1.. {
        if !kept.exists() {
            break;
        }
        kept = beside(path, &format!(".broken-{now}-{again}"));
    }
    move_to(path, &kept)?;
    Ok(kept)
}

/// Moves a file that nobody has open.
pub(crate) fn move_to(path: &Path, kept: &Path) -> Result<(), StoreError> {
    std::fs::rename(path, kept).map_err(|error| StoreError::io(path, &error))?;
    // The companions belong to the file and would spoil the next one. Usually there are none.
    let _ = std::fs::rename(beside(path, "-wal"), beside(kept, "-wal"));
    let _ = std::fs::remove_file(beside(path, "-shm"));
    Ok(())
}

fn make_folder(path: &Path) -> Result<(), StoreError> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder).map_err(|error| {
        let error =
            std::io::Error::new(error.kind(), format!("the folder {} cannot be made: {error}", folder.display()));
        StoreError::io(path, &error)
    })
}

/// Held until it is dropped. Where the file system knows no locks, nothing is held: SQLite could not share it either.
fn lock(path: &Path) -> Result<File, StoreError> {
    let beside = beside(path, ".lock");
    let file = private(OpenOptions::new().append(true).create(true)).open(&beside);
    let file = file.map_err(|error| StoreError::io(path, &error))?;
    let deadline = Instant::now() + PATIENCE;
    while let Err(TryLockError::WouldBlock) = file.try_lock() {
        if Instant::now() > deadline {
            return Err(StoreError::Busy { path: path.to_owned() });
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(file)
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
