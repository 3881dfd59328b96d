//! The arguments of a call, read with errors that say what to give instead, and what else a call has: its fuel. The
//! gateway has checked the arguments against the schema by then; a program that calls a handler itself has not.

use std::borrow::Cow;

use serde_json::Value;
use toolfold_core::Fuel;
use toolfold_wire::has_more_values;

use crate::BOUNDS;
use crate::private::Private;
use crate::problem::{Problem, told};

/// The most bytes of what is a word to a tool: a path, a unit, a name.
const LONGEST_WORD: usize = 4096;

pub(crate) struct Arguments<'a> {
    given: &'a Value,
    pub(crate) fuel: &'a Fuel,
    pub(crate) private: &'a Private,
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(given: &'a Value, fuel: &'a Fuel, private: &'a Private) -> Self {
        Arguments { given, fuel, private }
    }

    /// A member that may be left out; `null` is left out.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        self.given.get(key).filter(|value| !value.is_null())
    }

    pub(crate) fn any(&self, key: &str) -> Result<&'a Value, Problem> {
        self.get(key).ok_or_else(|| told!("`{key}` is missing. Give it and call again."))
    }

    pub(crate) fn text(&self, key: &str) -> Result<&'a str, Problem> {
        let value = self.any(key)?;
        let text = value.as_str().ok_or_else(|| wrong(key, "a string", value))?;
        self.fuel.burn_for(text.len(), 16)?;
        Ok(text)
    }

    /// A text that is short by nature.
    pub(crate) fn word(&self, key: &str) -> Result<&'a str, Problem> {
        let text = self.text(key)?;
        if text.len() > LONGEST_WORD {
            return Err(told!("`{key}` has {} bytes; at most {LONGEST_WORD} make sense.", text.len()));
        }
        Ok(text)
    }

    pub(crate) fn word_or(&self, key: &str, usual: &'a str) -> Result<&'a str, Problem> {
        if self.get(key).is_none() { Ok(usual) } else { self.word(key) }
    }

    pub(crate) fn number(&self, key: &str) -> Result<f64, Problem> {
        let value = self.any(key)?;
        value.as_f64().ok_or_else(|| wrong(key, "a number", value))
    }

    /// A whole number between two bounds.
    pub(crate) fn integer(&self, key: &str, usual: i64, bounds: (i64, i64)) -> Result<i64, Problem> {
        let Some(value) = self.get(key) else { return Ok(usual) };
        let number = value.as_i64().ok_or_else(|| wrong(key, "a whole number", value))?;
        if number < bounds.0 || number > bounds.1 {
            return Err(told!("`{key}` must be between {} and {}, but is {number}.", bounds.0, bounds.1));
        }
        Ok(number)
    }

    /// As [`Arguments::integer`], for what counts or indexes.
    pub(crate) fn count(&self, key: &str, usual: usize, most: usize) -> Result<usize, Problem> {
        let bound = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let count = self.integer(key, bound(usual), (1, bound(most)))?;
        Ok(usize::try_from(count).unwrap_or(usual))
    }

    pub(crate) fn flag(&self, key: &str) -> Result<bool, Problem> {
        let Some(value) = self.get(key) else { return Ok(false) };
        value.as_bool().ok_or_else(|| wrong(key, "true or false", value))
    }

    pub(crate) fn list(&self, key: &str) -> Result<&'a [Value], Problem> {
        let value = self.any(key)?;
        value.as_array().map(Vec::as_slice).ok_or_else(|| wrong(key, "an array", value))
    }

    /// A JSON value, given as itself or as text that holds it.
    pub(crate) fn json(&self, key: &str) -> Result<Cow<'a, Value>, Problem> {
        let Value::String(text) = self.any(key)? else { return Ok(Cow::Borrowed(self.any(key)?)) };
        self.fuel.burn_for(text.len(), 8)?;
        if has_more_values(text, BOUNDS.values) {
            return Err(told!("`{key}` holds more than {} values, which is more than this tool takes.", BOUNDS.values));
        }
        let value = serde_json::from_str(text).map_err(|error| told!("`{key}` is not JSON: {error}."))?;
        Ok(Cow::Owned(value))
    }
}

pub(crate) fn one_of(key: &str, given: &str, known: &[&str]) -> Problem {
    told!("`{key}` is {given:?}, which is not known. Use one of: {}.", known.join(", "))
}

fn wrong(key: &str, wanted: &str, value: &Value) -> Problem {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    told!("`{key}` must be {wanted}, but is {found}.")
}
