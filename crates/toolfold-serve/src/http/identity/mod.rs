//! Who a request is from, by what it shows: the token of the configuration, a token that was given out under a name, one
//! that an issuer vouches for, or nothing where that is enough.
//!
//! What a reader would get wrong: what was shown and is not right is never taken for nothing. Whoever presents a token
//! that was revoked is told so, also where nobody would have had to present one.

mod fetch;
mod issuers;
mod resource;

use std::net::{IpAddr, SocketAddr};

use hyper::StatusCode;
use toolfold_access::{digest, is_named_token};
use toolfold_config::Config;
use toolfold_core::{Code, Principal, Secret};
use tracing::{debug, warn};

use super::App;
use super::failure::Refused;
use super::guard::{Shown, same};
use issuers::Issuers;
pub(crate) use resource::Resources;

/// A longer one is not looked at.
const LONGEST_TOKEN: usize = 16 * 1024;

pub(crate) struct Identities {
    token: Option<Secret>,
    /// Whether whoever comes from this machine and shows nothing is whoever runs the program.
    open: bool,
    issuers: Issuers,
    pub(crate) resources: Resources,
}

/// Whether a path is one of the documents that say how to be let in.
pub(crate) fn is_metadata(path: &str) -> bool {
    path.starts_with(resource::WELL_KNOWN)
}

impl Identities {
    pub(crate) fn new(config: &Config, address: SocketAddr) -> Self {
        Identities {
            token: config.http.token.clone(),
            open: config.is_open(),
            issuers: Issuers::new(&config.issuers),
            resources: Resources::new(config, address),
        }
    }

    /// Who this is that wants something at this path.
    pub(crate) async fn who(
        &self,
        app: &App,
        shown: Shown<'_>,
        path: &str,
        peer: IpAddr,
    ) -> Result<Principal, Refused> {
        let local = self.open && peer.is_loopback();
        let known = match shown {
            Shown::Token(token) if token.len() > LONGEST_TOKEN => Err("too long".to_owned()),
            Shown::Token(token) if self.is_own(token) => Ok(Principal::token()),
            Shown::Token(token) if is_named_token(token) => named(app, token).await?,
            Shown::Token(token) if local && app.guard.is_key(token) => Ok(Principal::local()),
            Shown::Token(token) if !self.issuers.is_empty() => {
                self.issuers.who(token, &self.resources.audiences(path)).await
            }
            // Nobody asked for it, and there is nothing here that it could be wrong for.
            Shown::Token(_) | Shown::Odd if local && self.token.is_none() => Ok(Principal::local()),
            Shown::Token(_) => Err("unknown".to_owned()),
            Shown::Odd => Err("not a token".to_owned()),
            Shown::Nothing | Shown::Page if local => Ok(Principal::local()),
            Shown::Nothing | Shown::Page => return Err(self.turned_away(app, path, None)),
        };
        known.map_err(|why| self.turned_away(app, path, Some(&why)))
    }

    /// What it takes to do something that takes a scope.
    pub(crate) fn step_up(&self, path: &str, scope: &str) -> Refused {
        let challenge = self.resources.challenge(path, Some("insufficient_scope"), &[scope.to_owned()]);
        Refused::challenged(StatusCode::FORBIDDEN, format!("This takes a token with the scope {scope}."), challenge)
    }

    fn is_own(&self, given: &str) -> bool {
        self.token.as_ref().is_some_and(|token| same(given.as_bytes(), token.expose().as_bytes()))
    }

    fn turned_away(&self, app: &App, path: &str, why: Option<&str>) -> Refused {
        debug!(why = why.unwrap_or("nothing was shown"), "somebody is not let in");
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

/// Whoever a token was given to.
async fn named(app: &App, token: &str) -> Result<Result<Principal, String>, Refused> {
    let Some(hash) = digest(token) else { return Ok(Err("no token of ours".to_owned())) };
    match app.gateway.tokens().holder(hash).await {
        Ok(Some(principal)) => Ok(Ok(principal)),
        Ok(None) => Ok(Err("revoked or expired".to_owned())),
        Err(error) => {
            warn!("a token could not be looked up: {error}");
            Err(Refused::new(StatusCode::SERVICE_UNAVAILABLE, "The token cannot be looked up now. Try again later."))
        }
    }
}
