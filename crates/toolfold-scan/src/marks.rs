//! What is odd about a result. A result is data and is passed on as it came; these marks go beside it, so that whoever
//! shows it, or counts, knows.

use std::sync::LazyLock;

use regex::bytes::Regex;
use serde::Serialize;

use crate::fold::Folded;
use crate::piece::{LONGEST_TEXT, cut};
use crate::tags::{self, Kind};
use crate::visible::{Odd, excerpt, odd};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Marks {
    /// Characters that cannot be seen or turn the direction of reading.
    #[serde(skip_serializing_if = "is_zero")]
    pub hidden: usize,
    /// Characters that command a terminal.
    #[serde(skip_serializing_if = "is_zero")]
    pub control: usize,
    /// Tags that a model may take for another voice, the first few of them as they stand there.
    #[serde(rename = "roleTags", skip_serializing_if = "Vec::is_empty")]
    pub role_tags: Vec<String>,
    /// Bytes at the end that were not looked at.
    #[serde(skip_serializing_if = "is_zero")]
    pub unread: usize,
}

const MOST_TAGS: usize = 8;
/// A result may be large; this much of each of its texts is looked at.
const LONGEST_RESULT: usize = 16 * LONGEST_TEXT;

/// What there is in JSON wherever a text in it is odd: a character beyond ASCII or its escape, or how a tag begins. The
/// brackets of JSON itself are followed by something else.
const HINT: &str = r"(?i-u)[^\x00-\x7e]|\\[ubf]|<|\[(?:[a-z/]|\\/)|\{\{|```|system|assistant|human|instruction";

static HINTS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(HINT).ok());

/// Whether a result can have a text that is marked. Most have none, and this says so without reading them as JSON.
pub fn may_be_marked(json: &str) -> bool {
    HINTS.as_ref().is_none_or(|hints| hints.is_match(json.as_bytes()))
}

/// What is odd about a text of a result, or `None`.
pub fn marks(text: &str) -> Option<Marks> {
    let read = cut(text, LONGEST_RESULT);
    let mut marks = Marks { unread: text.len() - read.len(), ..Marks::default() };
    for (_, _, kind) in odd(read) {
        match kind {
            Odd::Control => marks.control += 1,
            Odd::Invisible | Odd::Direction => marks.hidden += 1,
        }
    }
    let folded = Folded::of(read);
    // A comment in a page that was fetched is everyday; a tag of a role is not.
    let roles = tags::find(&folded.text).filter(|tag| tag.kind != Kind::Comment).map(|tag| tag.range);
    marks.role_tags = roles.take(MOST_TAGS).map(|tag| excerpt(folded.original(read, tag.start, tag.end))).collect();
    (marks.hidden + marks.control > 0 || !marks.role_tags.is_empty()).then_some(marks)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that serde asks for")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn odd_results_are_marked_and_plain_ones_are_not() {
        assert_eq!(marks("12 °C, cloudy ❤\u{fe0f} <b>bold</b> <!-- page -->"), None);
        let found = marks("ok\u{200b}\u{1b}[0m <IMPORTANT>call x</IMPORTANT>").unwrap();
        assert_eq!((found.hidden, found.control), (1, 1));
        assert_eq!(found.role_tags, ["<IMPORTANT>", "</IMPORTANT>"]);
        let json = serde_json::to_value(&found).unwrap();
        assert_eq!(json, serde_json::json!({"hidden": 1, "control": 1, "roleTags": ["<IMPORTANT>", "</IMPORTANT>"]}));
    }

    #[test]
    fn ordinary_results_need_not_be_read() {
        for plain in [
            r#"{"content":[{"type":"text","text":"42"}],"structuredContent":{"result":[1,[2],["x"],[]],"ok":true}}"#,
            r#"{"content": [ {"type": "text", "text": "a \"quoted\" line\nand { another }\t[1] [\"x\"]"} ], "isError": false}"#,
        ] {
            assert!(serde_json::from_str::<serde_json::Value>(plain).is_ok() && !may_be_marked(plain), "{plain}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_marked_has_a_hint(parts in prop::collection::vec(prop_oneof![
            Just("[INST]"), Just("[/inst]"), Just("[agent only]"), Just("{{ System }}"), Just("\n## SYSTEM\n"), Just("human: "),
            Just("Assistant message:\n"), Just("[//]: #"), Just("```system"), Just("<!--"), Just("\u{8}"), Just("\u{c}"),
            Just("\u{1b}"), Just("\u{7f}"), Just("\u{85}"), Just("# instructions to the model\n"), Just("ſystem: "), Just("a "), Just("\n"),
        ], 0..6), any in any::<String>()) {
            let text = parts.concat() + &any;
            let json = serde_json::to_string(&text).unwrap();
            prop_assert!(marks(&text).is_none() || may_be_marked(&json), "{json}");
            // The other spelling of a slash.
            prop_assert!(marks(&text).is_none() || may_be_marked(&json.replace('/', "\\/")), "{json}");
        }
    }

    #[test]
    fn what_was_not_read_is_said() {
        let long = format!("\u{202e}{}", "a".repeat(LONGEST_RESULT));
        assert_eq!(marks(&long).unwrap().unread, 3);
    }
}
