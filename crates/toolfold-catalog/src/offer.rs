//! Prompts and resources of a server as entries: found by the same search as tools, and used by their ids.
//!
//! What a reader would get wrong: they are in a catalog, and not in its tree. A server may list a thousand files, and whoever
//! looks around wants to see what it can do.

use std::collections::HashSet;
use std::sync::Arc;

use toolfold_core::{Entry, Kind, ServerName, exposed_name};
use toolfold_wire::{Object, Raw};

/// Of one server. More are a store of documents, which has a search of its own.
const MOST: usize = 1_000;

/// What a server offers beside tools, as its lists have it.
#[derive(Debug, Clone, Copy)]
pub struct Extras<'a> {
    pub prompts: &'a [Raw],
    pub resources: &'a [Raw],
    pub templates: &'a [Raw],
}

/// The entries of an offer. `taken` has the names of the server's tools.
pub(crate) fn entries(server: &ServerName, prefix: bool, offer: &Extras<'_>, taken: &[Arc<Entry>]) -> Vec<Arc<Entry>> {
    let mut names: HashSet<String> = taken.iter().map(|entry| entry.name().to_owned()).collect();
    let prompts = offer.prompts.iter().filter_map(|raw| prompt(server, prefix, Object::parse(raw)?));
    let resources = offer.resources.iter().filter_map(|raw| resource(server, Object::parse(raw)?));
    let templates = offer.templates.iter().filter_map(|raw| template(Object::parse(raw)?));
    let all = prompts.map(|object| (Kind::Prompt, object));
    let all = all.chain(resources.chain(templates).map(|object| (Kind::Resource, object))).take(MOST);
    let entry = |(kind, mut object): (Kind, Object)| {
        let name = object.string("name")?;
        // A tool of the same name is what its name means.
        let spelling = |turn: usize| match turn {
            0 => name.clone(),
            1 => format!("{name}-{}", kind.as_str()),
            turn => format!("{name}-{}-{turn}", kind.as_str()),
        };
        let free = (0..MOST).map(spelling).find(|name| !names.contains(name))?;
        object.set("name", &free);
        names.insert(free);
        Entry::document(server, kind, &object.to_raw()).ok().map(Arc::new)
    };
    all.filter_map(entry).collect()
}

fn prompt(server: &ServerName, prefix: bool, mut object: Object) -> Option<Object> {
    let name = object.string("name").filter(|name| !name.is_empty())?;
    let shown = exposed_name(prefix.then_some(server), &name);
    object.set("prompt", &name);
    object.set(
        "use",
        &format!("Call it like a tool, with its arguments; a client gets it with prompts/get, name {shown:?}."),
    );
    Some(object)
}

fn resource(server: &ServerName, mut object: Object) -> Option<Object> {
    let uri = object.string("uri").filter(|uri| !uri.is_empty())?;
    named(&mut object, &uri);
    object.set(
        "use",
        &format!(
            "Call it like a tool, without arguments; a client reads it with resources/read, uri \"{server}+{uri}\"."
        ),
    );
    Some(object)
}

fn template(mut object: Object) -> Option<Object> {
    let uri = object.string("uriTemplate").filter(|uri| !uri.is_empty())?;
    named(&mut object, &uri);
    object.set(
        "use",
        "Call it like a tool, with the argument uri: the template with values in place of the names in braces.",
    );
    Some(object)
}

/// A resource without a name has the end of its address.
fn named(object: &mut Object, uri: &str) {
    if object.string("name").is_none_or(|name| name.trim().is_empty()) {
        let end = uri.trim_end_matches('/').rsplit('/').next().filter(|end| !end.is_empty()).unwrap_or(uri);
        object.set("name", end);
    }
}
