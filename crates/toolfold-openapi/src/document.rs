//! A document as it was written: JSON or YAML, read within a budget, and references followed within it.

use serde_json::Value;

/// Bytes of a document. The largest that is known, that of Microsoft Graph, is about this large.
pub const LARGEST: usize = 40 * 1024 * 1024;
/// Values inside one another, in YAML; JSON has a bound of its own.
const DEEPEST: usize = 100;
const MOST_NODES: usize = 4_000_000;
/// What aliases may come to, in YAML: a few lines can stand for any number of values, each of some hundred bytes while they are read.
const MOST_REPEATED: usize = 200_000;
/// References that lead to references.
const MOST_HOPS: usize = 16;

/// What an element of a list takes; an object and its members take several times that.
const ELEMENT: usize = 32;

/// About how many bytes a document takes once it is read: many times its own, where it is all punctuation.
pub fn weight(bytes: &[u8]) -> usize {
    let is_json =
        bytes.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|first| matches!(first, b'{' | b'['));
    let (mut elements, mut lines, mut is_text, mut is_escaped) = (0, 0, false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' if is_json => is_text = !is_text,
            _ if is_text => {}
            b',' => elements += 1,
            b':' | b'[' => elements += 4,
            b'{' => elements += 10,
            b'\n' => lines += 1,
            _ => {}
        }
    }
    // In YAML a line is a member, often with an object of its own.
    let elements: usize = if is_json { elements } else { elements.max(8 * lines) };
    bytes.len() + elements * ELEMENT
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum Unreadable {
    #[error("it is larger than {} MB", LARGEST >> 20)]
    TooLarge,
    #[error("it is neither JSON nor YAML in UTF-8")]
    NoText,
    #[error("it is not JSON: {0}")]
    Json(String),
    #[error("it is not YAML: {0}")]
    Yaml(String),
    #[error("it is Swagger {0}, and OpenAPI 3 is wanted: convert it once, with swagger2openapi for example")]
    Swagger(String),
    #[error("it is OpenAPI {0}, and 3.0 or 3.1 is wanted")]
    Version(String),
    #[error("it is not an OpenAPI document: it has no `openapi`")]
    NoOpenApi,
    #[error("it describes no paths")]
    NoPaths,
}

/// A reference that leads nowhere: completes a sentence about what holds it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadReference {
    #[error("has references that lead in a circle")]
    Circle,
    #[error("refers to another document ({0}), and only one is read: bundle them")]
    Elsewhere(String),
    #[error("refers to {0}, which is not there")]
    Missing(String),
}

/// An OpenAPI document.
#[derive(Debug, Clone)]
pub struct Document {
    root: Value,
}

impl Document {
    /// What it takes is bounded by [`LARGEST`]; it may be a second of work.
    pub fn read(bytes: &[u8]) -> Result<Document, Unreadable> {
        let root = value(bytes)?;
        let version = |key: &str| match root.get(key) {
            Some(Value::String(version)) => Some(version.trim().to_owned()),
            Some(Value::Number(version)) => Some(version.to_string()),
            _ => None,
        };
        match version("openapi") {
            Some(version) if version.starts_with("3.") || version == "3" => {}
            Some(version) => return Err(Unreadable::Version(cut(&version))),
            None => return Err(version("swagger").map_or(Unreadable::NoOpenApi, |it| Unreadable::Swagger(cut(&it)))),
        }
        match root.get("paths").and_then(Value::as_object) {
            Some(paths) if !paths.is_empty() => Ok(Document { root }),
            _ => Err(Unreadable::NoPaths),
        }
    }

    pub(crate) fn root(&self) -> &Value {
        &self.root
    }

    /// What a value is, where it may be a reference to it: and the reference that led there last.
    pub(crate) fn follow<'d>(&'d self, value: &'d Value) -> Result<(&'d Value, Option<&'d str>), BadReference> {
        let (mut now, mut by) = (value, None);
        for _ in 0..MOST_HOPS {
            let Some(reference) = reference(now) else { return Ok((now, by)) };
            (now, by) = (self.find(reference)?, Some(reference));
        }
        Err(BadReference::Circle)
    }

    /// As [`Document::follow`], where it does not matter how it got there.
    pub(crate) fn resolved<'d>(&'d self, value: &'d Value) -> Result<&'d Value, BadReference> {
        self.follow(value).map(|(value, _)| value)
    }

    pub(crate) fn find(&self, reference: &str) -> Result<&Value, BadReference> {
        let Some(pointer) = reference.strip_prefix('#') else {
            return Err(BadReference::Elsewhere(cut(reference)));
        };
        let pointer = crate::text::decoded(pointer);
        self.root.pointer(&pointer).ok_or_else(|| BadReference::Missing(cut(reference)))
    }
}

/// The reference that this is, if it is one. A property may be called `$ref`: then its value is a schema and no text.
pub(crate) fn reference(value: &Value) -> Option<&str> {
    value.get("$ref")?.as_str()
}

fn value(bytes: &[u8]) -> Result<Value, Unreadable> {
    if bytes.len() > LARGEST {
        return Err(Unreadable::TooLarge);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| Unreadable::NoText)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|error| Unreadable::Json(cut(&error.to_string())));
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEEPEST,
            max_nodes: MOST_NODES,
            max_events: MOST_NODES * 2,
            max_documents: 1,
            max_aliases: 10_000,
            max_recorded_anchor_events: MOST_REPEATED,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MOST_REPEATED,
            max_replay_stack_depth: 16,
        },
        strict_booleans: true,
        with_snippet: false,
    };
    let read: Result<Value, _> = serde_saphyr::from_str_with_options(text, options);
    let read = read.map_err(|error| {
        let words: Vec<String> = error.to_string().split_whitespace().map(str::to_owned).collect();
        Unreadable::Yaml(cut(&words.join(" ")))
    })?;
    if read.is_object() { Ok(read) } else { Err(Unreadable::NoText) }
}

fn cut(text: &str) -> String {
    toolfold_core::beginning(text, 200).into_owned()
}
