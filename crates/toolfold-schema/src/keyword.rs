//! A schema as it is checked against: nodes in one list, which refer to one another by their place in it. So a schema
//! that holds itself is no trouble, and neither is one that is shared.

use std::collections::HashMap;

use serde_json::{Number, Value};

pub(crate) type NodeId = u32;

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) keywords: Vec<Keyword>,
    /// `true` and `false` are schemas too.
    pub(crate) verdict: Option<bool>,
    pub(crate) resource: usize,
    /// Where the schema lies in memory. Nothing is read there: it is how its text is found again in the document, which
    /// does not change.
    pub(crate) address: usize,
}

#[derive(Debug)]
pub(crate) enum Keyword {
    Ref(NodeId),
    /// Where there is a name, whoever came here first decides what it means.
    DynamicRef(NodeId, Option<String>),
    RecursiveRef(NodeId),
    Type(Types),
    Enum(Vec<Value>),
    Const(Value),
    Bound(Bound, Number),
    MultipleOf(Number),
    Length(Size, u64),
    Pattern(usize),
    Items {
        before: Vec<NodeId>,
        rest: Option<NodeId>,
    },
    ItemCount(Size, u64),
    UniqueItems,
    Contains {
        item: NodeId,
        least: u64,
        most: Option<u64>,
    },
    Properties(Properties),
    PropertyCount(Size, u64),
    PropertyNames(NodeId),
    Required(Vec<String>),
    DependentRequired(Vec<(String, Vec<String>)>),
    DependentSchemas(Vec<(String, NodeId)>),
    AllOf(Vec<NodeId>),
    AnyOf(Vec<NodeId>),
    OneOf(Vec<NodeId>),
    Not(NodeId),
    If {
        condition: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
    UnevaluatedItems(NodeId),
    UnevaluatedProperties(NodeId),
}

#[derive(Debug, Default)]
pub(crate) struct Properties {
    pub(crate) named: HashMap<String, NodeId>,
    /// A pattern's place, and the schema of what it finds.
    pub(crate) patterns: Vec<(usize, NodeId)>,
    pub(crate) additional: Option<NodeId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    Least,
    Most,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Types {
    pub(crate) names: Vec<String>,
    /// Whether `1.0` is an integer.
    pub(crate) fractions_count: bool,
}

impl Types {
    pub(crate) fn take(&self, value: &Value) -> bool {
        self.names.iter().any(|name| match (name.as_str(), value) {
            ("object", Value::Object(_))
            | ("array", Value::Array(_))
            | ("string", Value::String(_))
            | ("boolean", Value::Bool(_))
            | ("null", Value::Null)
            | ("number", Value::Number(_)) => true,
            ("integer", Value::Number(number)) => crate::number::is_integer(number, self.fractions_count),
            _ => false,
        })
    }
}
