//! Who a request is from, by what it shows: the token of the configuration, a token that was given out under a name, one
//! that an issuer vouches for, or nothing where that is enough.
//!
//! What a reader would get wrong: what was shown and is not right is never taken for nothing. Whoever presents a token
//! that was revoked is told so, also where nobody would have had to present one.

mod fetch;
mod issuers;
mod questions;
mod recent;
mod resource;

use std::net::{IpAddr, SocketAddr};

use hyper::StatusCode;
use toolfold_access::{BadToken, digest, is_named_token};
use toolfold_config::{CLIENT_DOCUMENT, Config};
use toolfold_core::{Code, Principal, Secret};
use tracing::{debug, warn};

use super::App;
use super::failure::Refused;
use super::guard::{Shown, same};
use issuers::Issuers;
use recent::Familiar;
use resource::INSUFFICIENT;
pub(crate) use resource::Resources;

/// A longer one is not looked at.
const LONGEST_TOKEN: usize = 16 * 1024;

pub(crate) struct Identities {
    token: Option<Secret>,
    /// Whether whoever comes from this machine and shows nothing is whoever runs the program.
    open: bool,
    issuers: Issuers,
    recent: Familiar,
    pub(crate) resources: Resources,
}

/// Why what was shown is not accepted. For the log: whoever showed it hears that it is not.
#[derive(Debug, Clone, Copy, thiserror::Error)]
enum NotAccepted {
    #[error("nothing was shown")]
    Nothing,
    #[error("too long")]
    TooLong,
    #[error("unknown")]
    Unknown,
    #[error("not a token")]
    NoToken,
    #[error("no token of ours")]
    Foreign,
    #[error("revoked or expired")]
    Over,
    #[error(transparent)]
    Bad(BadToken),
}

/// Whether a path is one of the documents that say how to be let in.
pub(crate) fn is_metadata(path: &str) -> bool {
    path.starts_with(resource::WELL_KNOWN) || path == CLIENT_DOCUMENT
}

impl Identities {
    pub(crate) fn new(config: &Config, address: SocketAddr) -> Self {
        Identities {
            token: config.http.token.clone(),
            open: config.is_open(),
            issuers: Issuers::new(&config.issuers),
            recent: Familiar::default(),
            resources: Resources::new(config, address),
        }
    }

    /// Who this is that wants something at this path.
    pub(crate) async fn who(
        &self,
        app: &App,
        shown: &Shown<'_>,
        path: &str,
        peer: IpAddr,
    ) -> Result<Principal, Refused> {
        let local = self.open && peer.is_loopback();
        let known = match *shown {
            Shown::Token(token) if token.len() > LONGEST_TOKEN => Err(NotAccepted::TooLong),
            Shown::Token(token) if self.is_own(token) => Ok(Principal::token()),
            Shown::Token(token) if is_named_token(token) => named(app, token).await?,
            Shown::Token(token) if local && app.guard.is_key(token) => Ok(Principal::local()),
            Shown::Token(token) if !self.issuers.is_empty() => {
                Box::pin(self.issuers.who(token, &self.resources.audiences(path))).await.map_err(NotAccepted::Bad)
            }
            // Nobody asked for it, and there is nothing here that it could be wrong for.
            Shown::Token(_) | Shown::Odd if local && self.token.is_none() => Ok(Principal::local()),
            Shown::Token(_) => Err(NotAccepted::Unknown),
            Shown::Odd => Err(NotAccepted::NoToken),
            Shown::Nothing | Shown::Page if local => Ok(Principal::local()),
            Shown::Nothing | Shown::Page => return Err(self.turned_away(app, path, None)),
        };
        known.map_err(|why| match why {
            // Nobody has said that it is wrong.
            NotAccepted::Bad(BadToken::Unanswered) => not_now(),
            why => self.turned_away(app, path, Some(why)),
        })
    }

    /// Whether a token is known without asking anybody: our own, or one that was accepted before.
    pub(crate) fn is_familiar(&self, app: &App, shown: &Shown<'_>) -> bool {
        match shown {
            Shown::Token(token) => self.is_own(token) || app.guard.is_key(token) || self.recent.knows(token),
            Shown::Page | Shown::Nothing | Shown::Odd => true,
        }
    }

    /// It was accepted: it is looked at again however many wrong ones come.
    pub(crate) fn remember(&self, shown: &Shown<'_>) {
        if let Shown::Token(token) = shown
            && !self.is_own(token)
        {
            self.recent.remember(token);
        }
    }

    /// What it takes to do something that takes a scope.
    pub(crate) fn step_up(&self, path: &str, scope: &str) -> Refused {
        let message = format!("This takes a token with the scope {scope}.");
        Refused::challenged(StatusCode::FORBIDDEN, message, self.challenge_for(path, scope))
    }

    /// The same as a header says it.
    pub(crate) fn challenge_for(&self, path: &str, scope: &str) -> String {
        self.resources.challenge(path, Some(INSUFFICIENT), &[scope.to_owned()])
    }

    fn is_own(&self, given: &str) -> bool {
        self.token.as_ref().is_some_and(|token| same(given.as_bytes(), token.expose().as_bytes()))
    }

    fn turned_away(&self, app: &App, path: &str, why: Option<NotAccepted>) -> Refused {
        debug!(why = %why.unwrap_or(NotAccepted::Nothing), "somebody is not let in");
        app.gateway.turned_away(None, Code::NotAuthorized);
        let message = match why {
            None => "Send the token as `Authorization: Bearer …`.",
            Some(_) => "This token is not accepted. Send one that is, as `Authorization: Bearer …`.",
        };
        let scopes = self.resources.scopes(&app.gateway);
        let challenge = self.resources.challenge(path, why.map(|_| "invalid_token"), &scopes);
        Refused::challenged(StatusCode::UNAUTHORIZED, message, challenge)
    }
}

fn not_now() -> Refused {
    Refused::new(StatusCode::SERVICE_UNAVAILABLE, "The token cannot be looked up now. Try again later.")
}

/// Whoever a token was given to.
async fn named(app: &App, token: &str) -> Result<Result<Principal, NotAccepted>, Refused> {
    let Some(hash) = digest(token) else { return Ok(Err(NotAccepted::Foreign)) };
    match app.gateway.tokens().holder(hash).await {
        Ok(Some(principal)) => Ok(Ok(principal)),
        Ok(None) => Ok(Err(NotAccepted::Over)),
        Err(error) => {
            warn!("a token could not be looked up: {error}");
            Err(not_now())
        }
    }
}
