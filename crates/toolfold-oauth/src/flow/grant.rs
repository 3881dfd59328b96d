//! The two addresses that a login is made at: the page a person sees and comes back from, and the place where what they
//! brought, or what a program has in its hands, is given for tokens.

use toolfold_core::Secret;
use url::form_urlencoded;

use super::{At, Flow, LoginKind, OFFLINE};
use crate::client::{Client, Given};
use crate::documents::IssuerDocument;
use crate::key::Key;
use crate::login::{Login, Tokens};
use crate::place::secure;
use crate::problem::{Problem, quoted};
use crate::proof::Proofs;
use crate::text::{base64, base64url, sha256};
use crate::wire::{Answer, Ask, Body};

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

impl Flow {
    /// Whether this is the way back of this very login, whatever else it says.
    pub fn is_ours(&self, query: &str) -> bool {
        matches!(self.at, At::Visit) && once(query, "state").is_some_and(|state| state == self.state)
    }

    /// Takes in the query that the person came back with from `Step::Visit`.
    pub fn returned(&mut self, query: &str) -> Result<(), Problem> {
        if !self.is_ours(query) {
            return Err(Problem::WrongState);
        }
        // Before anything of it is read or shown: it may be from another login server altogether.
        match once(query, "iss") {
            Some(issuer) if issuer != self.issuer => return Err(Problem::WrongIssuer),
            None if self.server.says_issuer || says(query, "iss") => return Err(Problem::WrongIssuer),
            _ => {}
        }
        if let Some(error) = once(query, "error") {
            let words = once(query, "error_description").map(|words| format!(" ({})", quoted(&words)));
            return Err(Problem::Denied(format!("{}{}", quoted(&error), words.unwrap_or_default())));
        }
        let code = once(query, "code").ok_or_else(|| Problem::BadAnswer("it has no code".to_owned()))?;
        self.redeem_with(vec![
            ("grant_type", "authorization_code".to_owned()),
            ("code", code),
            ("redirect_uri", self.plan.redirect.clone()),
            ("code_verifier", self.verifier.clone()),
        ]);
        Ok(())
    }

    /// The page on which the person says yes.
    pub(super) fn address(&self) -> Result<String, Problem> {
        let page = self.server.authorization.as_deref().ok_or(Problem::NoEndpoint("login page"))?;
        let mut url = secure(page, "the login page", self.local())?;
        let client = self.client.as_ref().ok_or_else(|| Problem::NoClient { issuer: quoted(&self.issuer) })?;
        let mut query = url.query_pairs_mut();
        query.append_pair("response_type", "code");
        query.append_pair("client_id", &client.id);
        query.append_pair("redirect_uri", &self.plan.redirect);
        query.append_pair("state", &self.state);
        query.append_pair("code_challenge", &base64url(&sha256(self.verifier.as_bytes())));
        query.append_pair("code_challenge_method", "S256");
        if !self.scopes.is_empty() {
            query.append_pair("scope", &self.scopes.join(" "));
        }
        if self.scopes.iter().any(|scope| scope == OFFLINE) {
            // Without it OpenID's rules have the scope ignored.
            query.append_pair("prompt", "consent");
        }
        query.append_pair("resource", &self.resource_named());
        drop(query);
        Ok(url.into())
    }

    /// As the server's document has it, or else the address without what is not part of a name.
    fn resource_named(&self) -> String {
        self.resource.clone().unwrap_or_else(|| {
            let mut url = self.plan.server.clone();
            url.set_query(None);
            url.set_fragment(None);
            url.into()
        })
    }

    pub(super) fn redeem_with(&mut self, form: Vec<(&'static str, String)>) {
        let mut form = form;
        if !matches!(self.plan.kind, LoginKind::Person) && !self.scopes.is_empty() {
            form.push(("scope", self.scopes.join(" ")));
        }
        form.push(("resource", self.resource_named()));
        self.at = At::Redeem(form);
    }

    pub(super) fn redeem(&self, form: Vec<(&'static str, String)>, now: u64) -> Result<Ask, Problem> {
        let url = self.server.token.clone().ok_or(Problem::NoEndpoint("token endpoint"))?;
        let mut ask = Ask { url, headers: Vec::new(), body: Body::Form(form) };
        let client = self.client.as_ref().ok_or_else(|| Problem::NoClient { issuer: quoted(&self.issuer) })?;
        client.sign(&mut ask, own_key(self.plan.client.as_ref())?.as_ref(), &self.issuer, now)?;
        if let Some((key, _)) = &self.bound_to {
            let proof = Proofs { key, nonce: self.nonce.as_deref() }.of("POST", &ask.url, None, now)?;
            ask.headers.push(("dpop", proof));
        }
        Ok(ask)
    }

    pub(super) fn redeemed(&mut self, answer: &Answer, now: u64) -> Result<(), Problem> {
        if !answer.is_success() {
            let wants_nonce = answer.error().as_deref() == Some("use_dpop_nonce") && self.nonce.is_none();
            return match &answer.nonce {
                // The same once more, with the number it wants.
                Some(nonce) if wants_nonce => {
                    self.nonce = Some(nonce.clone());
                    Ok(())
                }
                _ => Err(answer.problem(Problem::Refused)),
            };
        }
        let tokens = Tokens::read(answer, &self.scopes, now)?;
        let bound = self.bound_to.as_ref().filter(|_| tokens.is_bound);
        if tokens.is_bound && bound.is_none() {
            return Err(Problem::BadAnswer("its token is bound to a key that nobody gave it".to_owned()));
        }
        let client = self.client.clone().ok_or_else(|| Problem::NoClient { issuer: quoted(&self.issuer) })?;
        self.at = At::Done(Box::new(Login {
            issuer: self.issuer.clone(),
            token_endpoint: self.server.token.clone().unwrap_or_default(),
            revocation_endpoint: self.server.revocation.clone(),
            resource: Some(self.resource_named()),
            client,
            requested: self.scopes.clone(),
            bound_to: bound.map(|(_, der)| Secret::new(base64(der))),
            tokens,
        }));
        Ok(())
    }

    /// Asks the identity provider for something that the login server believes.
    pub(super) fn exchange(&self, provider: &IssuerDocument, now: u64) -> Result<Ask, Problem> {
        let LoginKind::Enterprise(enterprise) = &self.plan.kind else {
            return Err(Problem::NoEndpoint("token endpoint"));
        };
        let mut form = vec![
            ("grant_type", EXCHANGE.to_owned()),
            ("requested_token_type", ID_JAG.to_owned()),
            ("audience", self.issuer.clone()),
            ("resource", self.resource_named()),
            ("subject_token", enterprise.id_token.expose().to_owned()),
            ("subject_token_type", ID_TOKEN.to_owned()),
        ];
        if !self.scopes.is_empty() {
            form.push(("scope", self.scopes.join(" ")));
        }
        let url = provider.token.clone().ok_or(Problem::NoEndpoint("token endpoint"))?;
        let mut ask = Ask { url, headers: Vec::new(), body: Body::Form(form) };
        let client = Client::given(&enterprise.client, provider);
        client.sign(&mut ask, own_key(Some(&enterprise.client))?.as_ref(), &enterprise.provider, now)?;
        Ok(ask)
    }
}

fn own_key(given: Option<&Given>) -> Result<Option<Key>, Problem> {
    given.and_then(|given| given.key.as_ref()).map(|pem| Key::from_pem(pem.expose())).transpose()
}

/// A parameter that is there exactly once.
fn once(query: &str, name: &str) -> Option<String> {
    let mut all = form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key == name);
    let (_, value) = all.next()?;
    all.next().is_none().then(|| value.into_owned())
}

fn says(query: &str, name: &str) -> bool {
    form_urlencoded::parse(query.as_bytes()).any(|(key, _)| key == name)
}
