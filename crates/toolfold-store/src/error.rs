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
    #[error("the database {path} cannot be used: {why}", path = path.display())]
    Unreachable { path: PathBuf, why: String },
    #[error("the address of the database {path} is wrong: {why}", path = path.display())]
    Address { path: PathBuf, why: String },
    #[error("{path} holds something already", path = path.display())]
    Occupied { path: PathBuf },
    #[error("there is no store {path}", path = path.display())]
    Missing { path: PathBuf },
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
            StoreError::Unreachable { .. } => {
                "see that the database runs, that `store` names it rightly and that this machine may connect to it"
            }
            StoreError::Address { .. } => {
                "write it as postgres://user:password@host:5432/database?sslmode=verify-full; what is special in a password is escaped (%40 for @)"
            }
            StoreError::Occupied { .. } => "name an empty one, or say `--replace` to have it replaced",
            StoreError::Missing { .. } => "look at the path; `toolfold doctor` says where the store is",
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

    /// Of PostgreSQL.
    pub(crate) fn database(path: &Path, error: &tokio_postgres::Error) -> Self {
        use tokio_postgres::error::SqlState as State;
        let path = path.to_owned();
        let Some(said) = error.as_db_error() else {
            return StoreError::Unreachable { path, why: chain(error) };
        };
        let (code, why) = (said.code(), said.message().to_owned());
        let is = |states: &[State]| states.contains(code);
        // Not there, not letting us in, going down, coming up, full of others.
        let away = ["08", "28", "3D", "53", "57"].iter().any(|class| code.code().starts_with(class));
        if is(&[State::DISK_FULL, State::OUT_OF_MEMORY]) {
            StoreError::NoRoom { path, why }
        } else if is(&[State::INSUFFICIENT_PRIVILEGE, State::READ_ONLY_SQL_TRANSACTION]) {
            StoreError::NotWritable { path, why }
        } else if is(&[State::QUERY_CANCELED, State::LOCK_NOT_AVAILABLE, State::T_R_DEADLOCK_DETECTED]) {
            StoreError::Busy { path }
        } else if is(&[State::DATA_CORRUPTED, State::INDEX_CORRUPTED]) {
            StoreError::RecordDamaged { path, why }
        } else if away {
            StoreError::Unreachable { path, why }
        } else {
            StoreError::Other { path, why }
        }
    }

    /// No link to the database could be had.
    pub(crate) fn link(path: &Path, error: &deadpool_postgres::PoolError) -> Self {
        use deadpool_postgres::{HookError, PoolError};
        match error {
            PoolError::Backend(error) | PoolError::PostCreateHook(HookError::Backend(error)) => {
                StoreError::database(path, error)
            }
            PoolError::Closed => StoreError::Closed,
            _ => StoreError::Unreachable { path: path.to_owned(), why: "it did not answer".to_owned() },
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

/// What went wrong, and why: the library says the first only.
fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
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
