//! What a request is answered from: one snapshot as one client may see it.
//!
//! What a reader would get wrong: catalog and index are private on purpose. A view may be narrower than the catalog, and
//! this file is the only one that knows: whatever is counted, listed, named, searched or guessed goes through it.

mod missing;
mod preferred;
mod same;

use std::sync::{Arc, Mutex, PoisonError};

use toolfold_catalog::{Catalog, Node, Unresolved};
use toolfold_core::{Absent, Doors, Entry, Kind, Refusal, ServerName, SurfaceSettings, ToolId};
use toolfold_index::{Filter, Found, Index, Learned, Query};

use crate::answer::reader;
pub(crate) use same::Deed;

static NO_DOORS: Doors = Doors::NONE;

/// What exists for somebody and is kept from them: it is in no catalog, and whoever names it is told so.
pub trait Withheld: std::fmt::Debug + Sync {
    /// The refusal of what this spelling means.
    fn refusal(&self, spelling: &str) -> Option<Refusal>;
}

#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    catalog: &'a Catalog,
    index: &'a Index,
    /// By position: whether the entry exists for whoever asks. Without it all do.
    scope: Option<&'a [bool]>,
    pins: &'a [usize],
    loaded: &'a [usize],
    session: bool,
    settings: SurfaceSettings,
    budget: usize,
    absent: &'a [Absent],
    /// What is asked for, in words: of what is missing that is said first which is named in it.
    about: &'a str,
    /// Servers that come first among those that do the same.
    preferred: &'a [ServerName],
    /// Where it is noted how sure a search was of what it found.
    noted: Option<&'a Mutex<Vec<(usize, f32)>>>,
    /// What was learned from use.
    learned: Option<&'a Learned>,
    doors: &'a Doors,
    /// What reads kept results, where some are kept.
    reader: Option<&'a Arc<Entry>>,
    withheld: Option<&'a dyn Withheld>,
}

impl<'a> View<'a> {
    /// The view of somebody who sees everything, has nothing pinned or loaded, and no session. `budget` is how many tokens
    /// an answer may cost.
    pub fn new(catalog: &'a Catalog, index: &'a Index, budget: usize) -> View<'a> {
        let settings = SurfaceSettings::default();
        View {
            catalog,
            index,
            scope: None,
            pins: &[],
            loaded: &[],
            session: false,
            settings,
            budget,
            absent: &[],
            about: "",
            preferred: &[],
            noted: None,
            learned: None,
            doors: &NO_DOORS,
            reader: None,
            withheld: None,
        }
    }

    /// Only those entries exist that are marked, by position.
    pub fn within(self, scope: &'a [bool]) -> Self {
        View { scope: Some(scope), ..self }
    }

    /// Positions of the tools that are listed beside the meta-tools, in their order.
    pub fn pinned(self, pins: &'a [usize]) -> Self {
        View { pins, ..self }
    }

    /// Positions of the tools that this client has loaded, in the order it did.
    pub fn having_loaded(self, loaded: &'a [usize]) -> Self {
        View { loaded, ..self }
    }

    /// Whether the client has a session, and so can have loaded tools in its list.
    pub fn in_session(self, session: bool) -> Self {
        View { session, ..self }
    }

    pub fn with_settings(self, settings: SurfaceSettings) -> Self {
        View { settings, ..self }
    }

    /// Configured servers of which nothing is in the catalog.
    pub fn missing(self, absent: &'a [Absent]) -> Self {
        View { absent, ..self }
    }

    /// For an answer to these words.
    pub(crate) fn about(self, about: &'a str) -> Self {
        View { about, ..self }
    }

    /// Servers that come first among those that do the same, the most preferred one first.
    pub fn preferring(self, preferred: &'a [ServerName]) -> Self {
        View { preferred, ..self }
    }

    /// Whatever a search finds is put down here, with how sure that is: for who wants to know afterwards what was shown.
    pub fn noting(self, noted: &'a Mutex<Vec<(usize, f32)>>) -> Self {
        View { noted: Some(noted), ..self }
    }

    /// What was called after which requests, and so comes a little earlier.
    pub fn having_learned(self, learned: &'a Learned) -> Self {
        View { learned: Some(learned), ..self }
    }

    /// Meta-tools that call only some tools. Those of servers that exist for whoever asks.
    pub fn with_doors(self, doors: &'a Doors) -> Self {
        View { doors, ..self }
    }

    /// What reads kept results: no entry of the catalog.
    pub fn reading_with(self, reader: Option<&'a Arc<Entry>>) -> Self {
        View { reader, ..self }
    }

    /// What is named in vain because it is held back.
    pub fn without(self, withheld: &'a dyn Withheld) -> Self {
        View { withheld: Some(withheld), ..self }
    }

    /// Why whoever names this does not get it, where it is held back.
    pub fn withheld(&self, spelling: &str) -> Option<Refusal> {
        self.withheld?.refusal(spelling)
    }

    pub fn reader(&self) -> Option<&'a Arc<Entry>> {
        self.reader
    }

    /// The same, where that is what the name means and no server has something of that name.
    pub fn reader_called(&self, name: &str) -> Option<&'a Arc<Entry>> {
        self.reader.filter(|_| reader::is_name(name) && self.resolve(name).is_err())
    }

    pub fn doors(&self) -> &'a Doors {
        self.doors
    }

    pub fn session(&self) -> bool {
        self.session
    }

    pub fn settings(&self) -> SurfaceSettings {
        self.settings
    }

    pub fn budget(&self) -> usize {
        self.budget
    }

    /// The number of the catalog.
    pub fn number(&self) -> u64 {
        self.catalog.number()
    }

    /// Whether a search asks the encoder, which takes milliseconds instead of microseconds.
    pub fn is_precise(&self) -> bool {
        self.index.is_precise()
    }
}

/// Entries. Positions are the catalog's; what is not admitted is never among them.
impl<'a> View<'a> {
    fn admits(&self, position: usize) -> bool {
        self.scope.is_none_or(|scope| scope.get(position).copied().unwrap_or(false))
    }

    /// By id.
    pub fn entries(&self) -> impl Iterator<Item = usize> + use<'a> {
        let view = *self;
        (0..view.catalog.len()).filter(move |position| view.admits(*position))
    }

    /// The tools among them.
    pub fn tools(&self) -> impl Iterator<Item = usize> + use<'a> {
        let view = *self;
        self.entries().filter(move |position| view.entry(*position).is_tool())
    }

    pub fn count(&self, kind: Kind) -> usize {
        self.entries().filter(|position| self.entry(*position).kind == kind).count()
    }

    pub fn is_empty(&self) -> bool {
        self.entries().next().is_none()
    }

    pub fn entry(&self, position: usize) -> &'a Arc<Entry> {
        self.catalog.entry(position)
    }

    /// The name a model sees when the tool itself is in its list.
    pub fn exposed(&self, position: usize) -> &'a str {
        self.catalog.exposed(position)
    }

    pub fn position(&self, id: &ToolId) -> Option<usize> {
        self.catalog.position(id).filter(|position| self.admits(*position))
    }

    /// The entry that a spelling means, as [`Catalog::resolve`] has it.
    pub fn resolve(&self, spelling: &str) -> Result<usize, Unresolved> {
        let found = self.catalog.resolve_among(spelling, &|position| self.admits(position))?;
        if self.is_of_another(spelling.trim(), found) { Err(Unresolved::Unknown) } else { Ok(found) }
    }

    /// Whether a spelling has the name of another server before it, be that there or not: a tool that is called like one of
    /// another's is not asked for by that name, also while the other is still starting.
    fn is_of_another(&self, spelling: &str, found: usize) -> bool {
        let own = self.entry(found).server();
        let longer = if begins_with(spelling, own) { own.as_str().len() } else { 0 };
        let takes = |name: &ServerName| name != own && name.as_str().len() > longer && begins_with(spelling, name);
        if self.absent.iter().any(|absent| takes(&absent.server)) {
            return true;
        }
        // The name that it is listed by was given with an eye to all that are there.
        let unlisted = longer == 0 && self.exposed(found) != spelling;
        unlisted && self.catalog.servers().iter().any(|server| takes(&server.name))
    }

    /// Ids of the tools whose names are most like this one. Looks at every tool: only for answers that show it.
    pub fn nearest(&self, spelling: &str) -> Vec<String> {
        self.catalog.nearest_among(spelling, &|position| self.admits(position))
    }

    pub fn pins(&self) -> impl Iterator<Item = usize> + use<'a> {
        let view = *self;
        view.pins.iter().copied().filter(move |position| view.admits(*position))
    }

    pub fn loaded(&self) -> impl Iterator<Item = usize> + use<'a> {
        let view = *self;
        view.loaded.iter().copied().filter(move |position| view.admits(*position))
    }

    /// The tools that are listed beside the meta-tools: what is pinned, then what was loaded and not there anyway.
    pub fn listed(&self) -> impl Iterator<Item = usize> + use<'a> {
        let view = *self;
        view.pins().chain(view.loaded().filter(move |position| !view.pins.contains(position)))
    }

    /// Whether the client has the tool itself in its list.
    pub fn is_active(&self, position: usize) -> bool {
        self.pins.contains(&position) || self.loaded.contains(&position)
    }

    /// What is found; nothing, where even the best is no answer.
    pub fn search(&self, query: Query<'_>) -> Found {
        self.rank(Query { answers_only: true, ..query })
    }

    /// What is nearest, be it an answer or not.
    pub fn rank(&self, query: Query<'_>) -> Found {
        let filter = Filter { scope: self.scope, ..query.filter };
        let query = Query { filter, learned: self.learned, ..query };
        let found = self.found_in_order(&query);
        if let Some(noted) = self.noted {
            let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
            noted.extend(found.hits.iter().map(|hit| (hit.entry, hit.confidence)));
        }
        found
    }
}

/// Servers and nodes.
impl<'a> View<'a> {
    /// The servers that have something here, by name.
    pub fn servers(&self) -> impl Iterator<Item = &'a ServerName> + use<'a> {
        let view = *self;
        let has_any = move |name: &&ServerName| view.scope.is_none() || view.of_server(name).next().is_some();
        view.catalog.servers().iter().map(|server| &server.name).filter(has_any)
    }

    /// What a server says of itself, where it can be seen.
    pub fn instructions(&self, name: &ServerName) -> Option<&'a str> {
        let seen = self.servers().any(|server| server == name);
        self.catalog.server(name).filter(|_| seen)?.instructions.as_deref()
    }

    /// What a server has, in its own order.
    pub fn of_server(&self, name: &ServerName) -> impl Iterator<Item = usize> + use<'a> {
        let view = *self;
        let entries = view.catalog.server(name).into_iter().flat_map(|server| &server.entries);
        entries.filter_map(move |entry| view.position(&entry.id))
    }

    /// The tools of all servers, each server's in its own order.
    pub fn tools_by_server(&self) -> impl Iterator<Item = (&'a ServerName, Vec<usize>)> + use<'a> {
        let view = *self;
        let tools = move |name: &'a ServerName| {
            (name, view.of_server(name).filter(|position| view.entry(*position).is_tool()).collect::<Vec<_>>())
        };
        view.servers().map(tools).filter(|(_, tools)| !tools.is_empty())
    }

    pub fn root(&self) -> &'a Node {
        self.catalog.root()
    }

    /// The node at a path, or the nearest path that exists, as [`Catalog::node`] has it.
    pub fn node(&self, path: &[String]) -> Result<&'a Node, Vec<String>> {
        match self.catalog.node(path) {
            Ok(node) if self.shows(node) => Ok(node),
            Ok(_) => Err(Vec::new()),
            Err(nearest) if self.catalog.node(&nearest).is_ok_and(|node| self.shows(node)) => Err(nearest),
            Err(_) => Err(Vec::new()),
        }
    }

    /// As [`View::node`], but never a server, whatever the servers are called.
    pub fn capability(&self, path: &[String]) -> Option<&'a Node> {
        self.catalog.capability(path).filter(|node| self.shows(node))
    }

    /// A node of which nothing may be seen does not exist.
    fn shows(&self, node: &Node) -> bool {
        self.scope.is_none() || node.path.is_empty() || node.entries.iter().any(|position| self.admits(*position))
    }

    pub fn children(&self, node: &'a Node) -> impl Iterator<Item = &'a Node> + use<'a> {
        let view = *self;
        node.children.iter().filter(move |child| view.shows(child))
    }

    /// A node and everything below it, parents first.
    pub fn walk(&self, node: &'a Node) -> Vec<&'a Node> {
        let mut nodes = node.walk();
        nodes.retain(|node| self.shows(node));
        nodes
    }

    /// Everything in a node and below it, ascending.
    pub fn entries_in(&self, node: &'a Node) -> impl Iterator<Item = usize> + use<'a> {
        let view = *self;
        node.entries.iter().copied().filter(move |position| view.admits(*position))
    }

    /// What is in a node and in none of its children.
    pub fn own_entries(&self, node: &Node) -> Vec<usize> {
        let mut own = node.own_entries();
        own.retain(|position| self.admits(*position));
        own
    }

    /// The path of the capability that an entry fits best, of all it is in.
    pub fn home(&self, position: usize) -> Option<&'a [String]> {
        self.catalog.home(position)
    }

    /// How much is in a node, in words: `3 tools`, `1 agent`, or `4 entries` where there are several kinds of them.
    pub fn counted(&self, node: &'a Node) -> String {
        let mut kinds = self.entries_in(node).map(|position| self.entry(position).kind);
        let first = kinds.next();
        let (mut count, mut alike) = (usize::from(first.is_some()), true);
        for kind in kinds {
            count += 1;
            alike &= Some(kind) == first;
        }
        let first = first.unwrap_or(Kind::Tool).as_str();
        match (count, alike) {
            (1, _) => format!("1 {first}"),
            (many, true) => format!("{many} {first}s"),
            (many, false) => format!("{many} entries"),
        }
    }
}

/// Whether a spelling is a server's name and something of it.
fn begins_with(spelling: &str, server: &ServerName) -> bool {
    let name = server.as_str();
    let head = spelling.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
    let rest = spelling.get(name.len()..).unwrap_or_default();
    head && (rest.starts_with(['.', '/', ':']) || rest.starts_with("__"))
}
