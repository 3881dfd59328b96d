//! Logins at servers: making and ending them, and what is missing. Where they are kept is `vault.rs`.

use toolfold_core::{Principal, ServerName};
use toolfold_upstream::{Need, Unvisited, Upstream, Visit};

use crate::current::Current;

/// The logins of principals at the servers of the newest snapshot.
pub struct Logins<'a> {
    pub(crate) snapshot: &'a Current,
}

impl Logins<'_> {
    /// Begins a login of this principal at a server; `None` where there is no such server.
    pub async fn begin(&self, server: &ServerName, principal: &Principal) -> Option<Result<Visit, Unvisited>> {
        Some(self.way(server, principal).await?.log_in().await)
    }

    /// Ends a login: whether there was one; `None` where there is no such server.
    pub async fn end(&self, server: &ServerName, principal: &Principal) -> Option<Result<bool, Unvisited>> {
        Some(self.way(server, principal).await?.log_out().await)
    }

    /// What somebody has to do before a server can be used by this principal, as far as is known.
    pub async fn needed(&self, server: &ServerName, principal: &Principal) -> Option<Need> {
        self.way(server, principal).await?.need()
    }

    /// Whether the server has wanted a login, or more of one, that nobody has made yet.
    pub async fn is_wanted(&self, server: &ServerName, principal: &Principal) -> bool {
        match self.way(server, principal).await {
            Some(way) => way.login_wanted().await,
            None => false,
        }
    }

    /// Looks whether somebody has logged in to a server, or out, in another process.
    pub async fn look_for(&self, server: &ServerName) {
        let source = self.snapshot.load().source(server).cloned();
        if let Some(source) = source {
            source.look_for_login().await;
        }
    }

    async fn way(&self, server: &ServerName, principal: &Principal) -> Option<Upstream> {
        let source = self.snapshot.load().source(server).cloned()?;
        source.way_of(principal).await
    }
}
