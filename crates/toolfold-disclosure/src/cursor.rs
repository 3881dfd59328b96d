//! Where an answer goes on. A cursor carries the whole question, so that it works alone, on any connection, and after the
//! catalog has changed; it is opaque to those who hold it and checked when it comes back.
//!
//! What a reader would get wrong: there are two forms. Nearly every question is written as the words it was asked in (`plain`), which
//! costs no more than they do; packed in base64 it would cost a fifth of the answer. The rest is packed.

mod plain;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use toolfold_core::{Fingerprint, Kind};

use crate::level::Level;

/// A cursor longer than this is none of ours.
const LONGEST: usize = 8192;
/// Nobody has paged this far.
const FARTHEST: usize = 1 << 32;
const CHECK: usize = 3;

/// What a model copies around a cursor.
const AROUND: [char; 4] = ['"', '\'', '`', ' '];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// Empty for browsing.
    pub(crate) query: String,
    pub(crate) path: Vec<String>,
    pub(crate) kind: Option<Kind>,
    pub(crate) detail: Level,
    pub(crate) limit: usize,
    pub(crate) offset: usize,
    pub(crate) tags: Vec<String>,
}

/// In this order, as an array: names would be paid for in tokens.
#[derive(Serialize, Deserialize)]
struct Packed(
    usize,
    usize,
    String,
    Vec<String>,
    usize,
    Option<Kind>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")] Vec<String>,
);

impl Cursor {
    pub(crate) fn encode(&self) -> String {
        plain::encode(self).unwrap_or_else(|| self.packed())
    }

    /// `None` for anything that [`Cursor::encode`] did not make.
    pub(crate) fn decode(cursor: &str) -> Option<Cursor> {
        if cursor.len() > LONGEST {
            return None;
        }
        // `next cursor: X (5 more)` is copied with what stands around it, too.
        let bare = cursor.trim().trim_start_matches("next cursor: ").split(" (").next().unwrap_or_default();
        let bare = bare.trim_matches(AROUND);
        Self::unpacked(bare).or_else(|| plain::decode(bare))
    }

    fn packed(&self) -> String {
        let detail = self.detail as usize;
        let (query, path, tags) = (self.query.clone(), self.path.clone(), self.tags.clone());
        let packed = Packed(self.offset, self.limit, query, path, detail, self.kind, tags);
        let text = serde_json::to_string(&packed).unwrap_or_default();
        let mut bytes = check(text.as_bytes()).to_vec();
        bytes.extend(text.as_bytes());
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    }

    fn unpacked(cursor: &str) -> Option<Cursor> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let (sum, text) = bytes.split_at_checked(CHECK)?;
        if sum != check(text) {
            return None;
        }
        let Packed(offset, limit, query, path, detail, kind, tags) = serde_json::from_slice(text).ok()?;
        let detail = *Level::ALL.get(detail)?;
        Some(Cursor { query, path, kind, detail, limit: limit.clamp(1, 50), offset: offset.min(FARTHEST), tags })
    }
}

/// Against slips of a model's copying, not against malice: there is nothing to be had by forging one.
fn check(text: &[u8]) -> [u8; CHECK] {
    let hash = Fingerprint::of_text(&String::from_utf8_lossy(text));
    [hash.as_bytes()[0], hash.as_bytes()[1], hash.as_bytes()[2]]
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::{Cursor, FARTHEST};
    use crate::level::Level;
    use crate::tokens::count;
    use toolfold_core::Kind;

    fn asked(query: &str) -> Cursor {
        let (path, tags) = (Vec::new(), Vec::new());
        Cursor { query: query.to_owned(), path, kind: None, detail: Level::Signature, limit: 10, offset: 5, tags }
    }

    #[test]
    fn a_cursor_costs_what_its_words_cost() {
        let shown = |cursor: &Cursor| {
            let (now, packed) = (cursor.encode(), cursor.packed());
            format!("{now} {} {}", count(&format!(" {now}")), count(&format!(" {packed}")))
        };
        assert_snapshot!(shown(&asked("refund a payment")), @"refund_a_payment_56009 6 32");
        assert_snapshot!(shown(&asked("create_issue on GitHub")), @"create_issue-on-GitHub-50132 9 39");
        let below = Cursor { path: vec!["Servers".to_owned(), "github".to_owned()], ..asked("merge") };
        assert_snapshot!(shown(&below), @"merge/Servers/github_54414 7 36");
        let browsing = Cursor {
            detail: Level::Summary,
            limit: 50,
            offset: 120,
            ..Cursor { query: String::new(), ..below.clone() }
        };
        assert_snapshot!(shown(&browsing), @"/Servers/github_1200700 7 36");
        let odd = Cursor { kind: Some(Kind::Prompt), detail: Level::Name, limit: 3, ..asked("übersetze etwas") };
        assert_snapshot!(shown(&odd), @"übersetze_etwas_58822npx3 10 34");
    }

    #[test]
    fn what_words_cannot_say_is_packed() {
        for query in
            ["say \"hi\"", "a\\b", "two  blanks", " before", "line\nbreak", "a/b", "a_b-c+d=e", &"long ".repeat(60)]
        {
            let cursor = asked(query);
            assert_eq!(cursor.encode(), cursor.packed(), "{query:?}");
            assert_eq!(Cursor::decode(&cursor.encode()), Some(cursor));
        }
        let tagged = Cursor { tags: vec!["a".to_owned()], ..asked("x") };
        assert_eq!(Cursor::decode(&tagged.encode()), Some(tagged));
    }

    #[test]
    fn one_that_was_given_out_before_still_leads_on() {
        let cursor = asked("repository issues");
        assert_eq!(Cursor::decode(&cursor.packed()), Some(cursor));
    }

    #[test]
    fn what_is_copied_with_it_does_no_harm() {
        let cursor = asked("refund a payment");
        let text = cursor.encode();
        for copied in [
            format!(" {text}\n"),
            format!("\"{text}\""),
            format!("`{text}`"),
            format!("next cursor: {text} (5 more)"),
            format!("{text} (5 more)"),
        ] {
            assert_eq!(Cursor::decode(&copied), Some(cursor.clone()), "{copied}");
        }
    }

    fn any_cursor() -> impl Strategy<Value = Cursor> {
        let query = prop_oneof![4 => "[a-zA-Z0-9_.,'?-]{1,9}( [a-zA-Z0-9_.,'é+-]{1,9}){0,8}", 1 => "\\PC{0,40}", 1 => Just(String::new())];
        let path = prop::collection::vec(prop_oneof!["[A-Za-z_-]{1,10}", "\\PC{0,6}"], 0..4);
        let kind = prop::sample::select(vec![
            None,
            Some(Kind::Tool),
            Some(Kind::Agent),
            Some(Kind::Skill),
            Some(Kind::Prompt),
            Some(Kind::Resource),
        ]);
        let tags = prop::collection::vec("[a-z]{1,5}", 0..2);
        (query, path, kind, prop::sample::select(Level::ALL.to_vec()), 1usize..=50, 0usize..=FARTHEST, tags).prop_map(
            |(query, path, kind, detail, limit, offset, tags)| Cursor {
                query,
                path,
                kind,
                detail,
                limit,
                offset,
                tags,
            },
        )
    }

    proptest! {
        #[test]
        fn any_question_comes_back(cursor in any_cursor()) {
            let text = cursor.encode();
            prop_assert!(!text.contains(char::is_whitespace) && !text.contains(['"', '\\']), "{text}");
            prop_assert_eq!(Cursor::decode(&text), Some(cursor));
        }

        #[test]
        fn one_changed_letter_is_refused(cursor in any_cursor(), at in any::<prop::sample::Index>(), letter in "[A-Za-z0-9_./+=-]") {
            let text = cursor.encode();
            let mut letters: Vec<char> = text.chars().collect();
            let at = at.index(letters.len());
            letters[at] = letter.chars().next().unwrap_or_default();
            let changed: String = letters.into_iter().collect();
            prop_assert!(changed == text || Cursor::decode(&changed).is_none_or(|other| other == cursor), "{changed} for {text}");
        }

        #[test]
        fn letters_out_of_order_are_refused(words in "[a-z]{2,9}( [a-z]{2,9}){0,5}", at in any::<prop::sample::Index>()) {
            let text = asked(&words).encode();
            let mut bytes = text.clone().into_bytes();
            let at = at.index(bytes.len() - 1);
            bytes.swap(at, at + 1);
            let changed = String::from_utf8(bytes).unwrap_or_default();
            prop_assert!(changed == text || Cursor::decode(&changed).is_none(), "{changed} for {text}");
        }

        #[test]
        fn any_text_is_read(text in "\\PC{0,60}") {
            let _ = Cursor::decode(&text);
        }
    }
}
