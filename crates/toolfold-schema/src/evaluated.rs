//! Which members and items of a value some part of a schema has looked at: `unevaluatedProperties` and
//! `unevaluatedItems` speak of the rest.
//!
//! It is worked out anew by whoever asks, not carried along: hardly any schema asks.

use std::collections::HashSet;

use serde_json::Value;

use crate::Undecided;
use crate::evaluate::Run;
use crate::keyword::{Keyword, NodeId, Properties};

#[derive(Debug, Default)]
pub(crate) struct Evaluated {
    members: HashSet<String>,
    all_members: bool,
    /// All items before this one.
    items_before: usize,
    items: HashSet<usize>,
}

impl Evaluated {
    pub(crate) fn has_member(&self, name: &str) -> bool {
        self.all_members || self.members.contains(name)
    }

    pub(crate) fn has_item(&self, n: usize) -> bool {
        n < self.items_before || self.items.contains(&n)
    }
}

impl Run<'_, '_> {
    /// Marks what a node's keywords look at; `asking` leaves out the keyword that wants to know.
    pub(crate) fn mark(
        &mut self,
        id: NodeId,
        value: &Value,
        seen: &mut Evaluated,
        asking: bool,
    ) -> Result<(), Undecided> {
        self.fuel.burn(1)?;
        let schema = self.schema;
        self.enter(id, value)?;
        for keyword in &schema.nodes[id as usize].keywords {
            self.fuel.burn(1)?;
            self.mark_keyword(keyword, value, seen, asking)?;
        }
        self.leave();
        Ok(())
    }

    /// What does not fit has looked at nothing.
    fn mark_if_valid(&mut self, id: NodeId, value: &Value, seen: &mut Evaluated) -> Result<bool, Undecided> {
        let valid = self.quietly(id, value)?;
        if valid {
            self.mark(id, value, seen, false)?;
        }
        Ok(valid)
    }

    fn mark_keyword(
        &mut self,
        keyword: &Keyword,
        value: &Value,
        seen: &mut Evaluated,
        asking: bool,
    ) -> Result<(), Undecided> {
        match keyword {
            Keyword::Ref(_) | Keyword::DynamicRef(..) | Keyword::RecursiveRef(_) => {
                let target = self.dynamic_target(keyword);
                self.mark_if_valid(target, value, seen)?;
            }
            Keyword::AllOf(nodes) | Keyword::AnyOf(nodes) | Keyword::OneOf(nodes) => {
                for node in nodes {
                    self.mark_if_valid(*node, value, seen)?;
                }
            }
            Keyword::If { condition, then, otherwise } => {
                let next = if self.mark_if_valid(*condition, value, seen)? { then } else { otherwise };
                if let Some(node) = next {
                    self.mark_if_valid(*node, value, seen)?;
                }
            }
            Keyword::DependentSchemas(schemas) => {
                for (name, node) in schemas {
                    self.fuel.burn(1)?;
                    if value.get(name).is_some() {
                        self.mark_if_valid(*node, value, seen)?;
                    }
                }
            }
            Keyword::Properties(properties) => self.mark_properties(properties, value, seen)?,
            Keyword::UnevaluatedProperties(_) if !asking => seen.all_members = true,
            Keyword::Items { before, rest } => {
                seen.items_before = seen.items_before.max(if rest.is_some() { usize::MAX } else { before.len() });
            }
            Keyword::UnevaluatedItems(_) if !asking => seen.items_before = usize::MAX,
            Keyword::Contains { item, .. } => {
                for (n, inner) in value.as_array().into_iter().flatten().enumerate() {
                    if self.quietly(*item, inner)? {
                        seen.items.insert(n);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn mark_properties(
        &mut self,
        properties: &Properties,
        value: &Value,
        seen: &mut Evaluated,
    ) -> Result<(), Undecided> {
        if properties.additional.is_some() {
            seen.all_members = true;
            return Ok(());
        }
        for key in value.as_object().into_iter().flatten().map(|(key, _)| key) {
            self.fuel.burn_for(key.len(), 16)?;
            let mut known = properties.named.contains_key(key);
            for (pattern, _) in &properties.patterns {
                known = known || self.schema.patterns[*pattern].finds(key, self.fuel)? != Some(false);
            }
            if known {
                seen.members.insert(key.clone());
            }
        }
        Ok(())
    }
}
