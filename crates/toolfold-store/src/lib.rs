//! What must outlive the process, in one SQLite file. Several Toolfolds may share it: each opens it for itself, and
//! SQLite keeps them apart.
//!
//! Every call blocks (on the disk, or up to [`PATIENCE`] on another process), so an asynchronous caller takes a thread
//! for it. To add something worth keeping: a step at the end of `migrations.rs` and a file like `manifests.rs`.

mod error;
mod migrations;
mod open;

mod manifests;
mod toolsets;
mod usage;
mod vectors;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

pub use error::StoreError;
pub use manifests::StoredManifest;

/// How long one process waits for another to finish writing.
pub const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Store {
    /// `None`: in memory.
    path: Option<PathBuf>,
    connection: Mutex<Connection>,
}

/// A store that is ready, and what a person should know about how it became so.
#[derive(Debug)]
pub struct Opened {
    pub store: Store,
    pub notice: Option<String>,
}

impl Store {
    /// Opens the store in this file, or begins one; `None`: in memory, gone with the process.
    ///
    /// A file that is damaged or is no database is moved aside, kept, and mentioned in the notice: what is stored here
    /// can be had again, and a start must not fail for it. A database that is well but not ours is never touched.
    pub fn open(path: Option<&Path>) -> Result<Opened, StoreError> {
        let (connection, notice) = match path {
            Some(path) => open::file(path)?,
            None => (open::memory()?, None),
        };
        let store = Store { path: path.map(Path::to_owned), connection: Mutex::new(connection) };
        Ok(Opened { store, notice })
    }

    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Runs one piece of work. Where it finds the file damaged, a new store takes its place at once: the work has
    /// failed, the next will not.
    fn run<T>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        // A panic in a reader leaves no half-written state behind: SQLite rolls back what was not committed.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = match work(&mut connection) {
            Ok(value) => return Ok(value),
            Err(error) => StoreError::new(self.path(), &error),
        };
        if let (StoreError::Damaged { .. }, Some(path)) = (&failed, self.path()) {
            // The damaged file must be closed before its successor is opened.
            *connection = open::memory()?;
            *connection = open::replace(path)?;
        }
        Err(failed)
    }
}
