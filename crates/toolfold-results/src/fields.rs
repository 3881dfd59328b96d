//! `fields`: a JSON text cut to the paths that were asked for, before anybody reads it.
//!
//! `items.title` keeps `title` of each element of `items`: lists are passed through without being written (`items[].title` is
//! the same). Members stay in their order, elements in theirs, one that has none of the fields as `{}`, so that what is
//! third stays third. The text is never made into values: what is not asked for is passed over.

use std::fmt;

use indexmap::IndexMap;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Paths that one call may name, and how long each is.
const MOST_FIELDS: usize = 100;
const LONGEST_FIELD: usize = 200;

/// What is asked for, as a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fields(IndexMap<String, Wanted>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    Whole,
    Parts(Fields),
}

impl Fields {
    /// `None` where nothing is asked for that could be.
    pub fn parse<'a>(paths: impl IntoIterator<Item = &'a str>) -> Option<Fields> {
        let mut root = Fields(IndexMap::new());
        for path in paths.into_iter().filter(|path| path.len() <= LONGEST_FIELD).take(MOST_FIELDS) {
            let steps = path.split('.').map(|step| step.trim().trim_end_matches("[]").trim_end_matches("[*]"));
            let steps: Vec<&str> = steps.filter(|step| !step.is_empty() && *step != "$").collect();
            root.add(&steps);
        }
        (!root.0.is_empty()).then_some(root)
    }

    fn add(&mut self, steps: &[&str]) {
        let Some((first, rest)) = steps.split_first() else { return };
        if rest.is_empty() {
            self.0.insert((*first).to_owned(), Wanted::Whole);
            return;
        }
        let wanted = self.0.entry((*first).to_owned()).or_insert_with(|| Wanted::Parts(Fields(IndexMap::new())));
        // What is wanted whole already is not made less by asking for a part of it.
        if let Wanted::Parts(parts) = wanted {
            parts.add(rest);
        }
    }
}

/// The text with these fields alone; `None` where it is no JSON, or has no members at all.
pub fn cut(json: &str, fields: &Fields) -> Option<String> {
    if !json.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let mut out = String::new();
    let mut reader = serde_json::Deserializer::from_str(json);
    Cut { fields, out: &mut out }.deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(out)
}

struct Cut<'a> {
    fields: &'a Fields,
    out: &'a mut String,
}

impl Cut<'_> {
    /// A plain value has no fields. It stays where it is, as nothing.
    fn nothing<E>(self) -> Result<(), E> {
        self.out.push_str("null");
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Cut<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Cut<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.nothing()
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.nothing()
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.nothing()
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.nothing()
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.nothing()
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.nothing()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.out.push('[');
        let start = self.out.len();
        loop {
            let before = self.out.len();
            if before > start {
                self.out.push(',');
            }
            if list.next_element_seed(Cut { fields: self.fields, out: &mut *self.out })?.is_none() {
                self.out.truncate(before);
                break;
            }
        }
        self.out.push(']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.out.push('{');
        let start = self.out.len();
        while let Some(name) = map.next_key::<String>()? {
            let Some(wanted) = self.fields.0.get(&name) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if self.out.len() > start {
                self.out.push(',');
            }
            self.out.push_str(&serde_json::to_string(&name).map_err(A::Error::custom)?);
            self.out.push(':');
            match wanted {
                Wanted::Whole => self.out.push_str(map.next_value::<&RawValue>()?.get()),
                Wanted::Parts(fields) => map.next_value_seed(Cut { fields, out: &mut *self.out })?,
            }
        }
        self.out.push('}');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_to(json: &str, paths: &[&str]) -> Option<String> {
        cut(json, &Fields::parse(paths.iter().copied())?)
    }

    #[test]
    fn what_is_asked_for_stays_as_it_was() {
        let text = r#"{"total": 1e400, "items": [{"id": 1, "user": {"name": "Ada", "key": "k"}, "body": "…"}, {"id": 2}, 7], "x": 0}"#;
        let expected = r#"{"total":1e400,"items":[{"id":1,"user":{"name":"Ada"}},{"id":2},null]}"#;
        assert_eq!(cut_to(text, &["items.id", "items[].user.name", "$.total"]).unwrap(), expected);
        let whole = cut_to(text, &["items", "items.id"]).unwrap();
        assert!(whole.contains(r#""body": "…""#) && !whole.contains("total"), "{whole}");
        assert_eq!(cut_to(r#"[{"a": 1, "b": 2}, {"b": 3}]"#, &["a"]).unwrap(), r#"[{"a":1},{}]"#);
        assert_eq!(cut_to(r#"{"a": {"b": 1}}"#, &["c"]).unwrap(), "{}");
    }

    #[test]
    fn what_is_no_json_is_left_to_the_caller() {
        assert_eq!(cut_to("plain text", &["a"]), None);
        assert_eq!(cut_to(r#"{"a": 1"#, &["a"]), None);
        assert_eq!(cut_to(r#"{"a": 1} {"a": 2}"#, &["a"]), None);
        assert_eq!(Fields::parse(["", ".", "$"]), None);
        let long = "x".repeat(LONGEST_FIELD + 1);
        assert_eq!(Fields::parse([long.as_str()]), None);
    }
}
