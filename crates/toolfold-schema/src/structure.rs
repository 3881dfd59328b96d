//! Lists and objects against the keywords that speak of what is in them.

use serde_json::{Map, Value};

use crate::equal::all_differ;
use crate::evaluate::{Decision, Findings, Place, Run};
use crate::evaluated::Evaluated;
use crate::keyword::{Keyword, NodeId, Properties, Size};
use crate::violation::Flaw;

/// Names that are listed in one problem.
const MOST_NAMES: usize = 50;

impl<'s> Run<'s, '_> {
    pub(crate) fn of_list(
        &mut self,
        id: NodeId,
        keyword: &'s Keyword,
        items: &[Value],
        at: &Place<'_>,
        found: &mut Findings<'s>,
    ) -> Decision {
        let length = items.len() as u64;
        match keyword {
            Keyword::ItemCount(Size::Least, limit) if length < *limit => {
                self.wrong(id, at, found, || Flaw::MinItems(*limit))
            }
            Keyword::ItemCount(Size::Most, limit) if length > *limit => {
                self.wrong(id, at, found, || Flaw::MaxItems(*limit))
            }
            Keyword::UniqueItems if !all_differ(items, self.fuel)? => self.wrong(id, at, found, || Flaw::UniqueItems),
            Keyword::Contains { item, least, most } => {
                let (mut count, most) = (0, most.unwrap_or(u64::MAX));
                for value in items {
                    count += u64::from(self.quietly(*item, value)?);
                }
                let fits = count >= *least && count <= most;
                if fits { Ok(true) } else { self.wrong(id, at, found, || Flaw::Contains) }
            }
            Keyword::Items { before, rest } => {
                // `false` for all others is said once, not of each.
                if let Some(rest) = rest
                    && self.get(*rest).verdict == Some(false)
                    && items.len() > before.len()
                {
                    let extra = items.len() - before.len();
                    return self.wrong(id, at, found, || Flaw::AdditionalItems(extra));
                }
                let mut valid = true;
                for (n, value) in items.iter().enumerate() {
                    let Some(node) = before.get(n).or(rest.as_ref()) else { break };
                    valid &= self.node(*node, value, &Place::Item(at, n), found)?;
                    if !valid && found.is_full() {
                        break;
                    }
                }
                Ok(valid)
            }
            _ => Ok(true),
        }
    }

    pub(crate) fn of_object(
        &mut self,
        id: NodeId,
        keyword: &'s Keyword,
        members: &Map<String, Value>,
        at: &Place<'_>,
        found: &mut Findings<'s>,
    ) -> Decision {
        let size = members.len() as u64;
        match keyword {
            Keyword::Properties(properties) => self.properties(id, properties, members, at, found),
            Keyword::PropertyCount(Size::Least, limit) if size < *limit => {
                self.wrong(id, at, found, || Flaw::MinProperties(*limit))
            }
            Keyword::PropertyCount(Size::Most, limit) if size > *limit => {
                self.wrong(id, at, found, || Flaw::MaxProperties(*limit))
            }
            Keyword::PropertyNames(node) => {
                let mut valid = true;
                for key in members.keys() {
                    self.fuel.burn_for(key.len(), 16)?;
                    let name = Value::from(key.as_str());
                    let mut inside = Findings { list: Vec::new(), most: usize::from(!found.is_full()) };
                    if !self.node(*node, &name, &Place::Whole, &mut inside)? {
                        valid = false;
                        let what = inside.list.first().map(|problem| problem.text(&name.to_string()));
                        self.wrong(id, at, found, || Flaw::PropertyName(what.unwrap_or_default()))?;
                        if found.is_full() {
                            break;
                        }
                    }
                }
                Ok(valid)
            }
            Keyword::Required(names) => self.required(id, names, members, at, found),
            Keyword::DependentRequired(dependencies) => {
                let mut valid = true;
                for (name, names) in dependencies {
                    self.fuel.burn(1)?;
                    if members.contains_key(name) {
                        valid &= self.required(id, names, members, at, found)?;
                    }
                }
                Ok(valid)
            }
            _ => Ok(true),
        }
    }

    fn required(
        &mut self,
        id: NodeId,
        names: &'s [String],
        members: &Map<String, Value>,
        at: &Place<'_>,
        found: &mut Findings<'s>,
    ) -> Decision {
        let mut valid = true;
        for name in names {
            self.fuel.burn_for(name.len(), 32)?;
            if !members.contains_key(name) {
                valid = self.wrong(id, at, found, || Flaw::Required(name))?;
                if found.is_full() {
                    break;
                }
            }
        }
        Ok(valid)
    }

    fn properties(
        &mut self,
        id: NodeId,
        properties: &'s Properties,
        members: &Map<String, Value>,
        at: &Place<'_>,
        found: &mut Findings<'s>,
    ) -> Decision {
        let mut valid = true;
        let mut unexpected = Vec::new();
        for (key, value) in members {
            self.fuel.burn_for(key.len(), 32)?;
            let place = Place::Member(at, key);
            let named = properties.named.get(key);
            if let Some(node) = named {
                valid &= self.node(*node, value, &place, found)?;
            }
            let mut known = named.is_some();
            for (pattern, node) in &properties.patterns {
                // What cannot be told is taken for found, and for fitting.
                match self.schema.patterns[*pattern].finds(key, self.fuel)? {
                    Some(true) => {
                        known = true;
                        valid &= self.node(*node, value, &place, found)?;
                    }
                    Some(false) => {}
                    None => known = true,
                }
            }
            match properties.additional.filter(|_| !known) {
                Some(node) if self.get(node).verdict == Some(false) => {
                    valid = false;
                    if unexpected.len() < MOST_NAMES && !found.is_full() {
                        unexpected.push(key.clone());
                    }
                }
                Some(node) => valid &= self.node(node, value, &place, found)?,
                None => {}
            }
            if !valid && found.is_full() {
                return Ok(false);
            }
        }
        if !unexpected.is_empty() {
            self.wrong(id, at, found, || Flaw::AdditionalProperties(unexpected))?;
        }
        Ok(valid)
    }

    pub(crate) fn unevaluated_items(
        &mut self,
        id: NodeId,
        keyword: &'s Keyword,
        value: &Value,
        at: &Place<'_>,
        found: &mut Findings<'s>,
    ) -> Decision {
        let (Keyword::UnevaluatedItems(node), Value::Array(items)) = (keyword, value) else { return Ok(true) };
        let mut seen = Evaluated::default();
        self.mark(id, value, &mut seen, true)?;
        let mut extra = 0;
        for (n, item) in items.iter().enumerate() {
            if !seen.has_item(n) && !self.quietly(*node, item)? {
                extra += 1;
            }
        }
        if extra == 0 { Ok(true) } else { self.wrong(id, at, found, || Flaw::UnevaluatedItems(extra)) }
    }

    pub(crate) fn unevaluated_properties(
        &mut self,
        id: NodeId,
        keyword: &'s Keyword,
        value: &Value,
        at: &Place<'_>,
        found: &mut Findings<'s>,
    ) -> Decision {
        let (Keyword::UnevaluatedProperties(node), Value::Object(members)) = (keyword, value) else { return Ok(true) };
        let mut seen = Evaluated::default();
        self.mark(id, value, &mut seen, true)?;
        let mut unexpected = Vec::new();
        for (key, inner) in members {
            if !seen.has_member(key) && !self.quietly(*node, inner)? && unexpected.len() < MOST_NAMES {
                unexpected.push(key.clone());
            }
        }
        let fits = unexpected.is_empty();
        if fits { Ok(true) } else { self.wrong(id, at, found, || Flaw::UnevaluatedProperties(unexpected)) }
    }
}
