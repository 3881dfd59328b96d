//! The functions of JMESPath, as its specification has them.

use std::cmp::Ordering;

use jmespath::ast::Ast;
use serde_json::Value;

use crate::operand::{Named, Operand, Type};
use crate::query::{Evaluation, QueryError};

/// One call, with what its arguments come to.
struct Call<'c, 'a> {
    evaluation: &'c Evaluation<'a>,
    name: &'c str,
    given: Vec<Given<'c, 'a>>,
}

enum Given<'c, 'a> {
    Value(Operand<'a>),
    /// `&…`: evaluated for each element.
    Expression(&'c Ast),
}

type Outcome<'a> = Result<Operand<'a>, QueryError>;

pub(crate) fn call<'a>(evaluation: &Evaluation<'a>, name: &str, arguments: &[Ast], on: &Operand<'a>) -> Outcome<'a> {
    let mut given = Vec::with_capacity(arguments.len());
    for argument in arguments {
        given.push(match argument {
            Ast::Expref { ast, .. } => Given::Expression(ast),
            value => Given::Value(evaluation.of(value, on)?),
        });
    }
    let call = Call { evaluation, name, given };
    match name {
        "abs" => call.of_number(f64::abs),
        "ceil" => call.of_number(f64::ceil),
        "floor" => call.of_number(f64::floor),
        "avg" => call.average(),
        "sum" => call.takes(1).and_then(|()| Ok(Operand::number(call.numbers(0)?.iter().sum()))),
        "contains" => call.contains(),
        "starts_with" => call.of_texts(|text, part| text.starts_with(part)),
        "ends_with" => call.of_texts(|text, part| text.ends_with(part)),
        "join" => call.join(),
        "keys" => call.members(|(name, _)| Operand::text(&*name)),
        "values" => call.members(|(_, value)| value),
        "length" => call.length(),
        "map" => call.map(),
        "max" => call.extreme(Ordering::Greater),
        "min" => call.extreme(Ordering::Less),
        "max_by" => call.extreme_by(Ordering::Greater),
        "min_by" => call.extreme_by(Ordering::Less),
        "merge" => call.merge(),
        "not_null" => call.not_null(),
        "reverse" => call.reverse(),
        "sort" => call.sort(),
        "sort_by" => call.sort_by(),
        "to_array" => call.to_array(),
        "to_number" => call.to_number(),
        "to_string" => call.to_text(),
        "type" => call.takes(1).and_then(|()| Ok(Operand::text(call.value(0)?.kind().as_str()))),
        _ => Err(QueryError::Call(format!("there is no function `{}`", name.chars().take(40).collect::<String>()))),
    }
}

impl<'a> Call<'_, 'a> {
    fn wrong(&self, what: &str) -> QueryError {
        QueryError::Call(format!("`{}` {what}", self.name))
    }

    fn takes(&self, count: usize) -> Result<(), QueryError> {
        if self.given.len() == count { Ok(()) } else { Err(self.wrong(&format!("takes {count} arguments"))) }
    }

    fn value(&self, place: usize) -> Result<&Operand<'a>, QueryError> {
        match self.given.get(place) {
            Some(Given::Value(value)) => Ok(value),
            Some(Given::Expression(_)) => Err(self.wrong("takes a value, not an expression")),
            None => Err(self.wrong("takes more arguments")),
        }
    }

    fn expression(&self, place: usize) -> Result<&Ast, QueryError> {
        match self.given.get(place) {
            Some(Given::Expression(tree)) => Ok(tree),
            _ => Err(self.wrong("takes an expression, as in &name")),
        }
    }

    fn text(&self, place: usize) -> Result<&str, QueryError> {
        self.value(place)?.as_str().ok_or_else(|| self.wrong("takes text"))
    }

    fn list(&self, place: usize) -> Result<Vec<Operand<'a>>, QueryError> {
        self.evaluation.list(self.value(place)?)?.ok_or_else(|| self.wrong("takes a list"))
    }

    fn numbers(&self, place: usize) -> Result<Vec<f64>, QueryError> {
        let numbers = self.list(place)?.iter().map(Operand::as_number).collect::<Option<Vec<f64>>>();
        numbers.ok_or_else(|| self.wrong("takes a list of numbers"))
    }

    fn of_number(&self, work: fn(f64) -> f64) -> Outcome<'a> {
        self.takes(1)?;
        let number = self.value(0)?.as_number().ok_or_else(|| self.wrong("takes a number"))?;
        Ok(Operand::number(work(number)))
    }

    fn of_texts(&self, work: fn(&str, &str) -> bool) -> Outcome<'a> {
        self.takes(2)?;
        self.evaluation.fuel.burn_for(self.text(1)?.len(), 64)?;
        Ok(Operand::boolean(work(self.text(0)?, self.text(1)?)))
    }

    fn average(&self) -> Outcome<'a> {
        self.takes(1)?;
        let numbers = self.numbers(0)?;
        if numbers.is_empty() {
            return Ok(Operand::null());
        }
        Ok(Operand::number(numbers.iter().sum::<f64>() / numbers.len() as f64))
    }

    fn contains(&self) -> Outcome<'a> {
        self.takes(2)?;
        let (subject, wanted) = (self.value(0)?, self.value(1)?);
        if let Some(text) = subject.as_str() {
            self.evaluation.fuel.burn_for(text.len(), 8)?;
            return Ok(Operand::boolean(wanted.as_str().is_some_and(|part| text.contains(part))));
        }
        for item in self.list(0)? {
            if item.equals(wanted, self.evaluation.fuel)? {
                return Ok(Operand::boolean(true));
            }
        }
        Ok(Operand::boolean(false))
    }

    fn join(&self) -> Outcome<'a> {
        self.takes(2)?;
        let (between, items) = (self.text(0)?, self.list(1)?);
        let mut joined = String::new();
        for (place, item) in items.iter().enumerate() {
            let text = item.as_str().ok_or_else(|| self.wrong("takes a list of texts"))?;
            self.evaluation.fuel.burn_for(text.len() + between.len(), 8)?;
            joined.push_str(if place == 0 { "" } else { between });
            joined.push_str(text);
        }
        Ok(Operand::text(joined))
    }

    fn members(&self, part: fn(Named<'a>) -> Operand<'a>) -> Outcome<'a> {
        self.takes(1)?;
        let members = self.value(0)?.members(self.evaluation.fuel)?.ok_or_else(|| self.wrong("takes an object"))?;
        // A name that is a value is one more copy.
        for (name, _) in &members {
            self.evaluation.fuel.burn_for(16 + name.len(), 8)?;
        }
        Ok(Operand::list(members.into_iter().map(part).collect()))
    }

    fn length(&self) -> Outcome<'a> {
        self.takes(1)?;
        self.burn_letters(&[self.value(0)?.clone()], 1)?;
        let length = self.value(0)?.len().ok_or_else(|| self.wrong("takes a list, an object or text"))?;
        Ok(Operand::number(length as f64))
    }

    fn map(&self) -> Outcome<'a> {
        self.takes(2)?;
        let tree = self.expression(0)?;
        let mapped: Result<Vec<_>, _> = self.list(1)?.iter().map(|item| self.evaluation.of(tree, item)).collect();
        mapped.map(Operand::list)
    }

    /// Values that can all be held against each other.
    fn comparable(&self, values: &[Operand<'a>]) -> Result<(), QueryError> {
        let kind = values.first().map(Operand::kind);
        let fits = matches!(kind, None | Some(Type::Number | Type::String));
        if fits && values.iter().all(|value| Some(value.kind()) == kind) {
            self.evaluation.fuel.burn_for(values.len(), 1)?;
            return self.burn_letters(values, 1);
        }
        Err(self.wrong("compares numbers with numbers, or texts with texts"))
    }

    /// For looking through the texts among these so many times.
    fn burn_letters(&self, values: &[Operand<'a>], times: usize) -> Result<(), QueryError> {
        for text in values.iter().filter_map(Operand::as_str) {
            self.evaluation.fuel.burn((text.len() / 64 * times) as u64)?;
        }
        Ok(())
    }

    fn extreme(&self, wanted: Ordering) -> Outcome<'a> {
        self.takes(1)?;
        let items = self.list(0)?;
        self.comparable(&items)?;
        Ok(best(&items, &items, wanted))
    }

    /// What the expression makes of each element, beside the element.
    fn keyed(&self) -> Result<(Vec<Operand<'a>>, Vec<Operand<'a>>), QueryError> {
        self.takes(2)?;
        let (items, tree) = (self.list(0)?, self.expression(1)?);
        let keys: Result<Vec<_>, _> = items.iter().map(|item| self.evaluation.of(tree, item)).collect();
        let keys = keys?;
        self.comparable(&keys)?;
        Ok((items, keys))
    }

    fn extreme_by(&self, wanted: Ordering) -> Outcome<'a> {
        let (items, keys) = self.keyed()?;
        Ok(best(&items, &keys, wanted))
    }

    fn sort(&self) -> Outcome<'a> {
        self.takes(1)?;
        let items = self.list(0)?;
        self.comparable(&items)?;
        self.sorted(items.clone(), items)
    }

    fn sort_by(&self) -> Outcome<'a> {
        let (items, keys) = self.keyed()?;
        self.sorted(items, keys)
    }

    fn sorted(&self, items: Vec<Operand<'a>>, keys: Vec<Operand<'a>>) -> Outcome<'a> {
        let rounds = usize::BITS - items.len().leading_zeros();
        self.evaluation.fuel.burn_for(items.len() * rounds as usize, 1)?;
        self.burn_letters(&keys, rounds as usize)?;
        let mut pairs: Vec<_> = keys.into_iter().zip(items).collect();
        pairs.sort_by(|(one, _), (other, _)| one.order(other).unwrap_or(Ordering::Equal));
        Ok(Operand::list(pairs.into_iter().map(|(_, item)| item).collect()))
    }

    fn merge(&self) -> Outcome<'a> {
        let mut merged: indexmap::IndexMap<_, _> = indexmap::IndexMap::new();
        if self.given.is_empty() {
            return Err(self.wrong("takes more arguments"));
        }
        for place in 0..self.given.len() {
            let members = self.value(place)?.members(self.evaluation.fuel)?;
            merged.extend(members.ok_or_else(|| self.wrong("takes objects"))?);
        }
        Ok(Operand::Object(merged.into_iter().collect::<Vec<_>>().into()))
    }

    fn not_null(&self) -> Outcome<'a> {
        let first = self.value(0)?;
        for place in 0..self.given.len() {
            let value = self.value(place)?;
            if !value.is_null() {
                return Ok(value.clone());
            }
        }
        Ok(first.clone())
    }

    fn reverse(&self) -> Outcome<'a> {
        self.takes(1)?;
        if let Some(text) = self.value(0)?.as_str() {
            self.evaluation.fuel.burn_for(text.len(), 8)?;
            return Ok(Operand::text(text.chars().rev().collect::<String>()));
        }
        Ok(Operand::list(self.list(0)?.into_iter().rev().collect()))
    }

    fn to_array(&self) -> Outcome<'a> {
        self.takes(1)?;
        let value = self.value(0)?;
        Ok(if value.kind() == Type::Array { value.clone() } else { Operand::list(vec![value.clone()]) })
    }

    fn to_number(&self) -> Outcome<'a> {
        self.takes(1)?;
        let value = self.value(0)?;
        Ok(match value.kind() {
            Type::Number => value.clone(),
            Type::String => {
                self.evaluation.fuel.burn_for(self.text(0)?.len(), 16)?;
                let read = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
                read.and_then(|read| read.as_f64()).map_or_else(Operand::null, Operand::number)
            }
            _ => Operand::null(),
        })
    }

    fn to_text(&self) -> Outcome<'a> {
        self.takes(1)?;
        let value = self.value(0)?;
        if value.kind() == Type::String {
            return Ok(value.clone());
        }
        let mut text = String::new();
        value.write(&mut text, self.evaluation.fuel)?;
        Ok(Operand::text(text))
    }
}

fn best<'a>(items: &[Operand<'a>], keys: &[Operand<'a>], wanted: Ordering) -> Operand<'a> {
    let mut best: Option<usize> = None;
    for place in 0..keys.len().min(items.len()) {
        if best.is_none_or(|known| keys[place].order(&keys[known]) == Some(wanted)) {
            best = Some(place);
        }
    }
    best.map_or_else(Operand::null, |place| items[place].clone())
}
