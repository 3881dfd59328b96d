//! What the writer knows of one server: where its calls go, and what it offers.

use std::sync::Arc;

use toolfold_catalog::{ServerTools, SetAside, Source as Tools, follow};
use toolfold_config::Server;
use toolfold_core::ServerName;
use toolfold_upstream::Manifest;
use toolfold_wire::{Object, raw};
use tracing::warn;

use crate::local::LocalServer;
use crate::source::Source;

/// All that is known of one server.
pub(crate) struct Known {
    pub(crate) source: Source,
    pub(crate) config: Option<Arc<Server>>,
    pub(crate) manifest: Option<Arc<Manifest>>,
    pub(crate) tools: Option<Arc<ServerTools>>,
    pub(crate) settled: bool,
}

impl Known {
    pub(crate) fn local(server: LocalServer) -> Self {
        let (tools, set_aside) = ServerTools::read(Tools {
            name: server.name.clone(),
            prefix: true,
            title: server.title.clone(),
            instructions: None,
            tools: server.tools.iter().map(|tool| raw(&tool.definition)).collect(),
        });
        warn_of(set_aside);
        Known::here(Source::Local(Arc::new(server)), tools)
    }

    pub(crate) fn documents(tools: ServerTools) -> Self {
        Known::here(Source::Documents, tools)
    }

    fn here(source: Source, tools: ServerTools) -> Self {
        Known { source, config: None, manifest: None, tools: Some(Arc::new(tools)), settled: true }
    }

    /// Takes in a list, and remembers with it what tools were called before.
    pub(crate) fn listed(&mut self, name: &ServerName, mut manifest: Arc<Manifest>) {
        let info = manifest.server_info.as_ref().and_then(Object::parse).unwrap_or_default();
        let (mut tools, set_aside) = ServerTools::read(Tools {
            name: name.clone(),
            prefix: self.config.as_ref().is_none_or(|config| config.prefix),
            title: info.string("title"),
            instructions: manifest.instructions.clone(),
            tools: manifest.tools.clone(),
        });
        warn_of(set_aside);
        if let (Some(before), Some(last)) = (&self.tools, &self.manifest) {
            let mut old_names = last.old_names.clone();
            follow(&mut old_names, &before.entries, &tools.entries);
            // The list is shared, and copied only where there is something to add.
            if manifest.old_names != old_names {
                Arc::make_mut(&mut manifest).old_names = old_names;
            }
        }
        tools.answer_to(&manifest.old_names);
        tools.answer_to(self.config.iter().flat_map(|config| &config.aliases));
        self.tools = Some(Arc::new(tools));
        self.manifest = Some(manifest);
        self.settled = true;
    }
}

fn warn_of(set_aside: Vec<SetAside>) {
    for odd in set_aside {
        warn!(server = %odd.server, tool = odd.index, "a tool is set aside: {}", odd.why);
    }
}
