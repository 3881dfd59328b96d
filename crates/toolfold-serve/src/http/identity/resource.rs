//! What clients are told of how to be let in: which place this is, who gives out tokens for it, and what to ask for
//! (RFC 9728).
//!
//! What a reader would get wrong: no address in here comes from a request. A `Host` that somebody chose would lead clients
//! to log in wherever that somebody likes.

use std::net::SocketAddr;

use serde_json::{Value, json};
use toolfold_config::{CLIENT_DOCUMENT, Config};
use toolfold_core::Surface;
use toolfold_gateway::{Gateway, own_client_document};

/// Where the documents are, each before the path of the endpoint it describes.
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
/// The token is good, and not for this.
pub(super) const INSUFFICIENT: &str = "insufficient_scope";
/// The endpoint whose tokens are good for all the others.
const PARENT: &str = "/mcp";

pub(crate) struct Resources {
    /// Without a slash at its end.
    base: String,
    issuers: Vec<String>,
    scopes: Vec<String>,
    audiences: Vec<String>,
    /// What login servers read about Toolfold as a client of theirs.
    client: Option<Value>,
}

impl Resources {
    pub(crate) fn new(config: &Config, address: SocketAddr) -> Self {
        let issuers = &config.issuers;
        Resources {
            base: config.http.public_url.clone().unwrap_or_else(|| format!("http://{address}")),
            issuers: issuers.iter().map(|issuer| issuer.issuer.clone()).collect(),
            scopes: issuers.iter().flat_map(|issuer| issuer.scopes.iter().cloned()).collect(),
            audiences: issuers.iter().flat_map(|issuer| issuer.audiences.iter().cloned()).collect(),
            client: own_client_document(config),
        }
    }

    /// What a token may be for that is presented at a path: that endpoint, or the one above it; never one beside it.
    pub(crate) fn audiences(&self, path: &str) -> Vec<String> {
        let mut all = vec![self.resource(PARENT)];
        if is_endpoint(path) && path != PARENT {
            all.push(self.resource(path));
        }
        all.extend(self.audiences.iter().cloned());
        all
    }

    /// The scopes that a client should ask for: those that the configuration names for an issuer, and where it names none those of
    /// the rules. A stranger reads them, and a client asks for no more than it is told.
    pub(crate) fn scopes(&self, gateway: &Gateway) -> Vec<String> {
        let mut all = self.scopes.clone();
        if all.is_empty() {
            all = gateway.access().scopes();
        }
        all.sort();
        all.dedup();
        // Whether a client wants to stay signed in is its own business.
        all.retain(|scope| scope != "offline_access");
        all
    }

    /// The document of an endpoint; none where nobody gives out tokens for it.
    pub(crate) fn document(&self, path: &str, gateway: &Gateway) -> Option<Value> {
        if path == CLIENT_DOCUMENT {
            return self.client.clone();
        }
        let endpoint = path.strip_prefix(WELL_KNOWN).filter(|endpoint| is_endpoint(endpoint))?;
        if self.issuers.is_empty() {
            return None;
        }
        let mut document = json!({
            "resource": self.resource(endpoint),
            "authorization_servers": self.issuers,
            "bearer_methods_supported": ["header"],
            "resource_name": "Toolfold",
        });
        let scopes = self.scopes(gateway);
        if !scopes.is_empty() {
            document["scopes_supported"] = json!(scopes);
        }
        Some(document)
    }

    /// What `WWW-Authenticate` says to somebody who is not let in, or not to this.
    pub(crate) fn challenge(&self, path: &str, error: Option<&str>, scopes: &[String]) -> String {
        let mut parts: Vec<String> = Vec::new();
        if let Some(error) = error {
            parts.push(format!("error=\"{error}\""));
        }
        if !self.issuers.is_empty() {
            let endpoint = if is_endpoint(path) { path } else { PARENT };
            parts.push(format!("resource_metadata=\"{}{WELL_KNOWN}{endpoint}\"", self.base));
            let scopes: Vec<&str> = scopes.iter().map(String::as_str).filter(|scope| is_plain(scope)).collect();
            if !scopes.is_empty() {
                parts.push(format!("scope=\"{}\"", scopes.join(" ")));
            }
        }
        if error == Some(INSUFFICIENT) {
            parts.push("error_description=\"This takes a token with this scope.\"".to_owned());
        }
        if parts.is_empty() { "Bearer".to_owned() } else { format!("Bearer {}", parts.join(", ")) }
    }

    fn resource(&self, endpoint: &str) -> String {
        format!("{}{endpoint}", self.base)
    }
}

fn is_endpoint(path: &str) -> bool {
    path == PARENT || path.strip_prefix("/mcp/").is_some_and(|name| Surface::parse(name).is_some())
}

/// What a header can hold between quotation marks.
fn is_plain(scope: &str) -> bool {
    scope.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
}

#[cfg(test)]
mod tests {
    use toolfold_config::{Http, Issuer};

    use super::*;

    fn resources() -> Resources {
        let issuer = Issuer {
            issuer: "https://login.example".into(),
            audiences: vec!["api://toolfold".into()],
            jwks: None,
            name_claim: "sub".into(),
            groups_claim: "groups".into(),
            scopes: vec!["tools:read".into()],
            introspection: None,
        };
        let http = Http { public_url: Some("https://tools.example".into()), ..Http::default() };
        Resources::new(&Config { http, issuers: vec![issuer], ..Config::default() }, "127.0.0.1:1".parse().unwrap())
    }

    #[test]
    fn a_token_is_for_this_endpoint_or_the_one_above_and_never_for_one_beside_it() {
        let all = resources();
        assert_eq!(all.audiences("/mcp"), ["https://tools.example/mcp", "api://toolfold"]);
        let ontology = ["https://tools.example/mcp", "https://tools.example/mcp/ontology", "api://toolfold"];
        assert_eq!(all.audiences("/mcp/ontology"), ontology);
        assert_eq!(all.audiences("/v1/status"), ["https://tools.example/mcp", "api://toolfold"]);
        assert_eq!(all.audiences("/mcp/nothing"), ["https://tools.example/mcp", "api://toolfold"]);
    }

    #[test]
    fn a_challenge_says_where_to_read_on() {
        let scopes = ["tools:read".to_owned(), "odd\"one".to_owned()];
        let said = resources().challenge("/mcp/ontology", Some("invalid_token"), &scopes);
        assert_eq!(
            said,
            "Bearer error=\"invalid_token\", resource_metadata=\"https://tools.example/.well-known/oauth-protected-resource/mcp/ontology\", scope=\"tools:read\""
        );
        assert!(!resources().challenge("/mcp", None, &[]).contains("error"));
        assert_eq!(
            resources().challenge("/mcp", Some(INSUFFICIENT), &scopes[..1]),
            "Bearer error=\"insufficient_scope\", resource_metadata=\"https://tools.example/.well-known/oauth-protected-resource/mcp\", scope=\"tools:read\", error_description=\"This takes a token with this scope.\""
        );
        let plain = Resources::new(&Config::default(), "127.0.0.1:1".parse().unwrap());
        assert_eq!(plain.challenge("/mcp", None, &scopes), "Bearer");
    }
}
