//! What clients are told when the catalog or a resource changes. What a server says beside that belongs to a call or to
//! nobody, and is not here.

use toolfold_core::{ServerName, Surface};
use toolfold_wire::{Object, Raw};

use crate::request::Client;

#[derive(Debug, Clone)]
pub enum Change {
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
        uri: String,
    },
}

impl Change {
    /// The notifications this is, for a client of the session era that should hear of it.
    pub fn notifications(&self, client: &Client) -> Vec<(&'static str, Option<Raw>)> {
        match self {
            Change::Tools { pinned } => {
                let listed = client.surface == Surface::Direct || !client.loaded().is_empty();
                if listed || *pinned { vec![(TOOLS_CHANGED, None)] } else { Vec::new() }
            }
            // Who was told that there is no such list does not expect to hear of it.
            Change::Prompts if !client.told.prompts => Vec::new(),
            Change::Resources if !client.told.resources => Vec::new(),
            Change::Prompts => vec![(PROMPTS_CHANGED, None)],
            Change::Resources => vec![(RESOURCES_CHANGED, None)],
            Change::Resource { server, uri } => {
                client.watched(server, uri).iter().map(|known| (RESOURCE_UPDATED, Some(updated(known)))).collect()
            }
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
