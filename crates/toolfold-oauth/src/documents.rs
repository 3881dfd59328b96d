//! The two documents that a login is found by: what a server says of itself, and what its login server does. Both are
//! written by strangers: members of the wrong kind are as good as missing.

use serde_json::Value;

#[derive(Debug, Clone, Default)]
pub(crate) struct ResourceDocument {
    pub(crate) resource: Option<String>,
    pub(crate) issuers: Vec<String>,
    pub(crate) scopes: Vec<String>,
    pub(crate) wants_dpop: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct IssuerDocument {
    pub(crate) issuer: Option<String>,
    pub(crate) authorization: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) registration: Option<String>,
    pub(crate) revocation: Option<String>,
    pub(crate) scopes: Vec<String>,
    /// How a client says who it is; empty: nothing is said about that.
    pub(crate) ways: Vec<String>,
    pub(crate) has_pkce: bool,
    /// It answers with who it is.
    pub(crate) says_issuer: bool,
    pub(crate) knows_documents: bool,
    pub(crate) knows_dpop: bool,
}

impl ResourceDocument {
    pub(crate) fn read(said: &Value) -> Self {
        ResourceDocument {
            resource: text(said, "resource"),
            issuers: texts(said, "authorization_servers"),
            scopes: texts(said, "scopes_supported"),
            wants_dpop: flag(said, "dpop_bound_access_tokens_required"),
        }
    }
}

impl IssuerDocument {
    pub(crate) fn read(said: &Value) -> Self {
        let lists = |key: &str, word: &str| texts(said, key).iter().any(|one| one == word);
        IssuerDocument {
            issuer: text(said, "issuer"),
            authorization: text(said, "authorization_endpoint"),
            token: text(said, "token_endpoint"),
            registration: text(said, "registration_endpoint"),
            revocation: text(said, "revocation_endpoint"),
            scopes: texts(said, "scopes_supported"),
            ways: texts(said, "token_endpoint_auth_methods_supported"),
            has_pkce: lists("code_challenge_methods_supported", "S256"),
            says_issuer: flag(said, "authorization_response_iss_parameter_supported"),
            knows_documents: flag(said, "client_id_metadata_document_supported"),
            knows_dpop: lists("dpop_signing_alg_values_supported", "ES256"),
        }
    }

    /// What the revision of 2025-03-26 supposes of a server that describes no login server at all.
    pub(crate) fn supposed(origin: &str) -> Self {
        let at = |path: &str| Some(format!("{origin}/{path}"));
        IssuerDocument {
            issuer: Some(origin.to_owned()),
            authorization: at("authorize"),
            token: at("token"),
            registration: at("register"),
            has_pkce: true,
            ..IssuerDocument::default()
        }
    }
}

fn text(said: &Value, key: &str) -> Option<String> {
    said.get(key)?.as_str().map(str::to_owned)
}

fn texts(said: &Value, key: &str) -> Vec<String> {
    let list = said.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect()
}

fn flag(said: &Value, key: &str) -> bool {
    said.get(key).and_then(Value::as_bool).unwrap_or(false)
}
