//! What is in a JSON text, in two levels: kinds and counts, and of a list the shape of its first element.
//!
//! Nothing is kept of what is passed over, so that the outline of a hundred megabytes costs as much memory as that of one.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Names of members that are told.
const MOST_MEMBERS: usize = 24;
/// Characters of a name.
const LONGEST_NAME: usize = 60;

#[derive(Debug, PartialEq)]
enum Shape {
    Plain(&'static str),
    List { count: usize, first: Option<Box<Shape>> },
    Object { members: Vec<(String, Shape)>, more: usize },
}

/// `None` where it is no JSON. In words, for a model: `object: items: list of 1204 objects {id: number, title: string}; total: number`.
pub(crate) fn outline(json: &str) -> Option<String> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let shape = Levels(3).deserialize(&mut reader).ok()?;
    reader.end().ok()?;
    Some(match &shape {
        Shape::Object { members, more } if !members.is_empty() => {
            let parts = members.iter().map(|(name, shape)| format!("\n  {name}: {}", said(shape)));
            format!("object{}{}", parts.collect::<String>(), and_more(*more, "\n  "))
        }
        other => said(other),
    })
}

fn said(shape: &Shape) -> String {
    match shape {
        Shape::Plain(kind) => (*kind).to_owned(),
        Shape::List { count: 0, .. } => "empty list".to_owned(),
        Shape::List { count, first } => {
            let of = first.as_ref().map_or_else(String::new, |first| format!(", each like: {}", said(first)));
            format!("list of {count}{of}")
        }
        // Below the second level there are numbers alone.
        Shape::Object { members, more } if members.is_empty() => format!("object of {more} members"),
        Shape::Object { members, more } => {
            let parts: Vec<String> = members.iter().map(|(name, shape)| format!("{name}: {}", said(shape))).collect();
            format!("{{{}{}}}", parts.join(", "), and_more(*more, ", "))
        }
    }
}

fn and_more(more: usize, before: &str) -> String {
    if more == 0 { String::new() } else { format!("{before}… {more} more") }
}

/// How many levels are still looked at.
struct Levels(usize);

impl<'de> DeserializeSeed<'de> for Levels {
    type Value = Shape;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Shape, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Levels {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(Shape::Plain("null"))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Shape, E> {
        Ok(Shape::Plain("boolean"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Shape, E> {
        Ok(Shape::Plain("number"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Shape, E> {
        Ok(Shape::Plain("number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Shape, E> {
        Ok(Shape::Plain("number"))
    }

    fn visit_str<E>(self, _: &str) -> Result<Shape, E> {
        Ok(Shape::Plain("string"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Shape, A::Error> {
        let mut count = 0;
        let mut first = None;
        if self.0 > 0 {
            first = list.next_element_seed(Levels(self.0 - 1))?.map(Box::new);
            count += usize::from(first.is_some());
        }
        while list.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(Shape::List { count, first })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Shape, A::Error> {
        let (mut members, mut more) = (Vec::new(), 0);
        while let Some(name) = map.next_key::<String>()? {
            if members.len() < MOST_MEMBERS && self.0 > 0 {
                let shape = map.next_value_seed(Levels(self.0 - 1))?;
                members.push((name.chars().take(LONGEST_NAME).collect(), shape));
            } else {
                map.next_value::<IgnoredAny>()?;
                more += 1;
            }
        }
        Ok(Shape::Object { members, more })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_levels_of_what_there_is() {
        let text =
            r#"{"items": [{"id": 1, "user": {"name": "ada", "tags": []}}, {"id": 2}], "total": 2, "next": null}"#;
        assert_eq!(
            outline(text).unwrap(),
            "object\n  items: list of 2, each like: {id: number, user: object of 2 members}\n  total: number\n  next: null"
        );
        assert_eq!(outline("[[1,2],[3]]").unwrap(), "list of 2, each like: list of 2, each like: number");
        assert_eq!(outline("[]").unwrap(), "empty list");
        assert_eq!((outline("{"), outline("[1]]")), (None, None));
    }

    #[test]
    fn many_members_are_counted_and_depth_ends() {
        let many: Vec<String> = (0..100).map(|n| format!("\"m{n}\": {n}")).collect();
        let said = outline(&format!("{{{}}}", many.join(","))).unwrap();
        assert!(said.ends_with("m23: number\n  … 76 more"), "{said}");
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert_eq!(
            outline(&deep).unwrap(),
            "list of 1, each like: list of 1, each like: list of 1, each like: list of 1"
        );
    }
}
