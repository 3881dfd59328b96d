//! Requests and answers as values. Who prints one sees where it goes and nothing of what it says: that is where the
//! secrets are.

use std::fmt;

use serde_json::Value;
use url::form_urlencoded;

use crate::problem::{Problem, quoted};

pub struct Ask {
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Body,
}

pub enum Body {
    /// A GET.
    Nothing,
    /// A POST of a form.
    Form(Vec<(&'static str, String)>),
    /// A POST of JSON.
    Json(Value),
}

/// What came back.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    pub status: u16,
    /// The header `DPoP-Nonce`.
    pub nonce: Option<String>,
    pub body: Vec<u8>,
}

impl Ask {
    pub(crate) fn get(url: impl Into<String>) -> Self {
        Ask { url: url.into(), headers: Vec::new(), body: Body::Nothing }
    }

    /// The bytes of the body and what they are; `None` for a GET.
    pub fn encoded(&self) -> Option<(&'static str, Vec<u8>)> {
        match &self.body {
            Body::Nothing => None,
            Body::Form(fields) => {
                let text = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
                Some(("application/x-www-form-urlencoded", text.into_bytes()))
            }
            Body::Json(value) => Some(("application/json", value.to_string().into_bytes())),
        }
    }

    /// A field of the form, for who tests what is said.
    pub fn field(&self, name: &str) -> Option<&str> {
        match &self.body {
            Body::Form(fields) => fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value.as_str()),
            _ => None,
        }
    }
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if matches!(self.body, Body::Nothing) { "GET" } else { "POST" };
        write!(f, "{verb} {}", self.url)
    }
}

impl Answer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The body as an object, if it is one.
    pub(crate) fn object(&self) -> Option<Value> {
        serde_json::from_slice::<Value>(&self.body).ok().filter(Value::is_object)
    }

    /// The code of an OAuth error.
    pub(crate) fn error(&self) -> Option<String> {
        Some(self.object()?.get("error")?.as_str()?.to_owned())
    }

    /// Why a login server said no. Its own description is part of it: it is made for whoever set up the client.
    pub(crate) fn problem(&self, wrap: fn(String) -> Problem) -> Problem {
        if self.status >= 500 || self.status == 429 {
            return Problem::Failing(self.status);
        }
        let said = self.object().unwrap_or_default();
        let word = |key: &str| said.get(key).and_then(Value::as_str).map(quoted).filter(|text| !text.is_empty());
        match (word("error"), word("error_description")) {
            (Some(code), Some(words)) => wrap(format!("{code} ({words})")),
            (Some(code), None) => wrap(code),
            _ => wrap(format!("HTTP {}", self.status)),
        }
    }
}
