//! Results of tool calls, and definitions as a client lists them. A definition keeps every byte but its name: what a server
//! wrote around it is the server's.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolfold_core::{Entry, Refusal};
use toolfold_wire::{Object, Raw, raw, raw_of};

/// A refusal as the result of a tool call.
pub fn refusal_result(refusal: &Refusal) -> Raw {
    let error = refusal.to_json();
    raw(&json!({
        "content": [{"type": "text", "text": error.to_string()}],
        "structuredContent": error,
        "isError": true,
    }))
}

#[derive(Serialize)]
struct Content<'a> {
    content: &'a [Text<'a>],
}

/// Content that is text.
#[derive(Serialize)]
struct Text<'a> {
    r#type: &'static str,
    text: &'a str,
}

impl<'a> Text<'a> {
    fn new(text: &'a str) -> Self {
        Text { r#type: "text", text }
    }
}

pub(crate) fn text_result(text: &str) -> Raw {
    raw(&Content { content: &[Text::new(text)] })
}

/// JSON as the result of a tool call: as text for the model and, where it is an object, as such for programs.
pub(super) fn json_result(answer: &impl Serialize) -> Raw {
    json_result_with(answer, None)
}

/// As [`json_result`], with a remark beside it that is not part of what was asked for.
pub(super) fn json_result_with(answer: &impl Serialize, remark: Option<String>) -> Raw {
    let answer = raw(answer);
    let texts = std::iter::once(answer.get()).chain(remark.as_deref());
    let mut result = Object::new().with("content", &texts.map(Text::new).collect::<Vec<_>>());
    if answer.get().starts_with('{') {
        result.set_raw("structuredContent", answer);
    }
    result.to_raw()
}

/// A definition as it came, under the name this client knows it by: nothing but that name is touched.
pub fn definition(entry: &Entry, exposed: &str) -> Raw {
    if entry.name() == exposed {
        return entry.definition.clone();
    }
    renamed(entry.definition.get(), exposed).unwrap_or_else(|| {
        // The name is there twice, say: then members are kept, though not the space between them.
        let mut object = Object::parse(&entry.definition).unwrap_or_default();
        object.set("name", exposed);
        object.to_raw()
    })
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    name: &'a RawValue,
}

fn renamed(text: &str, exposed: &str) -> Option<Raw> {
    let name = serde_json::from_str::<Named<'_>>(text).ok()?.name.get();
    // The name borrows from the text, so the distance of the two is its place in it.
    let start = (name.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let (before, after) = (text.get(..start)?, text.get(start + name.len()..)?);
    raw_of(&format!("{before}{}{after}", Value::from(exposed))).ok()
}
