//! Keeping logins in the record, sealed: the key is in `TOOLFOLD_KEY`, or in a file beside the store that only this user can
//! read, which is made when there is first something to keep.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::Value;
use toolfold_config::{CLIENT_DOCUMENT, Config};
use toolfold_core::Secret;
use toolfold_oauth::{BadSeal, Seal, client_document};
use toolfold_store::{Lease, LoginKey, Store, StoredLogin};
use toolfold_upstream::{KeptLogin, Leased, LoginOwner, MemoryVault, NotKept, Record, Vault};
use toolfold_wire::BoxFuture;

/// Longer than renewing a login can take; if its holder is killed, the next one waits for so long.
const LEASE: Duration = Duration::from_secs(40);

/// Where logins are kept: in the record of this store, or in memory where there is none.
pub fn vault(store: Option<Arc<Store>>, key: Option<Secret>) -> Arc<dyn Vault> {
    match store {
        Some(store) if store.place().is_some() => Arc::new(RecordVault::new(store, key)),
        _ => Arc::new(MemoryVault::default()),
    }
}

/// The document about this client that is served at its own address; none where another one describes it, or none does.
pub fn own_client_document(config: &Config) -> Option<Value> {
    let own = format!("{}{CLIENT_DOCUMENT}", config.http.public_url.as_deref()?);
    let named = config.oauth.client_metadata.as_ref().filter(|named| **named == own)?;
    Some(client_document(named, config.oauth.callback_port))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct RecordVault {
    store: Arc<Store>,
    /// From the environment.
    key: Option<Secret>,
    seal: OnceLock<Seal>,
    /// Tells this process apart from others that renew logins.
    holder: String,
    /// Which lease it is, and who has which.
    taken: AtomicU64,
    leases: Mutex<HashMap<LoginOwner, String>>,
}

impl RecordVault {
    fn new(store: Arc<Store>, key: Option<Secret>) -> Self {
        let mut chance = [0; 8];
        // Without random numbers the process number has to do.
        let _ = getrandom::fill(&mut chance);
        let holder = format!("{}-{:016x}", std::process::id(), u64::from_ne_bytes(chance));
        RecordVault { store, key, seal: OnceLock::new(), holder, taken: AtomicU64::new(0), leases: Mutex::default() }
    }

    fn seal(&self) -> Result<&Seal, NotKept> {
        if let Some(seal) = self.seal.get() {
            return Ok(seal);
        }
        let key = match (&self.key, self.store.path()) {
            (Some(key), _) => key.clone(),
            (None, Some(path)) => key_beside(path).map_err(|error| NotKept(error.to_string()))?,
            // A key of this machine would open nothing on another.
            (None, None) if self.store.place().is_some() => {
                let why = "the store is a database, and logins in it need a key: set TOOLFOLD_KEY, the same wherever that store is used";
                return Err(NotKept(why.to_owned()));
            }
            (None, None) => return Err(NotKept("there is no store to keep logins in".to_owned())),
        };
        let seal = Seal::new(&key).map_err(|error| NotKept(error.to_string()))?;
        Ok(self.seal.get_or_init(|| seal))
    }

    /// Who gave it out, and all of it sealed.
    fn sealed<'r>(&self, whose: &LoginOwner, record: &'r Record) -> Result<(&'r str, Vec<u8>), NotKept> {
        let issuer = record.login.as_ref().map_or("", |login| &login.issuer);
        let plain = serde_json::to_vec(record).map_err(|error| NotKept(error.to_string()))?;
        let sealed = self.seal()?.seal(&about(whose, issuer), &plain);
        Ok((issuer, sealed.map_err(|error| NotKept(error.to_string()))?))
    }

    fn opened(&self, whose: &LoginOwner, stored: &StoredLogin) -> Result<KeptLogin, NotKept> {
        let plain = self.seal()?.open(&about(whose, &stored.issuer), &stored.sealed);
        let plain = plain.map_err(|error| {
            NotKept(format!("{error}; `toolfold logout {0}`, then `toolfold login {0}` begins anew", whose.server))
        })?;
        let record =
            serde_json::from_slice(&plain).map_err(|_| NotKept("a login that is kept cannot be read".into()))?;
        Ok(KeptLogin { version: stored.version, record })
    }
}

/// What a login is sealed for: nothing of it opens for anybody else.
fn about<'a>(whose: &'a LoginOwner, issuer: &'a str) -> [&'a str; 4] {
    [whose.server.as_str(), &whose.url, issuer, &whose.principal]
}

fn key_of(whose: &LoginOwner) -> LoginKey {
    LoginKey { server: whose.server.clone(), url: whose.url.clone(), principal: whose.principal.clone() }
}

fn unkept(error: toolfold_store::StoreError) -> NotKept {
    NotKept(format!("{error}: {}", error.hint()))
}

impl Vault for RecordVault {
    fn load<'a>(&'a self, whose: &'a LoginOwner) -> BoxFuture<'a, Result<Option<KeptLogin>, NotKept>> {
        Box::pin(async move {
            let stored = self.store.load_login(&key_of(whose)).await.map_err(unkept)?;
            stored.map(|stored| self.opened(whose, &stored)).transpose()
        })
    }

    fn save<'a>(&'a self, whose: &'a LoginOwner, record: &'a Record) -> BoxFuture<'a, Result<i64, NotKept>> {
        Box::pin(async move {
            let (issuer, sealed) = self.sealed(whose, record)?;
            self.store.save_login(&key_of(whose), issuer, sealed).await.map_err(unkept)
        })
    }

    fn replace<'a>(
        &'a self,
        whose: &'a LoginOwner,
        known: Option<i64>,
        record: &'a Record,
    ) -> BoxFuture<'a, Result<Option<i64>, NotKept>> {
        Box::pin(async move {
            let (issuer, sealed) = self.sealed(whose, record)?;
            self.store.replace_login(&key_of(whose), known, issuer, sealed).await.map_err(unkept)
        })
    }

    fn lease<'a>(&'a self, whose: &'a LoginOwner, version: i64) -> BoxFuture<'a, Result<Leased, NotKept>> {
        Box::pin(async move {
            // Another name each time: a server that is configured anew has another account in this process, while the old one
            // may still be renewing.
            let holder = format!("{}-{}", self.holder, self.taken.fetch_add(1, Ordering::Relaxed));
            match self.store.lease_login(&key_of(whose), version, &holder, LEASE).await.map_err(unkept)? {
                Lease::Ours => {
                    lock(&self.leases).insert(whose.clone(), holder);
                    Ok(Leased::Ours)
                }
                Lease::Taken => Ok(Leased::Taken),
                Lease::Changed(stored) => {
                    let kept = stored.map(|stored| self.opened(whose, &stored)).transpose()?;
                    Ok(Leased::Changed(kept.map(Box::new)))
                }
            }
        })
    }

    fn release<'a>(&'a self, whose: &'a LoginOwner) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let holder = lock(&self.leases).remove(whose);
            // A lease that cannot be given back ends by itself.
            if let Some(holder) = holder {
                drop(self.store.release_login(&key_of(whose), &holder).await);
            }
        })
    }

    fn forget<'a>(&'a self, whose: &'a LoginOwner) -> BoxFuture<'a, Result<bool, NotKept>> {
        Box::pin(async move { self.store.forget_login(&key_of(whose), None).await.map_err(unkept) })
    }
}

/// Why logins cannot be sealed with a key of our own.
#[derive(Debug, thiserror::Error)]
enum NoKey {
    #[error("no key for logins can be kept in {}: {error}", .path.display())]
    Unkept { path: PathBuf, error: io::Error },
    #[error("the key for logins in {} cannot be read: {error}", .path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("others can read the key for logins: `chmod 600 {}`", .path.display())]
    Open { path: PathBuf },
    #[error(transparent)]
    Unmade(#[from] BadSeal),
}

/// The key in the file beside the store, which is made where there is none. Several processes may want to at once: the
/// first one's stands.
fn key_beside(store: &Path) -> Result<Secret, NoKey> {
    let path = store.with_extension("key");
    match read_key(&path) {
        Ok(Some(key)) => return Ok(key),
        Ok(None) => {}
        Err(why) => return Err(why),
    }
    let failed = |error: io::Error| NoKey::Unkept { path: path.clone(), error };
    let made = Seal::generate()?;
    let aside = aside(&path);
    let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside).and_then(|mut file| {
        file.write_all(made.expose().as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()
    });
    // A link is made whole or not at all, and never over another's.
    let linked = written.and_then(|()| fs::hard_link(&aside, &path));
    let _ = fs::remove_file(&aside);
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    read_key(&path)?.ok_or_else(|| failed(ErrorKind::NotFound.into()))
}

fn read_key(path: &Path) -> Result<Option<Secret>, NoKey> {
    let failed = |error: io::Error| NoKey::Unreadable { path: path.to_owned(), error };
    let about = match fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if about.permissions().mode() & 0o077 != 0 {
        return Err(NoKey::Open { path: path.to_owned() });
    }
    Ok(Some(Secret::new(fs::read_to_string(path).map_err(failed)?.trim())))
}

fn aside(path: &Path) -> PathBuf {
    let mut chance = [0; 8];
    let _ = getrandom::fill(&mut chance);
    path.with_extension(format!("key-{}-{:016x}", std::process::id(), u64::from_ne_bytes(chance)))
}

#[cfg(test)]
mod tests {
    use toolfold_core::ServerName;

    use super::*;

    /// Two accounts of one process, one of which was configured away while it renewed.
    #[tokio::test]
    async fn one_renews_a_login_at_a_time_in_one_process_too() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(Some(&folder.path().join("toolfold.db"))).await.unwrap().store;
        let vault = vault(Some(Arc::new(store)), None);
        let whose = LoginOwner {
            server: ServerName::new("s").unwrap(),
            url: "https://s.example/mcp".to_owned(),
            principal: String::new(),
        };
        let version = vault.save(&whose, &Record::default()).await.unwrap();
        assert!(matches!(vault.lease(&whose, version).await.unwrap(), Leased::Ours));
        assert!(matches!(vault.lease(&whose, version).await.unwrap(), Leased::Taken));
        vault.release(&whose).await;
        assert!(matches!(vault.lease(&whose, version).await.unwrap(), Leased::Ours));
        let newer = vault.save(&whose, &Record::default()).await.unwrap();
        assert!(matches!(vault.lease(&whose, version).await.unwrap(), Leased::Changed(Some(_))));
        assert!(matches!(vault.lease(&whose, newer).await.unwrap(), Leased::Ours), "a save ends the lease");
    }
}
