//! Where an operation is: the address that a configuration gives, or the one that the document names.
//!
//! What a reader would get wrong: the document is somebody else's. What it names is where requests go only as long as no
//! configuration says otherwise, and whoever sends them has to know whose word that was.

use serde_json::Value;
use url::Url;

/// The beginning of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// Without a slash at the end, without a query.
    pub url: String,
    /// What every request has in its query: a key that the configuration wrote there.
    pub query: String,
    pub from: BaseFrom,
}

/// Whose word it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseFrom {
    /// The configuration's.
    Configuration,
    /// The document's, and it is where the document came from.
    Beside,
    /// The document's, and it leads elsewhere.
    Document,
}

/// An address that nothing is sent to: completes a sentence about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadBase {
    #[error("is not an address: {0}")]
    NoAddress(url::ParseError),
    #[error("is not an address that begins with http:// or https://")]
    NoHttp,
    #[error("has a user name or a password in it: send them as a header")]
    Secret,
}

/// What a document says of where an operation is, and is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadServer {
    #[error("is at {0:?}, which is no whole address, and the document is a file: set `base_url`")]
    NotWhole(String),
    #[error("is at an address with the variable {0:?}, which has no default: set `base_url`")]
    Variable(String),
    #[error("is at an address that {0}")]
    Address(BadBase),
}

impl Base {
    /// The address that a configuration gives.
    pub fn configured(text: &str) -> Result<Base, BadBase> {
        let url = Url::parse(text).map_err(BadBase::NoAddress)?;
        Base::of(&url, BaseFrom::Configuration)
    }

    fn of(url: &Url, from: BaseFrom) -> Result<Base, BadBase> {
        if !["http", "https"].contains(&url.scheme()) || url.host().is_none() {
            return Err(BadBase::NoHttp);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(BadBase::Secret);
        }
        let mut plain = url.clone();
        plain.set_query(None);
        plain.set_fragment(None);
        let query = url.query().unwrap_or_default().to_owned();
        Ok(Base { url: plain.as_str().trim_end_matches('/').to_owned(), query, from })
    }

    /// What the document says of an operation: its own servers, those of its path, those of the document.
    pub(crate) fn named(holders: [&Value; 3], document: Option<&Url>) -> Result<Base, BadServer> {
        let first = |holder: &&Value| holder.get("servers")?.as_array()?.first().cloned();
        let server = holders.iter().find_map(first);
        let template = server.as_ref().and_then(|server| server.get("url")?.as_str()).unwrap_or("/");
        let text = filled(template, server.as_ref().and_then(|server| server.get("variables")))?;
        let read = match document {
            Some(document) => document.join(&text),
            None => Url::parse(&text),
        };
        let url = read.map_err(|_| BadServer::NotWhole(toolfold_core::beginning(&text, 100).into_owned()))?;
        let beside = document.is_some_and(|document| document.origin() == url.origin());
        Base::of(&url, if beside { BaseFrom::Beside } else { BaseFrom::Document }).map_err(BadServer::Address)
    }
}

/// A template with the defaults of its variables.
fn filled(template: &str, variables: Option<&Value>) -> Result<String, BadServer> {
    let (mut text, mut rest) = (String::new(), template);
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, left)) = after.split_once('}') else { break };
        let variable = variables.and_then(|all| all.get(name));
        let value = variable.and_then(|one| match one.get("default")? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        let Some(value) = value else {
            return Err(BadServer::Variable(toolfold_core::beginning(name, 60).into_owned()));
        };
        text.push_str(before);
        text.push_str(&value);
        rest = left;
    }
    text.push_str(rest);
    Ok(text)
}
