//! A value against a schema. Every step burns, depth has an end, and the first thing that has no answer ends the whole
//! check: half an answer is none.

use std::cmp::Ordering;

use serde_json::Value;
use toolfold_core::Fuel;

use crate::equal::same;
use crate::keyword::{Bound, Keyword, Node, NodeId, Size};
use crate::number::{compare, is_multiple};
use crate::violation::{Flaw, Violation};
use crate::{DEEPEST, Schema, Undecided};

pub(crate) type Decision = Result<bool, Undecided>;

pub(crate) fn is_valid(schema: &Schema, value: &Value, fuel: &Fuel) -> Decision {
    Run::new(schema, fuel).quietly(0, value)
}

pub(crate) fn problems<'s>(
    schema: &'s Schema,
    value: &Value,
    most: usize,
    fuel: &Fuel,
) -> Result<Vec<Violation<'s>>, Undecided> {
    let mut found = Findings { list: Vec::new(), most };
    Run::new(schema, fuel).node(0, value, &Place::Whole, &mut found)?;
    Ok(found.list)
}

/// Where in the value a check is: a list that lives on the stack, and becomes text only where something is wrong.
pub(crate) enum Place<'p> {
    Whole,
    Member(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, usize),
}

impl Place<'_> {
    fn pointer(&self) -> String {
        match self {
            Place::Whole => String::new(),
            Place::Member(above, key) => {
                format!("{}/{}", above.pointer(), key.replace('~', "~0").replace('/', "~1"))
            }
            Place::Item(above, n) => format!("{}/{n}", above.pointer()),
        }
    }
}

/// Problems as they are found; none are wanted where only the answer counts, and then the first one ends the search.
pub(crate) struct Findings<'s> {
    pub(crate) list: Vec<Violation<'s>>,
    pub(crate) most: usize,
}

impl Findings<'_> {
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= self.most
    }
}

pub(crate) struct Run<'s, 'f> {
    pub(crate) schema: &'s Schema,
    pub(crate) fuel: &'f Fuel,
    /// The schemas being applied, outermost first, each with its value's place in memory.
    trail: Vec<(NodeId, *const Value)>,
    /// The resources gone through on the way, outermost first.
    scope: Vec<usize>,
}

impl<'s, 'f> Run<'s, 'f> {
    fn new(schema: &'s Schema, fuel: &'f Fuel) -> Self {
        Run { schema, fuel, trail: Vec::new(), scope: Vec::new() }
    }

    pub(crate) fn quietly(&mut self, node: NodeId, value: &Value) -> Decision {
        self.node(node, value, &Place::Whole, &mut Findings { list: Vec::new(), most: 0 })
    }

    /// Whether a value fits a schema.
    pub(crate) fn node(&mut self, id: NodeId, value: &Value, at: &Place<'_>, found: &mut Findings<'s>) -> Decision {
        self.fuel.burn(1)?;
        let node = self.get(id);
        if let Some(verdict) = node.verdict {
            return if verdict { Ok(true) } else { self.wrong(id, at, found, || Flaw::False) };
        }
        self.enter(id, value)?;
        let mut valid = true;
        for keyword in &node.keywords {
            self.fuel.burn(1)?;
            if !self.keyword(id, keyword, value, at, found)? {
                valid = false;
                if found.is_full() {
                    break;
                }
            }
        }
        self.leave();
        Ok(valid)
    }

    pub(crate) fn get(&self, id: NodeId) -> &'s Node {
        &self.schema.nodes[id as usize]
    }

    pub(crate) fn enter(&mut self, id: NodeId, value: &Value) -> Result<(), Undecided> {
        if self.trail.len() >= DEEPEST {
            return Err(self.why_so_deep());
        }
        self.trail.push((id, value));
        self.scope.push(self.get(id).resource);
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        self.trail.pop();
        self.scope.pop();
    }

    /// The same schema for the same value twice on the way down would go on for ever.
    fn why_so_deep(&self) -> Undecided {
        let mut seen = std::collections::HashSet::new();
        if self.trail.iter().all(|step| seen.insert(*step)) { Undecided::TooDeep } else { Undecided::Endless }
    }

    pub(crate) fn wrong(
        &self,
        id: NodeId,
        at: &Place<'_>,
        found: &mut Findings<'s>,
        kind: impl FnOnce() -> Flaw<'s>,
    ) -> Decision {
        if !found.is_full() {
            found.list.push(Violation { kind: kind(), at: at.pointer(), schema: self.schema.text_of(id) });
        }
        Ok(false)
    }

    fn keyword(
        &mut self,
        id: NodeId,
        keyword: &'s Keyword,
        value: &Value,
        at: &Place<'_>,
        found: &mut Findings<'s>,
    ) -> Decision {
        match keyword {
            Keyword::Ref(target) => self.node(*target, value, at, found),
            Keyword::DynamicRef(..) | Keyword::RecursiveRef(_) => {
                let target = self.dynamic_target(keyword);
                self.node(target, value, at, found)
            }
            Keyword::Type(types) if types.take(value) => Ok(true),
            Keyword::Type(types) => self.wrong(id, at, found, || Flaw::Type(&types.names)),
            Keyword::Enum(options) => self.one_of(id, options, value, at, found),
            Keyword::Const(wanted) if same(wanted, value, self.fuel)? => Ok(true),
            Keyword::Const(wanted) => self.wrong(id, at, found, || Flaw::Const(wanted)),
            Keyword::Bound(..) | Keyword::MultipleOf(_) => self.of_number(id, keyword, value, at, found),
            Keyword::Length(..) | Keyword::Pattern(_) => self.of_text(id, keyword, value, at, found),
            Keyword::Items { .. } | Keyword::ItemCount(..) | Keyword::UniqueItems | Keyword::Contains { .. } => {
                match value {
                    Value::Array(items) => self.of_list(id, keyword, items, at, found),
                    _ => Ok(true),
                }
            }
            Keyword::UnevaluatedItems(_) => self.unevaluated_items(id, keyword, value, at, found),
            Keyword::UnevaluatedProperties(_) => self.unevaluated_properties(id, keyword, value, at, found),
            Keyword::DependentSchemas(schemas) => {
                let mut valid = true;
                for (name, node) in schemas {
                    self.fuel.burn(1)?;
                    if value.as_object().is_some_and(|members| members.contains_key(name)) {
                        valid &= self.node(*node, value, at, found)?;
                    }
                }
                Ok(valid)
            }
            Keyword::Properties(_)
            | Keyword::PropertyCount(..)
            | Keyword::PropertyNames(_)
            | Keyword::Required(_)
            | Keyword::DependentRequired(_) => match value {
                Value::Object(members) => self.of_object(id, keyword, members, at, found),
                _ => Ok(true),
            },
            _ => self.choice(id, keyword, value, at, found),
        }
    }

    /// Who came here first decides what a dynamic reference means.
    pub(crate) fn dynamic_target(&self, keyword: &Keyword) -> NodeId {
        let resources = self.scope.iter().filter_map(|resource| self.schema.resources.get(*resource));
        match keyword {
            Keyword::DynamicRef(target, Some(name)) => {
                resources.filter_map(|resource| resource.dynamic.get(name)).next().copied().unwrap_or(*target)
            }
            Keyword::RecursiveRef(target) => {
                let own = self.schema.resources.get(self.get(*target).resource);
                let first = resources.filter_map(|resource| resource.recursive).next();
                own.and_then(|own| own.recursive).and(first).unwrap_or(*target)
            }
            Keyword::DynamicRef(target, None) | Keyword::Ref(target) => *target,
            _ => 0,
        }
    }

    fn one_of(
        &mut self,
        id: NodeId,
        options: &'s [Value],
        value: &Value,
        at: &Place<'_>,
        found: &mut Findings<'s>,
    ) -> Decision {
        for option in options {
            if same(option, value, self.fuel)? {
                return Ok(true);
            }
        }
        self.wrong(id, at, found, || Flaw::Enum(options))
    }

    fn of_number(
        &mut self,
        id: NodeId,
        keyword: &'s Keyword,
        value: &Value,
        at: &Place<'_>,
        found: &mut Findings<'s>,
    ) -> Decision {
        let Value::Number(number) = value else { return Ok(true) };
        self.fuel.burn(2)?;
        match keyword {
            Keyword::Bound(bound, limit) => {
                let order = compare(number, limit);
                let (fits, kind) = match bound {
                    Bound::Minimum => (order != Ordering::Less, Flaw::Minimum(limit)),
                    Bound::Maximum => (order != Ordering::Greater, Flaw::Maximum(limit)),
                    Bound::ExclusiveMinimum => (order == Ordering::Greater, Flaw::ExclusiveMinimum(limit)),
                    Bound::ExclusiveMaximum => (order == Ordering::Less, Flaw::ExclusiveMaximum(limit)),
                };
                if fits { Ok(true) } else { self.wrong(id, at, found, || kind) }
            }
            Keyword::MultipleOf(of) if !is_multiple(number, of) => self.wrong(id, at, found, || Flaw::MultipleOf(of)),
            _ => Ok(true),
        }
    }

    fn of_text(
        &mut self,
        id: NodeId,
        keyword: &'s Keyword,
        value: &Value,
        at: &Place<'_>,
        found: &mut Findings<'s>,
    ) -> Decision {
        let Value::String(text) = value else { return Ok(true) };
        match keyword {
            Keyword::Length(size, limit) => {
                self.fuel.burn_for(text.len(), 16)?;
                let length = text.chars().count() as u64;
                match size {
                    Size::Least if length < *limit => self.wrong(id, at, found, || Flaw::MinLength(*limit)),
                    Size::Most if length > *limit => self.wrong(id, at, found, || Flaw::MaxLength(*limit)),
                    _ => Ok(true),
                }
            }
            Keyword::Pattern(place) => {
                let pattern = &self.schema.patterns[*place];
                match pattern.finds(text, self.fuel)? {
                    Some(false) => self.wrong(id, at, found, || Flaw::Pattern(&pattern.text)),
                    _ => Ok(true),
                }
            }
            _ => Ok(true),
        }
    }

    fn choice(
        &mut self,
        id: NodeId,
        keyword: &'s Keyword,
        value: &Value,
        at: &Place<'_>,
        found: &mut Findings<'s>,
    ) -> Decision {
        match keyword {
            Keyword::AllOf(nodes) => {
                let mut valid = true;
                for node in nodes {
                    valid &= self.node(*node, value, at, found)?;
                    if !valid && found.is_full() {
                        break;
                    }
                }
                Ok(valid)
            }
            Keyword::AnyOf(nodes) => {
                for node in nodes {
                    if self.quietly(*node, value)? {
                        return Ok(true);
                    }
                }
                self.wrong(id, at, found, || Flaw::AnyOf)
            }
            Keyword::OneOf(nodes) => {
                let mut fitting = 0;
                for node in nodes {
                    fitting += usize::from(self.quietly(*node, value)?);
                    if fitting > 1 {
                        return self.wrong(id, at, found, || Flaw::OneOfSeveral);
                    }
                }
                if fitting == 1 { Ok(true) } else { self.wrong(id, at, found, || Flaw::OneOfNone) }
            }
            Keyword::Not(node) if self.quietly(*node, value)? => {
                let schema = self.schema.text_of(*node);
                self.wrong(id, at, found, || Flaw::Not(schema))
            }
            Keyword::If { condition, then, otherwise } => {
                let next = if self.quietly(*condition, value)? { then } else { otherwise };
                next.map_or(Ok(true), |node| self.node(node, value, at, found))
            }
            _ => Ok(true),
        }
    }
}

impl Schema {
    /// The text of a node's schema, for whoever has to be told.
    fn text_of(&self, id: NodeId) -> &Value {
        let address = self.nodes[id as usize].address;
        if id == 0 { &self.root } else { find(&self.root, address).unwrap_or(&self.root) }
    }
}

/// Only where something is wrong: looking through a document costs more than most checks.
fn find(value: &Value, address: usize) -> Option<&Value> {
    if std::ptr::from_ref(value).addr() == address {
        return Some(value);
    }
    match value {
        Value::Object(members) => members.values().find_map(|inner| find(inner, address)),
        Value::Array(items) => items.iter().find_map(|inner| find(inner, address)),
        _ => None,
    }
}
