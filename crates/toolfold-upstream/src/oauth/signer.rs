//! What a request to a server says about who asks: where a login and the configuration meet.
//!
//! What a reader would get wrong: a way to a server is shared until it is known that the server wants a login, and only from
//! then on each has their own. What was on its way until then is not signed with the login of somebody else.

use std::sync::Arc;

use hyper::http::header::HeaderMap;
use toolfold_core::Principal;
use toolfold_http::{Asked, Challenge, Credentials, FixedHeaders, NoCredentials, Reaction};
use toolfold_wire::BoxFuture;

use super::account::Account;

/// What a request says about who asks: the headers of the configuration, and the login.
pub(crate) struct Signer {
    pub(crate) fixed: FixedHeaders,
    pub(crate) account: Option<Arc<Account>>,
}

impl Signer {
    /// For a request that is made on behalf of somebody.
    pub(crate) fn asked_by(&self, principal: Option<&Principal>) -> SignedFor<'_> {
        let theirs = |account: &Arc<Account>| principal.is_none_or(|principal| account.is_of(principal));
        SignedFor { signer: self, is_stranger: !self.account.as_ref().is_none_or(theirs) }
    }
}

/// The credentials of one request.
pub(crate) struct SignedFor<'s> {
    signer: &'s Signer,
    /// The account is another one's.
    is_stranger: bool,
}

impl Credentials for SignedFor<'_> {
    fn sign<'a>(&'a self, asked: Asked<'a>, headers: &'a mut HeaderMap) -> BoxFuture<'a, Result<(), NoCredentials>> {
        match &self.signer.account {
            Some(account) if self.is_stranger && account.has_login() => {
                let why = "it wants a login, and each has their own: call again";
                Box::pin(std::future::ready(Err(NoCredentials(why.to_owned()))))
            }
            Some(_) if self.is_stranger => self.signer.fixed.sign(asked, headers),
            _ => self.signer.sign(asked, headers),
        }
    }

    fn rejected<'a>(&'a self, challenge: &'a Challenge) -> BoxFuture<'a, Reaction> {
        Box::pin(async move {
            match self.signer.rejected(challenge).await {
                Reaction::Again | Reaction::Proven if self.is_stranger => Reaction::GiveUp,
                reaction => reaction,
            }
        })
    }
}

impl Credentials for Signer {
    fn sign<'a>(&'a self, asked: Asked<'a>, headers: &'a mut HeaderMap) -> BoxFuture<'a, Result<(), NoCredentials>> {
        Box::pin(async move {
            if let Some(account) = &self.account {
                account.sign(asked, headers).await?;
            }
            self.fixed.sign(asked, headers).await
        })
    }

    fn rejected<'a>(&'a self, challenge: &'a Challenge) -> BoxFuture<'a, Reaction> {
        match &self.account {
            Some(account) => Box::pin(account.hear(challenge)),
            None => self.fixed.rejected(challenge),
        }
    }
}
