//! Where an entry's calls go: to a server behind a transport, to tools in this process, or to a process of a script's own.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolfold_core::{Absent, Code, Principal, Refusal, ServerName};
use toolfold_upstream::{Call, CallError, Manifest, Need, State, Unvisited, Upstream, Visit};
use toolfold_wire::{Raw, RpcError};

use super::relay::refused_there;
use crate::local::LocalServer;
use crate::request::Request;
use crate::scripts::{Caller, Scripts};

#[derive(Clone)]
pub(crate) enum Source {
    Server(Way),
    Local(Arc<LocalServer>),
    /// Programs, each in a process of its own.
    Scripts(Scripts),
    /// Files of agents or skills: there to be read, with nobody behind them to be asked.
    Documents,
}

/// The way to a server. Whoever holds one can ask nothing by it: what is in it is for the gate.
#[derive(Clone)]
pub(crate) struct Way(Upstream);

/// Why there is no result: the server's own JSON-RPC error, which is passed on, or our refusal.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    #[error(transparent)]
    Answered(RpcError),
    #[error(transparent)]
    Refused(Refusal),
}

impl Source {
    pub(crate) fn server(upstream: Upstream) -> Source {
        Source::Server(Way(upstream))
    }

    /// Who asks, for who does something on their behalf.
    pub(super) fn caller(&self, request: &Request) -> Option<Caller> {
        matches!(self, Source::Scripts(_)).then(|| Caller::of(request))
    }

    pub(super) async fn request(&self, server: &ServerName, caller: Option<Caller>, call: Call) -> Result<Raw, Failed> {
        match self {
            Source::Server(Way(upstream)) => {
                let upstream = upstream.of(&call.principal).await;
                let only_one = upstream.is_only_one();
                upstream.request(call).await.map_err(|error| match error {
                    CallError::Answered(error) if only_one => {
                        refused_there(&error).map_or(Failed::Answered(error), Failed::Refused)
                    }
                    error => failed(server, error),
                })
            }
            Source::Documents => Err(Failed::Answered(RpcError::method_not_found(&call.method))),
            Source::Scripts(scripts) => match caller {
                // Boxed: a script's own calls come through here again.
                Some(caller) => Box::pin(scripts.request(caller, call)).await,
                None => Err(Failed::Answered(RpcError::method_not_found(&call.method))),
            },
            Source::Local(local) => {
                if call.method != "tools/call" {
                    return Err(Failed::Answered(RpcError::method_not_found(&call.method)));
                }
                let name = call.params.string("name").unwrap_or_default();
                let work = local.call(&name, call.params.get("arguments").map(ToOwned::to_owned));
                let limit = call.timeout.unwrap_or(LOCAL_TIMEOUT);
                let late = |_| Err(failed(server, CallError::Timeout { after: limit }));
                tokio::time::timeout(limit, work).await.unwrap_or_else(late)
            }
        }
    }

    pub(super) fn upstream(&self) -> Option<&Upstream> {
        match self {
            Source::Server(Way(upstream)) => Some(upstream),
            Source::Local(_) | Source::Scripts(_) | Source::Documents => None,
        }
    }

    /// The way to the server that this principal has, which is the same for all where logins are not each one's own.
    pub(super) async fn way_of(&self, principal: &Principal) -> Option<Upstream> {
        match self.upstream() {
            Some(upstream) => Some(upstream.of(principal).await),
            None => None,
        }
    }

    /// Begins a login of this principal; `None` where there is nobody to log in at.
    pub(crate) async fn log_in(&self, principal: &Principal) -> Option<Result<Visit, Unvisited>> {
        Some(self.way_of(principal).await?.log_in().await)
    }

    /// Ends a login: whether there was one.
    pub(crate) async fn log_out(&self, principal: &Principal) -> Option<Result<bool, Unvisited>> {
        Some(self.way_of(principal).await?.log_out().await)
    }

    /// What this principal has to do before it can be used, as far as is known.
    pub(crate) async fn need_of(&self, principal: &Principal) -> Option<Need> {
        self.way_of(principal).await?.need()
    }

    /// Whether a login of this principal was wanted that nobody has made yet.
    pub(crate) async fn wants_login(&self, principal: &Principal) -> bool {
        match self.way_of(principal).await {
            Some(upstream) => upstream.login_wanted().await,
            None => false,
        }
    }

    /// Looks whether somebody has logged in or out in another process.
    pub(crate) async fn look_for_login(&self) {
        if let Some(upstream) = self.upstream() {
            upstream.look_for_login().await;
        }
    }

    pub(crate) fn state(&self) -> State {
        self.upstream().map_or(State::Ready, Upstream::state)
    }

    /// Whether there is somebody else behind it, who speaks MCP.
    pub(crate) fn is_server(&self) -> bool {
        self.upstream().is_some()
    }

    /// Whether one of all replicas runs it.
    pub(super) fn is_only_one(&self) -> bool {
        self.upstream().is_some_and(Upstream::is_only_one)
    }

    /// Where it runs, for people, if one of all replicas runs it.
    pub(crate) fn runs_at(&self) -> Option<String> {
        self.upstream().and_then(Upstream::runs_at)
    }

    pub(crate) fn manifest(&self) -> Option<Arc<Manifest>> {
        self.upstream().and_then(Upstream::manifest)
    }

    /// Whether a report is of this very connection, and not of one that it has replaced.
    pub(crate) fn is_instance(&self, number: u64) -> bool {
        self.upstream().is_some_and(|upstream| upstream.instance() == number)
    }

    /// What it said last on stderr.
    pub(crate) fn said(&self) -> Vec<String> {
        self.upstream().map(Upstream::said).unwrap_or_default()
    }

    pub(crate) fn start(&self) {
        if let Some(upstream) = self.upstream() {
            upstream.start();
        }
    }

    pub(crate) async fn stop(&self) {
        if let Some(upstream) = self.upstream() {
            upstream.stop().await;
        }
    }
}

/// What only a person can do, in words that a model can pass on.
fn login_needed(server: &ServerName, need: &Need) -> Refusal {
    let message = match need {
        Need::Login { .. } => format!("The server {server} needs a login, so nothing was done."),
        Need::More { .. } => format!("The login at the server {server} does not allow this, so nothing was done."),
    };
    Refusal::new(Code::ServerUnavailable, message)
        .hint(format!("Tell the person: {}.", need.why()))
        .hint("After that the same call works.")
        .details(json!({ LOGIN: server.as_str() }))
}

/// In the details of a refusal: the server is there, and wants a login.
pub(crate) const LOGIN: &str = "login";

const LOCAL_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) fn failed(server: &ServerName, error: CallError) -> Failed {
    let refusal = match error {
        CallError::Answered(error) => return Failed::Answered(error),
        CallError::Unavailable { why, retry_in } => {
            let refusal = Refusal::new(Code::ServerUnavailable, unavailable(server, &why));
            match retry_in {
                Some(wait) => refusal
                    .hint(format!("It is tried again in {} s; the same call may work then.", wait.as_secs().max(1))),
                None => {
                    refusal.hint("If the call changes something, check whether it took effect before you repeat it.")
                }
            }
            .cause(why)
        }
        CallError::Login(need) => return Failed::Refused(login_needed(server, &need)),
        CallError::Timeout { after } => Refusal::new(
            Code::ServerTimeout,
            format!("The server {server} did not answer within {} s.", after.as_secs_f32()),
        )
        .hint("The call may still have taken effect: check before you repeat it."),
        CallError::TooLarge { limit } => {
            Refusal::new(Code::TooLarge, format!("The answer of the server {server} is larger than {limit} bytes."))
                .hint("Ask for less: a smaller page, fewer fields, a narrower range.")
        }
    };
    Failed::Refused(refusal)
}

/// With the reason, for the person who can do something about it.
fn unavailable(server: &ServerName, why: &str) -> String {
    let reason = Absent::reason(why);
    let stop = if reason.ends_with(['?', '!', '…']) { "" } else { "." };
    format!("The server {server} is not available: {reason}{stop}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_a_server_is_not_available_is_said() {
        let server = ServerName::new("sqlite").unwrap();
        let why = "the server exited (status 4); it said: no such file\n".to_owned();
        let error = CallError::Unavailable { why, retry_in: Some(Duration::from_secs(3)) };
        let Failed::Refused(refusal) = failed(&server, error) else { panic!("it is nobody's answer") };
        assert_eq!(
            refusal.message,
            "The server sqlite is not available: the server exited (status 4); it said: no such file."
        );
    }
}
