//! What clients are told when the catalog or a server changes.

use toolfold_core::Surface;
use toolfold_wire::{Object, Raw};

use crate::request::{Client, LogLevel};

#[derive(Debug, Clone)]
pub enum Change {
    /// The tool lists changed: `pinned` where a pinned tool is among the changes, so that a surface which shows only
    /// those can stay silent otherwise.
    Tools {
        pinned: bool,
    },
    Prompts,
    Resources,
    /// A resource that somebody subscribed to, under the URI that clients know.
    Resource {
        uri: String,
    },
    /// A log message that belongs to no call.
    Log {
        params: Raw,
    },
    /// Any other notification of a server that belongs to no call, as it came.
    Other {
        method: String,
        params: Option<Raw>,
    },
}

impl Change {
    /// The notification this is, for a client of the session era that should hear of it.
    pub fn notification(&self, client: &Client) -> Option<(&str, Option<Raw>)> {
        match self {
            Change::Tools { pinned } => {
                let listed = client.surface == Surface::Direct || !client.loaded().is_empty();
                (listed || *pinned).then_some((TOOLS_CHANGED, None))
            }
            Change::Prompts => Some((PROMPTS_CHANGED, None)),
            Change::Resources => Some((RESOURCES_CHANGED, None)),
            Change::Resource { uri } => client.watches(uri).then(|| (RESOURCE_UPDATED, Some(updated(uri)))),
            Change::Log { params } => {
                let level = Object::parse(params).and_then(|object| LogLevel::parse(&object.string("level")?));
                client.wants(level.unwrap_or(LogLevel::Info)).then(|| ("notifications/message", Some(params.clone())))
            }
            Change::Other { method, params } => Some((method, params.clone())),
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
