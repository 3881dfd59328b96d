//! The body of a request: which form an operation takes it in, and the bytes of it.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use toolfold_core::{Fingerprint, to_hex};

use crate::document::Document;
use crate::parameter::is_json;
use crate::plan::BadArguments;
use crate::style::{Style, Writing};
use crate::text::plain;
use crate::unfit::Unfit;

#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) media: String,
    pub(crate) form: Form,
    pub(crate) taken: Taken,
}

/// What the arguments are for it.
#[derive(Debug, Clone)]
pub(crate) enum Taken {
    /// One of them is all of it.
    Whole(String),
    /// Each of these is a member of it; whether there must be one although it were empty.
    Members { names: Vec<String>, always: bool },
}

#[derive(Debug, Clone)]
pub(crate) enum Form {
    Json,
    /// `a=b&c=d`, and how each member is written.
    Pairs(HashMap<String, Writing>),
    /// Parts, and what each member is.
    Parts(HashMap<String, Part>),
    Text,
    /// Given in base64.
    Bytes,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    pub(crate) media: Option<String>,
    /// Given in base64.
    pub(crate) file: bool,
}

/// As a document has it.
pub(crate) struct DescribedBody<'d> {
    pub(crate) media: &'d str,
    pub(crate) form: Form,
    pub(crate) schema: Option<&'d Value>,
    pub(crate) required: bool,
    pub(crate) description: Option<&'d str>,
}

/// The form that is used of those that an operation takes.
pub(crate) fn described<'d>(document: &'d Document, operation: &'d Value) -> Result<Option<DescribedBody<'d>>, Unfit> {
    let Some(body) = operation.get("requestBody") else { return Ok(None) };
    let body = document.resolved(body).map_err(Unfit::Body)?;
    let Some(content) = body.get("content").and_then(Value::as_object) else { return Ok(None) };
    let Some((media, described)) = content.iter().min_by_key(|(media, _)| preference(media)) else { return Ok(None) };
    let schema = described.get("schema");
    let form = match preference(media) {
        0 | 5 => Form::Json,
        1 => Form::Pairs(writings(described)),
        2 => Form::Parts(parts(document, described, schema)),
        3 => Form::Text,
        _ => Form::Bytes,
    };
    let media = match preference(media) {
        5 => "application/json",
        // A range is no type: what is sent has one.
        _ if media.contains('*') => "application/octet-stream",
        _ => media,
    };
    let required = body.get("required").and_then(Value::as_bool).unwrap_or(false);
    Ok(Some(DescribedBody {
        media,
        form,
        schema,
        required,
        description: body.get("description").and_then(Value::as_str),
    }))
}

/// JSON before forms, forms before parts, text before bytes.
fn preference(media: &str) -> usize {
    let plain = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match plain.as_str() {
        _ if is_json(&plain) => 0,
        "application/x-www-form-urlencoded" => 1,
        "multipart/form-data" => 2,
        "*/*" | "application/*" => 5,
        "application/xml" | "application/yaml" | "application/x-ndjson" => 3,
        _ if plain.starts_with("text/") || plain.ends_with("+xml") => 3,
        _ => 4,
    }
}

/// Where a document says nothing of a member, a list is repeated and an object has brackets, as servers of forms read them.
fn writings(described: &Value) -> HashMap<String, Writing> {
    let all = described.get("encoding").and_then(Value::as_object).into_iter().flatten();
    let read = |(name, one): (&String, &Value)| {
        let style = match one.get("style").and_then(Value::as_str) {
            Some("deepObject") => Style::Deep,
            Some("spaceDelimited") => Style::Space,
            Some("pipeDelimited") => Style::Pipe,
            Some("form") => Style::Form,
            _ if one.get("contentType").and_then(Value::as_str).is_some_and(is_json) => Style::Json,
            _ => return None,
        };
        let flag = |key: &str| one.get(key).and_then(Value::as_bool);
        let explode = flag("explode").unwrap_or(matches!(style, Style::Form | Style::Deep));
        Some((name.clone(), Writing { style, explode, reserved: flag("allowReserved") == Some(true) }))
    };
    all.filter_map(read).collect()
}

fn parts(document: &Document, described: &Value, schema: Option<&Value>) -> HashMap<String, Part> {
    let schema = schema.and_then(|schema| document.resolved(schema).ok());
    let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
    let mut parts: HashMap<String, Part> = HashMap::new();
    for (name, property) in properties.into_iter().flatten() {
        let property = document.resolved(property).unwrap_or(property);
        let item = property.get("items").and_then(|items| document.resolved(items).ok());
        let file = is_file(property) || item.is_some_and(is_file);
        parts.insert(name.clone(), Part { media: None, file });
    }
    let encoding = described.get("encoding").and_then(Value::as_object);
    for (name, one) in encoding.into_iter().flatten() {
        let media = one.get("contentType").and_then(Value::as_str).and_then(|all| all.split(',').next());
        let media = media.map(str::trim).filter(|media| !media.contains('*') && is_clean(media));
        parts.entry(name.clone()).or_default().media = media.map(str::to_owned);
    }
    parts
}

fn is_file(schema: &Value) -> bool {
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    text("format") == Some("binary") || text("contentEncoding") == Some("base64") || text("contentMediaType").is_some()
}

/// Nothing in it ends a line.
pub(crate) fn is_clean(text: &str) -> bool {
    !text.chars().any(char::is_control)
}

impl Body {
    /// The type and the bytes; `None` where there is nothing to send.
    pub(crate) fn bytes(&self, arguments: &Map<String, Value>) -> Result<Option<(String, Vec<u8>)>, BadArguments> {
        let value = match &self.taken {
            Taken::Whole(argument) => match arguments.get(argument) {
                Some(value) => value.clone(),
                None => return Ok(None),
            },
            Taken::Members { names, always } => {
                let given = names.iter().filter_map(|name| Some((name.clone(), arguments.get(name)?.clone())));
                let members: Map<String, Value> = given.collect();
                if members.is_empty() && !always {
                    return Ok(None);
                }
                members.into()
            }
        };
        let media = || self.media.clone();
        Ok(Some(match &self.form {
            Form::Json => (media(), value.to_string().into_bytes()),
            Form::Text => (media(), plain(&value).into_bytes()),
            Form::Bytes => (media(), from_base64("body", &value)?),
            Form::Pairs(writings) => (media(), pairs(writings, &value).into_bytes()),
            Form::Parts(parts) => multipart(parts, &value)?,
        }))
    }
}

fn pairs(writings: &HashMap<String, Writing>, value: &Value) -> String {
    let Some(members) = value.as_object() else { return plain(value) };
    let written = members.iter().flat_map(|(name, value)| {
        let usual = if value.is_object() { Writing::DEEP } else { Writing::FORM };
        writings.get(name).copied().unwrap_or(usual).pairs(name, value)
    });
    written.collect::<Vec<_>>().join("&")
}

fn from_base64(name: &str, value: &Value) -> Result<Vec<u8>, BadArguments> {
    let text = value.as_str().unwrap_or_default();
    STANDARD.decode(text.trim()).map_err(|_| BadArguments(format!("{name} has to be bytes in base64")))
}

fn multipart(parts: &HashMap<String, Part>, value: &Value) -> Result<(String, Vec<u8>), BadArguments> {
    let nothing = Map::new();
    let members = value.as_object().unwrap_or(&nothing);
    // Made of everything that is sent: what could be the boundary would have to hold its own fingerprint.
    let hash = Fingerprint::of_text(&value.to_string());
    let boundary = to_hex(&hash.as_bytes()[..16]);
    let mut bytes = Vec::new();
    for (name, value) in members {
        let part = parts.get(name).cloned().unwrap_or_default();
        let several = value.as_array().filter(|items| items.iter().all(|item| !item.is_object()));
        let values: Vec<&Value> = several.map_or_else(|| vec![value], |items| items.iter().collect());
        for value in values {
            write_part(&mut bytes, &boundary, (name, &part), value)?;
        }
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((format!("multipart/form-data; boundary={boundary}"), bytes))
}

fn write_part(
    bytes: &mut Vec<u8>,
    boundary: &str,
    (name, part): (&str, &Part),
    value: &Value,
) -> Result<(), BadArguments> {
    let shown = name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A");
    let (file, usual, content) = match value {
        _ if part.file => (format!("; filename=\"{shown}\""), "application/octet-stream", from_base64(name, value)?),
        Value::Object(_) | Value::Array(_) => (String::new(), "application/json", value.to_string().into_bytes()),
        value => (String::new(), "", plain(value).into_bytes()),
    };
    let media = part.media.as_deref().unwrap_or(usual);
    let media = if media.is_empty() { String::new() } else { format!("Content-Type: {media}\r\n") };
    let head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{shown}\"{file}\r\n{media}\r\n");
    bytes.extend_from_slice(head.as_bytes());
    bytes.extend_from_slice(&content);
    bytes.extend_from_slice(b"\r\n");
    Ok(())
}

impl Body {
    pub(crate) fn takes(&self, argument: &str) -> bool {
        match &self.taken {
            Taken::Whole(name) => name == argument,
            Taken::Members { names, .. } => names.iter().any(|name| name == argument),
        }
    }
}
