//! Logins at servers: making and ending them, and what is missing. Where they are kept is `vault.rs`.

use toolfold_core::{Principal, ServerName};
use toolfold_upstream::{Need, Unvisited, Visit};

use crate::current::Current;
use crate::gate::Source;

/// The logins of principals at the servers of the newest snapshot.
pub struct Logins<'a> {
    pub(crate) snapshot: &'a Current,
}

impl Logins<'_> {
    /// Begins a login of this principal at a server; `None` where there is no such server.
    pub async fn begin(&self, server: &ServerName, principal: &Principal) -> Option<Result<Visit, Unvisited>> {
        self.source(server)?.log_in(principal).await
    }

    /// Ends a login: whether there was one; `None` where there is no such server.
    pub async fn end(&self, server: &ServerName, principal: &Principal) -> Option<Result<bool, Unvisited>> {
        self.source(server)?.log_out(principal).await
    }

    /// What somebody has to do before a server can be used by this principal, as far as is known.
    pub async fn needed(&self, server: &ServerName, principal: &Principal) -> Option<Need> {
        self.source(server)?.need_of(principal).await
    }

    /// Whether the server has wanted a login, or more of one, that nobody has made yet.
    pub async fn is_wanted(&self, server: &ServerName, principal: &Principal) -> bool {
        match self.source(server) {
            Some(source) => source.wants_login(principal).await,
            None => false,
        }
    }

    /// Looks whether somebody has logged in to a server, or out, in another process.
    pub async fn look_for(&self, server: &ServerName) {
        if let Some(source) = self.source(server) {
            source.look_for_login().await;
        }
    }

    fn source(&self, server: &ServerName) -> Option<Source> {
        self.snapshot.load().source(server).cloned()
    }
}
