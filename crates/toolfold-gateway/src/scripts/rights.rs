//! What a script may call. A client that asks its person before each tool sees one tool here, `run_code`; so what a script
//! calls by itself only reads, unless whoever runs Toolfold says otherwise.

use toolfold_core::{Code, Entry, Next, Pattern, Refusal};

use crate::gate::Source;
use crate::snapshot::Snapshot;

/// Whether a script may call this, beside what its caller may.
pub(super) fn may_call(snapshot: &Snapshot, entry: &Entry, allowed: &[Pattern]) -> Result<(), Refusal> {
    if matches!(snapshot.source(entry.server()), Some(Source::Scripts(_))) {
        let message = format!("{} is a script, and a script cannot run another one.", entry.id);
        return Err(Refusal::new(Code::NotAuthorized, message).hint("Run it with call_tool."));
    }
    let id = entry.id.to_string();
    // Prompts and resources are read; agents and skills are not called at all, which is said elsewhere.
    let reads = !entry.is_tool() || (entry.hints.read_only == Some(true) && entry.hints.destructive != Some(true));
    if reads || allowed.iter().any(|pattern| pattern.matches(&id)) {
        return Ok(());
    }
    let message = format!("{id} may change something, and scripts may call only what reads. Use call_tool for it.");
    Err(Refusal::new(Code::NotAuthorized, message)
        .hint(format!("call_tool({{\"tool\": \"{id}\", \"arguments\": {{…}}}}), outside of the script."))
        .hint("The key `allow` under [code] in the configuration lists what else scripts may call.")
        .next(Next::Describe { tool: id, full: false }))
}
