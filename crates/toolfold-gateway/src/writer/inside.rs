//! What no server says: files of agents, skills and scripts, and tools of this process.

use tokio::task::spawn_blocking;
use tracing::warn;

use super::{Dirty, Writer};
use crate::files::Documents;
use crate::gate::Source;
use crate::known::Known;
use crate::local::{LocalServer, Unregistered};
use crate::scripts::StoredScripts;

impl Writer {
    /// Reads agents, skills and scripts again, beside the writer's own thread.
    pub(super) async fn read_documents(&mut self) -> Dirty {
        let config = self.config.clone();
        let read = spawn_blocking(move || Documents::read(&config)).await;
        let Documents { servers, mut scripts, unusable } = read.unwrap_or_default();
        for odd in unusable {
            warn!("{odd}");
        }
        self.servers.retain(|_, known| !matches!(known.source, Source::Documents | Source::Scripts(_)));
        for tools in servers {
            let name = tools.name.clone();
            if self.servers.contains_key(&name) {
                warn!(server = %tools.name, "a server has this name already, so these files are not served");
                continue;
            }
            let runner = self.inner.upgrade().filter(|_| name.as_str() == "scripts").map(|inner| inner.scripts.clone());
            let source = match runner {
                Some(runner) => runner.for_files(StoredScripts::new(std::mem::take(&mut scripts))),
                None => Source::Documents,
            };
            let known = Known::files(source, tools);
            self.servers.insert(name, known);
        }
        Dirty::Catalog
    }

    /// Adds tools to those of their server; one of the same name is replaced.
    pub(super) fn register(&mut self, new: LocalServer) -> Result<(), Unregistered> {
        new.check()?;
        let merged = match self.servers.get(&new.name).map(|known| &known.source) {
            None => new,
            Some(Source::Local(known)) => known.with(new),
            Some(_) => return Err(Unregistered::Taken(new.name)),
        };
        self.servers.insert(merged.name.clone(), Known::local(merged));
        Ok(())
    }
}
