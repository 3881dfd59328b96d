//! How Toolfold says who it is to a server over HTTP, beside fixed headers: OAuth, and what it needs to know for that.

use std::path::PathBuf;

use toolfold_core::Secret;

/// What the file says about one server's login. Without a word there: found out by a 401, and a person logs in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Auth {
    pub mode: AuthMode,
    pub who: LoginAs,
    /// Scopes to ask for in any case.
    pub scopes: Vec<String>,
    /// A client that was registered by hand.
    pub client_id: Option<String>,
    pub client_secret: Option<Secret>,
    pub private_key: Option<KeptIn>,
    /// The only login server that will do.
    pub issuer: Option<String>,
    /// What somebody else gave out and the login server takes: the token of a workload, or an ID token.
    pub assertion: Option<KeptIn>,
    /// Where people of an organisation log in, and as whom Toolfold is known there.
    pub identity_provider: Option<String>,
    pub identity_client_id: Option<String>,
    pub identity_client_secret: Option<Secret>,
    /// Everybody uses the same login.
    pub shared: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AuthMode {
    /// Where a server says 401 and no header of the configuration speaks for us.
    #[default]
    Auto,
    OAuth,
    None,
}

/// Who logs in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LoginAs {
    /// Somebody, in a browser.
    #[default]
    Person,
    /// Toolfold, as a client of its own.
    Client,
    /// The machine, with a token of its platform.
    Workload,
    /// A person of an organisation, by way of its identity provider.
    Enterprise,
}

/// A secret, or the file it is in, which is read each time it is needed: others renew it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptIn {
    Text(Secret),
    File(PathBuf),
}

/// Where Toolfold itself serves the document about it, below `public_url`.
pub const CLIENT_DOCUMENT: &str = "/oauth-client.json";

/// What holds for the logins of all servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OAuthSettings {
    /// The address of a document about this client, which is its name with login servers that read such documents.
    pub client_metadata: Option<String>,
    /// Where people come back to on this machine; 0: any port that is free.
    pub callback_port: u16,
    /// Hosts that may be reached for logins although they are on a private network.
    pub private_hosts: Vec<String>,
}
