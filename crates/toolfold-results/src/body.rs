//! What of a tool result a model reads: its structured content, or its texts. Pictures, sounds and links are no part of it.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The part of a result that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body<'a> {
    pub text: Cow<'a, str>,
    /// Content that is no text, as it came: it stays in the answer.
    pub others: Vec<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    Json,
    Text,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolResult<'a> {
    #[serde(borrow, default)]
    pub(crate) content: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) structured_content: Option<&'a RawValue>,
    #[serde(default)]
    pub(crate) is_error: bool,
    #[serde(borrow, default)]
    pub(crate) result_type: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

/// The text of an item of content; `None` where it is something else.
pub(crate) fn text_of<'a>(item: &'a RawValue) -> Option<Cow<'a, str>> {
    match serde_json::from_str(item.get()) {
        Ok(Content { kind, text: Some(text) }) if kind == "text" => Some(text),
        _ => None,
    }
}

/// What there is to read of a tool result, where that is more than `over` characters. `None` for less, for errors (what went
/// wrong is said at once, not kept), and for what is no tool result.
pub fn body_of(result: &str, over: usize) -> Option<Body<'_>> {
    // There are never more characters than bytes: most results are let by without being looked at.
    if result.len() <= over {
        return None;
    }
    let ToolResult { content, structured_content, is_error, .. } = serde_json::from_str(result).ok()?;
    if is_error {
        return None;
    }
    let (mut texts, mut others) = (Vec::new(), Vec::new());
    for item in content {
        match text_of(item) {
            Some(text) => texts.push(text),
            None => others.push(item.get()),
        }
    }
    let structured = structured_content.map(RawValue::get).filter(|json| is_nested(json));
    let joined = match texts.len() {
        1 => texts.pop().unwrap_or_default(),
        _ => Cow::Owned(texts.join("\n")),
    };
    let told = joined.chars().count();
    let characters = structured.map_or(told, |json| json.chars().count());
    if told.max(characters) <= over {
        return None;
    }
    Some(Body { text: structured.map_or(joined, Cow::Borrowed), others })
}

/// Whether it can be a list or an object: a number or a string of that length is read as text.
fn is_nested(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::survey::Survey;

    fn body(result: serde_json::Value) -> Option<(Notation, String, usize)> {
        let result = result.to_string();
        let body = body_of(&result, 20)?;
        let mut survey = Survey::within(100);
        survey.feed(body.text.as_bytes());
        Some((survey.finish().format, body.text.into_owned(), body.others.len()))
    }

    #[test]
    fn what_is_long_is_kept_as_what_it_is() {
        let long = "word ".repeat(10);
        let text = |text: &str| json!({"type": "text", "text": text});
        assert_eq!(body(json!({"content": [text("short")]})), None);
        assert_eq!(body(json!({"content": [text(&long)]})), Some((Notation::Text, long.clone(), 0)));
        let list = json!([1, 2, {"three": long}]).to_string();
        assert_eq!(body(json!({"content": [text(&list)]})), Some((Notation::Json, list.clone(), 0)));
        let both = json!({"content": [text(&list)], "structuredContent": {"items": [1, 2, 3, 4, 5, 6, 7]}});
        assert_eq!(body(both).unwrap().0, Notation::Json);
        let broken = format!("{list}]");
        assert_eq!(body(json!({"content": [text(&broken)]})), Some((Notation::Text, broken, 0)));
        let parts = json!({"content": [text(&long), {"type": "image", "data": "AAAA"}, text("end")]});
        assert_eq!(body(parts), Some((Notation::Text, format!("{long}\nend"), 1)));
    }

    #[test]
    fn errors_pictures_and_what_is_no_result_are_left_alone() {
        let long = "word ".repeat(10);
        assert_eq!(body(json!({"content": [{"type": "text", "text": long}], "isError": true})), None);
        assert_eq!(body(json!({"content": [{"type": "image", "data": long}]})), None);
        assert_eq!(body(json!({"contents": [{"text": long}]})), None);
        assert_eq!(body_of("not json, and longer than twenty characters", 20), None);
        // Forty bytes, twenty characters.
        assert_eq!(body(json!({"content": [{"type": "text", "text": "é".repeat(20)}]})), None);
    }
}
