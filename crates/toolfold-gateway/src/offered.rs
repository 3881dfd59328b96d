//! Prompts and resources that are called like tools: a model that found one has no other way to it.

use std::sync::Arc;

use toolfold_core::{Code, Entry, Kind, Refusal};
use toolfold_wire::{Object, Raw, raw};

use crate::dispatch::result_of;
use crate::gate::{Errand, Failed, Outcome, Passage, Wanted};
use crate::gateway::Inner;
use crate::request::Request;
use crate::snapshot::Snapshot;

/// Parts of one answer that are passed on.
const MOST_PARTS: usize = 10_000;

/// Gets a prompt or reads a resource of its server, and answers with what is in it as the result of a call.
pub(crate) async fn call(
    inner: &Inner,
    snapshot: &Snapshot,
    request: &Request,
    entry: &Arc<Entry>,
    arguments: Option<Raw>,
) -> Result<Raw, Failed> {
    let definition = Object::parse(&entry.definition).unwrap_or_default();
    let mut params = request.params.clone();
    params.remove("arguments");
    params.remove("name");
    let method = if entry.kind == Kind::Prompt {
        params.set("name", &definition.string("prompt").unwrap_or_default());
        if let Some(arguments) = arguments {
            params.set_raw("arguments", arguments);
        }
        "prompts/get"
    } else {
        params.set("uri", &uri(entry, &definition, arguments.as_ref()).map_err(Failed::Refused)?);
        "resources/read"
    };
    let asked = Request {
        id: request.id.clone(),
        client: Arc::clone(&request.client),
        peer: Arc::clone(&request.peer),
        method: method.to_owned(),
        params: params.clone(),
        context: request.context,
        carrier: None,
        relayed: false,
    };
    let name = params.string(if entry.kind == Kind::Prompt { "name" } else { "uri" }).unwrap_or_default();
    let (what, errand) = (Wanted::Offered(entry, &name), Errand::Ask(params));
    let passage = Passage { request: &asked, server: entry.server(), what, errand, slot: None };
    match inner.gate.pass(snapshot, passage).await? {
        Outcome::Done(answer) => Ok(as_result(entry.kind, answer)),
        // A question of the server goes on as it is.
        asked => result_of(asked),
    }
}

/// What a server answers, as the result of a call.
pub(crate) fn as_result(kind: Kind, answer: Raw) -> Raw {
    let object = Object::parse(&answer).unwrap_or_default();
    match kind {
        Kind::Prompt if object.contains("messages") => messages(&object),
        Kind::Resource if object.contains("contents") => contents(&object),
        _ => answer,
    }
}

/// Where a resource is: what its server lists, or what a template was made into.
fn uri(entry: &Entry, definition: &Object, arguments: Option<&Raw>) -> Result<String, Refusal> {
    let given = || Object::parse_optional(arguments).and_then(|arguments| arguments.string("uri"));
    definition.string("uri").or_else(given).ok_or_else(|| {
        let template = definition.string("uriTemplate").unwrap_or_default();
        let message = format!("{} needs `uri`, a string made from the template {template}.", entry.id);
        Refusal::new(Code::InvalidArguments, message)
    })
}

/// The messages of a prompt: what the user says as it is, and who else speaks is named.
fn messages(answer: &Object) -> Raw {
    let mut content = Vec::new();
    for message in answer.items("messages", MOST_PARTS + 1) {
        let Some(message) = Object::parse(&message) else { continue };
        if let Some(role) = message.string("role").filter(|role| role != "user") {
            content.push(raw(&Object::new().with("type", "text").with("text", &format!("{role}:"))));
        }
        let left = (MOST_PARTS + 1).saturating_sub(content.len());
        match message.get("content") {
            Some(several) if several.get().starts_with('[') => content.extend(message.items("content", left)),
            one => content.extend(one.cloned()),
        }
        if content.len() > MOST_PARTS {
            break;
        }
    }
    result(content)
}

fn contents(answer: &Object) -> Raw {
    let embedded = answer.items("contents", MOST_PARTS + 1).into_iter().map(|resource| {
        let mut object = Object::new().with("type", "resource");
        object.set_raw("resource", resource);
        object.to_raw()
    });
    result(embedded.collect())
}

/// What is left out is said.
fn result(mut content: Vec<Raw>) -> Raw {
    if content.len() > MOST_PARTS {
        content.truncate(MOST_PARTS);
        let note = format!("There is more: of very many parts the first {MOST_PARTS} are shown.");
        content.push(raw(&Object::new().with("type", "text").with("text", &note)));
    }
    raw(&Object::new().with("content", &content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_parts_the_first_are_shown_and_the_rest_is_said() {
        let many = |count: usize| vec!["1"; count].join(",");
        let answer = |text: String| Object::parse(&toolfold_wire::raw_of(&text).unwrap()).unwrap();
        let parts = |result: &Raw| Object::parse(result).unwrap().items("content", usize::MAX).len();
        let whole = contents(&answer(format!(r#"{{"contents":[{}]}}"#, many(MOST_PARTS))));
        assert_eq!(parts(&whole), MOST_PARTS);
        let cut = contents(&answer(format!(r#"{{"contents":[{}]}}"#, many(MOST_PARTS + 1))));
        assert_eq!((parts(&cut), cut.get().contains("There is more")), (MOST_PARTS + 1, true));
        let message = format!(r#"{{"role":"user","content":[{}]}}"#, many(MOST_PARTS));
        let cut = messages(&answer(format!(r#"{{"messages":[{message},{message}]}}"#)));
        assert_eq!((parts(&cut), cut.get().contains("There is more")), (MOST_PARTS + 1, true));
    }
}
