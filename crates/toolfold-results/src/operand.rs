//! The values of a query: parts of the text that was read, by reference, and what was made of them, shared. To take a million
//! elements out of a list copies none of them.

use std::cmp::Ordering;
use std::rc::Rc;

use serde_json::{Number, Value};
use toolfold_core::{Fuel, Spent};

#[derive(Debug, Clone)]
pub(crate) enum Operand<'a> {
    Part(&'a Value),
    /// Not a list and not an object.
    Plain(Rc<Value>),
    List(Rc<Vec<Operand<'a>>>),
    Object(Rc<Vec<Named<'a>>>),
}

/// A member of an object, with its name.
pub(crate) type Named<'a> = (Rc<str>, Operand<'a>);

/// What JMESPath calls a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Type {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Type::Null => "null",
            Type::Boolean => "boolean",
            Type::Number => "number",
            Type::String => "string",
            Type::Array => "array",
            Type::Object => "object",
        }
    }
}

impl<'a> Operand<'a> {
    pub(crate) fn null() -> Self {
        Operand::Part(&Value::Null)
    }

    pub(crate) fn boolean(value: bool) -> Self {
        Operand::Part(if value { &Value::Bool(true) } else { &Value::Bool(false) })
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Operand::Plain(Rc::new(Value::String(text.into())))
    }

    /// A number that is whole is written as such.
    pub(crate) fn number(number: f64) -> Self {
        let whole = number.fract() == 0.0 && number.abs() < 9e15;
        let value = if whole { Some(Number::from(number as i64)) } else { Number::from_f64(number) };
        Operand::Plain(Rc::new(value.map_or(Value::Null, Value::Number)))
    }

    pub(crate) fn list(items: Vec<Operand<'a>>) -> Self {
        Operand::List(Rc::new(items))
    }

    /// The value, where it is one: a list or an object that was made here is not.
    fn plain(&self) -> Option<&Value> {
        match self {
            Operand::Part(value) => Some(value),
            Operand::Plain(value) => Some(value),
            Operand::List(_) | Operand::Object(_) => None,
        }
    }

    pub(crate) fn kind(&self) -> Type {
        match self {
            Operand::List(_) => Type::Array,
            Operand::Object(_) => Type::Object,
            _ => match self.plain() {
                None | Some(Value::Null) => Type::Null,
                Some(Value::Bool(_)) => Type::Boolean,
                Some(Value::Number(_)) => Type::Number,
                Some(Value::String(_)) => Type::String,
                Some(Value::Array(_)) => Type::Array,
                Some(Value::Object(_)) => Type::Object,
            },
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        self.kind() == Type::Null
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        self.plain().and_then(Value::as_str)
    }

    pub(crate) fn as_number(&self) -> Option<f64> {
        self.plain().and_then(Value::as_f64)
    }

    /// Nothing, no, and what is empty do not count as yes.
    pub(crate) fn is_truthy(&self) -> bool {
        match self {
            Operand::List(items) => !items.is_empty(),
            Operand::Object(members) => !members.is_empty(),
            _ => match self.plain() {
                None | Some(Value::Null | Value::Bool(false)) => false,
                Some(Value::String(text)) => !text.is_empty(),
                Some(Value::Array(items)) => !items.is_empty(),
                Some(Value::Object(members)) => !members.is_empty(),
                Some(Value::Bool(true) | Value::Number(_)) => true,
            },
        }
    }

    pub(crate) fn len(&self) -> Option<usize> {
        match self {
            Operand::List(items) => Some(items.len()),
            Operand::Object(members) => Some(members.len()),
            _ => match self.plain()? {
                Value::Array(items) => Some(items.len()),
                Value::Object(members) => Some(members.len()),
                Value::String(text) => Some(text.chars().count()),
                _ => None,
            },
        }
    }

    /// How many parts it has; none where it is neither a list nor an object. Letters are not counted: a text may be long.
    fn parts(&self) -> usize {
        match self {
            Operand::Part(Value::String(_)) | Operand::Plain(_) => 0,
            other => other.len().unwrap_or(0),
        }
    }

    pub(crate) fn member(&self, name: &str, fuel: &Fuel) -> Result<Operand<'a>, Spent> {
        Ok(match self {
            Operand::Part(Value::Object(members)) => members.get(name).map_or_else(Operand::null, Operand::Part),
            Operand::Object(members) => {
                fuel.burn_for(members.len(), 8)?;
                // The last of a name counts, as in JSON.
                let found = members.iter().rev().find(|(known, _)| &**known == name);
                found.map_or_else(Operand::null, |(_, value)| value.clone())
            }
            _ => Operand::null(),
        })
    }

    /// The elements of a list.
    pub(crate) fn items(&self, fuel: &Fuel) -> Result<Option<Vec<Operand<'a>>>, Spent> {
        fuel.burn_for(self.parts(), 1)?;
        Ok(match self {
            Operand::Part(Value::Array(items)) => Some(items.iter().map(Operand::Part).collect()),
            Operand::List(items) => Some(items.to_vec()),
            _ => None,
        })
    }

    /// The members of an object. Names are copied out of the text, however long they are.
    pub(crate) fn members(&self, fuel: &Fuel) -> Result<Option<Vec<Named<'a>>>, Spent> {
        fuel.burn_for(self.parts(), 1)?;
        Ok(match self {
            Operand::Part(Value::Object(members)) => {
                for name in members.keys() {
                    fuel.burn_for(name.len(), 8)?;
                }
                Some(members.iter().map(|(name, value)| (name.as_str().into(), Operand::Part(value))).collect())
            }
            Operand::Object(members) => Some(members.to_vec()),
            _ => None,
        })
    }

    pub(crate) fn equals(&self, other: &Operand<'a>, fuel: &Fuel) -> Result<bool, Spent> {
        fuel.burn(1)?;
        if let (Some(one), Some(other)) = (self.as_number(), other.as_number()) {
            return Ok(one == other);
        }
        if let (Some(one), Some(other)) = (self.as_str(), other.as_str()) {
            fuel.burn_for(one.len().min(other.len()), 64)?;
            return Ok(one == other);
        }
        if self.kind() != other.kind() || self.parts() != other.parts() {
            return Ok(false);
        }
        if let (Some(ones), Some(others)) = (self.items(fuel)?, other.items(fuel)?) {
            for (one, other) in ones.iter().zip(&others) {
                if !one.equals(other, fuel)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        if let Some(members) = self.members(fuel)? {
            for (name, value) in &members {
                let theirs = other.member(name, fuel)?;
                if !value.equals(&theirs, fuel)? {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        Ok(self.plain() == other.plain())
    }

    /// By size or by letters; `None` where the two cannot be compared.
    pub(crate) fn order(&self, other: &Operand<'a>) -> Option<Ordering> {
        match (self.as_number(), other.as_number()) {
            (Some(one), Some(other)) => one.partial_cmp(&other),
            _ => Some(self.as_str()?.cmp(other.as_str()?)),
        }
    }

    /// As JSON. Something that is in a value a thousand times is written a thousand times, and each costs.
    pub(crate) fn write(&self, out: &mut String, fuel: &Fuel) -> Result<(), Spent> {
        match self {
            Operand::Part(value) => write_value(value, out, fuel),
            Operand::Plain(value) => write_value(value, out, fuel),
            Operand::List(items) => {
                fuel.burn(1)?;
                out.push('[');
                for (place, item) in items.iter().enumerate() {
                    out.push_str(if place == 0 { "" } else { "," });
                    item.write(out, fuel)?;
                }
                out.push(']');
                Ok(())
            }
            Operand::Object(members) => {
                fuel.burn(1)?;
                out.push('{');
                for (place, (name, value)) in members.iter().enumerate() {
                    fuel.burn_for(name.len(), 16)?;
                    out.push_str(if place == 0 { "" } else { "," });
                    out.push_str(&Value::from(&**name).to_string());
                    out.push(':');
                    value.write(out, fuel)?;
                }
                out.push('}');
                Ok(())
            }
        }
    }
}

fn write_value(value: &Value, out: &mut String, fuel: &Fuel) -> Result<(), Spent> {
    let before = out.len();
    out.push_str(&value.to_string());
    fuel.burn_for(out.len() - before, 16)
}
