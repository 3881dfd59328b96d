//! JSON as it came: a slice of the buffer it arrived in, shared and never copied.
//!
//! What a reader would get wrong: a small member keeps its whole buffer alive. Whatever outlives its message (the
//! capabilities of a session, a tool's definition) is kept [`detached`](Raw::detached).

use std::fmt;

use bytes::Bytes;
use bytestring::ByteString;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// One JSON value as text, without white space around it.
#[derive(Clone, PartialEq, Eq)]
pub struct Raw(ByteString);

/// Any serialisable value as raw JSON. `null` for what cannot be written as JSON (a map with odd keys).
pub fn raw<T: Serialize + ?Sized>(value: &T) -> Raw {
    serde_json::to_string(value).map_or_else(|_| Raw::null(), Raw::made)
}

/// Text that is already JSON as raw JSON; an error where it is not.
pub fn raw_of(text: &str) -> Result<Raw, serde_json::Error> {
    Raw::parse(text.to_owned())
}

impl Raw {
    pub fn null() -> Self {
        Raw(ByteString::from_static("null"))
    }

    /// Text or bytes that should be JSON; an error where they are not.
    pub fn parse(json: impl Into<Bytes>) -> Result<Self, serde_json::Error> {
        let text = text_of(json.into())?;
        let value: &RawValue = serde_json::from_str(&text)?;
        Ok(Raw(text.slice_ref(value.get())))
    }

    /// Text that this crate has just written as JSON, or that serde has just read as such.
    pub(crate) fn made(json: String) -> Self {
        Raw(ByteString::from(json))
    }

    /// A part of `whole` that serde found to be a value.
    pub(crate) fn part(whole: &ByteString, value: &RawValue) -> Self {
        Raw(whole.slice_ref(value.get()))
    }

    pub(crate) fn shared(&self) -> &ByteString {
        &self.0
    }

    pub fn get(&self) -> &str {
        &self.0
    }

    pub fn is_null(&self) -> bool {
        self.get() == "null"
    }

    /// The same, in a buffer of its own: for what is kept longer than the message it came in.
    pub fn detached(&self) -> Raw {
        Raw::made(self.get().to_owned())
    }

    pub fn into_bytes(self) -> Bytes {
        self.0.into_bytes()
    }
}

/// Whether a JSON text holds more values than this, about: made into a tree, a number of two bytes is a node of many.
pub fn has_more_values(json: &str, most: usize) -> bool {
    // A value and what separates it from the next take two bytes.
    json.len() / 2 > most && values(json) > most
}

/// What separates values, outside of strings.
fn values(json: &str) -> usize {
    let (mut count, mut quoted, mut escaped) = (1, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b',' | b'[' | b'{' if !quoted => count += 1,
            _ => {}
        }
    }
    count
}

/// Bytes as text, without a copy.
pub(crate) fn text_of(bytes: Bytes) -> Result<ByteString, serde_json::Error> {
    ByteString::try_from(bytes)
        .map_err(|error| <serde_json::Error as serde::de::Error>::custom(format_args!("not UTF-8: {error}")))
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

/// As a part of something larger. It is read once more on the way, because only serde can make a `RawValue`: what is on
/// the way of every message is written by hand instead (`Object::to_raw`, `Message::to_line`).
impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value: &RawValue = serde_json::from_str(self.get()).map_err(S::Error::custom)?;
        value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Box::<RawValue>::deserialize(deserializer).map_err(D::Error::custom)?;
        Ok(Raw::made(String::from(Box::<str>::from(value))))
    }
}
