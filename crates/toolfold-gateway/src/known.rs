//! What the writer knows of one server: where its calls go, what it offers, and why it does not.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use toolfold_catalog::{Extras, ServerSource, ServerTools, SetAside, follow};
use toolfold_config::{Server, Transport};
use toolfold_core::{Absent, Fingerprint, ServerName, shown_line};
use toolfold_upstream::{Manifest, State};
use toolfold_wire::{Object, raw};
use tracing::warn;

use crate::gate::Source;
use crate::local::LocalServer;
use crate::trust::{Held, Judged};

/// Held entries that are remembered to have been told of.
const MOST_TOLD: usize = 4_096;
/// Entries that are named in one line.
const MOST_NAMED: usize = 8;

/// All that is known of one server.
pub(crate) struct Known {
    pub(crate) source: Source,
    pub(crate) config: Option<Arc<Server>>,
    pub(crate) listed: Option<Listed>,
    /// What of that serves, and what is held.
    pub(crate) judged: Option<Judged>,
    /// It has said something since it was judged.
    pub(crate) unjudged: bool,
    /// So much of it is new that it is being looked through aside.
    pub(crate) judging: bool,
    /// What was held and has been told, so that a server that goes back and forth is told of once.
    told: HashSet<Fingerprint>,
    /// Why it is not there, as far as is known.
    pub(crate) failing: Option<String>,
    /// That is because nobody is logged in.
    needs_login: bool,
    /// It has said what it offers, or failed, since the start.
    pub(crate) tried: bool,
}

/// What a server said it offers.
#[derive(Clone)]
pub(crate) struct Listed {
    pub(crate) tools: Arc<ServerTools>,
    pub(crate) manifest: Option<Arc<Manifest>>,
}

impl Known {
    pub(crate) fn server(source: Source, config: Arc<Server>, failing: Option<String>) -> Self {
        let (listed, judged, told) = (None, None, HashSet::new());
        let (unjudged, judging, tried) = (false, false, false);
        let needs_login = false;
        Known { source, config: Some(config), listed, judged, unjudged, judging, told, failing, needs_login, tried }
    }

    pub(crate) fn local(server: LocalServer) -> Self {
        let (tools, set_aside) = ServerTools::read(ServerSource {
            name: server.name.clone(),
            prefix: true,
            title: server.title.clone(),
            instructions: None,
            tools: server.tools.iter().map(|tool| raw(&tool.definition)).collect(),
        });
        warn_of(set_aside);
        Known::here(Source::Local(Arc::new(server)), tools)
    }

    /// Agents, skills or scripts.
    pub(crate) fn files(source: Source, tools: ServerTools) -> Self {
        Known::here(source, tools)
    }

    fn here(source: Source, tools: ServerTools) -> Self {
        let listed = Some(Listed { tools: Arc::new(tools), manifest: None });
        let (judged, told) = (None, HashSet::new());
        let (unjudged, judging, tried) = (true, false, true);
        let (failing, needs_login) = (None, false);
        Known { source, config: None, listed, judged, unjudged, judging, told, failing, needs_login, tried }
    }

    pub(crate) fn manifest(&self) -> Option<&Arc<Manifest>> {
        self.listed.as_ref()?.manifest.as_ref()
    }

    /// Takes in a list, which is judged before anything of it serves.
    pub(crate) fn take_list(&mut self, listed: Option<Listed>) {
        self.unjudged |= listed.is_some();
        self.listed = listed;
    }

    /// Takes in what serves of its list; nothing where it could not be judged, and then it stays as it was. Says what is held
    /// now and was not before.
    pub(crate) fn take_judgement(&mut self, judged: Option<Judged>) -> Vec<Arc<Held>> {
        (self.unjudged, self.judging) = (false, false);
        let Some(judged) = judged else { return Vec::new() };
        if self.told.len() > MOST_TOLD {
            self.told.clear();
        }
        let held = judged.held.iter().filter(|held| self.told.insert(held.offer.fingerprint));
        let new: Vec<Arc<Held>> = held.cloned().collect();
        if !new.is_empty() {
            let server = &judged.served.tools.name;
            // Which ones: another that is held instead is news, for whoever writes down what has changed, too.
            let mut ids: Vec<&str> = new.iter().take(MOST_NAMED).map(|held| held.id.as_str()).collect();
            ids.extend((new.len() > MOST_NAMED).then_some("…"));
            let ids = ids.join(", ");
            warn!(%server, entries = new.len(), ids = %shown_line(&ids), "some of what it says is held until somebody approves it: `toolfold approve`");
        }
        self.judged = Some(judged);
        new
    }

    /// What serves of its manifest.
    pub(crate) fn served_manifest(&self) -> Option<&Arc<Manifest>> {
        self.judged.as_ref()?.served.manifest.as_ref()
    }

    pub(crate) fn prefix(&self) -> bool {
        self.config.as_ref().is_none_or(|config| config.prefix)
    }

    /// Whether it makes sense to wait for it: nothing is known of it, and it did not fail the last time.
    pub(crate) fn is_pending(&self) -> bool {
        self.is_looked_at() || (!self.tried && self.listed.is_none() && self.failing.is_none())
    }

    /// Whether nothing was heard of it at all.
    pub(crate) fn is_silent(&self) -> bool {
        self.is_pending() && !self.is_looked_at()
    }

    /// Whether it has yet to say what it offers, or to be looked through.
    pub(crate) fn is_untried(&self) -> bool {
        self.is_looked_at() || (!self.tried && self.listed.is_none())
    }

    /// Whether what it offers is still being looked through, and nothing of it serves before: aside, or once more because another
    /// process wrote down what it had found while this one looked.
    fn is_looked_at(&self) -> bool {
        self.judging || (self.unjudged && self.judged.is_none() && self.source.is_server())
    }

    /// Takes in a state; whether that changes what can be said of it.
    pub(crate) fn take_state(&mut self, state: &State) -> bool {
        let failing = match state {
            State::Failing { why, .. } | State::NeedsLogin { why } => Some(why.clone()),
            State::Ready => None,
            // Somebody has logged in, or it would not be tried.
            State::Starting if self.needs_login => None,
            // Between two tries the last reason is still the reason.
            _ => self.failing.clone(),
        };
        self.tried |= matches!(state, State::Failing { .. } | State::NeedsLogin { .. } | State::Stopped);
        if matches!(state, State::Failing { .. } | State::NeedsLogin { .. } | State::Ready | State::Starting) {
            self.needs_login = matches!(state, State::NeedsLogin { .. });
        }
        std::mem::replace(&mut self.failing, failing.clone()) != failing
    }

    /// Why it failed the last time that it was tried. That somebody has to log in is no failure.
    pub(crate) fn failed(&self) -> Option<&str> {
        self.failing.as_deref().filter(|_| !self.needs_login)
    }

    /// What there is to say of a server that offers nothing yet.
    pub(crate) fn absent(&self, name: &ServerName) -> Option<Absent> {
        let looked_through = self.is_looked_at() && self.judged.is_none();
        if (self.listed.is_some() && !looked_through) || !self.source.is_server() {
            return None;
        }
        Some(match &self.failing {
            Some(why) if self.needs_login => Absent::needs_login(name.clone(), why.clone()),
            Some(why) => Absent::failing(name.clone(), why.clone()),
            None => Absent::starting(name.clone()),
        })
    }
}

impl Listed {
    /// Reads a list, and remembers with it what tools were called before. Thousands of definitions take a while: not for
    /// a thread that answers somebody.
    pub(crate) fn read(config: &Server, mut manifest: Arc<Manifest>, before: Option<&Listed>) -> Self {
        let info = manifest.server_info.as_ref().and_then(Object::parse).unwrap_or_default();
        let (mut tools, set_aside) = ServerTools::read(ServerSource {
            name: config.name.clone(),
            prefix: config.prefix,
            title: info.string("title"),
            instructions: manifest.instructions.clone(),
            tools: manifest.tools.clone(),
        });
        warn_of(set_aside);
        if matches!(config.transport, Transport::Agent { .. }) {
            tools.are_agents();
        }
        if let Some(Listed { tools: before, manifest: Some(last) }) = before {
            let mut old_names = last.old_names.clone();
            follow(&mut old_names, &before.entries, &tools.entries);
            let second: BTreeSet<String> = manifest.second.union(&last.second).cloned().collect();
            // The list is shared, and copied only where there is something to add.
            if manifest.old_names != old_names || manifest.second != second {
                let manifest = Arc::make_mut(&mut manifest);
                (manifest.old_names, manifest.second) = (old_names, second);
            }
        }
        tools.answer_to(&manifest.old_names);
        tools.answer_to(&config.aliases);
        let Manifest { prompts, resources, templates, .. } = &*manifest;
        tools.offer(&Extras { prompts, resources, templates });
        Listed { tools: Arc::new(tools), manifest: Some(manifest) }
    }
}

fn warn_of(set_aside: Vec<SetAside>) {
    for odd in set_aside {
        warn!(server = %odd.server, tool = odd.index, "a tool is set aside: {}", shown_line(&odd.why.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use tokio::sync::mpsc;
    use toolfold_core::Absence;
    use toolfold_upstream::{House, Upstream};
    use toolfold_wire::Memory;

    use super::*;

    #[tokio::test]
    async fn a_server_is_starting_until_what_it_lists_has_been_looked_through() {
        let name = ServerName::new("a").unwrap();
        let transport = Transport::Http { url: "http://127.0.0.1:9".to_owned(), headers: BTreeMap::new() };
        let config = Arc::new(Server::new(name.clone(), transport));
        let (reports, _told) = mpsc::unbounded_channel();
        let upstream = Upstream::spawn(config.clone(), None, reports, &House::new(Memory::new(1 << 20)));
        let mut known = Known::server(Source::server(upstream), config, None);
        let source =
            ServerSource { name: name.clone(), prefix: true, title: None, instructions: None, tools: Vec::new() };
        let listed = Listed { tools: Arc::new(ServerTools::read(source).0), manifest: None };
        known.take_list(Some(listed.clone()));
        let starting = known.absent(&name).is_some_and(|absent| absent.state == Absence::Starting);
        assert!(known.is_pending() && !known.is_silent() && starting, "it is waited for, and said to be on its way");
        known.take_judgement(Some(Judged::whole(listed)));
        assert!(!known.is_pending() && known.absent(&name).is_none());
    }
}
