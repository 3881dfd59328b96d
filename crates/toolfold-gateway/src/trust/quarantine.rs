//! Everything that is held in one snapshot, for whoever asks for some of it: they are told why they do not get it, on every way on
//! which they could have got it.

use std::collections::HashMap;
use std::sync::Arc;

use toolfold_catalog::{Catalog, Extras, ServerTools};
use toolfold_core::{Entry, Kind, Refusal, ServerName};
use toolfold_disclosure::Withheld;
use toolfold_trust::What;
use toolfold_wire::{Object, Raw};

use super::docket::names_of;
use super::held::{Held, HeldList};
use crate::offers::fits_template;

/// Everything that is held in one snapshot.
#[derive(Debug)]
pub(crate) struct Quarantine {
    pub(crate) held: Vec<Arc<Held>>,
    /// What serves and has something in it that is worth a look: its server and its id.
    review: Vec<(ServerName, String)>,
    /// What does not serve at all, to be found by whatever name somebody calls it.
    named: Catalog,
}

impl Default for Quarantine {
    fn default() -> Self {
        Quarantine::of(Vec::new(), Vec::new())
    }
}

impl Withheld for Quarantine {
    fn refusal(&self, spelling: &str) -> Option<Refusal> {
        self.called(spelling).map(Held::refusal)
    }
}

impl Quarantine {
    pub(crate) fn of(held: Vec<Arc<Held>>, mut review: Vec<(ServerName, String)>) -> Quarantine {
        // In which order they were looked through is nobody's business.
        review.sort();
        let gone: Vec<&Arc<Held>> = held.iter().filter(|held| !held.serves).collect();
        let servers = gone.chunk_by(|one, next| one.server == next.server).filter_map(as_served);
        let named = Catalog::merge(0, servers);
        Quarantine { held, review, named }
    }

    /// The first of what is held that one of these spellings means.
    pub(crate) fn named_among(&self, spellings: &[String]) -> Option<&Held> {
        spellings.iter().find_map(|spelling| self.called(spelling))
    }

    fn called(&self, spelling: &str) -> Option<&Held> {
        self.behind(self.named.entry(self.named.resolve(spelling).ok()?))
    }

    pub(crate) fn held_for(&self, entry: &Entry) -> Option<&Held> {
        // Asked with every call, and of hardly any is anything held.
        let maybe = !entry.is_tool() || self.named.get(&entry.id).is_some();
        Some(entry).filter(|_| maybe).and_then(|entry| self.behind(entry))
    }

    /// What is held that would be this entry.
    fn behind(&self, entry: &Entry) -> Option<&Held> {
        let find = |what: What, wanted: &str| self.find(what, entry.server(), |name| name == wanted);
        let own = |key: &str| Object::parse(&entry.definition).and_then(|object| object.string(key));
        match entry.kind {
            _ if entry.is_tool() => find(What::Tool, entry.name()),
            Kind::Prompt => find(What::Prompt, &own("prompt")?),
            Kind::Resource => own("uri")
                .and_then(|uri| find(What::Resource, &uri))
                .or_else(|| find(What::Template, &own("uriTemplate")?)),
            kind => find(kind.into(), entry.name()),
        }
    }

    /// The held prompt of this exposed name.
    pub(crate) fn prompt(&self, exposed: &str) -> Option<&Held> {
        let named = |held: &&Arc<Held>| {
            let name = &held.offer.name;
            [Some(&held.server), None].iter().any(|server| toolfold_core::exposed_name(*server, name) == exposed)
        };
        let mut prompts = self.held.iter().filter(|held| held.offer.what == What::Prompt && !held.serves);
        prompts.find(named).map(AsRef::as_ref)
    }

    /// The held resource that has this address on a server, or the held template that could have made it.
    pub(crate) fn resource(&self, server: &ServerName, uri: &str) -> Option<&Held> {
        let listed = self.find(What::Resource, server, |name| name == uri);
        listed.or_else(|| self.find(What::Template, server, |template| fits_template(template, uri)))
    }

    /// The same of whichever server; `may` says of a server's address whether it exists for whoever asks.
    pub(crate) fn address(&self, uri: &str, may: impl Fn(&ServerName, &str) -> bool) -> Option<&Held> {
        let asked = |held: &&Arc<Held>| {
            let is_it = |uri: &str| match held.offer.what {
                What::Resource => held.offer.name == uri,
                What::Template => fits_template(&held.offer.name, uri),
                _ => false,
            };
            let own = uri.strip_prefix(held.server.as_str()).and_then(|rest| rest.strip_prefix('+'));
            !held.serves && [own, Some(uri)].into_iter().flatten().any(|uri| is_it(uri) && may(&held.server, uri))
        };
        self.held.iter().find(asked).map(AsRef::as_ref)
    }

    fn find(&self, what: What, server: &ServerName, is_it: impl Fn(&str) -> bool) -> Option<&Held> {
        let fits = |held: &&Arc<Held>| {
            held.offer.what == what && !held.serves && held.server == *server && is_it(&held.offer.name)
        };
        self.held.iter().find(fits).map(AsRef::as_ref)
    }

    /// What serves and has something in it that is worth a look: its server and its id.
    pub(crate) fn review(&self) -> &[(ServerName, String)] {
        &self.review
    }

    /// Of each server how many somebody has to decide about, and how many serve and are worth a look.
    pub(crate) fn counts(&self) -> HashMap<&ServerName, (usize, usize)> {
        let mut counts: HashMap<&ServerName, (usize, usize)> = HashMap::new();
        for held in self.held.iter().filter(|held| !held.is_denied()) {
            counts.entry(&held.server).or_default().0 += 1;
        }
        for (server, _) in &self.review {
            counts.entry(server).or_default().1 += 1;
        }
        counts
    }
}

/// A part of what is held, with its differences: at most so many, and none after so many bytes of them. It reads every
/// definition: not for a thread that answers somebody.
pub(crate) fn described(
    quarantine: &Quarantine,
    catalog: &Catalog,
    wanted: impl Fn(&Held) -> bool,
    (offset, limit): (usize, usize),
    longest: usize,
) -> HeldList {
    let all: Vec<&Arc<Held>> = quarantine.held.iter().filter(|held| wanted(held)).collect();
    let held = match all.is_empty() {
        true => Vec::new(),
        false => {
            let context = names_of(catalog.servers().iter());
            let mut shown = 0;
            let mut page = Vec::new();
            for held in all.iter().skip(offset).take(limit) {
                let entry = held.shown(&context);
                shown += entry.diff.len();
                page.push(entry);
                if shown > longest {
                    break;
                }
            }
            page
        }
    };
    HeldList { total: all.len(), held, review: quarantine.review.iter().map(|(_, id)| id.clone()).collect() }
}

/// What is held of one server, as it would serve.
fn as_served(held: &[&Arc<Held>]) -> Option<Arc<ServerTools>> {
    let server = &held.first()?.server;
    let entry = |held: &&Arc<Held>| match held.offer.what {
        What::Tool => Entry::tool(server, &held.offer.definition).ok(),
        What::Agent => Entry::document(server, Kind::Agent, &held.offer.definition).ok(),
        What::Skill => Entry::document(server, Kind::Skill, &held.offer.definition).ok(),
        What::Server | What::Prompt | What::Resource | What::Template => None,
    };
    let entries = held.iter().filter_map(entry).map(Arc::new).collect();
    let (title, instructions, offered) = (None, None, Vec::new());
    let mut tools = ServerTools { name: server.clone(), prefix: true, title, instructions, entries, offered };
    let list = |what: What| -> Vec<Raw> {
        held.iter().filter(|held| held.offer.what == what).map(|held| held.offer.definition.clone()).collect()
    };
    let (prompts, resources, templates) = (list(What::Prompt), list(What::Resource), list(What::Template));
    tools.offer(&Extras { prompts: &prompts, resources: &resources, templates: &templates });
    Some(Arc::new(tools))
}
