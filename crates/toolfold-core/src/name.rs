//! Server names, tool ids, and the names a model sees.

use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::fingerprint::Fingerprint;
use crate::hex::to_hex;

/// The longest name that every client and every model provider accepts.
pub(crate) const LONGEST_EXPOSED: usize = 64;
/// Of a name that a hash follows.
const LONGEST_TOLD_APART: usize = LONGEST_EXPOSED - 9;

/// A server's name: letters, digits, `_` and `-`. No dot, so that `server.tool` splits in one way.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ServerName(String);

#[derive(Debug, Clone, thiserror::Error)]
#[error("{name:?} is not a server name: use 1 to 64 letters, digits, `_` or `-`")]
pub struct BadName {
    pub name: String,
}

impl ServerName {
    pub fn new(name: impl Into<String>) -> Result<Self, BadName> {
        let name = name.into();
        let fits = (1..=64).contains(&name.len()) && name.chars().all(is_plain);
        if fits { Ok(ServerName(name)) } else { Err(BadName { name }) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Looked up by its text: it is compared and hashed as that.
impl Borrow<str> for ServerName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ServerName {
    type Error = BadName;
    fn try_from(name: String) -> Result<Self, BadName> {
        ServerName::new(name)
    }
}

impl From<ServerName> for String {
    fn from(name: ServerName) -> String {
        name.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `server.tool`. The tool's part is whatever the server calls it, dots included.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolId {
    pub server: ServerName,
    pub tool: String,
}

impl ToolId {
    pub fn new(server: ServerName, tool: impl Into<String>) -> Self {
        ToolId { server, tool: tool.into() }
    }

    pub fn parse(text: &str) -> Option<Self> {
        let (server, tool) = text.split_once('.')?;
        let server = ServerName::new(server).ok()?;
        (!tool.is_empty()).then(|| ToolId::new(server, tool))
    }
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.server, self.tool)
    }
}

/// The name a model sees: `server__tool`, or the bare tool where the server has no prefix. What does not fit the
/// alphabet or the length is replaced and gets a hash of the whole, so that two different tools never meet.
pub fn exposed_name(server: Option<&ServerName>, tool: &str) -> String {
    let whole = server.map_or_else(|| tool.to_owned(), |server| format!("{server}__{tool}"));
    let plain = slug(&whole);
    if plain == whole && whole.len() <= LONGEST_EXPOSED {
        return whole;
    }
    let digest = Sha256::digest(whole.as_bytes());
    let suffix = to_hex(&digest[..4]);
    let room = LONGEST_EXPOSED - suffix.len() - 1;
    format!("{}_{suffix}", &plain[..plain.len().min(room)])
}

/// The name with the server's before it and a hash of `by`, where what the name alone comes to is another's too: the underscores
/// do not tell `b__c` of `a` from `c` of `a__b`.
pub fn told_apart(server: &ServerName, tool: &str, by: &str) -> String {
    let (plain, hash) = (exposed_name(Some(server), tool), Fingerprint::of_text(by).to_string());
    format!("{}_{}", &plain[..plain.len().min(LONGEST_TOLD_APART)], &hash[..8])
}

/// Text in the alphabet of names: everything else becomes `_`.
pub fn slug(text: &str) -> String {
    text.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}
