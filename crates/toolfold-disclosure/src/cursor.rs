//! Where an answer goes on. A cursor carries the whole question, so that it works alone, on any connection, and after the
//! catalog has changed; it is opaque to those who hold it and checked when it comes back.

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
        let detail = self.detail as usize;
        let (query, path, tags) = (self.query.clone(), self.path.clone(), self.tags.clone());
        let packed = Packed(self.offset, self.limit, query, path, detail, self.kind, tags);
        let text = serde_json::to_string(&packed).unwrap_or_default();
        let mut bytes = check(text.as_bytes()).to_vec();
        bytes.extend(text.as_bytes());
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    }

    /// `None` for anything that [`Cursor::encode`] did not make.
    pub(crate) fn decode(cursor: &str) -> Option<Cursor> {
        if cursor.len() > LONGEST {
            return None;
        }
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(cursor.trim()).ok()?;
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
