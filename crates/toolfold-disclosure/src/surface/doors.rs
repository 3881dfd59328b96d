//! Doors: meta-tools that call only some tools. A host asks its person before `call_tool`, whatever is called through it; one
//! that can tell tools apart by their names or annotations lets a door through, because of what is not behind it.
//!
//! What a reader would get wrong: a door is no permission. It refuses what it does not lead to, and whatever it leads to may
//! still be refused. And it fails closed: what says nothing of itself is not known to read.

use serde_json::{Value, json};
use toolfold_core::{Code, Doors, Entry, Refusal, ServerName, exposed_name};
use toolfold_wire::{Object, Raw};

use super::lookup::{Named, call, named};
use super::request::Arguments;
use super::table::{Asking, Calling, MetaTool, Table, reserved_names, table};
use super::{Action, View};
use toolfold_core::{NextAction, Surface};

/// Calls only what is known to read.
const READING: &str = "call_tool_readonly";
/// Bytes of arguments that are repeated to who gave them.
const REPEATED: usize = 4096;
/// The names that any surface has for the tool that is to be called, after a surface's own.
const KEYS: [&str; 5] = ["tool", "name", "tool_id", "toolName", "tool_name"];

/// One door of somebody's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Door<'v> {
    Reading,
    Server(&'v ServerName),
}

/// The doors that somebody has, in the order they are listed in.
pub(super) fn all(doors: &Doors) -> impl Iterator<Item = Door<'_>> {
    let reading = doors.by_risk.then_some(Door::Reading);
    reading.into_iter().chain(doors.servers.iter().map(Door::Server))
}

/// The door of that name, on surfaces that have something to call with.
pub(super) fn find<'v>(table: &Table, view: &View<'v>, name: &str) -> Option<Door<'v>> {
    table.call.as_ref()?;
    all(view.doors()).find(|door| door.name() == name)
}

/// Whether a name is a door's: nobody's tool is shown under it then.
pub(super) fn is_door(doors: &Doors, name: &str) -> bool {
    // Always reserved, so that switching doors on renames no tool.
    name == READING || all(doors).any(|door| door.name() == name)
}

/// For documents.
pub(super) fn documented(table: &Table) -> Vec<MetaTool> {
    let Some(calling) = &table.call else { return Vec::new() };
    let reading = MetaTool { definition: Door::Reading.definition(calling), listed: "with `doors = \"risk\"`" };
    let server = ServerName::new("server").ok().map(|server| MetaTool {
        definition: Door::Server(&server).definition(calling),
        listed: "one for each server in `doors`; here for a server called `server`",
    });
    [reading].into_iter().chain(server).collect()
}

/// Why a call of this entry may not go through the meta-tool of that name: it is a door, and leads elsewhere. For what has been
/// called already and goes on.
pub fn shut(surface: Surface, view: &View<'_>, name: &str, entry: &Entry) -> Option<Refusal> {
    let table = table(surface);
    let door = find(table, view, name).filter(|door| !door.leads_to(entry))?;
    table.call.as_ref().map(|calling| door.refusal(calling, entry, None))
}

/// Whether a name is a door's here.
pub fn is_door_of(surface: Surface, view: &View<'_>, name: &str) -> bool {
    find(table(surface), view, name).is_some()
}

impl Door<'_> {
    pub(super) fn name(self) -> String {
        match self {
            Door::Reading => READING.to_owned(),
            Door::Server(server) => {
                let plain = exposed_name(None, &format!("call_{server}"));
                // Of a server called `tool`: an odd character makes it a name with a hash, which no other can have.
                let taken = plain == READING || reserved_names().any(|name| name == plain);
                if taken { exposed_name(None, &format!("call_{server}.")) } else { plain }
            }
        }
    }

    pub(super) fn definition(self, calling: &Calling) -> Raw {
        let (tool, arguments) = (calling.keys[0], calling.arguments);
        let properties = json!({tool: {"type": "string"}, arguments: {"type": "object"}});
        let description = match self {
            Door::Reading => "Call a tool that only reads. Refuses others.".to_owned(),
            Door::Server(server) => format!("Call a tool of {server}. Refuses others."),
        };
        let definition = Object::new()
            .with("name", &self.name())
            .with("description", &description)
            .with("inputSchema", &json!({"type": "object", "properties": properties, "required": [tool]}));
        let definition = match self {
            Door::Reading => definition.with("annotations", &json!({"readOnlyHint": true})),
            Door::Server(_) => definition,
        };
        definition.with("_meta", &json!({"anthropic/alwaysLoad": true})).to_raw()
    }

    pub(super) fn ask(self, asking: &Asking<'_, '_>, given: Arguments) -> Result<Action, Refusal> {
        let Some(calling) = &asking.table.call else { return Ok(call(asking.view, &self.name(), None)) };
        let own = self.name();
        let keys: Vec<&str> = calling.keys.iter().copied().chain(KEYS).collect();
        let Named { name, arguments, fields } = named(asking.view, given, &own, &keys, calling.finder)?;
        // Only tools of servers: a meta-tool is called by itself, and none can be called through another for ever.
        if asking.knows(&name) {
            let message = format!("{own} calls tools of servers. Call {name} by itself.");
            return Err(Refusal::new(Code::InvalidRequest, message));
        }
        let shown = arguments.clone();
        Ok(match call(asking.view, &self.spelled(asking.view, name), arguments) {
            Action::Call { entry, .. } if !self.leads_to(asking.view.entry(entry)) => {
                let refusal = self.refusal(calling, asking.view.entry(entry), shown.as_ref());
                Action::Shut { entry, refusal }
            }
            Action::Call { entry, arguments, .. } => Action::Call { entry, arguments, fields },
            action => action,
        })
    }

    /// The name of a tool as its server's door is told it: nobody else's is meant by a bare one.
    fn spelled(self, view: &View<'_>, name: String) -> String {
        let Door::Server(server) = self else { return name };
        let own = format!("{server}.{name}");
        let is_own = view.resolve(&own).is_ok_and(|at| view.entry(at).server() == server);
        if is_own { own } else { name }
    }

    fn leads_to(self, entry: &Entry) -> bool {
        match self {
            Door::Reading => entry.only_reads(),
            Door::Server(server) => entry.server() == server,
        }
    }

    fn refusal(self, calling: &Calling, entry: &Entry, arguments: Option<&Raw>) -> Refusal {
        let (own, caller, id) = (self.name(), calling.name, entry.id.to_string());
        let says = entry.hints.read_only.or(entry.hints.destructive).is_some();
        let message = match self {
            Door::Reading if says => {
                format!("{id} may change something, and {own} calls only what is known to read. Use {caller}.")
            }
            Door::Reading => {
                format!("{id} does not say whether it only reads, and {own} calls only what does. Use {caller}.")
            }
            Door::Server(server) => {
                format!("{id} is not a tool of {server}, and {own} calls only those. Use {caller}.")
            }
        };
        let mut next = json!({calling.keys[0]: id});
        calling.always.iter().for_each(|(key, value)| next[*key] = json!(value));
        if let Some(arguments) = arguments.and_then(repeated) {
            next[calling.arguments] = arguments;
        }
        let mut refusal = Refusal::new(Code::NotAuthorized, message).hint(format!("{caller} calls it, if you may."));
        refusal.next_action = Some(Box::new(NextAction { tool: caller.to_owned(), arguments: next }));
        refusal
    }
}

/// Arguments to be given again: not where they are long, or have numbers that would come back as others.
fn repeated(arguments: &Raw) -> Option<Value> {
    let text = arguments.get();
    let long = text.as_bytes().chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit());
    let exact = long.into_iter().all(|run| run.len() < 16 || !run[0].is_ascii_digit());
    (text.len() <= REPEATED && exact).then(|| serde_json::from_str(text).ok()).flatten()
}
