//! A JSON object one level deep: members in the order they came, values as raw JSON. The way to change one member of
//! something without touching, or understanding, the others.

use bytestring::ByteString;
use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::raw::{Raw, raw};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Object(IndexMap<String, Raw, Hashing>);

/// Seeded anew in every process, so that nobody can choose keys that meet; several are hashed in every request.
type Hashing = foldhash::quality::RandomState;

impl Object {
    pub fn new() -> Self {
        Object::default()
    }

    /// The object this JSON is; `None` where it is something else. Its members are slices of the same buffer.
    pub fn parse(raw: &Raw) -> Option<Self> {
        raw.get().starts_with('{').then(|| Object::read_from(raw.shared()))?
    }

    fn read_from(whole: &ByteString) -> Option<Self> {
        let members: IndexMap<String, &RawValue, Hashing> = serde_json::from_str(whole).ok()?;
        Some(Object(members.into_iter().map(|(key, value)| (key, Raw::part(whole, value))).collect()))
    }

    /// The object that a value is written as; an empty one for what is none.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Self {
        Object::parse(&raw(value)).unwrap_or_default()
    }

    /// As [`Object::parse`], with no parameters, or `null`, read as an empty object.
    pub fn parse_optional(raw: Option<&Raw>) -> Option<Self> {
        raw.filter(|raw| !raw.is_null()).map_or_else(|| Some(Object::new()), Object::parse)
    }

    pub fn get(&self, key: &str) -> Option<&Raw> {
        self.0.get(key)
    }

    pub fn contains(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// A member as a type; `None` where it is missing or of another shape.
    pub fn read<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    pub fn string(&self, key: &str) -> Option<String> {
        self.read(key)
    }

    pub fn object(&self, key: &str) -> Option<Object> {
        self.get(key).and_then(Object::parse)
    }

    /// Sets a member, in its old place if it had one.
    pub fn set<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> &mut Self {
        self.set_raw(key, raw(value))
    }

    pub fn set_raw(&mut self, key: &str, value: Raw) -> &mut Self {
        self.0.insert(key.to_owned(), value);
        self
    }

    pub fn with<T: Serialize + ?Sized>(mut self, key: &str, value: &T) -> Self {
        self.set(key, value);
        self
    }

    /// Takes a member out and keeps the order of the rest.
    pub fn remove(&mut self, key: &str) -> Option<Raw> {
        self.0.shift_remove(key)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Raw)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn to_raw(&self) -> Raw {
        let mut json = String::with_capacity(self.length());
        self.write(&mut json);
        Raw::made(json)
    }

    /// Writes it as JSON: every value once, as it came.
    pub(crate) fn write(&self, json: &mut String) {
        json.push('{');
        for (place, (key, value)) in self.0.iter().enumerate() {
            if place > 0 {
                json.push(',');
            }
            write_text(key, json);
            json.push(':');
            json.push_str(value.get());
        }
        json.push('}');
    }

    /// About how long it is as JSON, so that it is written without growing.
    pub(crate) fn length(&self) -> usize {
        self.0.iter().map(|(key, value)| key.len() + value.get().len() + 4).sum::<usize>() + 2
    }
}

/// Writes a text as a JSON string.
pub(crate) fn write_text(text: &str, json: &mut String) {
    let plain = text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
    if plain {
        json.push('"');
        json.push_str(text);
        json.push('"');
    } else {
        json.push_str(raw(text).get());
    }
}
