//! How a value is written into an address, a header or a form: the styles of OpenAPI.

use serde_json::Value;

use crate::text::{encoded, lightly_encoded, plain};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Simple,
    Label,
    Matrix,
    Form,
    Space,
    Pipe,
    Deep,
    /// The value as JSON: a parameter that has a `content` instead of a style.
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Writing {
    pub(crate) style: Style,
    pub(crate) explode: bool,
    pub(crate) reserved: bool,
}

/// Levels of brackets.
const DEEPEST: usize = 32;

impl Writing {
    pub(crate) const FORM: Writing = Writing { style: Style::Form, explode: true, reserved: false };
    pub(crate) const DEEP: Writing = Writing { style: Style::Deep, explode: true, reserved: false };

    fn code(self, text: &str) -> String {
        if self.reserved { lightly_encoded(text) } else { encoded(text) }
    }

    /// `name=value` pairs of a query or a form, ready to be joined.
    pub(crate) fn pairs(self, name: &str, value: &Value) -> Vec<String> {
        let pair = |key: &str, value: &str| format!("{}={}", key_code(key), self.code(value));
        let joined = |separator: &str, parts: &mut dyn Iterator<Item = String>| {
            let parts: Vec<String> = parts.map(|part| self.code(&part)).collect();
            vec![format!("{}={}", key_code(name), parts.join(separator))]
        };
        let separator = match self.style {
            Style::Space => "%20",
            Style::Pipe => "%7C",
            _ => ",",
        };
        match (self.style, value) {
            (Style::Json, value) => vec![pair(name, &value.to_string())],
            (Style::Deep, Value::Object(_) | Value::Array(_)) => {
                let mut pairs = Vec::new();
                brackets(name, value, 0, &mut |key, value| pairs.push(pair(key, value)));
                pairs
            }
            (_, Value::Array(items)) if self.explode => items.iter().map(|item| pair(name, &plain(item))).collect(),
            (_, Value::Array(items)) if items.is_empty() => Vec::new(),
            (_, Value::Array(items)) => joined(separator, &mut items.iter().map(plain)),
            (_, Value::Object(members)) if self.explode => {
                members.iter().map(|(key, value)| pair(key, &plain(value))).collect()
            }
            (_, Value::Object(members)) => {
                joined(separator, &mut members.iter().flat_map(|(key, value)| [key.clone(), plain(value)]))
            }
            (_, value) => vec![pair(name, &plain(value))],
        }
    }

    /// In a path, percent signs included: nothing of it is a slash.
    pub(crate) fn in_path(self, name: &str, value: &Value) -> String {
        let name = encoded(name);
        let (start, separator) = match self.style {
            Style::Label => (".", if self.explode { "." } else { "," }),
            Style::Matrix => (";", if self.explode { ";" } else { "," }),
            _ => ("", ","),
        };
        let matrix = self.style == Style::Matrix;
        let items: Vec<String> = match value {
            Value::Array(items) => items
                .iter()
                .map(|item| encoded(&plain(item)))
                .map(|item| if matrix && self.explode { format!("{name}={item}") } else { item })
                .collect(),
            Value::Object(members) if self.explode => {
                members.iter().map(|(key, value)| format!("{}={}", encoded(key), encoded(&plain(value)))).collect()
            }
            Value::Object(members) => {
                members.iter().flat_map(|(key, value)| [encoded(key), encoded(&plain(value))]).collect()
            }
            value => vec![match matrix && self.explode {
                true => format!("{name}={}", encoded(&plain(value))),
                false => encoded(&plain(value)),
            }],
        };
        let named = if matrix && !self.explode { format!("{name}=") } else { String::new() };
        format!("{start}{named}{}", items.join(separator))
    }

    /// In a header, as it is.
    pub(crate) fn in_header(self, value: &Value) -> String {
        match value {
            _ if self.style == Style::Json => value.to_string(),
            Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
            Value::Object(members) => {
                let join = if self.explode { "=" } else { "," };
                let parts = members.iter().map(|(key, value)| format!("{key}{join}{}", plain(value)));
                parts.collect::<Vec<_>>().join(",")
            }
            value => plain(value),
        }
    }
}

/// Brackets in a key are what a server looks for.
fn key_code(key: &str) -> String {
    encoded(key).replace("%5B", "[").replace("%5D", "]")
}

/// `a[b][0]=c`. Beyond the bound, what is left is JSON.
fn brackets(key: &str, value: &Value, depth: usize, push: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::Object(members) if depth < DEEPEST => {
            for (name, value) in members {
                brackets(&format!("{key}[{name}]"), value, depth + 1, push);
            }
        }
        Value::Array(items) if depth < DEEPEST => {
            for (at, value) in items.iter().enumerate() {
                brackets(&format!("{key}[{at}]"), value, depth + 1, push);
            }
        }
        value => push(key, &plain(value)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn query(style: Style, explode: bool, value: Value) -> String {
        Writing { style, explode, reserved: false }.pairs("c", &value).join("&")
    }

    /// The table of the specification, where `color` is the name.
    #[test]
    fn every_style_is_written_as_the_specification_has_it() {
        let (list, object) = (json!(["a", "b c"]), json!({"R": 100, "G": "x&y"}));
        assert_eq!(query(Style::Form, true, list.clone()), "c=a&c=b%20c");
        assert_eq!(query(Style::Form, false, list.clone()), "c=a,b%20c");
        assert_eq!(query(Style::Form, true, object.clone()), "R=100&G=x%26y");
        assert_eq!(query(Style::Form, false, object.clone()), "c=R,100,G,x%26y");
        assert_eq!(query(Style::Space, false, list.clone()), "c=a%20b%20c");
        assert_eq!(query(Style::Pipe, false, list.clone()), "c=a%7Cb%20c");
        assert_eq!(query(Style::Deep, true, object.clone()), "c[R]=100&c[G]=x%26y");
        assert_eq!(query(Style::Deep, true, json!({"a": {"b": [1, {"d": true}]}})), "c[a][b][0]=1&c[a][b][1][d]=true");
        assert_eq!(query(Style::Json, true, object.clone()), "c=%7B%22R%22%3A100%2C%22G%22%3A%22x%26y%22%7D");
        assert_eq!(query(Style::Form, false, json!([])), "");
        let path = |style, explode, value: &Value| Writing { style, explode, reserved: false }.in_path("c", value);
        assert_eq!(path(Style::Simple, false, &list), "a,b%20c");
        assert_eq!(path(Style::Simple, true, &object), "R=100,G=x%26y");
        assert_eq!(path(Style::Label, false, &list), ".a,b%20c");
        assert_eq!(path(Style::Label, true, &list), ".a.b%20c");
        assert_eq!(path(Style::Matrix, false, &list), ";c=a,b%20c");
        assert_eq!(path(Style::Matrix, true, &list), ";c=a;c=b%20c");
        assert_eq!(path(Style::Matrix, true, &json!(5)), ";c=5");
        assert_eq!(path(Style::Matrix, false, &json!(5)), ";c=5");
        let header =
            |explode, value: &Value| Writing { style: Style::Simple, explode, reserved: false }.in_header(value);
        assert_eq!((header(false, &list).as_str(), header(true, &object).as_str()), ("a,b c", "R=100,G=x&y"));
        let reserved = Writing { style: Style::Form, explode: true, reserved: true };
        assert_eq!(reserved.pairs("c", &json!("a/b:c&d#e")), ["c=a/b:c%26d%23e"]);
    }
}
