//! Which edition of the specification a schema is written in, and where they differ.

use serde_json::Value;

use crate::vocabulary::{LIST, NAMED, ONE};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Draft {
    Four,
    Six,
    Seven,
    Y2019,
    Y2020,
}

impl Draft {
    /// What `$schema` says; the newest where it says nothing that is known.
    pub(crate) fn of(schema: &Value, usual: Draft) -> Draft {
        let Some(name) = schema.get("$schema").and_then(Value::as_str) else { return usual };
        let known = [
            ("draft-03/", Draft::Four),
            ("draft-04/", Draft::Four),
            ("draft-06/", Draft::Six),
            ("draft-07/", Draft::Seven),
            ("draft/2019-09/", Draft::Y2019),
            ("draft/2020-12/", Draft::Y2020),
        ];
        known.iter().find(|(part, _)| name.contains(part)).map_or(usual, |(_, draft)| *draft)
    }

    /// The name that a schema gives itself.
    pub(crate) fn id(self, schema: &Value) -> Option<&str> {
        // Up to draft 7, what stands beside a reference counts for nothing.
        if self <= Draft::Seven && schema.get("$ref").is_some() {
            return None;
        }
        schema.get(if self == Draft::Four { "id" } else { "$id" }).and_then(Value::as_str)
    }
}

/// The schemas directly below one, each with where it stands.
pub(crate) fn below(schema: &Value) -> impl Iterator<Item = &Value> {
    let members = schema.as_object().into_iter().flatten();
    members.flat_map(|(key, value)| -> Box<dyn Iterator<Item = &Value>> {
        match value {
            Value::Object(_) | Value::Bool(_) if ONE.contains(&key.as_str()) => Box::new(std::iter::once(value)),
            Value::Array(list) if LIST.contains(&key.as_str()) => Box::new(list.iter()),
            Value::Object(named) if NAMED.contains(&key.as_str()) => {
                Box::new(named.values().filter(|schema| schema.is_object() || schema.is_boolean()))
            }
            _ => Box::new(std::iter::empty()),
        }
    })
}
