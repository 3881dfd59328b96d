//! Where logins are kept, as far as this crate knows: somebody keeps them, seals them, and sees to it that no two renew
//! one at once, in this process or another.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use serde::{Deserialize, Serialize};
use toolfold_core::ServerName;
use toolfold_oauth::{Demand, Login};
use toolfold_wire::BoxFuture;

use crate::shared::lock;

/// Whose login, and where.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LoginOwner {
    pub server: ServerName,
    /// The same name may stand for another server elsewhere.
    pub url: String,
    /// Empty: everybody's.
    pub principal: String,
}

/// What is known of somebody at a server.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Record {
    pub login: Option<Login>,
    /// What the server wanted when it last said no: for whoever makes the next login.
    pub demand: Option<Demand>,
}

#[derive(Debug, Clone)]
pub struct KeptLogin {
    /// Another one with every change.
    pub version: i64,
    pub record: Record,
}

/// What came of wanting to renew a login alone.
#[derive(Debug)]
pub enum Leased {
    Ours,
    /// Somebody has changed it meanwhile.
    Changed(Option<Box<KeptLogin>>),
    /// Somebody else is at it.
    Taken,
}

/// Why logins cannot be kept or found, in words for a person.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct NotKept(pub String);

pub trait Vault: Send + Sync {
    fn load<'a>(&'a self, whose: &'a LoginOwner) -> BoxFuture<'a, Result<Option<KeptLogin>, NotKept>>;

    /// In place of what there was; any lease on it ends. Its version.
    fn save<'a>(&'a self, whose: &'a LoginOwner, record: &'a Record) -> BoxFuture<'a, Result<i64, NotKept>>;

    /// To renew the login with this version alone, for a while.
    fn lease<'a>(&'a self, whose: &'a LoginOwner, version: i64) -> BoxFuture<'a, Result<Leased, NotKept>>;

    /// Nothing came of it.
    fn release<'a>(&'a self, whose: &'a LoginOwner) -> BoxFuture<'a, ()>;

    /// Whether there was anything.
    fn forget<'a>(&'a self, whose: &'a LoginOwner) -> BoxFuture<'a, Result<bool, NotKept>>;
}

/// For a process that keeps nothing.
#[derive(Debug, Default)]
pub struct MemoryVault {
    kept: Mutex<HashMap<LoginOwner, KeptLogin>>,
    versions: AtomicI64,
}

impl Vault for MemoryVault {
    fn load<'a>(&'a self, whose: &'a LoginOwner) -> BoxFuture<'a, Result<Option<KeptLogin>, NotKept>> {
        Box::pin(std::future::ready(Ok(lock(&self.kept).get(whose).cloned())))
    }

    fn save<'a>(&'a self, whose: &'a LoginOwner, record: &'a Record) -> BoxFuture<'a, Result<i64, NotKept>> {
        let version = self.versions.fetch_add(1, Ordering::Relaxed) + 1;
        lock(&self.kept).insert(whose.clone(), KeptLogin { version, record: record.clone() });
        Box::pin(std::future::ready(Ok(version)))
    }

    /// One process has one account for each of them, and that renews one thing at a time.
    fn lease<'a>(&'a self, whose: &'a LoginOwner, version: i64) -> BoxFuture<'a, Result<Leased, NotKept>> {
        let found = lock(&self.kept).get(whose).cloned();
        let same = found.as_ref().is_some_and(|kept| kept.version == version);
        Box::pin(std::future::ready(Ok(if same { Leased::Ours } else { Leased::Changed(found.map(Box::new)) })))
    }

    fn release<'a>(&'a self, _: &'a LoginOwner) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    fn forget<'a>(&'a self, whose: &'a LoginOwner) -> BoxFuture<'a, Result<bool, NotKept>> {
        Box::pin(std::future::ready(Ok(lock(&self.kept).remove(whose).is_some())))
    }
}
