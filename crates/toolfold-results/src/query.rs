//! JMESPath over a JSON text, within counted work.
//!
//! The grammar is read by the crate `jmespath`; what is read is evaluated here, because its own evaluation has no bound:
//! `[@,@][]` doubles a list, and ninety of them fit into a thousand characters.

use jmespath::ast::{Ast, Comparator};
use serde_json::Value;
use toolfold_core::{Fuel, Spent};

use crate::functions;
use crate::operand::{Operand, Type};

/// The longest expression that is read: its parser calls itself for every parenthesis.
const LONGEST: usize = 1_000;
/// The largest text that is read into values, which take several times as much.
pub(crate) const LARGEST: usize = 8 << 20;
/// What of it becomes values: an element of a list counts once, a member of an object, which takes four times as much, four times.
const MOST_VALUES: usize = 1_500_000;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    #[error("it has more than {LONGEST} characters")]
    TooLong,
    #[error(
        "the result has more than {LARGEST} bytes or {MOST_VALUES} values, which is more than a query can read: use `grep`, or `offset` and `limit`"
    )]
    TooLarge,
    #[error("{0}")]
    Syntax(String),
    #[error("{0}")]
    Call(String),
    #[error(transparent)]
    Spent(#[from] Spent),
}

/// What the expression makes of the text, as JSON.
pub fn query(expression: &str, json: &str, fuel: &Fuel) -> Result<String, QueryError> {
    if expression.chars().count() > LONGEST {
        return Err(QueryError::TooLong);
    }
    if json.len() > LARGEST || values(json) > MOST_VALUES {
        return Err(QueryError::TooLarge);
    }
    let tree = jmespath::parse(expression).map_err(|error| QueryError::Syntax(first_line(&error.to_string())))?;
    fuel.burn_for(json.len(), 16)?;
    let value: Value = serde_json::from_str(json).map_err(|error| QueryError::Syntax(error.to_string()))?;
    let mut literals = Vec::new();
    gather(&tree, &mut literals);
    let evaluation = Evaluation { literals: &literals, fuel };
    let mut out = String::new();
    evaluation.of(&tree, &Operand::Part(&value))?.write(&mut out, fuel)?;
    Ok(out)
}

/// What a text takes as values, guessed by its punctuation. Letters of texts are taken for it too: prose has little of it.
fn values(json: &str) -> usize {
    json.bytes().map(|byte| usize::from(byte == b',') + 4 * usize::from(byte == b':')).sum()
}

/// The values that stand in the expression itself, each with its place there: what is computed may refer to them.
fn gather(tree: &Ast, literals: &mut Vec<(usize, Value)>) {
    let mut all = |parts: &[&Ast]| parts.iter().for_each(|part| gather(part, literals));
    match tree {
        Ast::Literal { offset, value } => {
            literals.push((*offset, serde_json::to_value(&**value).unwrap_or_default()));
        }
        Ast::Comparison { lhs, rhs, .. }
        | Ast::Projection { lhs, rhs, .. }
        | Ast::And { lhs, rhs, .. }
        | Ast::Or { lhs, rhs, .. }
        | Ast::Subexpr { lhs, rhs, .. } => all(&[lhs, rhs]),
        Ast::Condition { predicate, then, .. } => all(&[predicate, then]),
        Ast::Expref { ast, .. } => all(&[ast]),
        Ast::Flatten { node, .. } | Ast::Not { node, .. } | Ast::ObjectValues { node, .. } => all(&[node]),
        Ast::Function { args, .. } => all(&args.iter().collect::<Vec<_>>()),
        Ast::MultiList { elements, .. } => all(&elements.iter().collect::<Vec<_>>()),
        Ast::MultiHash { elements, .. } => all(&elements.iter().map(|pair| &pair.value).collect::<Vec<_>>()),
        Ast::Identity { .. } | Ast::Field { .. } | Ast::Index { .. } | Ast::Slice { .. } => {}
    }
}

pub(crate) struct Evaluation<'a> {
    literals: &'a [(usize, Value)],
    pub(crate) fuel: &'a Fuel,
}

impl<'a> Evaluation<'a> {
    pub(crate) fn of(&self, tree: &Ast, on: &Operand<'a>) -> Result<Operand<'a>, QueryError> {
        self.fuel.burn(1)?;
        match tree {
            Ast::Identity { .. } => Ok(on.clone()),
            Ast::Field { name, .. } => Ok(on.member(name, self.fuel)?),
            Ast::Literal { offset, .. } => {
                let literal = self.literals.iter().find(|(known, _)| known == offset);
                Ok(literal.map_or_else(Operand::null, |(_, value)| Operand::Part(value)))
            }
            Ast::Subexpr { lhs, rhs, .. } => self.of(rhs, &self.of(lhs, on)?),
            Ast::Index { idx, .. } => self.index(on, *idx),
            Ast::Slice { start, stop, step, .. } => self.slice(on, *start, *stop, *step),
            Ast::Projection { lhs, rhs, .. } => self.projection(lhs, rhs, on),
            Ast::Flatten { node, .. } => self.flatten(&self.of(node, on)?),
            Ast::ObjectValues { node, .. } => {
                let members = self.of(node, on)?.members(self.fuel)?;
                Ok(members.map_or_else(Operand::null, |members| {
                    Operand::list(members.into_iter().map(|(_, value)| value).collect())
                }))
            }
            Ast::Condition { predicate, then, .. } => {
                if self.of(predicate, on)?.is_truthy() {
                    self.of(then, on)
                } else {
                    Ok(Operand::null())
                }
            }
            Ast::And { lhs, rhs, .. } => {
                let left = self.of(lhs, on)?;
                if left.is_truthy() { self.of(rhs, on) } else { Ok(left) }
            }
            Ast::Or { lhs, rhs, .. } => {
                let left = self.of(lhs, on)?;
                if left.is_truthy() { Ok(left) } else { self.of(rhs, on) }
            }
            Ast::Not { node, .. } => Ok(Operand::boolean(!self.of(node, on)?.is_truthy())),
            Ast::Comparison { comparator, lhs, rhs, .. } => {
                self.compared(comparator, &self.of(lhs, on)?, &self.of(rhs, on)?)
            }
            Ast::MultiList { .. } | Ast::MultiHash { .. } if on.is_null() => Ok(Operand::null()),
            Ast::MultiList { elements, .. } => {
                // A list that is made takes more room than a part that is passed on.
                self.fuel.burn(3 + elements.len() as u64)?;
                let elements: Result<Vec<_>, _> = elements.iter().map(|element| self.of(element, on)).collect();
                elements.map(Operand::list)
            }
            Ast::MultiHash { elements, .. } => {
                let pair = |pair: &jmespath::ast::KeyValuePair| {
                    self.fuel.burn_for(pair.key.len(), 8)?;
                    Ok((pair.key.as_str().into(), self.of(&pair.value, on)?))
                };
                let members: Result<Vec<_>, QueryError> = elements.iter().map(pair).collect();
                members.map(|members| Operand::Object(members.into()))
            }
            Ast::Function { name, args, .. } => functions::call(self, name, args, on),
            Ast::Expref { .. } => {
                Err(QueryError::Call("`&…` stands for something in a call of a function alone".into()))
            }
        }
    }

    fn index(&self, on: &Operand<'a>, index: i32) -> Result<Operand<'a>, QueryError> {
        let Some(items) = self.list(on)? else { return Ok(Operand::null()) };
        let index = index as i64;
        let place = if index < 0 { index + items.len() as i64 } else { index };
        let found = usize::try_from(place).ok().and_then(|place| items.get(place).cloned());
        Ok(found.unwrap_or_else(Operand::null))
    }

    fn slice(
        &self,
        on: &Operand<'a>,
        start: Option<i32>,
        stop: Option<i32>,
        step: i32,
    ) -> Result<Operand<'a>, QueryError> {
        if step == 0 {
            return Err(QueryError::Call("a slice goes in steps of 1 or more, or -1 or less".into()));
        }
        let Some(items) = self.list(on)? else { return Ok(Operand::null()) };
        let (count, step) = (items.len() as i64, i64::from(step));
        let (first, last) = if step > 0 { (0, count) } else { (-1, count - 1) };
        let bound = |given: Option<i32>, usual: i64| match given.map(i64::from) {
            None => usual,
            Some(place) => (if place < 0 { place + count } else { place }).clamp(first, last),
        };
        let (mut place, end) =
            if step > 0 { (bound(start, 0), bound(stop, count)) } else { (bound(start, count - 1), bound(stop, -1)) };
        let mut taken = Vec::new();
        while (step > 0 && place < end) || (step < 0 && place > end) {
            taken.extend(usize::try_from(place).ok().and_then(|place| items.get(place).cloned()));
            place += step;
        }
        Ok(Operand::list(taken))
    }

    fn projection(&self, lhs: &Ast, rhs: &Ast, on: &Operand<'a>) -> Result<Operand<'a>, QueryError> {
        let Some(items) = self.list(&self.of(lhs, on)?)? else { return Ok(Operand::null()) };
        let mut projected = Vec::new();
        for item in &items {
            let value = self.of(rhs, item)?;
            if !value.is_null() {
                projected.push(value);
            }
        }
        Ok(Operand::list(projected))
    }

    fn flatten(&self, list: &Operand<'a>) -> Result<Operand<'a>, QueryError> {
        let Some(items) = self.list(list)? else { return Ok(Operand::null()) };
        let mut flat = Vec::new();
        for item in items {
            match self.list(&item)? {
                Some(inner) => flat.extend(inner),
                None => flat.push(item),
            }
        }
        Ok(Operand::list(flat))
    }

    fn compared(
        &self,
        comparator: &Comparator,
        left: &Operand<'a>,
        right: &Operand<'a>,
    ) -> Result<Operand<'a>, QueryError> {
        let is = match comparator {
            Comparator::Equal => return Ok(Operand::boolean(left.equals(right, self.fuel)?)),
            Comparator::NotEqual => return Ok(Operand::boolean(!left.equals(right, self.fuel)?)),
            Comparator::LessThan => std::cmp::Ordering::is_lt,
            Comparator::LessThanEqual => std::cmp::Ordering::is_le,
            Comparator::GreaterThan => std::cmp::Ordering::is_gt,
            Comparator::GreaterThanEqual => std::cmp::Ordering::is_ge,
        };
        // Only numbers are more or less.
        let numbers = left.kind() == Type::Number && right.kind() == Type::Number;
        let order = left.order(right).filter(|_| numbers);
        Ok(order.map_or_else(Operand::null, |order| Operand::boolean(is(order))))
    }

    pub(crate) fn list(&self, operand: &Operand<'a>) -> Result<Option<Vec<Operand<'a>>>, QueryError> {
        Ok(operand.items(self.fuel)?)
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
