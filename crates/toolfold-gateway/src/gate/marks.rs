//! Marks beside results: what is odd about their texts goes into `_meta`. The result itself stays as it came.
//!
//! What a reader would get wrong: this is work that a stranger decides the length of. Small results are looked at on the
//! spot, large ones on a thread of their own, and of any result only so much.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use toolfold_scan::{Marks, marks, may_be_marked};
use toolfold_wire::{Object, Raw};

use crate::threads::Threads;

/// Where the marks are in `_meta`.
const KEY: &str = "toolfold/marks";
/// Bytes of a result that are looked at where everybody else waits.
const QUICK: usize = 16 * 1024;
/// Bytes of one result's texts that are looked at.
pub(crate) const MOST: usize = 4 * 1024 * 1024;
/// Marked texts that are told one by one.
const MOST_TOLD: usize = 32;

static THREADS: Threads = Threads::new(2, Duration::from_secs(5));

/// A text of a result, and what is odd about it.
#[derive(Debug, Serialize)]
struct Marked {
    /// A JSON pointer into the result.
    place: String,
    #[serde(flatten)]
    marks: Marks,
}

/// Puts marks beside a result, where there is a reason to: whether there was.
pub(super) async fn mark(result: &mut Raw) -> bool {
    let found = match result.get().len() {
        ..=QUICK => marked(result),
        // Nobody left to look at it: it passes as it would without marks.
        _ => {
            let read = result.clone();
            THREADS.run(move |_| marked(&read)).await.unwrap_or_default()
        }
    };
    if found.is_empty() {
        return false;
    }
    let Some(mut object) = Object::parse(result) else { return false };
    let meta = object.object("_meta").unwrap_or_default().with(KEY, &found);
    object.set_raw("_meta", meta.to_raw());
    *result = object.to_raw();
    true
}

fn marked(result: &Raw) -> Vec<Marked> {
    // Most results are plain, and that is seen without taking them apart.
    if !may_be_marked(result.get()) {
        return Vec::new();
    }
    let Ok(value) = serde_json::from_str::<Value>(result.get()) else { return Vec::new() };
    let (mut found, mut left) = (Vec::new(), MOST);
    walk(&value, &mut String::new(), &mut left, &mut found);
    found
}

/// The parser bounds the depth (128), so this recursion is bounded too.
fn walk(value: &Value, place: &mut String, left: &mut usize, found: &mut Vec<Marked>) {
    let step = |place: &mut String, key: &str| {
        let length = place.len();
        place.push('/');
        place.push_str(&key.replace('~', "~0").replace('/', "~1"));
        length
    };
    match value {
        Value::String(text) if found.len() < MOST_TOLD => {
            let mut end = text.len().min(*left);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            *left -= end;
            if let Some(marks) = marks(&text[..end]) {
                found.push(Marked { place: place.clone(), marks });
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let length = step(place, &index.to_string());
                walk(item, place, left, found);
                place.truncate(length);
            }
        }
        Value::Object(members) => {
            // Bytes in base 64 are no text, and what stands in `_meta` is for programs.
            for (key, member) in members.iter().filter(|(key, _)| !["_meta", "data", "blob"].contains(&key.as_str())) {
                let length = step(place, key);
                walk(member, place, left, found);
                place.truncate(length);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolfold_wire::raw;

    use super::*;

    async fn meta(result: Value) -> Value {
        let before = raw(&result);
        let mut after = before.clone();
        let is_marked = mark(&mut after).await;
        assert_eq!(is_marked, before.get() != after.get());
        let (before, after) = (Object::parse(&before).unwrap(), Object::parse(&after).unwrap());
        for (key, member) in before.iter().filter(|(key, _)| *key != "_meta") {
            assert_eq!(after.get(key), Some(member), "{key} is as it came");
        }
        after.read("_meta").unwrap_or_default()
    }

    #[tokio::test]
    async fn odd_texts_are_marked_beside_the_result() {
        let odd = json!({"content": [{"type": "text", "text": "fine"}, {"type": "text", "text": "a\u{200b}b <IMPORTANT>"}],
            "structuredContent": {"note/x": "\u{1b}[31m"}, "_meta": {"mine": 1}});
        let expected = json!({"mine": 1, "toolfold/marks": [
            {"place": "/content/1/text", "hidden": 1, "roleTags": ["<IMPORTANT>"]},
            {"place": "/structuredContent/note~1x", "control": 1},
        ]});
        assert_eq!(meta(odd).await, expected);
    }

    #[tokio::test]
    async fn plain_results_and_bytes_are_left_alone() {
        let plain = json!({"content": [{"type": "text", "text": "12 °C <b>bold</b> [x]"}]});
        assert_eq!(meta(plain).await, Value::Null);
        let bytes = json!({"content": [{"type": "image", "data": "\u{200b}"}], "_meta": {"x": "\u{200b}"}});
        assert_eq!(meta(bytes).await, json!({"x": "\u{200b}"}));
    }

    #[tokio::test]
    async fn a_large_result_is_looked_at_up_to_a_bound_and_marks_come_from_its_beginning() {
        let large = json!({"content": [{"type": "text", "text": format!("\u{202e}{}", "ä".repeat(5 << 20))}]});
        let found = meta(large).await;
        assert_eq!(found["toolfold/marks"][0]["hidden"], 1);
        assert!(found["toolfold/marks"][0]["unread"].as_u64() > Some(1 << 20), "{found}");
        let many = json!({"content": vec![json!({"text": "\u{200b}"}); 1_000]});
        assert_eq!(meta(many).await["toolfold/marks"].as_array().unwrap().len(), MOST_TOLD);
    }
}
