//! What is different between two definitions, for a person who has to approve the second one: every character can be
//! seen, and nothing that differs is left out.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use crate::visible::visible;

/// One place that differs. Texts are as they are shown: with every character visible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// A JSON pointer.
    pub place: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Every leaf that one of two definitions has and the other has not, or has otherwise.
pub fn differences(before: &Value, after: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    walk(Some(before), Some(after), &mut String::new(), &mut found);
    found
}

/// The parser bounds the depth (128), so this recursion is bounded too.
fn walk(before: Option<&Value>, after: Option<&Value>, place: &mut String, found: &mut Vec<Difference>) {
    match (before, after) {
        _ if before == after => {}
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let keys: Vec<&String> = old.keys().chain(new.keys().filter(|key| !old.contains_key(*key))).collect();
            for key in keys {
                let step = key.replace('~', "~0").replace('/', "~1");
                within(place, &step, |place| walk(old.get(key), new.get(key), place, found));
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            for index in 0..old.len().max(new.len()) {
                within(place, &index.to_string(), |place| walk(old.get(index), new.get(index), place, found));
            }
        }
        _ => found.push(Difference { place: visible(place), before: before.map(shown), after: after.map(shown) }),
    }
}

fn within(place: &mut String, step: &str, work: impl FnOnce(&mut String)) {
    let length = place.len();
    place.push('/');
    place.push_str(step);
    work(place);
    place.truncate(length);
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => visible(text),
        Value::Object(_) | Value::Array(_) => visible(&serde_json::to_string_pretty(value).unwrap_or_default()),
        scalar => scalar.to_string(),
    }
}

/// Differences as lines: the place, then `-` what was there and `+` what is there now. Lines that stay are left out,
/// and said to be.
pub fn render(differences: &[Difference]) -> String {
    let mut out = String::new();
    for Difference { place, before, after } in differences {
        let (old, new) = (lines(before.as_deref()), lines(after.as_deref()));
        let first = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let last = old[first..].iter().rev().zip(new[first..].iter().rev()).take_while(|(a, b)| a == b).count();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", if place.is_empty() { "/" } else { place });
        same(&mut out, first);
        for line in &old[first..old.len() - last] {
            let _ = writeln!(out, "  - {line}");
        }
        for line in &new[first..new.len() - last] {
            let _ = writeln!(out, "  + {line}");
        }
        same(&mut out, last);
    }
    out
}

fn lines(text: Option<&str>) -> Vec<&str> {
    // Split and not `lines`: a line end at the end is a difference too.
    text.map_or_else(Vec::new, |text| text.split('\n').collect())
}

fn same(out: &mut String, count: usize) {
    if count > 0 {
        let _ = writeln!(out, "    ({count} line{} the same)", if count == 1 { "" } else { "s" });
    }
}

/// The members of the definition that differ, for a summary in a line.
pub fn touched(differences: &[Difference]) -> BTreeSet<&str> {
    differences.iter().filter_map(|difference| difference.place.split('/').nth(1)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_is_shown_with_every_character() {
        let old = json!({"name": "a", "description": "Reads.\nSafe.\nEnd.", "inputSchema": {"properties": {"x": {"type": "string"}}}});
        let new = json!({"name": "a", "description": "Reads.\nSa\u{200b}fe.\nEnd.", "annotations": {"readOnlyHint": true},
            "inputSchema": {"properties": {"x": {"type": "string"}, "note": {"default": "~/.ssh"}}}});
        let found = differences(&old, &new);
        assert_eq!(touched(&found).into_iter().collect::<Vec<_>>(), ["annotations", "description", "inputSchema"]);
        let told = render(&found);
        assert_eq!(
            told,
            "/description\n    (1 line the same)\n  - Safe.\n  + Sa\\u{200b}fe.\n    (1 line the same)\n\
             /inputSchema/properties/note\n  + {\n  +   \"default\": \"~/.ssh\"\n  + }\n\
             /annotations\n  + {\n  +   \"readOnlyHint\": true\n  + }\n"
        );
    }

    #[test]
    fn the_same_is_no_difference_and_a_list_is_compared_by_place() {
        let value = json!({"enum": ["a", "b"]});
        assert_eq!(differences(&value, &value), []);
        let found = differences(&value, &json!({"enum": ["a", "c", "d"]}));
        let places: Vec<&str> = found.iter().map(|difference| difference.place.as_str()).collect();
        assert_eq!(places, ["/enum/1", "/enum/2"]);
    }
}
