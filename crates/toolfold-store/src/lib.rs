//! What must outlive the process. Two classes of it, in two files, because they are damaged differently:
//!
//! - *memory* (manifests, failures, vectors, usage, habits, sets of tools) can be had again. A damaged file is set aside with a
//!   notice and a new one is begun: a start must not fail for it.
//! - *record* (pins: what was accepted of what servers say; tokens that were given out; logins, sealed) cannot. Its file is made when there is first something to
//!   put in it, and a damaged one is refused with a message, never replaced. The audit is a record in a file of its own,
//!   which `toolfold-audit` keeps; only how it is opened is said here.
//!
//! What a reader would get wrong: a question is put as the method is called, not when its answer is awaited. Whoever
//! drops the answer has not taken the question back, so a write that nobody waits for needs no task of its own. All
//! waiting for a disk or another process happens on the engine's own thread, one per file, behind a queue with a bound.
//!
//! Several Toolfolds may share the files: each opens them for itself, and SQLite keeps them apart. On several machines they share
//! a database instead (`postgres/`), which keeps both classes: what is lost there is lost together. To add something worth
//! keeping: a step at the end of its class in `migrations.rs` and of `postgres/schema.rs`, and a file like `manifests.rs` in both.

mod audit;
pub mod cluster;
mod copy;
mod engine;
mod error;
mod migrations;
mod open;
mod postgres;
mod sqlite;

mod failures;
mod habits;
mod keyed;
mod manifests;
mod toolsets;
mod usage;
mod vectors;

mod logins;
mod pins;
mod seal;
mod tokens;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cluster::Cluster;
use engine::Engine;
use postgres::Postgres;
use toolfold_core::StorePlace;

pub use audit::{AuditBound, AuditDatabase, AuditHead, AuditPlace, AuditRow};
pub use copy::{Copied, copy};
pub use engine::Pending;
pub use error::StoreError;
pub use failures::StoredFailure;
pub use habits::{StoredChoice, StoredHabit};
pub use logins::{Lease, LoginKey, StoredLogin};
pub use manifests::StoredManifest;
pub use open::open_audit;
pub use pins::{NewPin, PinSource, Pinned, StoredPin, StoredPins};
pub use tokens::StoredToken;

/// How long one process waits for another to finish writing.
pub const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Store {
    /// `None`: in memory.
    place: Option<StorePlace>,
    memory: Engine,
    record: Engine,
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
    /// A file that is damaged or is no database is moved aside, kept, and mentioned in the notice. A database that is
    /// well but not ours is never touched. The record beside it is not looked at before it is needed.
    pub async fn open(path: Option<&Path>) -> Result<Opened, StoreError> {
        let (memory, notice) = Engine::memory(path);
        let notice = notice.await?;
        let place = path.map(|path| StorePlace::File(path.to_owned()));
        let store = Store { place, memory, record: Engine::record(path) };
        Ok(Opened { store, notice })
    }

    /// Opens the store wherever it is said to be. A database must be there; its tables are made, or brought up to date, by
    /// whoever comes first.
    pub async fn at(place: Option<&StorePlace>) -> Result<Opened, StoreError> {
        match place {
            None => Store::open(None).await,
            Some(StorePlace::File(path)) => Store::open(Some(path)).await,
            Some(StorePlace::Database(url)) => {
                let postgres = Postgres::open(url).await?;
                let (memory, record) = (Engine::Postgres(postgres.clone()), Engine::Postgres(postgres));
                Ok(Opened { store: Store { place: place.cloned(), memory, record }, notice: None })
            }
        }
    }

    /// `None`: in memory, gone with the process.
    pub fn place(&self) -> Option<&StorePlace> {
        self.place.as_ref()
    }

    /// What replicas share beside it; `None` where it is no database.
    pub fn cluster(&self) -> Option<Cluster> {
        self.record.postgres().cloned().map(Cluster::new)
    }

    /// The file that it is in, if it is in one.
    pub fn path(&self) -> Option<&Path> {
        self.place.as_ref().and_then(StorePlace::file)
    }

    /// Where the record of the store in this file is, or will be.
    pub fn record_path(path: &Path) -> PathBuf {
        path.with_extension("record.db")
    }

    /// Takes no more questions, answers those that were put, and closes the files. A disk that does not answer is not
    /// waited for: what it has not got by then is lost as it would be with the process.
    pub async fn close(&self) {
        let closed = async { tokio::join!(self.memory.close(), self.record.close()) };
        let _ = tokio::time::timeout(PATIENCE, closed).await;
    }
}

/// Microseconds since 1970.
fn microseconds() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64)
}

/// Milliseconds since 1970.
fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
