//! What is known of each source, as the record has it, and which source a server is.
//!
//! What a reader would get wrong: the key of a source is not the one that its list is remembered under. A list may have to be asked
//! for again whenever a setting changes; what was accepted, and what is held, is of the same program all the same.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::time::timeout;
use toolfold_config::{Config, Server, Transport};
use toolfold_core::{Fingerprint, ServerName, StorePlace, Trust};
use toolfold_store::{NewPin, PinSource, Pinned, Store, StoreError, StoredPin, StoredPins};
use toolfold_trust::{Former, Offer, Pin, Pins, Raised, Record, What};

use super::judge::PATIENCE;
use crate::gate::Source;
use crate::known::Known;
use crate::remembered::config_key;

/// What is known of sources, as the record has it.
#[derive(Default)]
pub(super) struct Records {
    known: HashMap<ServerName, Dossier>,
    /// Where pins are kept. Without a store they last as long as the process.
    store: Option<Arc<Store>>,
    /// There is a record that cannot be reached, because the store could not be opened.
    unreachable: bool,
}

/// The record of one source.
pub(super) struct Dossier {
    pub(super) source: PinSource,
    /// When it first came; nothing for one that is not written down yet.
    pub(super) number: Option<i64>,
    pub(super) record: Record,
}

impl Records {
    /// The record beside this store; a store of our own where there is none.
    pub(super) async fn beside(store: Option<Arc<Store>>, config: &Config) -> Records {
        let unreachable = match (&store, &config.store) {
            // What cannot be looked for may well be there.
            (None, Some(StorePlace::File(path))) => Store::record_path(path).try_exists().unwrap_or(true),
            (None, Some(StorePlace::Database(_))) => true,
            _ => false,
        };
        let store = match store {
            Some(store) => Some(store),
            None => Store::open(None).await.ok().map(|opened| Arc::new(opened.store)),
        };
        Records { known: HashMap::new(), store, unreachable }
    }

    pub(super) fn store(&self) -> Option<Arc<Store>> {
        self.store.clone().filter(|_| !self.unreachable)
    }

    /// Takes out what is known of a source; it is put back when it has been used.
    pub(super) async fn take(&mut self, party: &Party) -> Dossier {
        let source = &party.source;
        let known = self.known.remove(&source.server);
        if let Some(kept) = known.filter(|kept| kept.source == *source && kept.record.lost.is_none()) {
            return kept;
        }
        let (number, record) = match self.store() {
            Some(store) => match timeout(PATIENCE, read(&store, party)).await {
                Ok(Ok(found)) => found,
                Ok(Err(error)) => (None, Record::lost(format!("{error}. {}", error.hint()))),
                Err(_) => (None, Record::lost("the record could not be read in time")),
            },
            None => (None, Record::lost("the store could not be opened")),
        };
        Dossier { source: source.clone(), number, record }
    }

    pub(super) fn put(&mut self, kept: Dossier) {
        self.known.insert(kept.source.server.clone(), kept);
    }

    /// Reads it anew the next time: somebody else may have written to it.
    pub(super) fn forget(&mut self, server: &ServerName) {
        self.known.remove(server);
    }
}

async fn read(store: &Store, Party { source, former, .. }: &Party) -> Result<(Option<i64>, Record), StoreError> {
    let mut pinned = store.pins(source).await?;
    if let Pinned::Never { .. } = pinned {
        store.adopt(source, former).await?;
        pinned = store.pins(source).await?;
    }
    Ok(match pinned {
        Pinned::Never { former } => (None, Record { former: former_of(former), ..Record::default() }),
        Pinned::Known(StoredPins { number, strict, pins, former }) => {
            let pins = pins_of(pins, strict);
            (Some(number), Record { pins, seen: true, former: former_of(former), lost: None })
        }
        Pinned::Lost => (None, Record::lost("the record is gone, or does not know this server any more")),
        Pinned::Damaged => (None, Record::lost("what the record has of this server is damaged")),
    })
}

/// A kind that this version does not know belongs to one that does.
fn pins_of(stored: Vec<StoredPin>, strict: bool) -> Pins {
    let mut pins = Pins::default();
    pins.strict = strict;
    for StoredPin { kind, name, accepted, denied, findings, raised, .. } in stored {
        if let Some(what) = What::parse(&kind) {
            pins.set(what, name, Pin { accepted, denied, findings, raised: Raised::from_bits(raised) });
        }
    }
    pins
}

fn former_of(stored: Vec<StoredPin>) -> HashMap<(What, String), Former> {
    let mut all: HashMap<(What, String), Former> = HashMap::new();
    for StoredPin { kind, name, accepted, denied, .. } in stored {
        if let Some(what) = What::parse(&kind) {
            let former = all.entry((what, name)).or_default();
            former.accepted.extend(accepted);
            former.denied.extend(denied);
        }
    }
    all
}

/// A pin as it is written down, with the definition where it is accepted as it is.
pub(super) fn stored(offer: &Offer, pin: Pin, by: Option<&str>) -> NewPin {
    let definition = (pin.accepted == Some(offer.fingerprint)).then(|| offer.definition.get().to_owned());
    let Pin { accepted, denied, findings, raised } = pin;
    let (kind, name, by) = (offer.what.as_str().to_owned(), offer.name.clone(), by.map(str::to_owned));
    NewPin { pin: StoredPin { kind, name, accepted, denied, by, findings, raised: raised.bits() }, definition }
}

/// Who somebody is to the record, and how far they are trusted.
pub(super) struct Party {
    pub(super) trust: Trust,
    pub(super) source: PinSource,
    /// The key that it was known by when settings were part of that.
    former: Fingerprint,
}

impl Party {
    /// `None` for what is the program's own.
    pub(super) fn of(name: &ServerName, known: &Known, config: &Config) -> Option<Party> {
        let (trust, key, former) = match (&known.source, &known.config) {
            (Source::Server(_), Some(server)) => (server.trust, program_key(server), config_key(server)),
            (Source::Documents | Source::Scripts(_), _) => {
                let (trust, paths) = match name.as_str() {
                    "skills" => (config.trust_skills, &config.skills),
                    "scripts" => (config.trust_scripts, &config.scripts),
                    _ => (config.trust_agents, &config.agents),
                };
                // Where else files are looked for does not make others of these.
                (trust, Fingerprint::of_text("files"), Fingerprint::of_text(&format!("files\0{paths:?}")))
            }
            _ => return None,
        };
        Some(Party { trust, source: PinSource { server: name.clone(), key }, former })
    }
}

/// Which program or address a server is. How it is spoken to, and what it is told beside its arguments, is not part of that.
fn program_key(server: &Server) -> Fingerprint {
    Fingerprint::of_text(&match &server.transport {
        Transport::Stdio { command, args, cwd, .. } => format!("stdio\0{command}\0{}\0{cwd:?}", args.join("\0")),
        Transport::Http { url, .. } => format!("http\0{url}"),
        Transport::Api(source) => format!("api\0{}", source.identity()),
        Transport::Agent { card, .. } => format!("agent\0{card}"),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use toolfold_core::Secret;

    use super::*;

    #[test]
    fn a_setting_makes_no_other_server_and_another_program_does() {
        let server = |args: &[&str], variables: &[&str]| {
            let args = args.iter().map(ToString::to_string).collect();
            let env: BTreeMap<String, Secret> =
                variables.iter().map(|name| (name.to_string(), Secret::new("x".to_owned()))).collect();
            let transport = Transport::Stdio { command: "npx".to_owned(), args, env, cwd: None };
            Server::new(ServerName::new("s").unwrap(), transport)
        };
        let plain = server(&["files"], &[]);
        let talkative = Server { era: toolfold_config::EraChoice::Legacy, ..server(&["files"], &["LOG_LEVEL"]) };
        assert_eq!(program_key(&plain), program_key(&talkative));
        assert_ne!(program_key(&plain), program_key(&server(&["others"], &[])));
    }
}
