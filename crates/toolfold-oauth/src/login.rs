//! What a login leaves behind: tokens, and everything it takes to renew them.
//!
//! What a reader would get wrong: a refresh that fails is not the end of a login. Only `invalid_grant` is; a provider that
//! is down, or has lost its mind for a moment, has not taken anything back.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolfold_core::Secret;

use crate::client::{Client, Used, Way};
use crate::key::Key;
use crate::problem::Problem;
use crate::proof::Proofs;
use crate::scopes;
use crate::text::{from_base64, hidden, hidden_if_any};
use crate::wire::{Answer, Ask, Body};

/// A token is renewed so many seconds before it ends, or when a fifth of its life is left.
const MARGIN: u64 = 30;
/// Nothing real is larger, and it goes into a header.
const LARGEST_TOKEN: usize = 32 * 1024;

#[derive(Clone, Serialize, Deserialize)]
pub struct Login {
    /// Who gave the tokens out. They, and the client, are of no use to anybody else.
    pub issuer: String,
    pub(crate) token_endpoint: String,
    pub(crate) revocation_endpoint: Option<String>,
    pub(crate) resource: Option<String>,
    pub client: Client,
    /// Everything that was asked for so far.
    pub requested: Vec<String>,
    pub tokens: Tokens,
    /// The key that the tokens are bound to, if they are.
    #[serde(with = "hidden_if_any")]
    pub(crate) bound_to: Option<Secret>,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct Tokens {
    #[serde(with = "hidden")]
    pub access: Secret,
    #[serde(with = "hidden_if_any")]
    pub(crate) refresh: Option<Secret>,
    pub is_bound: bool,
    pub(crate) got_at: u64,
    pub(crate) expires_at: Option<u64>,
    pub granted: Vec<String>,
}

/// What came of a refresh.
#[derive(Debug)]
pub enum Refreshed {
    Login(Box<Login>),
    /// The same again, with this number in the proof.
    WithNonce(String),
    /// The login is over.
    Over,
}

impl Login {
    /// Where its client was used, if somebody registered that.
    pub fn used(&self) -> Option<Used> {
        let Client { id, way, .. } = &self.client;
        (*way == Way::Given).then(|| Used { client: id.clone(), issuer: self.issuer.clone() })
    }

    pub fn can_refresh(&self) -> bool {
        self.tokens.refresh.is_some()
    }

    /// Whether the token should be renewed before it is used.
    pub fn is_stale(&self, now: u64) -> bool {
        let Some(end) = self.tokens.expires_at else { return false };
        let life = end.saturating_sub(self.tokens.got_at);
        now + MARGIN.min(life / 5) >= end
    }

    /// Whether the token is of no use any more.
    pub fn is_dead(&self, now: u64) -> bool {
        self.tokens.expires_at.is_some_and(|end| now >= end)
    }

    /// The key its tokens are bound to.
    pub fn key(&self) -> Option<Key> {
        let der = from_base64(self.bound_to.as_ref()?.expose())?;
        Key::from_pkcs8(&der).ok()
    }

    /// Asks for new tokens; `own`: the client's own key, where it has one.
    pub fn refresh(&self, own: Option<&Key>, nonce: Option<&str>, now: u64) -> Result<Ask, Problem> {
        let Some(refresh) = &self.tokens.refresh else {
            return Err(Problem::Refused("there is nothing to renew the login with".to_owned()));
        };
        let mut form = vec![("grant_type", "refresh_token".to_owned()), ("refresh_token", refresh.expose().to_owned())];
        form.extend(self.resource.clone().map(|resource| ("resource", resource)));
        let mut ask = Ask { url: self.token_endpoint.clone(), headers: Vec::new(), body: Body::Form(form) };
        self.client.sign(&mut ask, own, &self.issuer, now)?;
        if let Some(key) = self.key() {
            let proof = Proofs { key: &key, nonce }.of("POST", &self.token_endpoint, None, now)?;
            ask.headers.push(("dpop", proof));
        }
        Ok(ask)
    }

    pub fn refreshed(&self, answer: &Answer, now: u64) -> Result<Refreshed, Problem> {
        if answer.is_success() {
            let before = &self.tokens;
            let mut tokens = Tokens::read(answer, &before.granted, now)?;
            // One that is not replaced goes on being good.
            tokens.refresh = tokens.refresh.or_else(|| before.refresh.clone());
            return Ok(Refreshed::Login(Box::new(Login { tokens, ..self.clone() })));
        }
        match (answer.error().as_deref(), &answer.nonce) {
            // Not from a server that is out of its mind.
            (Some("invalid_grant"), _) if answer.status < 500 => Ok(Refreshed::Over),
            (Some("use_dpop_nonce"), Some(nonce)) => Ok(Refreshed::WithNonce(nonce.clone())),
            _ => Err(answer.problem(Problem::Refused)),
        }
    }

    /// Tells the login server that the tokens are not needed any more, where it wants to know.
    pub fn revoke(&self, own: Option<&Key>, now: u64) -> Option<Ask> {
        let token = self.tokens.refresh.as_ref().unwrap_or(&self.tokens.access);
        let form = vec![("token", token.expose().to_owned())];
        let url = self.revocation_endpoint.clone()?;
        let mut ask = Ask { url, headers: Vec::new(), body: Body::Form(form) };
        self.client.sign(&mut ask, own, &self.issuer, now).ok()?;
        Some(ask)
    }
}

impl Tokens {
    /// Reads what a token endpoint gave; `asked`: the scopes that hold where it names none.
    pub(crate) fn read(answer: &Answer, asked: &[String], now: u64) -> Result<Tokens, Problem> {
        let bad = |why: &str| Problem::BadAnswer(why.to_owned());
        let said = answer.object().ok_or_else(|| bad("it is not JSON"))?;
        let text = |key: &str| said.get(key).and_then(Value::as_str);
        let fits = |token: &str| {
            (1..=LARGEST_TOKEN).contains(&token.len()) && token.bytes().all(|byte| (0x21..0x7f).contains(&byte))
        };
        let access = text("access_token").ok_or_else(|| bad("it names no token"))?;
        let refresh = text("refresh_token");
        if !fits(access) || !refresh.is_none_or(fits) {
            return Err(bad("its token cannot be sent in a header"));
        }
        let is_bound = match text("token_type").map(str::to_ascii_lowercase).as_deref() {
            Some("bearer") | None => false,
            Some("dpop") => true,
            Some(_) => return Err(bad("its token is of a kind that nobody here knows")),
        };
        // Some write the number as text.
        let life = said.get("expires_in").and_then(|life| life.as_u64().or_else(|| life.as_str()?.parse().ok()));
        Ok(Tokens {
            access: Secret::new(access),
            refresh: refresh.map(Secret::new),
            is_bound,
            got_at: now,
            expires_at: life.map(|life| now.saturating_add(life)),
            granted: text("scope").map_or_else(|| asked.to_vec(), scopes::split),
        })
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a login at {}", self.issuer)
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}
