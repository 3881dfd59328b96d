//! The last rung: whether a definition is a reason to look before a model reads it. A server is seen alone here; what looks
//! like a tool of another is found by `toolfold scan`, which sees all.

use toolfold_core::ServerName;
use toolfold_scan::{Context, Piece, Role, Severity, scan_definition, scan_texts};
use toolfold_upstream::Manifest;
use toolfold_wire::{Object, Raw};

use super::rung::Rung;

pub(crate) fn look(manifest: &Manifest, server: &ServerName) -> Rung {
    let others = manifest.prompts.iter().chain(&manifest.resources).chain(&manifest.templates);
    let text = |tool: &Raw, key: &str| Object::parse(tool).and_then(|tool| tool.string(key)).unwrap_or_default();
    let described: Vec<(String, String)> =
        manifest.tools.iter().map(|tool| (text(tool, "name"), text(tool, "description"))).collect();
    let name = server.as_str();
    let mut context = Context::new();
    context.add(name, described.iter().map(|(name, description)| (name.as_str(), description.as_str())));
    let instructions = manifest
        .instructions
        .iter()
        .map(|text| scan_texts(name, [Piece { place: "instructions".to_owned(), role: Role::Prose, text }], &context));
    let definitions = manifest.tools.iter().chain(others).map(|definition| scan_definition(name, definition, &context));
    let severities: Vec<Severity> = instructions.chain(definitions).filter_map(|report| report.severity()).collect();
    let hard = severities.iter().filter(|severity| **severity == Severity::Hard).count();
    let review = severities.iter().filter(|severity| **severity == Severity::Review).count();
    let look = format!("look before a model does: toolfold scan {name}");
    match (hard, review) {
        (0, 0) => Rung::good("definitions", "nothing suspicious"),
        (0, _) => Rung::note("definitions", format!("{} to look at", review)).advised(look),
        _ => {
            Rung::bad("definitions", format!("{hard} that look like an attack, {review} more to look at")).advised(look)
        }
    }
}
