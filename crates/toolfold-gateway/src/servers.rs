//! What a person does with a server: start it, stop it, read what it said.

use toolfold_core::ServerName;

use crate::current::Current;
use crate::gate::Source;

/// The servers of the newest snapshot.
pub struct Servers<'a> {
    pub(crate) snapshot: &'a Current,
}

impl Servers<'_> {
    /// What a server said last on stderr, without secrets, the oldest line first.
    pub fn said(&self, server: &ServerName) -> Vec<String> {
        self.snapshot.load().source(server).map(Source::said).unwrap_or_default()
    }

    /// Starts a server now, also where it was stopped, or failed and is to be tried later. False where there is no such
    /// server, or one that lives in this process.
    pub fn start(&self, server: &ServerName) -> bool {
        let snapshot = self.snapshot.load();
        let source = snapshot.source(server).filter(|source| source.is_server());
        source.map(Source::start).is_some()
    }

    /// Stops a server until it is started again, and returns when its process is gone. False as for [`Servers::start`].
    pub async fn stop(&self, server: &ServerName) -> bool {
        let source = self.snapshot.load().source(server).filter(|source| source.is_server()).cloned();
        match source {
            Some(source) => source.stop().await,
            None => return false,
        }
        true
    }
}
