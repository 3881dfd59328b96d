//! A server's tools, prompts, resources and templates, page by page. A list that fails costs itself and no other; an
//! odd entry costs nobody anything, it is kept as it came and judged elsewhere.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;
use toolfold_config::Transport;
use toolfold_wire::{Era, Object, Raw, code, parameter_headers, raw};

use crate::call::CallError;
use crate::connection::{Connection, Request};
use crate::era::Greeting;
use crate::manifest::Manifest;
use crate::shared::Stale;

const MOST_PAGES: usize = 1000;
/// All pages of one list together, in messages of the largest size.
const LARGEST_LIST: usize = 4;
/// All pages of one list together, in deadlines of one request.
const LONGEST_LISTING: u32 = 5;

pub(crate) async fn list(connection: Arc<Connection>, greeting: Greeting, parts: u8) -> Manifest {
    let old = connection.shared.manifest();
    let old = old.as_deref();
    let can = greeting.capabilities.as_ref().and_then(Object::parse).unwrap_or_default();
    let mut listing = Listing { connection: &connection, can: &can, parts };
    let tools = listing.part(Stale::TOOLS, "tools", "tools/list", "tools", old.map(|old| &old.tools)).await;
    let prompts = listing.part(Stale::PROMPTS, "prompts", "prompts/list", "prompts", old.map(|old| &old.prompts)).await;
    let resources = old.map(|old| &old.resources);
    let resources = listing.part(Stale::RESOURCES, "resources", "resources/list", "resources", resources).await;
    let templates = old.map(|old| &old.templates);
    let key = "resourceTemplates";
    let templates = listing.part(Stale::RESOURCES, "resources", "resources/templates/list", key, templates).await;
    Manifest {
        era: connection.era,
        version: greeting.version,
        server_info: greeting.server_info,
        instructions: greeting.instructions,
        capabilities: greeting.capabilities,
        tools: usable(&connection, tools),
        prompts,
        resources,
        templates,
        old_names: Default::default(),
    }
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
                tracing::warn!(%server, method, error = %error.to_string(), "a list could not be read");
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
    let mut room = config.max_message.saturating_mul(LARGEST_LIST);
    for _ in 0..MOST_PAGES {
        let page = one_page(connection, method, cursor.take()).await?;
        room = room.saturating_sub(page.get().len());
        let page = Object::parse(&page).ok_or_else(|| CallError::unavailable("the answer is not a JSON object"))?;
        entries.extend(page.read::<Vec<Raw>>(key).unwrap_or_default());
        match page.string("nextCursor") {
            Some(next) if room > 0 && seen.insert(next.clone()) => cursor = Some(next),
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
    let params = cursor.map(|cursor| raw(&json!({"cursor": cursor})));
    let request = Request { method, params: params.as_ref(), ..Request::default() };
    let after = connection.shared.config.timeouts.call;
    let answer = tokio::time::timeout(after, connection.request(request)).await;
    answer.map_err(|_| CallError::Timeout { after })?.map_err(|failure| failure.into_call_error())
}

/// Without second tools of the same name, which nobody could call, and without tools whose headers could not be sent.
fn usable(connection: &Connection, tools: Vec<Raw>) -> Vec<Raw> {
    let config = &connection.shared.config;
    let wants_headers = connection.era == Era::Modern && matches!(config.transport, Transport::Http { .. });
    let mut names = HashSet::new();
    let mut keep = |tool: &Raw| {
        let Some(object) = Object::parse(tool) else { return true };
        let name = object.string("name").unwrap_or_default();
        if !name.is_empty() && !names.insert(name.clone()) {
            tracing::warn!(server = %config.name, tool = ?name, "a second tool of this name is left out");
            return false;
        }
        if wants_headers
            && tool.get().contains("x-mcp-header")
            && let Err(why) = parameter_headers(&object.read("inputSchema").unwrap_or_default())
        {
            tracing::warn!(server = %config.name, tool = ?name, %why, "a tool with invalid header annotations is left out");
            return false;
        }
        true
    };
    tools.into_iter().filter(|tool| keep(tool)).collect()
}
