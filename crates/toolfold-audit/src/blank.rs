//! Secrets are taken out of whatever is written down, at every level of recording.

use serde_json::Value;

const BLANK: &str = "…";

/// What must never be written down.
pub trait Hides: Send + Sync {
    /// The text without any value that is a secret.
    fn hide(&self, text: &str) -> String;
    /// Whether a value of this name is a secret, for all one can tell.
    fn is_secret_name(&self, name: &str) -> bool;
}

/// Nothing is known to be a secret.
impl Hides for () {
    fn hide(&self, text: &str) -> String {
        text.to_owned()
    }

    fn is_secret_name(&self, _: &str) -> bool {
        false
    }
}

/// Over the values and not over the text of the JSON: there a secret with a quote in it would look different.
pub(crate) fn blank(hides: &dyn Hides, value: Value) -> Value {
    match value {
        Value::String(text) => match inner(&text) {
            Some(value) => Value::String(blank(hides, value).to_string()),
            None => Value::String(hides.hide(&text)),
        },
        Value::Array(items) => items.into_iter().map(|item| blank(hides, item)).collect(),
        Value::Object(members) => {
            let member = |(key, value): (String, Value)| match &value {
                Value::Null | Value::Bool(_) => (hides.hide(&key), value),
                _ if hides.is_secret_name(&key) => (key, Value::from(BLANK)),
                _ => (hides.hide(&key), blank(hides, value)),
            };
            members.into_iter().map(member).collect()
        }
        Value::Number(number) => match hides.hide(&number.to_string()) {
            same if same == number.to_string() => Value::Number(number),
            hidden => Value::String(hidden),
        },
        other => other,
    }
}

/// JSON in a text, as tools that know no structure answer with.
fn inner(text: &str) -> Option<Value> {
    let text = text.trim();
    let looks = (text.starts_with('{') && text.ends_with('}')) || (text.starts_with('[') && text.ends_with(']'));
    looks.then(|| serde_json::from_str(text).ok()).flatten()
}
