//! How the arguments of a tool become a request.
//!
//! What a reader would get wrong: the structure of the address is the plan's, whatever the arguments are. A value is
//! written with percent signs; one that could still mean something as a part of a path (nothing, `.` and `..`) is refused.

use serde_json::{Map, Value};
use url::Url;

use crate::body::{Body, is_clean};
use crate::parameter::{Parameter, Where};
use crate::place::Base;
use crate::span::Span;
use crate::text::decoded;

#[derive(Debug, Clone)]
pub struct RequestPlan {
    pub method: String,
    pub base: Base,
    /// Whether the API says that nobody has to be known for this.
    pub public: bool,
    /// What a successful answer is, if it was declared.
    pub output: Option<Value>,
    pub(crate) path: Vec<Piece>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<Body>,
}

#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Text(String),
    /// Which of the parameters.
    Parameter(usize),
}

/// A request that is ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    pub method: String,
    pub url: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// What is wrong with the arguments, for whoever gave them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadArguments(pub String);

impl RequestPlan {
    pub fn prepare(&self, arguments: &Map<String, Value>) -> Result<Prepared, BadArguments> {
        self.refuse_unknown(arguments)?;
        let given = |parameter: &Parameter| arguments.get(&parameter.argument).filter(|value| !value.is_null());
        let path = self.address(&given)?;
        let (mut query, mut headers, mut cookies) = (Vec::new(), Vec::new(), Vec::new());
        if !self.base.query.is_empty() {
            query.push(self.base.query.clone());
        }
        for parameter in &self.parameters {
            let Some(value) = given(parameter) else { continue };
            match parameter.place {
                Where::Path => {}
                Where::Query => query.extend(parameter.writing.pairs(&parameter.name, value)),
                Where::Cookie => cookies.extend(parameter.writing.pairs(&parameter.name, value)),
                Where::Header => headers.push((parameter.name.clone(), header(parameter, value)?)),
            }
        }
        if !cookies.is_empty() {
            headers.push(("Cookie".to_owned(), cookies.join("; ")));
        }
        let mut body = Vec::new();
        if let Some((media, bytes)) = self.body.as_ref().map(|body| body.bytes(arguments)).transpose()?.flatten() {
            headers.push(("Content-Type".to_owned(), media));
            body = bytes;
        }
        let question = if query.is_empty() { "" } else { "?" };
        let url = format!("{}{path}{question}{}", self.base.url, query.join("&"));
        Ok(Prepared { method: self.method.clone(), url, headers, body })
    }

    /// The path with its arguments, which is the same path to everybody who reads it.
    fn address<'a>(&self, given: &dyn Fn(&Parameter) -> Option<&'a Value>) -> Result<String, BadArguments> {
        let mut path = String::new();
        for piece in &self.path {
            match piece {
                Piece::Text(text) => path.push_str(text),
                Piece::Parameter(at) => {
                    let parameter = &self.parameters[*at];
                    let missing =
                        || BadArguments(format!("{} is missing, and is a part of the path", parameter.argument));
                    let written = parameter.writing.in_path(&parameter.name, given(parameter).ok_or_else(missing)?);
                    if written.is_empty() {
                        return Err(BadArguments(format!(
                            "{} is empty, and is a part of the path",
                            parameter.argument
                        )));
                    }
                    path.push_str(&written);
                }
            }
        }
        if path.split('/').any(|segment| matches!(decoded(segment).as_str(), "." | "..")) {
            return Err(BadArguments("a part of the path would be `.` or `..`, which lead to another path".to_owned()));
        }
        let whole = format!("{}{path}", self.base.url);
        let same = Url::parse(&whole).is_ok_and(|url| {
            let read = url.as_str();
            url.query().is_none() && url.fragment().is_none() && (read == whole || read == format!("{whole}/"))
        });
        match same {
            true => Ok(path),
            false => Err(BadArguments("the path that comes of these arguments is read in another way".to_owned())),
        }
    }

    fn refuse_unknown(&self, arguments: &Map<String, Value>) -> Result<(), BadArguments> {
        let takes = |name: &String| {
            let body = self.body.as_ref().is_some_and(|body| body.takes(name));
            body || self.parameters.iter().any(|parameter| parameter.argument == *name)
        };
        match arguments.keys().find(|name| !takes(name)) {
            Some(name) => Err(BadArguments(format!("{} is not a parameter", toolfold_core::beginning(name, 64)))),
            None => Ok(()),
        }
    }
}

fn header(parameter: &Parameter, value: &Value) -> Result<String, BadArguments> {
    let text = parameter.writing.in_header(value);
    match is_clean(&text) {
        true => Ok(text),
        false => Err(BadArguments(format!("{} goes into a header, which has no line breaks", parameter.argument))),
    }
}

/// The pieces of a path as a document writes it, and the names of the parameters in it. Whatever else could mean something in
/// an address is written with percent signs.
pub(crate) fn pieces(template: &str) -> Vec<Span> {
    let (mut pieces, mut rest) = (Vec::new(), template);
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, left)) = after.split_once('}') else { break };
        pieces.push(Span::Text(literal(before)));
        pieces.push(Span::Name(name.to_owned()));
        rest = left;
    }
    pieces.push(Span::Text(literal(rest)));
    pieces.retain(|piece| !matches!(piece, Span::Text(text) if text.is_empty()));
    pieces
}

fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/:@!$&'()*+,;=%".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
