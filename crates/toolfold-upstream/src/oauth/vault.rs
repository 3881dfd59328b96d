//! Where logins are kept, as far as this crate knows: somebody keeps them, seals them, and sees to it that no two renew
//! one at once, in this process or another.

use std::collections::HashMap;
use std::future::ready;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use toolfold_core::ServerName;
use toolfold_oauth::{Demand, Login, Used};
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
    /// Where the client was used whose login is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Used>,
}

impl Record {
    /// What is left when the login is over.
    pub(super) fn ended(self) -> Record {
        let used = self.login.as_ref().and_then(Login::used).or(self.used);
        Record { login: None, demand: self.demand, used }
    }
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

    /// In place of whatever there was; any lease on it ends. Its version.
    fn save<'a>(&'a self, whose: &'a LoginOwner, record: &'a Record) -> BoxFuture<'a, Result<i64, NotKept>>;

    /// The same in place of this version, or of nothing. `None`: somebody has changed it meanwhile, or ended it, and theirs
    /// stands.
    fn replace<'a>(
        &'a self,
        whose: &'a LoginOwner,
        known: Option<i64>,
        record: &'a Record,
    ) -> BoxFuture<'a, Result<Option<i64>, NotKept>>;

    /// To renew the login with this version alone, for a while.
    fn lease<'a>(&'a self, whose: &'a LoginOwner, version: i64) -> BoxFuture<'a, Result<Leased, NotKept>>;

    /// Nothing came of it.
    fn release<'a>(&'a self, whose: &'a LoginOwner) -> BoxFuture<'a, ()>;

    /// Whether there was anything.
    fn forget<'a>(&'a self, whose: &'a LoginOwner) -> BoxFuture<'a, Result<bool, NotKept>>;
}

/// How long whoever renews a login has for it.
const LEASE: Duration = Duration::from_secs(40);

/// For a process that keeps nothing.
#[derive(Debug, Default)]
pub struct MemoryVault {
    kept: Mutex<HashMap<LoginOwner, Filed>>,
    versions: AtomicI64,
}

#[derive(Debug)]
struct Filed {
    login: KeptLogin,
    /// Until when somebody renews it.
    leased: Option<Instant>,
}

impl MemoryVault {
    fn file(&self, kept: &mut HashMap<LoginOwner, Filed>, whose: &LoginOwner, record: &Record) -> i64 {
        let version = self.versions.fetch_add(1, Ordering::Relaxed) + 1;
        let login = KeptLogin { version, record: record.clone() };
        kept.insert(whose.clone(), Filed { login, leased: None });
        version
    }
}

impl Vault for MemoryVault {
    fn load<'a>(&'a self, whose: &'a LoginOwner) -> BoxFuture<'a, Result<Option<KeptLogin>, NotKept>> {
        Box::pin(ready(Ok(lock(&self.kept).get(whose).map(|filed| filed.login.clone()))))
    }

    fn save<'a>(&'a self, whose: &'a LoginOwner, record: &'a Record) -> BoxFuture<'a, Result<i64, NotKept>> {
        Box::pin(ready(Ok(self.file(&mut lock(&self.kept), whose, record))))
    }

    fn replace<'a>(
        &'a self,
        whose: &'a LoginOwner,
        known: Option<i64>,
        record: &'a Record,
    ) -> BoxFuture<'a, Result<Option<i64>, NotKept>> {
        let mut kept = lock(&self.kept);
        let is_known = kept.get(whose).map(|filed| filed.login.version) == known;
        Box::pin(ready(Ok(is_known.then(|| self.file(&mut kept, whose, record)))))
    }

    /// A server that is configured anew has another account while the old one may still be renewing.
    fn lease<'a>(&'a self, whose: &'a LoginOwner, version: i64) -> BoxFuture<'a, Result<Leased, NotKept>> {
        let mut kept = lock(&self.kept);
        let leased = match kept.get_mut(whose) {
            Some(filed) if filed.login.version != version => Leased::Changed(Some(Box::new(filed.login.clone()))),
            Some(filed) if filed.leased.is_some_and(|until| until > Instant::now()) => Leased::Taken,
            Some(filed) => {
                filed.leased = Some(Instant::now() + LEASE);
                Leased::Ours
            }
            None => Leased::Changed(None),
        };
        Box::pin(ready(Ok(leased)))
    }

    fn release<'a>(&'a self, whose: &'a LoginOwner) -> BoxFuture<'a, ()> {
        if let Some(filed) = lock(&self.kept).get_mut(whose) {
            filed.leased = None;
        }
        Box::pin(ready(()))
    }

    fn forget<'a>(&'a self, whose: &'a LoginOwner) -> BoxFuture<'a, Result<bool, NotKept>> {
        Box::pin(ready(Ok(lock(&self.kept).remove(whose).is_some())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whose(principal: &str) -> LoginOwner {
        let (server, url) = (ServerName::new("s").unwrap(), "https://s.example/mcp".to_owned());
        LoginOwner { server, url, principal: principal.to_owned() }
    }

    #[tokio::test(start_paused = true)]
    async fn one_renews_a_login_at_a_time() {
        let (vault, alice) = (MemoryVault::default(), whose("alice"));
        assert!(matches!(vault.lease(&alice, 1).await.unwrap(), Leased::Changed(None)));
        let first = vault.save(&alice, &Record::default()).await.unwrap();
        assert!(matches!(vault.lease(&alice, first).await.unwrap(), Leased::Ours));
        assert!(matches!(vault.lease(&alice, first).await.unwrap(), Leased::Taken), "somebody is at it");
        // Whoever is at it is done: the others see another version.
        let second = vault.save(&alice, &Record::default()).await.unwrap();
        assert!(
            matches!(vault.lease(&alice, first).await.unwrap(), Leased::Changed(Some(kept)) if kept.version == second)
        );
        assert!(matches!(vault.lease(&alice, second).await.unwrap(), Leased::Ours), "a save ends the lease");
        assert!(matches!(vault.lease(&whose("bob"), 1).await.unwrap(), Leased::Changed(None)), "each has their own");
        vault.release(&alice).await;
        assert!(matches!(vault.lease(&alice, second).await.unwrap(), Leased::Ours), "nothing came of it");
        // Whoever is at it is gone: others are not kept out for ever.
        tokio::time::advance(LEASE).await;
        assert!(matches!(vault.lease(&alice, second).await.unwrap(), Leased::Ours));
        let third = vault.replace(&alice, Some(second), &Record::default()).await.unwrap().unwrap();
        assert!(vault.replace(&alice, Some(second), &Record::default()).await.unwrap().is_none(), "it has changed");
        assert!(vault.replace(&alice, None, &Record::default()).await.unwrap().is_none(), "there is one");
        assert!(vault.forget(&alice).await.unwrap());
        assert!(vault.replace(&alice, Some(third), &Record::default()).await.unwrap().is_none(), "it has ended");
        assert!(vault.replace(&alice, None, &Record::default()).await.unwrap().is_some(), "there is none");
        assert!(vault.forget(&alice).await.unwrap());
        assert!(matches!(vault.lease(&alice, second).await.unwrap(), Leased::Changed(None)));
    }
}
