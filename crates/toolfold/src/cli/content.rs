//! A tool's result for people: text as text, everything else by what it is and how large. Bytes in base64 are for programs.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use toolfold_core::{shown, shown_json, shown_line};

/// On a terminal the lines of a result are indented from the second on: none of them can pass for a line of ours.
pub(crate) fn for_people(result: &Value, terminal: bool) -> String {
    let items = result["content"].as_array().map_or(&[][..], Vec::as_slice);
    let mut parts: Vec<String> = items.iter().map(one).collect();
    if parts.is_empty()
        && let Some(structured) = result.get("structuredContent")
    {
        parts.push(shown_json(&serde_json::to_string_pretty(structured).unwrap_or_default()).into_owned());
    }
    let text = parts.join("\n");
    if terminal { text.trim_end_matches('\n').replace('\n', "\n  ") } else { text }
}

/// What was answered, byte for byte: the first image, sound or file, or else all text.
pub(crate) fn exact(result: &Value) -> Vec<u8> {
    let items = result["content"].as_array().map_or(&[][..], Vec::as_slice);
    let bytes = items.iter().find_map(|item| STANDARD.decode(encoded(item)?).ok());
    bytes.unwrap_or_else(|| items.iter().filter_map(text_of).collect::<Vec<_>>().join("\n").into_bytes())
}

fn one(item: &Value) -> String {
    if let Some(text) = text_of(item) {
        return shown(text).into_owned();
    }
    let kind = item["type"].as_str().unwrap_or("something");
    let inner = if item["resource"].is_object() { &item["resource"] } else { item };
    let about: Vec<&str> = ["mimeType", "name", "uri"].iter().filter_map(|key| inner[key].as_str()).collect();
    let about = about.iter().map(|text| format!(", {}", shown_line(text))).collect::<String>();
    let size = encoded(item).map_or_else(String::new, |data| format!(", {}", size(bytes_of(data))));
    let save = if encoded(item).is_some() { "; --output FILE writes it to a file" } else { "" };
    format!("[{}{about}{size}{save}]", shown_line(kind))
}

fn text_of(item: &Value) -> Option<&str> {
    item["text"].as_str().or(item["resource"]["text"].as_str())
}

fn encoded(item: &Value) -> Option<&str> {
    item["data"].as_str().or(item["resource"]["blob"].as_str())
}

/// As many as base64 stands for: what only fills the last group is none.
fn bytes_of(data: &str) -> usize {
    data.trim_end().trim_end_matches('=').len() * 3 / 4
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} KB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bytes_are_named_and_not_printed() {
        let result = json!({"content": [
            {"type": "text", "text": "a chart\nof \u{1b}[31mmilk"},
            {"type": "image", "mimeType": "image/png", "data": "aGVsbG8gd29ybGQh"},
            {"type": "resource_link", "uri": "file:///x", "name": "x"},
            {"type": "resource", "resource": {"uri": "file:///y", "mimeType": "audio/wav", "blob": "AAAA"}},
            {"type": "audio", "mimeType": "audio/wav", "data": "AAAAAA=="},
            {"type": "resource", "resource": {"uri": "file:///z", "text": "inside"}},
        ]});
        insta::assert_snapshot!(for_people(&result, false), @r"
        a chart
        of \u{1b}[31mmilk
        [image, image/png, 12 bytes; --output FILE writes it to a file]
        [resource_link, x, file:///x]
        [resource, audio/wav, file:///y, 3 bytes; --output FILE writes it to a file]
        [audio, audio/wav, 4 bytes; --output FILE writes it to a file]
        inside
        ");
        assert_eq!(exact(&result), b"hello world!");
        assert_eq!(exact(&json!({"content": [{"type": "text", "text": "\u{1b}raw"}]})), b"\x1braw");
    }

    #[test]
    fn no_line_of_a_result_begins_like_one_of_ours() {
        let result = json!({"content": [{"type": "text", "text": "fine\r\n2026-11-16 ERROR forged\n"}]});
        assert_eq!(for_people(&result, true), "fine\n  2026-11-16 ERROR forged");
        assert_eq!(for_people(&json!({"structuredContent": {"a": 1}}), false), "{\n  \"a\": 1\n}");
    }
}
