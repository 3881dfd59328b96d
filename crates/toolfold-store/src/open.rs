//! Opening the file: making it, telling ours from others', moving a damaged one aside.
//!
//! All of it happens under a lock beside the file. SQLite has locks of its own, but the switch to WAL does not wait for
//! them, and of two processes that find the same file damaged only one may move it.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::Connection;

use crate::error::StoreError;
use crate::{PATIENCE, migrations};

pub(crate) fn memory() -> Result<Connection, StoreError> {
    let failed = |error| StoreError::new(None, &error);
    let mut connection = Connection::open_in_memory().map_err(failed)?;
    migrations::apply(&mut connection).map_err(failed)?;
    Ok(connection)
}

pub(crate) fn file(path: &Path) -> Result<(Connection, Option<String>), StoreError> {
    if path.is_dir() {
        return Err(StoreError::NotWritable { path: path.to_owned(), why: "it is a folder".to_owned() });
    }
    make_folder(path)?;
    let _lock = lock(path)?;
    match prepare(path) {
        Err(StoreError::Damaged { why, .. }) => {
            let kept = move_aside(path)?;
            let notice = format!(
                "the store {} was damaged ({why}): it is kept as {} and a new one was begun",
                path.display(),
                kept.display()
            );
            Ok((prepare(path)?, Some(notice)))
        }
        prepared => Ok((prepared?, None)),
    }
}

/// A store in place of one that turned out to be damaged. Another process may have seen to it already.
pub(crate) fn replace(path: &Path) -> Result<Connection, StoreError> {
    let _lock = lock(path)?;
    if !is_sound(path) {
        move_aside(path)?;
    }
    prepare(path)
}

fn is_sound(path: &Path) -> bool {
    let verdict = prepare(path).map(|connection| {
        connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0)).is_ok_and(|text| text == "ok")
    });
    // What cannot even be asked (no rights, busy) is not known to be damaged.
    verdict.unwrap_or_else(|error| !matches!(error, StoreError::Damaged { .. }))
}

fn prepare(path: &Path) -> Result<Connection, StoreError> {
    // Made here and not by SQLite, which would give it to everybody to read. Its companions take over its mode.
    private(OpenOptions::new().append(true).create(true)).open(path).map_err(|error| StoreError::io(path, &error))?;
    let failed = |error| StoreError::new(Some(path), &error);
    let mut connection = Connection::open(path).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    check_owner(&connection, path)?;
    configure(&connection).map_err(failed)?;
    migrations::apply(&mut connection).map_err(failed)?;
    Ok(connection)
}

fn check_owner(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::new(Some(path), &error);
    let number = |pragma: &str| connection.query_row(pragma, [], |row| row.get::<_, i64>(0)).map_err(failed);
    // The first question that reads the file: here SQLite says so if it is no database.
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    let application = number("PRAGMA application_id")?;
    if tables > 0 && application != migrations::APPLICATION {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    let found = migrations::version(connection).map_err(failed)?;
    if found > migrations::NEWEST {
        return Err(StoreError::TooNew { path: path.to_owned(), found, known: migrations::NEWEST });
    }
    Ok(())
}

/// In WAL mode `NORMAL` loses nothing when a process is killed; when the power goes it may lose the last writes, never
/// the file. That is right for what can be asked of a server again. What cannot must not rely on this connection.
fn configure(connection: &Connection) -> rusqlite::Result<()> {
    // Manifests are long: fewer, larger pages make for fewer reads. Only a file that is still empty takes this.
    connection.pragma_update(None, "page_size", 16 * 1024)?;
    // Where WAL is impossible (some network disks) SQLite keeps its older journal, which works too.
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
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
    std::fs::rename(path, &kept).map_err(|error| StoreError::io(path, &error))?;
    // The companions belong to the damaged file and would spoil the new one. Usually there are none.
    let _ = std::fs::rename(beside(path, "-wal"), beside(&kept, "-wal"));
    let _ = std::fs::remove_file(beside(path, "-shm"));
    Ok(kept)
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

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
