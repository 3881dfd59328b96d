//! A JSON object one level deep: members in the order they came, values as raw JSON. The way to change one member of
//! something without touching, or understanding, the others.
//!
//! What a reader would get wrong: an object of very many members is none. Each of them costs a hundred bytes however short it
//! is, and nobody sends one that somebody has to look into. And a text may have a member twice. The last one counts, here as
//! for most who read JSON; those before it are remembered, since whoever gets the text itself may read them.

use std::fmt;

use bytestring::ByteString;
use indexmap::IndexMap;
use indexmap::map::Entry;
use serde::de::{DeserializeOwned, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::raw::{Raw, raw};

/// Members that one object may have to be looked into.
pub(crate) const MOST_MEMBERS: usize = 10_000;

#[derive(Debug, Clone, Default)]
pub struct Object {
    members: IndexMap<String, Raw, Hashing>,
    /// Members of the text that a later one of the same name stood for. Nothing writes them.
    repeated: Vec<(String, Raw)>,
}

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
        let mut reader = serde_json::Deserializer::from_str(whole);
        let object = reader.deserialize_map(Members(Some(whole))).ok()?;
        reader.end().ok()?;
        Some(object)
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
        self.members.get(key)
    }

    pub fn contains(&self, key: &str) -> bool {
        self.members.contains_key(key)
    }

    /// A member as a type; `None` where it is missing or of another shape.
    pub fn read<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    pub fn string(&self, key: &str) -> Option<String> {
        self.read(key)
    }

    /// The first items of a member that is a list, each in a buffer of its own; none where it is something else.
    pub fn items(&self, key: &str, most: usize) -> Vec<Raw> {
        let Some(list) = self.get(key) else { return Vec::new() };
        serde_json::Deserializer::from_str(list.get()).deserialize_seq(Items(most)).unwrap_or_default()
    }

    pub fn object(&self, key: &str) -> Option<Object> {
        self.get(key).and_then(Object::parse)
    }

    /// Sets a member, in its old place if it had one.
    pub fn set<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> &mut Self {
        self.set_raw(key, raw(value))
    }

    pub fn set_raw(&mut self, key: &str, value: Raw) -> &mut Self {
        self.members.insert(key.to_owned(), value);
        self
    }

    pub fn with<T: Serialize + ?Sized>(mut self, key: &str, value: &T) -> Self {
        self.set(key, value);
        self
    }

    /// Takes a member out and keeps the order of the rest.
    pub fn remove(&mut self, key: &str) -> Option<Raw> {
        self.members.shift_remove(key)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Raw)> {
        self.members.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// What was in the text and no longer counts, because a later member has the same name; in the order of the text.
    pub fn repeated(&self) -> impl Iterator<Item = (&str, &Raw)> {
        self.repeated.iter().map(|(key, value)| (key.as_str(), value))
    }

    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub fn to_raw(&self) -> Raw {
        let mut json = String::with_capacity(self.length());
        self.write(&mut json);
        Raw::made(json)
    }

    /// Writes it as JSON: every value once, as it came.
    pub(crate) fn write(&self, json: &mut String) {
        json.push('{');
        for (place, (key, value)) in self.members.iter().enumerate() {
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
        self.members.iter().map(|(key, value)| key.len() + value.get().len() + 4).sum::<usize>() + 2
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.members.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members(None))
    }
}

/// Members as slices of this text, or as copies.
struct Members<'a>(Option<&'a ByteString>);

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut object = Object::new();
        while let Some(key) = map.next_key::<String>()? {
            if object.members.len() + object.repeated.len() == MOST_MEMBERS {
                return Err(A::Error::custom(format_args!("more than {MOST_MEMBERS} members")));
            }
            let value = match self.0 {
                Some(whole) => Raw::part(whole, map.next_value::<&RawValue>()?),
                None => map.next_value::<Raw>()?,
            };
            match object.members.entry(key) {
                Entry::Vacant(place) => drop(place.insert(value)),
                Entry::Occupied(mut place) => {
                    let (key, before) = (place.key().clone(), place.insert(value));
                    object.repeated.push((key, before));
                }
            }
        }
        Ok(object)
    }
}

/// So many of a list. The rest is read over, so that it is known to be JSON.
struct Items(usize);

impl<'de> Visitor<'de> for Items {
    type Value = Vec<Raw>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while items.len() < self.0
            && let Some(item) = list.next_element::<Raw>()?
        {
            items.push(item);
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(items)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw_of;

    fn of_members(count: usize) -> Raw {
        let members: Vec<String> = (0..count).map(|number| format!("\"{number}\":{number}")).collect();
        raw_of(&format!("{{{}}}", members.join(","))).unwrap()
    }

    #[test]
    fn an_object_of_more_than_10000_members_is_none() {
        let most = of_members(MOST_MEMBERS);
        assert_eq!(Object::parse(&most).unwrap().read("7"), Some(7));
        assert_eq!(Object::parse(&most).unwrap().to_raw(), most);
        let more = of_members(MOST_MEMBERS + 1);
        assert!(Object::parse(&more).is_none());
        assert!(serde_json::from_str::<Object>(most.get()).is_ok());
        assert!(serde_json::from_str::<Object>(more.get()).is_err());
    }

    #[test]
    fn of_two_members_of_one_name_the_last_counts_and_the_others_are_remembered() {
        let object = Object::parse(&raw_of(r#"{"a":1,"b":2,"\u0061": 3,"a":{"a":4,"a":5}}"#).unwrap()).unwrap();
        assert_eq!(object.to_raw().get(), r#"{"a":{"a":4,"a":5},"b":2}"#);
        assert_eq!(raw(&object), object.to_raw());
        let told: Vec<_> = object.repeated().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(told, ["a=1", "a=3"]);
        assert_eq!(object.object("a").unwrap().repeated().count(), 1);
        let most = r#""a":1,"#.repeat(MOST_MEMBERS);
        assert!(Object::parse(&raw_of(&format!("{{{most}\"a\":1}}")).unwrap()).is_none());
    }

    #[test]
    fn of_a_list_so_many_are_taken() {
        let object = Object::parse(&raw_of(r#"{"list":[1, {"a": 2}, "x"],"text":"[1]"}"#).unwrap()).unwrap();
        let items = |most| object.items("list", most).iter().map(Raw::to_string).collect::<Vec<_>>();
        assert_eq!(items(2), ["1", r#"{"a": 2}"#]);
        assert_eq!(items(9).len(), 3);
        assert!(object.items("text", 9).is_empty() && object.items("none", 9).is_empty());
    }
}
