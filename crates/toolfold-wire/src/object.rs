//! A JSON object one level deep: members in the order they came, values as raw JSON. The way to change one member of
//! something without touching, or understanding, the others.

use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::message::{Raw, raw};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Object(IndexMap<String, Raw>);

impl Object {
    pub fn new() -> Self {
        Object::default()
    }

    /// The object this JSON is; `None` where it is something else.
    pub fn parse(raw: &RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }

    /// As [`Object::parse`], with no parameters, or `null`, read as an empty object.
    pub fn parse_optional(raw: Option<&RawValue>) -> Option<Self> {
        raw.filter(|raw| raw.get() != "null").map_or_else(|| Some(Object::new()), Object::parse)
    }

    pub fn get(&self, key: &str) -> Option<&RawValue> {
        self.0.get(key).map(|raw| &**raw)
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
        self.0.insert(key.to_owned(), raw(value));
        self
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

    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(key, value)| (key.as_str(), &**value))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn to_raw(&self) -> Raw {
        raw(self)
    }
}
