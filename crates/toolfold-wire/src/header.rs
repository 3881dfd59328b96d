//! The HTTP headers of the stateless era: what a request's body says, said again where a proxy can read it.
//!
//! The same rules serve both sides: a client writes them, a server checks that they were
//! written. The names a tool's schema asks for (`x-mcp-header`) are only honoured where the specification allows
//! the annotation; [`parameter_headers`] says why where it does not.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use crate::object::Object;

pub const SESSION_HEADER: &str = "mcp-session-id";
pub const VERSION_HEADER: &str = "mcp-protocol-version";
pub const METHOD_HEADER: &str = "mcp-method";
pub const NAME_HEADER: &str = "mcp-name";
pub const PARAM_PREFIX: &str = "mcp-param-";

const WRAP_START: &str = "=?base64?";
const WRAP_END: &str = "?=";
const ANNOTATION: &str = "x-mcp-header";

/// A parameter that a tool wants repeated in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterHeader {
    /// Property names from the root of the arguments.
    pub path: Vec<String>,
    /// The whole header name, `mcp-param-…`.
    pub header: String,
}

impl ParameterHeader {
    /// The value these arguments give the header; `None` where the parameter is missing or null.
    pub fn value(&self, arguments: &Object) -> Option<String> {
        let (first, inner) = self.path.split_first()?;
        let mut found = arguments.get(first)?.clone();
        for key in inner {
            found = Object::parse(&found)?.get(key)?.clone();
        }
        // Only what can be said in a header is read: the rest may be very many values.
        let is_one = !found.get().starts_with(['{', '[']);
        match is_one.then(|| serde_json::from_str(found.get()).ok()).flatten()? {
            Value::String(text) => Some(text),
            Value::Bool(flag) => Some(flag.to_string()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }
}

/// What `Mcp-Name` must say for a request, if it must say anything.
pub fn name_of(method: &str, params: Option<&Object>) -> Option<String> {
    let key = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    params?.string(key)
}

/// Text as a header value: as it is where it can travel, wrapped in base64 where it cannot.
pub fn encode_header(text: &str) -> String {
    let blank = |c: char| c == ' ' || c == '\t';
    let looks_wrapped = text.starts_with(WRAP_START) && text.ends_with(WRAP_END);
    let padded = text.starts_with(blank) || text.ends_with(blank);
    let plain = !looks_wrapped && !padded && text.chars().all(|c| (' '..='~').contains(&c));
    if plain { text.to_owned() } else { format!("{WRAP_START}{}{WRAP_END}", BASE64_STANDARD.encode(text)) }
}

/// Undoes [`encode_header`]; `None` where the wrapping holds no text.
pub fn decode_header(value: &str) -> Option<String> {
    let Some(inner) = value.strip_prefix(WRAP_START).and_then(|rest| rest.strip_suffix(WRAP_END)) else {
        return Some(value.to_owned());
    };
    String::from_utf8(BASE64_STANDARD.decode(inner).ok()?).ok()
}

/// Why a tool's annotations are not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAnnotation {
    #[error("{ANNOTATION} stands on the schema itself, not on a property")]
    OnTheWhole,
    #[error("two properties ask for the header {0}")]
    Twice(String),
    #[error("{ANNOTATION} below {0:?} is not reached through properties alone")]
    Unreachable(String),
    #[error("{ANNOTATION} of {place:?} is not a header name: {given}")]
    NoName { place: String, given: Value },
    #[error("{ANNOTATION} of {0:?} stands on something other than a string, integer or boolean")]
    NoScalar(String),
}

/// The headers a tool's input schema asks for, or why its annotations are not valid: such a tool is not to be
/// offered over HTTP.
pub fn parameter_headers(schema: &Value) -> Result<Vec<ParameterHeader>, BadAnnotation> {
    let mut found = Vec::new();
    if schema.get(ANNOTATION).is_some() {
        return Err(BadAnnotation::OnTheWhole);
    }
    walk(schema, &mut Vec::new(), true, &mut found)?;
    Ok(found)
}

fn walk(
    schema: &Value,
    path: &mut Vec<String>,
    reachable: bool,
    found: &mut Vec<ParameterHeader>,
) -> Result<(), BadAnnotation> {
    let Value::Object(members) = schema else {
        if let Value::Array(items) = schema {
            return items.iter().try_for_each(|item| walk(item, path, false, found));
        }
        return Ok(());
    };
    if let Some(annotation) = members.get(ANNOTATION) {
        let header = checked(annotation, members.get("type"), path, reachable)?;
        if found.iter().any(|known| known.header == header) {
            return Err(BadAnnotation::Twice(header));
        }
        found.push(ParameterHeader { path: path.clone(), header });
    }
    for (key, value) in members {
        match (key.as_str(), value) {
            ("default" | "const" | "enum" | "examples", _) => {}
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    path.push(name.clone());
                    walk(property, path, reachable, found)?;
                    path.pop();
                }
            }
            ("$defs" | "definitions" | "dependentSchemas" | "patternProperties", Value::Object(schemas)) => {
                schemas.values().try_for_each(|schema| walk(schema, path, false, found))?;
            }
            (_, value) => walk(value, path, false, found)?,
        }
    }
    Ok(())
}

fn checked(
    annotation: &Value,
    kind: Option<&Value>,
    path: &[String],
    reachable: bool,
) -> Result<String, BadAnnotation> {
    let place = path.join(".");
    if !reachable {
        return Err(BadAnnotation::Unreachable(place));
    }
    let Some(name) = annotation.as_str().filter(|name| !name.is_empty() && name.chars().all(is_token)) else {
        return Err(BadAnnotation::NoName { place, given: annotation.clone() });
    };
    if !matches!(kind.and_then(Value::as_str), Some("string" | "integer" | "boolean")) {
        return Err(BadAnnotation::NoScalar(place));
    }
    Ok(format!("{PARAM_PREFIX}{}", name.to_ascii_lowercase()))
}

/// The characters of a header name (RFC 9110, "token").
fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}
