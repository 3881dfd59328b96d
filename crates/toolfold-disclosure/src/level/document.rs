//! The ladder for what is no tool: agents, skills, prompts and resources. Details say what one is for and when to use it; only
//! the whole of it has the instructions themselves.

use toolfold_core::Entry;
use toolfold_wire::{Object, Raw};

use super::Level;
use super::details::counted;
use super::prose::summary;

const DETAILS: [&str; 9] =
    ["description", "whenToUse", "capabilities", "constraints", "arguments", "uri", "uriTemplate", "mimeType", "use"];
/// What stands in the name's place for whoever calls it.
const INNER: [&str; 2] = ["name", "prompt"];

/// An agent or a skill at a level. There is no signature, so that rung is the summary.
pub(super) fn describe(entry: &Entry, level: Level) -> Raw {
    let mut object = Object::new().with(entry.kind.as_str(), &entry.id.to_string());
    let definition = Object::parse(&entry.definition).unwrap_or_default();
    match level {
        Level::Name => return object.to_raw(),
        Level::Summary | Level::Signature => return object.with("summary", &summary(entry)).to_raw(),
        Level::Details => {
            for (key, value) in definition.iter().filter(|(key, _)| DETAILS.contains(key)) {
                object.set_raw(key, value.to_owned());
            }
        }
        Level::Full => {
            for (key, value) in definition.iter().filter(|(key, _)| !INNER.contains(key)) {
                object.set_raw(key, value.to_owned());
            }
        }
    }
    counted(object)
}
