//! Who Toolfold is to a login server, and how it proves that where tokens are given out.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolfold_core::Secret;
use url::form_urlencoded;

use crate::documents::IssuerDocument;
use crate::key::Key;
use crate::problem::Problem;
use crate::text::{base64, chance, hidden_if_any};
use crate::wire::{Answer, Ask, Body};

const NAME: &str = "Toolfold";
const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// How long a statement of a client about itself holds. Clocks differ by less.
const STATEMENT: u64 = 60;

/// A client that somebody registered by hand.
#[derive(Debug, Clone)]
pub struct Given {
    pub id: String,
    pub secret: Option<Secret>,
    /// The private key it signs statements about itself with.
    pub key: Option<Secret>,
}

/// Where a client that somebody registered was used. It is of no use elsewhere, and what it proves itself with is nobody's
/// business there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Used {
    pub client: String,
    pub issuer: String,
}

/// How a client came to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// Somebody registered it and wrote it into the configuration.
    Given,
    /// Its id is the address of a document about it.
    Document,
    /// It registered itself.
    Registered,
}

/// How it proves who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Method {
    Basic,
    Post,
    /// Not at all: the code is bound to this login by other means.
    None,
    Key,
}

/// Known to one login server, and to no other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Client {
    pub id: String,
    #[serde(with = "hidden_if_any")]
    secret: Option<Secret>,
    method: Method,
    pub way: Way,
    /// Where it asked the login server to come back to, where it registered itself.
    pub(crate) redirect: Option<String>,
}

/// The document at this address, which is the client's id with login servers that read it. The way back is on the machine of
/// whoever logs in, at whatever port is free there (RFC 8252).
pub fn client_document(url: &str, port: u16) -> Value {
    let mut redirects = vec!["http://127.0.0.1/callback".to_owned()];
    if port != 0 {
        redirects.push(format!("http://127.0.0.1:{port}/callback"));
    }
    let mut document = about(&redirects, "none");
    document["client_id"] = json!(url);
    document
}

fn about(redirects: &[String], method: &str) -> Value {
    json!({
        "client_name": NAME,
        "redirect_uris": redirects,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        // A program on somebody's machine, whose way back is on that machine.
        "application_type": "native",
    })
}

impl Client {
    pub(crate) fn given(given: &Given, server: &IssuerDocument) -> Client {
        let method = match (&given.key, &given.secret) {
            (Some(_), _) => Method::Key,
            (None, None) => Method::None,
            // By the book a login server that says nothing takes a secret in the header.
            (None, Some(_)) if server.ways.iter().any(|way| way == "client_secret_post") && !lists_basic(server) => {
                Method::Post
            }
            (None, Some(_)) => Method::Basic,
        };
        Client { id: given.id.clone(), secret: given.secret.clone(), method, way: Way::Given, redirect: None }
    }

    pub(crate) fn document(url: &str) -> Client {
        Client { id: url.to_owned(), secret: None, method: Method::None, way: Way::Document, redirect: None }
    }

    /// What to say to be registered.
    pub(crate) fn registration(url: &str, redirect: &str, scopes: &[String], server: &IssuerDocument) -> Ask {
        let mut about = about(&[redirect.to_owned()], wished(server).1);
        if !scopes.is_empty() {
            about["scope"] = json!(scopes.join(" "));
        }
        Ask { url: url.to_owned(), headers: Vec::new(), body: Body::Json(about) }
    }

    pub(crate) fn registered(answer: &Answer, redirect: &str, server: &IssuerDocument) -> Result<Client, Problem> {
        if !answer.is_success() {
            return Err(answer.problem(Problem::NotRegistered));
        }
        let said = answer.object().unwrap_or_default();
        let text = |key: &str| said.get(key).and_then(Value::as_str).map(str::to_owned);
        let id = text("client_id").ok_or_else(|| Problem::NotRegistered("its answer names no client".to_owned()))?;
        let secret = text("client_secret").filter(|secret| !secret.is_empty()).map(Secret::new);
        let method = match (text("token_endpoint_auth_method").as_deref(), &secret) {
            (Some("client_secret_basic"), Some(_)) => Method::Basic,
            (Some("client_secret_post"), Some(_)) => Method::Post,
            (Some("none"), _) | (_, None) => Method::None,
            // It did not say: then what was asked for holds.
            (_, Some(_)) => wished(server).0,
        };
        Ok(Client { id, secret, method, way: Way::Registered, redirect: Some(redirect.to_owned()) })
    }

    /// Adds to a form and its headers who asks; `key`: the client's own, where it has one.
    pub(crate) fn sign(&self, ask: &mut Ask, key: Option<&Key>, issuer: &str, now: u64) -> Result<(), Problem> {
        let Body::Form(form) = &mut ask.body else { return Ok(()) };
        match (self.method, &self.secret, key) {
            (Method::Basic, Some(secret), _) => {
                let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
                let both = format!("{}:{}", encoded(&self.id), encoded(secret.expose()));
                ask.headers.push(("authorization", format!("Basic {}", base64(both.as_bytes()))));
            }
            (Method::Post, Some(secret), _) => {
                form.push(("client_id", self.id.clone()));
                form.push(("client_secret", secret.expose().to_owned()));
            }
            (Method::Key, _, Some(key)) => {
                let id = chance().ok_or(Problem::Key("the system has no random numbers"))?;
                let claims = json!({
                    "iss": self.id, "sub": self.id, "aud": issuer, "jti": id, "iat": now, "exp": now + STATEMENT,
                });
                form.push(("client_id", self.id.clone()));
                form.push(("client_assertion_type", ASSERTION.to_owned()));
                form.push(("client_assertion", key.signed(json!({"typ": "JWT"}), &claims)?));
            }
            (Method::Key, _, None) => return Err(Problem::Key("the configuration has no `private_key` any more")),
            _ => form.push(("client_id", self.id.clone())),
        }
        Ok(())
    }
}

fn lists_basic(server: &IssuerDocument) -> bool {
    server.ways.iter().any(|way| way == "client_secret_basic")
}

/// The least that the login server takes: a program on somebody's machine cannot keep a secret from them.
fn wished(server: &IssuerDocument) -> (Method, &'static str) {
    let takes = |way: &str| server.ways.iter().any(|known| known == way);
    if takes("none") || server.ways.is_empty() {
        return (Method::None, "none");
    }
    let with_secret = [(Method::Basic, "client_secret_basic"), (Method::Post, "client_secret_post")];
    with_secret.into_iter().find(|(_, way)| takes(way)).unwrap_or((Method::None, "none"))
}
