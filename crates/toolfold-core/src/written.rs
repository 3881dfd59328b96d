//! JSON as somebody wrote it: members in their order, and one that is there twice is there twice. For whoever has to know
//! everything that a text says, and not what one reader would make of it.
//!
//! What a reader would get wrong: `serde_json::Value` is what one reader makes of it. Of two members of one name it has the
//! last, it cannot hold half of a surrogate pair or a number beyond all bounds, and nothing that is nested deep: a text with one
//! of these would be no text at all for whoever looks through it, and passed on as it is.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::value::RawValue;
use serde_json::{Number, Value};
use toolfold_wire::Raw;

/// How deep a text is taken apart, as deep as the parser goes.
const DEEPEST: usize = 127;
/// Bytes that are taken apart piece by piece: each level of them is read over once more.
const LARGEST: usize = 4 << 20;

#[derive(Debug, Clone, PartialEq)]
pub enum Written {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Written>),
    Members(Vec<(String, Written)>),
    /// What nobody takes apart, as it is written: a number beyond all bounds, or what is nested too deep.
    Unread(String),
}

impl Written {
    /// The member of this name that counts for most who read JSON: the last one.
    pub fn get(&self, key: &str) -> Option<&Written> {
        let Written::Members(members) = self else { return None };
        members.iter().rev().find_map(|(name, value)| (name == key).then_some(value))
    }

    pub fn as_str(&self) -> Option<&str> {
        if let Written::Text(text) = self { Some(text) } else { None }
    }

    pub fn as_bool(&self) -> Option<bool> {
        if let Written::Bool(value) = self { Some(*value) } else { None }
    }
}

/// All of it, whatever it is: what the parser does not take is taken apart piece by piece.
impl From<&Raw> for Written {
    fn from(raw: &Raw) -> Written {
        let text = raw.get();
        serde_json::from_str(text).unwrap_or_else(|_| match text.len() {
            0..=LARGEST => piece(text, 0),
            _ => Written::Unread(text.to_owned()),
        })
    }
}

impl From<&Value> for Written {
    fn from(value: &Value) -> Written {
        match value {
            Value::Null => Written::Null,
            Value::Bool(value) => Written::Bool(*value),
            Value::Number(number) => Written::Number(number.clone()),
            Value::String(text) => Written::Text(text.clone()),
            Value::Array(items) => Written::List(items.iter().map(Written::from).collect()),
            Value::Object(members) => {
                Written::Members(members.iter().map(|(key, value)| (key.clone(), Written::from(value))).collect())
            }
        }
    }
}

/// One value, for what the parser did not take.
fn piece(text: &str, depth: usize) -> Written {
    let opaque = || Written::Unread(text.to_owned());
    match text.bytes().next() {
        Some(b'{') if depth < DEEPEST => {
            let read = serde_json::from_str::<Pairs<'_>>(text).map(|pairs| pairs.0);
            let pair = |(key, value): (Half, &RawValue)| (key.0, piece(value.get(), depth + 1));
            read.map_or_else(|_| opaque(), |pairs| Written::Members(pairs.into_iter().map(pair).collect()))
        }
        Some(b'[') if depth < DEEPEST => {
            let read = serde_json::from_str::<Vec<&RawValue>>(text);
            let item = |value: &RawValue| piece(value.get(), depth + 1);
            read.map_or_else(|_| opaque(), |items| Written::List(items.into_iter().map(item).collect()))
        }
        Some(b'"') => serde_json::from_str::<Half>(text).map_or_else(|_| opaque(), |half| Written::Text(half.0)),
        Some(b'{' | b'[') => opaque(),
        _ => serde_json::from_str(text).unwrap_or_else(|_| opaque()),
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Written;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Written, E> {
        Ok(Written::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Written, E> {
        Ok(Written::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Written, E> {
        Ok(Written::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Written, E> {
        Ok(Written::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Written, E> {
        Ok(Number::from_f64(value).map_or(Written::Null, Written::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Written, E> {
        Ok(Written::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Written, E> {
        Ok(Written::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Written, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Written::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Written, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Written::Members(members))
    }
}

/// Members with keys of any kind, and values that nobody has read.
struct Pairs<'a>(Vec<(Half, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reading;

        impl<'de> Visitor<'de> for Reading {
            type Value = Vec<(Half, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }
        }
        deserializer.deserialize_map(Reading).map(Pairs)
    }
}

/// A text that may have halves of surrogate pairs in it; each is shown as what cannot be shown.
struct Half(String);

impl<'de> Deserialize<'de> for Half {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reading;

        impl Visitor<'_> for Reading {
            type Value = String;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<String, E> {
                Ok(String::from_utf8_lossy(bytes).into_owned())
            }

            fn visit_str<E>(self, text: &str) -> Result<String, E> {
                Ok(text.to_owned())
            }
        }
        // As bytes: the parser refuses half of a pair in a string.
        deserializer.deserialize_bytes(Reading).map(Half)
    }
}

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Written::Null => serializer.serialize_unit(),
            Written::Bool(value) => serializer.serialize_bool(*value),
            Written::Number(number) => number.serialize(serializer),
            Written::Text(text) | Written::Unread(text) => serializer.serialize_str(text),
            Written::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(item))?;
                list.end()
            }
            Written::Members(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use toolfold_wire::raw_of;

    use super::*;

    fn written(text: &str) -> Written {
        Written::from(&raw_of(text).unwrap())
    }

    #[test]
    fn what_is_there_twice_is_there_twice() {
        let twice = r#"{"a":{"b":1,"b":[2]},"c":null,"a":"x"}"#;
        assert_eq!(serde_json::to_string(&written(twice)).unwrap(), twice);
        assert_eq!(written(twice).get("a").and_then(Written::as_str), Some("x"));
        // What another crate reads something else into is a name like any other.
        let raw = r#"{"$serde_json::private::RawValue":"{\"a\":1}"}"#;
        assert_eq!(serde_json::to_string(&written(raw)).unwrap(), raw);
    }

    #[test]
    fn what_the_parser_refuses_is_read_but_for_what_it_refuses() {
        let odd = written(r#"{"a":"half \ud83d.","\udc00":[1e400,-1],"c":{"d":true,"d":"e"}}"#);
        let Written::Members(members) = &odd else { panic!("{odd:?}") };
        assert_eq!(odd.get("a").and_then(Written::as_str).map(|text| text.trim_end_matches('.').len()), Some(14));
        assert_eq!(
            members[1].1,
            Written::List(vec![Written::Unread("1e400".to_owned()), Written::Number((-1).into())])
        );
        assert_eq!(serde_json::to_string(&members[2].1).unwrap(), r#"{"d":true,"d":"e"}"#);
        for depth in [127, 5_000] {
            let deep = written(&format!(r#"{{"a":{}"in"{},"b":"beside"}}"#, "[".repeat(depth), "]".repeat(depth)));
            assert_eq!(deep.get("b").and_then(Written::as_str), Some("beside"));
            assert!(format!("{deep:?}").contains("Unread"));
        }
        assert_eq!(written(&format!("[\"\\ud83d{}\"]", "x".repeat(LARGEST))).get("a"), None);
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            // Few digits: how exactly more are read is a matter of how the parser was built.
            any::<i32>().prop_map(|number| Value::from(f64::from(number) / 8.0)),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::hash_map(any::<String>(), inner, 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_plain_is_the_same_either_way(value in value()) {
            let text = value.to_string();
            prop_assert_eq!(written(&text), Written::from(&value));
            prop_assert_eq!(serde_json::to_string(&written(&text)).unwrap(), text.clone());
            prop_assert_eq!(piece(&text, 0), Written::from(&value));
        }

        #[test]
        fn any_json_is_read(text in r#"[\[{]?("(a|\\ud83d|\\udc00)?"[:,]|1e999,|[\[\]{}:,"]|null|-?[0-9.]){0,40}"#) {
            if let Ok(raw) = raw_of(&text) {
                let read = Written::from(&raw);
                prop_assert!(serde_json::to_string(&read).unwrap().len() <= 8 * text.len());
            }
        }
    }
}
