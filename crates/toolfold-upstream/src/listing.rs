//! A server's tools, prompts, resources and templates, page by page. A list that fails costs itself and no other. A
//! tool that could not be called (a second one of a name, headers that cannot be sent) is left out; any other odd entry is kept
//! as it came and judged elsewhere.
//!
//! What a reader would get wrong: a page may be thirty megabytes. Taking it apart is work for a thread that nobody waits
//! for, so it is not done on the runtime's.

use std::collections::HashSet;
use std::sync::Arc;

use toolfold_config::Transport;
use toolfold_core::{ServerName, shown_line};
use toolfold_wire::{Era, Object, Raw, code, has_more_values, parameter_headers};

use crate::apart::apart;
use crate::call::CallError;
use crate::connection::Connection;
use crate::era::Greeting;
use crate::manifest::Manifest;
use crate::sent::Request;
use crate::shared::Stale;

const MOST_PAGES: usize = 1000;
/// Entries of one list. Five times what the largest server has that anybody knows of.
const MOST_ENTRIES: usize = 25_000;
/// Values that one entry may hold: sixty times what the largest has that anybody knows of. Whoever reads one makes a tree of it,
/// in which a number of two bytes is a node of many.
pub(crate) const MOST_VALUES: usize = 200_000;
/// All pages of one list together, in deadlines of one request.
const LONGEST_LISTING: u32 = 5;

/// The manifest as it is now; the very same as before where nothing in it changed.
pub(crate) async fn list(connection: Arc<Connection>, greeting: Greeting, parts: u8) -> Arc<Manifest> {
    let before = connection.shared.manifest();
    let old = before.as_deref();
    let can = greeting.capabilities.as_ref().and_then(Object::parse).unwrap_or_default();
    let mut listing = Listing { connection: &connection, can: &can, parts };
    let tools = listing.part(Stale::TOOLS, "tools", "tools/list", "tools", old.map(|old| &old.tools)).await;
    let prompts = listing.part(Stale::PROMPTS, "prompts", "prompts/list", "prompts", old.map(|old| &old.prompts)).await;
    let resources = old.map(|old| &old.resources);
    let resources = listing.part(Stale::RESOURCES, "resources", "resources/list", "resources", resources).await;
    let templates = old.map(|old| &old.templates);
    let key = "resourceTemplates";
    let templates = listing.part(Stale::RESOURCES, "resources", "resources/templates/list", key, templates).await;
    let manifest = Manifest {
        era: connection.era,
        version: greeting.version,
        server_info: greeting.server_info,
        instructions: greeting.instructions,
        capabilities: greeting.capabilities,
        tools,
        prompts,
        resources,
        templates,
        old_names: Default::default(),
        second: Default::default(),
    };
    let rules = Usable::of(&connection);
    let size = manifest.tools.iter().map(|tool| tool.get().len()).sum();
    apart(size, move || rules.apply(manifest, before)).await
}

struct Listing<'a> {
    connection: &'a Arc<Connection>,
    can: &'a Object,
    parts: u8,
}

impl Listing<'_> {
    /// One list, new if it is to be listed again, old if it is not or cannot be read.
    async fn part(&mut self, part: u8, capability: &str, method: &str, key: &str, old: Option<&Vec<Raw>>) -> Vec<Raw> {
        let old = || old.cloned().unwrap_or_default();
        if self.parts & part == 0 {
            return old();
        }
        // Some old servers declare nothing and have tools all the same.
        let declared = self.can.get(capability).is_some_and(|can| can.get() != "null");
        if !declared && part != Stale::TOOLS {
            return Vec::new();
        }
        let after = self.connection.shared.config.timeouts.call * LONGEST_LISTING;
        let pages = tokio::time::timeout(after, all_pages(self.connection, method, key)).await;
        match pages.unwrap_or(Err(CallError::Timeout { after })) {
            Ok(entries) => entries,
            Err(CallError::Answered(error)) if error.code == code::METHOD_NOT_FOUND => Vec::new(),
            Err(error) => {
                let server = &self.connection.shared.config.name;
                tracing::warn!(%server, method, error = %shown_line(&error.to_string()), "a list could not be read");
                old()
            }
        }
    }
}

async fn all_pages(connection: &Arc<Connection>, method: &str, key: &str) -> Result<Vec<Raw>, CallError> {
    let config = &connection.shared.config;
    let mut entries: Vec<Raw> = Vec::new();
    let mut seen = HashSet::new();
    let mut cursor: Option<String> = None;
    // All pages together are no larger than one message may be: what is kept of them is kept for good.
    let mut room = config.max_message;
    for _ in 0..MOST_PAGES {
        let page = one_page(connection, method, cursor.take()).await?;
        let (next, more) = read_page(page, key).await?;
        entries.extend(more.into_iter().take_while(|entry| {
            room = room.saturating_sub(entry.get().len());
            room > 0
        }));
        // Cursors are remembered while the list is read, so that one that goes in circles is noticed.
        room = room.saturating_sub(next.as_ref().map_or(0, String::len));
        if room == 0 {
            let (server, used) = (&config.name, entries.len());
            tracing::warn!(%server, method, used, "the list is too large: only its beginning is used");
            return Ok(entries);
        }
        if entries.len() > MOST_ENTRIES {
            let (server, left_out) = (&config.name, entries.len() - MOST_ENTRIES);
            tracing::warn!(%server, method, left_out, "the list is too long: only the first {MOST_ENTRIES} entries are used");
            entries.truncate(MOST_ENTRIES);
            return Ok(entries);
        }
        match next {
            Some(next) if seen.insert(next.clone()) => cursor = Some(next),
            Some(_) => {
                tracing::warn!(server = %config.name, method, "the list does not end: only its beginning is used");
                return Ok(entries);
            }
            None => return Ok(entries),
        }
    }
    tracing::warn!(server = %config.name, method, "the list has too many pages: only the first {MOST_PAGES} are used");
    Ok(entries)
}

async fn one_page(connection: &Arc<Connection>, method: &str, cursor: Option<String>) -> Result<Raw, CallError> {
    let params = cursor.map(|cursor| Object::new().with("cursor", &cursor));
    let request = Request { method, params: params.as_ref().into(), ..Request::default() };
    let after = connection.shared.config.timeouts.call;
    let answer = tokio::time::timeout(after, connection.request(request)).await;
    answer.map_err(|_| CallError::Timeout { after })?.map_err(|failure| failure.into_call_error())
}

/// The entries of a page and where the next one begins.
async fn read_page(page: Raw, key: &str) -> Result<(Option<String>, Vec<Raw>), CallError> {
    let (key, size) = (key.to_owned(), page.get().len());
    let read = move || {
        let page = Object::parse(&page)?;
        // One more than there may be: whoever counts them says so.
        let mut entries = page.items(&key, MOST_ENTRIES + 1);
        let all = entries.len();
        entries.retain(|entry| !has_more_values(entry.get(), MOST_VALUES));
        if entries.len() < all {
            tracing::warn!(left_out = all - entries.len(), "entries of more than {MOST_VALUES} values are left out");
        }
        Some((page.string("nextCursor"), entries))
    };
    apart(size, read).await.ok_or_else(|| CallError::unavailable("the answer is not a JSON object"))
}

/// What tools must be to be of use here.
struct Usable {
    server: ServerName,
    wants_headers: bool,
}

impl Usable {
    fn of(connection: &Connection) -> Self {
        let config = &connection.shared.config;
        let wants_headers = connection.era == Era::Modern && matches!(config.transport, Transport::Http { .. });
        Usable { server: config.name.clone(), wants_headers }
    }

    fn apply(&self, mut manifest: Manifest, before: Option<Arc<Manifest>>) -> Arc<Manifest> {
        let (mut names, all) = (HashSet::new(), manifest.tools.len());
        manifest.tools.retain(|tool| self.keeps(tool, &mut names));
        let left_out = all - manifest.tools.len();
        if left_out > 0 {
            tracing::warn!(server = %self.server, left_out, "tools are left out: a second one of a name, or headers that cannot be sent");
        }
        match before {
            Some(before) if before.lists_the_same(&manifest) => before,
            _ => Arc::new(manifest),
        }
    }

    /// Not a second tool of the same name, which nobody could call, nor one whose headers could not be sent.
    fn keeps(&self, tool: &Raw, names: &mut HashSet<String>) -> bool {
        let (server, Some(object)) = (&self.server, Object::parse(tool)) else { return true };
        let name = object.string("name").unwrap_or_default();
        if !name.is_empty() && !names.insert(name.clone()) {
            tracing::debug!(%server, tool = %shown_line(&name), "a second tool of this name is left out");
            return false;
        }
        if self.wants_headers
            && tool.get().contains("x-mcp-header")
            && let Err(why) = parameter_headers(&object.read("inputSchema").unwrap_or_default())
        {
            let tool = shown_line(&name);
            tracing::debug!(%server, %tool, %why, "a tool with invalid header annotations is left out");
            return false;
        }
        true
    }
}
