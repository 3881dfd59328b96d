//! What clients are told when the catalog or a resource changes. What a server says beside that belongs to a call or to
//! nobody, and is not here.
//!
//! What a reader would get wrong: with rules a change is not the same for all. What is told then is that there is another
//! snapshot, and each client compares what it saw with what it sees: who may not see a server does not hear of it either.

use std::sync::Arc;

use toolfold_core::{Principal, ServerName, Surface};
use toolfold_wire::{Object, Raw};

use crate::request::Client;
use crate::snapshot::Snapshot;

#[derive(Debug, Clone)]
pub enum Change {
    /// There is another snapshot, and what that means is not the same for everybody: [`AccessRights::concerning`](crate::AccessRights::concerning) knows.
    Snapshot(Transition),
    /// The tool lists changed: `pinned` where a pinned tool is among the changes, so that a surface which shows only
    /// those can stay silent otherwise.
    Tools {
        pinned: bool,
    },
    Prompts,
    Resources,
    /// A resource that somebody subscribed to, as its server knows it.
    Resource {
        server: ServerName,
        /// Whose way to it this was said on: where logins are each one's own, it is nobody else's business.
        whose: Principal,
        uri: String,
    },
}

/// From one snapshot to the next.
#[derive(Clone)]
pub struct Transition {
    before: Arc<Snapshot>,
    after: Arc<Snapshot>,
}

impl std::fmt::Debug for Transition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Transition")
    }
}

impl Change {
    /// What is to be told when one snapshot follows another.
    pub(crate) fn between(before: &Arc<Snapshot>, after: &Arc<Snapshot>) -> Vec<Change> {
        if before.rules.is_empty() && after.rules.is_empty() {
            return after.changes_since(before);
        }
        vec![Change::Snapshot(Transition { before: before.clone(), after: after.clone() })]
    }

    /// What of this concerns somebody. May take as long as finding out what they see.
    pub(crate) fn for_principal(&self, principal: &Principal) -> Vec<Change> {
        match self {
            Change::Snapshot(Transition { before, after }) => {
                after.seen_by(principal).changes_since(&before.seen_by(principal))
            }
            other => vec![other.clone()],
        }
    }

    /// The notifications this is, for a client of the session era that should hear of it.
    pub fn notifications(&self, client: &Client) -> Vec<(&'static str, Option<Raw>)> {
        match self {
            // What it means has to be found out first.
            Change::Snapshot(_) => Vec::new(),
            Change::Tools { pinned } => {
                let listed = client.surface == Surface::Direct || !client.loaded().is_empty();
                if listed || *pinned { vec![(TOOLS_CHANGED, None)] } else { Vec::new() }
            }
            // Who was told that there is no such list does not expect to hear of it.
            Change::Prompts if !client.told.prompts => Vec::new(),
            Change::Resources if !client.told.resources => Vec::new(),
            Change::Prompts => vec![(PROMPTS_CHANGED, None)],
            Change::Resources => vec![(RESOURCES_CHANGED, None)],
            Change::Resource { server, whose, uri } => client
                .watched(server, whose, uri)
                .iter()
                .map(|known| (RESOURCE_UPDATED, Some(updated(known))))
                .collect(),
        }
    }
}

pub const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
pub const PROMPTS_CHANGED: &str = "notifications/prompts/list_changed";
pub const RESOURCES_CHANGED: &str = "notifications/resources/list_changed";
pub const RESOURCE_UPDATED: &str = "notifications/resources/updated";

/// The parameters of "this resource was updated".
pub fn updated(uri: &str) -> Raw {
    Object::new().with("uri", uri).to_raw()
}
