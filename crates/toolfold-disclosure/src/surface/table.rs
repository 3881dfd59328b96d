//! A surface is a table: its meta-tools with their definitions and what each asks for, the rules that its clients are
//! told, and how a next step is spelled there. One file each holds one; everything else is derived from them.

use serde_json::Value;
use toolfold_core::{Doors, Groups, Next, Refusal, ServerName, Surface};
use toolfold_wire::{Raw, raw_of};

use super::request::Arguments;
use super::{
    Action, View, backends, code, compact, direct, doors, hybrid, levels, lifecycle, ontology, single, two_phase,
};

pub(super) struct Table {
    /// What a client is told at the start.
    pub(super) rules: &'static str,
    pub(super) metas: &'static [Meta],
    /// The kind of meta-tool that there is one of for each server.
    pub(super) by_server: Option<ByServer>,
    /// The meta-tool that calls others; where there is one, doors can stand beside it.
    pub(super) call: Option<Calling>,
    /// The tool and the arguments that a next step is taken with; nothing where clients have no such tool.
    pub(super) next: fn(&Next) -> Option<(&'static str, Value)>,
}

pub(super) struct Meta {
    pub(super) name: &'static str,
    /// As it is listed. Every byte is paid for in every conversation, so it is text, and the same every time.
    pub(super) definition: &'static str,
    pub(super) listed: Listed,
    pub(super) ask: Ask,
}

/// Who is shown a meta-tool. Whoever knows its name may use it all the same.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Listed {
    Always,
    InSession,
    WithoutSession,
    /// Where servers do not have one each.
    Joined,
}

/// How a tool is called through a meta-tool.
pub(super) struct Calling {
    pub(super) name: &'static str,
    /// Its keys for the name of the tool, the one that is listed first.
    pub(super) keys: &'static [&'static str],
    /// Its key for the tool's arguments.
    pub(super) arguments: &'static str,
    /// What has to stand beside them.
    pub(super) always: &'static [(&'static str, &'static str)],
    /// What shows names of tools.
    pub(super) finder: &'static str,
}

pub(super) struct ByServer {
    pub(super) name: fn(&str) -> String,
    pub(super) definition: fn(&str) -> Raw,
    /// Whether a name could be that of some server's.
    pub(super) could_be: fn(&str) -> bool,
    pub(super) ask: fn(&Asking<'_, '_>, &ServerName, Arguments) -> Result<Action, Refusal>,
}

/// What a meta-tool makes of its arguments.
pub(super) type Ask = fn(&Asking<'_, '_>, Arguments) -> Result<Action, Refusal>;

/// Where a meta-tool was asked.
pub(super) struct Asking<'q, 'v> {
    pub(super) table: &'static Table,
    pub(super) view: &'q View<'v>,
}

pub(super) fn table(surface: Surface) -> &'static Table {
    match surface {
        Surface::Compact => &compact::TABLE,
        Surface::Hybrid => &hybrid::TABLE,
        Surface::TwoPhase => &two_phase::TABLE,
        Surface::Single => &single::TABLE,
        Surface::Lifecycle => &lifecycle::TABLE,
        Surface::Levels => &levels::TABLE,
        Surface::Ontology => &ontology::TABLE,
        Surface::Backends => &backends::TABLE,
        Surface::Code => &code::TABLE,
        Surface::Direct => &direct::TABLE,
    }
}

/// The names of all meta-tools, some of them several times; those that servers have one of each are not among them.
pub fn reserved_names() -> impl Iterator<Item = &'static str> {
    Surface::ALL.into_iter().flat_map(|surface| table(surface).metas).map(|meta| meta.name)
}

/// A meta-tool as a document shows it.
#[derive(Debug)]
pub struct MetaTool {
    /// As it is listed.
    pub definition: Raw,
    /// Who is shown it, where that is not everybody.
    pub listed: &'static str,
}

/// Every meta-tool that a surface has for anybody, for documents. What each server has one of is shown for `<server>`.
pub fn meta_tools(surface: Surface) -> Vec<MetaTool> {
    let table = table(surface);
    let own = table
        .metas
        .iter()
        .filter_map(|meta| Some(MetaTool { definition: raw_of(meta.definition).ok()?, listed: meta.listed.told() }));
    let each = table.by_server.iter().map(|each| MetaTool {
        definition: (each.definition)("server"),
        listed: "one for each server, with `groups = \"split\"`; here for a server called `server`",
    });
    own.chain(each).collect()
}

/// The doors that a surface can have, for documents. That of a server is shown for `<server>`.
pub fn door_tools(surface: Surface) -> Vec<MetaTool> {
    doors::documented(table(surface))
}

/// Whether a name is a meta-tool's on some surface, or could be: no tool of a server is shown under it.
pub fn is_reserved(name: &str) -> bool {
    is_reserved_beside(&Doors::NONE, name)
}

/// The same where these doors are.
pub fn is_reserved_beside(doors: &Doors, name: &str) -> bool {
    let mut each = Surface::ALL.into_iter().filter_map(|surface| table(surface).by_server.as_ref());
    let own = reserved_names().any(|reserved| reserved == name) || each.any(|each| (each.could_be)(name));
    own || doors::is_door(doors, name)
}

/// Whether a name is a meta-tool's for this client: then it is no tool's, whatever a server calls its own.
pub fn is_meta(surface: Surface, view: &View<'_>, name: &str) -> bool {
    Asking { table: table(surface), view }.knows(name)
}

impl Table {
    /// The definitions that a client is shown, in their order.
    pub(super) fn definitions(&self, view: &View<'_>) -> Vec<Raw> {
        let split = self.by_server.as_ref().filter(|_| view.settings().groups == Groups::Split);
        let of_each = |each: &ByServer| {
            let servers = view.tools_by_server().map(|(server, _)| (each.definition)(server.as_str()));
            servers.collect::<Vec<Raw>>()
        };
        let each = split.map(of_each).unwrap_or_default().into_iter();
        let own = self.metas.iter().filter(|meta| meta.listed.to(view));
        let own = own.filter_map(|meta| raw_of(meta.definition).ok());
        each.chain(own).chain(self.doors(view)).collect()
    }

    /// Listed where the meta-tool is that calls everything.
    fn doors(&self, view: &View<'_>) -> Vec<Raw> {
        let is_listed =
            |calling: &&Calling| self.metas.iter().any(|meta| meta.name == calling.name && meta.listed.to(view));
        let calling = self.call.as_ref().filter(is_listed);
        calling
            .map(|calling| doors::all(view.doors()).map(|door| door.definition(calling)).collect())
            .unwrap_or_default()
    }
}

impl Listed {
    fn told(self) -> &'static str {
        match self {
            Listed::Always => "",
            Listed::InSession => "in sessions, up to protocol 2025-11-25",
            Listed::WithoutSession => "without a session, from protocol 2026-07-28 on",
            Listed::Joined => "unless `groups = \"split\"`",
        }
    }

    fn to(self, view: &View<'_>) -> bool {
        match self {
            Listed::Always => true,
            Listed::InSession => view.session(),
            Listed::WithoutSession => !view.session(),
            Listed::Joined => view.settings().groups == Groups::Joined,
        }
    }
}

impl Asking<'_, '_> {
    pub(super) fn knows(&self, name: &str) -> bool {
        let own = self.table.metas.iter().any(|meta| meta.name == name);
        own || self.server_of(name).is_some() || doors::find(self.table, self.view, name).is_some()
    }

    /// What a meta-tool is asked for; `None` where none of this surface has that name.
    pub(super) fn ask(&self, name: &str, given: Arguments) -> Option<Result<Action, Refusal>> {
        if let Some(meta) = self.table.metas.iter().find(|meta| meta.name == name) {
            return Some((meta.ask)(self, given));
        }
        if let Some(door) = doors::find(self.table, self.view, name) {
            return Some(door.ask(self, given));
        }
        let (each, server) = self.server_of(name)?;
        Some((each.ask)(self, server, given))
    }

    fn server_of(&self, name: &str) -> Option<(&'static ByServer, &ServerName)> {
        let split = self.view.settings().groups == Groups::Split;
        let each = self.table.by_server.as_ref().filter(|each| split && (each.could_be)(name))?;
        let mut servers = self.view.tools_by_server().map(|(server, _)| server);
        servers.find(|server| (each.name)(server.as_str()) == name).map(|server| (each, server))
    }
}
