//! Why the store cannot be used, and what a person can do about it. None of these ends the program: without a store
//! Toolfold goes on in memory.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("the store {path} cannot be written: {why}", path = path.display())]
    NotWritable { path: PathBuf, why: String },
    #[error("there is no room for the store {path}: {why}", path = path.display())]
    NoRoom { path: PathBuf, why: String },
    #[error("the store {path} was written by a newer Toolfold (its format is {found}, this one knows {known})", path = path.display())]
    TooNew { path: PathBuf, found: i64, known: i64 },
    #[error("{path} is the database of another program", path = path.display())]
    Foreign { path: PathBuf },
    #[error("the store {path} is in use by another process and did not become free", path = path.display())]
    Busy { path: PathBuf },
    #[error("the store {path} is damaged: {why}", path = path.display())]
    Damaged { path: PathBuf, why: String },
    #[error("the record {path} is damaged ({why}) and is left as it is: it holds what cannot be had again", path = path.display())]
    RecordDamaged { path: PathBuf, why: String },
    #[error("the store {path} does not keep up: {waiting} requests wait for it", path = path.display())]
    Overloaded { path: PathBuf, waiting: usize },
    #[error("the store is closed")]
    Closed,
    #[error("the store was interrupted before it had answered")]
    Interrupted,
    #[error("the store {path} failed: {why}", path = path.display())]
    Other { path: PathBuf, why: String },
}

impl StoreError {
    pub fn hint(&self) -> &'static str {
        match self {
            StoreError::NotWritable { .. } => {
                "give yourself the right to write there, or name another file with `store = \"…\"` or TOOLFOLD_STORE"
            }
            StoreError::NoRoom { .. } => {
                "free some space, raise the quota, or name a file on another disk with TOOLFOLD_STORE"
            }
            StoreError::TooNew { .. } => "update Toolfold, or name another file with TOOLFOLD_STORE",
            StoreError::Foreign { .. } => "name another file with `store = \"…\"` or TOOLFOLD_STORE",
            StoreError::Busy { .. } => "look for another Toolfold that hangs; trying again may help",
            StoreError::Damaged { .. } => "nothing to do: it is kept beside its place, and a new one is begun",
            StoreError::RecordDamaged { .. } => {
                "bring it back from a backup, or save what can be read with `sqlite3 FILE .recover`; to begin a new one, move it away yourself"
            }
            StoreError::Overloaded { .. } => "its disk is slow; trying again may help",
            StoreError::Closed => "Toolfold is being stopped",
            StoreError::Interrupted => "this is a mistake of Toolfold's; please report what the log says",
            StoreError::Other { .. } => "name another file with TOOLFOLD_STORE, or \"memory\" to do without",
        }
    }

    pub fn is_damage(&self) -> bool {
        matches!(self, StoreError::Damaged { .. } | StoreError::RecordDamaged { .. })
    }

    /// The same of a file that is never replaced.
    pub fn of_record(self) -> Self {
        match self {
            StoreError::Damaged { path, why } => StoreError::RecordDamaged { path, why },
            other => other,
        }
    }

    pub fn new(path: &Path, error: &rusqlite::Error) -> Self {
        let (path, why) = (path.to_owned(), error.to_string());
        match error.sqlite_error_code() {
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                StoreError::NotWritable { path, why }
            }
            // A quota or a limit on file sizes comes as a failed write, not as a full disk.
            Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) if is_write(error) => {
                StoreError::NoRoom { path, why }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged { path, why },
            _ => StoreError::Other { path, why },
        }
    }

    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Self {
        let (path, why) = (path.to_owned(), error.to_string());
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => StoreError::NoRoom { path, why },
            _ => StoreError::NotWritable { path, why },
        }
    }
}

fn is_write(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi;
    let code = error.sqlite_error().map(|error| error.extended_code);
    let writes = [
        ffi::SQLITE_FULL,
        ffi::SQLITE_IOERR_WRITE,
        ffi::SQLITE_IOERR_FSYNC,
        ffi::SQLITE_IOERR_TRUNCATE,
        ffi::SQLITE_IOERR_SHMSIZE,
    ];
    code.is_some_and(|code| writes.contains(&code))
}
