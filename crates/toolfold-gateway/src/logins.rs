//! Logins at servers: making and ending them, and what is missing. Where they are kept is `vault.rs`.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use toolfold_core::{Absence, Principal, ServerName};
use toolfold_upstream::{Need, Unvisited, Visit};

use crate::current::Current;
use crate::gate::Source;

/// How long a supervisor may take to notice a login, and how often it is looked whether it has.
const NOTICED: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(5);

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

    /// Looks whether somebody has logged in to a server, or out, in another process. Returns when a login is known to whoever
    /// asks next: a call right after it would be told to log in.
    pub async fn look_for(&self, server: &ServerName) {
        let Some(source) = self.source(server) else { return };
        source.look_for_login().await;
        let until = Instant::now() + NOTICED;
        while self.asks_for_login(server)
            && source.need_of(&Principal::local()).await.is_none()
            && Instant::now() < until
        {
            sleep(LOOK).await;
        }
    }

    /// Whether the newest snapshot says that the server needs a login.
    fn asks_for_login(&self, server: &ServerName) -> bool {
        let snapshot = self.snapshot.load();
        snapshot.absent.iter().any(|absent| absent.server == *server && absent.state == Absence::NeedsLogin)
    }

    fn source(&self, server: &ServerName) -> Option<Source> {
        self.snapshot.load().source(server).cloned()
    }
}
