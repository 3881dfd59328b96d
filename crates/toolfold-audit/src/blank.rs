//! Secrets are taken out of whatever is written down, at every level of recording.

use serde_json::Value;

const BLANK: &str = "…";
/// Within a text, shorter ones are left: `1` or `on` would take half of it with them.
const SHORTEST: usize = 4;

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

/// One value on its way to be written down. Over the values and not over the text of the JSON: there a secret with a quote in it
/// would look different.
pub(crate) struct Blanking<'a> {
    hides: &'a dyn Hides,
    /// What was blanked for its name where it was given, the longest first: whoever was told it may say it again under no name.
    given: &'a [String],
    found: Vec<String>,
}

impl<'a> Blanking<'a> {
    pub(crate) fn new(hides: &'a dyn Hides, given: &'a [String]) -> Self {
        Blanking { hides, given, found: Vec::new() }
    }

    /// What was blanked for its name.
    pub(crate) fn found(self) -> Vec<String> {
        self.found
    }

    pub(crate) fn blank(&mut self, value: Value) -> Value {
        match value {
            Value::String(text) => match inner(&text) {
                Some(value) => Value::String(self.blank(value).to_string()),
                None => Value::String(self.text(&text)),
            },
            Value::Array(items) => items.into_iter().map(|item| self.blank(item)).collect(),
            Value::Object(members) => members.into_iter().map(|(key, value)| self.member(key, value)).collect(),
            Value::Number(number) => match self.text(&number.to_string()) {
                same if same == number.to_string() => Value::Number(number),
                hidden => Value::String(hidden),
            },
            other => other,
        }
    }

    fn member(&mut self, key: String, value: Value) -> (String, Value) {
        if matches!(value, Value::Null | Value::Bool(_)) {
            return (self.text(&key), value);
        }
        if self.hides.is_secret_name(&key) {
            self.find(&value);
            return (key, Value::from(BLANK));
        }
        (self.text(&key), self.blank(value))
    }

    fn text(&self, text: &str) -> String {
        let mut text = self.hides.hide(text);
        for secret in self.given {
            if text == *secret {
                return BLANK.to_owned();
            }
            if secret.len() >= SHORTEST && text.contains(secret) {
                text = text.replace(secret, BLANK);
            }
        }
        text
    }

    fn find(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.found.extend((!text.is_empty()).then(|| text.clone())),
            Value::Number(number) => self.found.push(number.to_string()),
            Value::Array(items) => items.iter().for_each(|item| self.find(item)),
            Value::Object(members) => members.values().for_each(|member| self.find(member)),
            Value::Null | Value::Bool(_) => {}
        }
    }
}

/// JSON in a text, as tools that know no structure answer with.
fn inner(text: &str) -> Option<Value> {
    let text = text.trim();
    let looks = (text.starts_with('{') && text.ends_with('}')) || (text.starts_with('[') && text.ends_with(']'));
    looks.then(|| serde_json::from_str(text).ok()).flatten()
}
