//! What a reload has to do, and nothing more: a server whose part of the file is the same is not touched.

use toolfold_core::ServerName;

use crate::config::Config;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    pub added: Vec<ServerName>,
    pub removed: Vec<ServerName>,
    pub changed: Vec<ServerName>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        *self == Changes::default()
    }
}

/// The servers that differ, each list in order of name. Differences elsewhere are the caller's to see.
pub fn changed(old: &Config, new: &Config) -> Changes {
    let missing = |from: &Config, names: &Config| -> Vec<ServerName> {
        names.servers.keys().filter(|name| !from.servers.contains_key(*name)).cloned().collect()
    };
    let differs = |name: &&ServerName| old.servers.get(*name).is_some_and(|server| *server != new.servers[*name]);
    Changes {
        added: missing(old, new),
        removed: missing(new, old),
        changed: new.servers.keys().filter(differs).cloned().collect(),
    }
}
