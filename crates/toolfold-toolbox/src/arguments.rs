//! The arguments of a call, read with errors that say what to give instead. The gateway has checked them against the
//! schema by then; a program that calls a handler itself has not.

use serde_json::Value;

pub(crate) struct Arguments<'a>(pub(crate) &'a Value);

impl<'a> Arguments<'a> {
    /// A member that may be left out; `null` is left out.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    pub(crate) fn any(&self, key: &str) -> Result<&'a Value, String> {
        self.get(key).ok_or_else(|| format!("`{key}` is missing. Give it and call again."))
    }

    pub(crate) fn text(&self, key: &str) -> Result<&'a str, String> {
        let value = self.any(key)?;
        value.as_str().ok_or_else(|| wrong(key, "a string", value))
    }

    pub(crate) fn text_or(&self, key: &str, usual: &'a str) -> Result<&'a str, String> {
        if self.get(key).is_none() { Ok(usual) } else { self.text(key) }
    }

    pub(crate) fn number(&self, key: &str) -> Result<f64, String> {
        let value = self.any(key)?;
        value.as_f64().ok_or_else(|| wrong(key, "a number", value))
    }

    /// A whole number between two bounds.
    pub(crate) fn integer(&self, key: &str, usual: i64, bounds: (i64, i64)) -> Result<i64, String> {
        let Some(value) = self.get(key) else { return Ok(usual) };
        let number = value.as_i64().ok_or_else(|| wrong(key, "a whole number", value))?;
        if number < bounds.0 || number > bounds.1 {
            return Err(format!("`{key}` must be between {} and {}, but is {number}.", bounds.0, bounds.1));
        }
        Ok(number)
    }

    /// As [`Arguments::integer`], for what counts or indexes.
    pub(crate) fn count(&self, key: &str, usual: usize, most: usize) -> Result<usize, String> {
        let bound = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let count = self.integer(key, bound(usual), (1, bound(most)))?;
        Ok(usize::try_from(count).unwrap_or(usual))
    }

    pub(crate) fn flag(&self, key: &str) -> Result<bool, String> {
        let Some(value) = self.get(key) else { return Ok(false) };
        value.as_bool().ok_or_else(|| wrong(key, "true or false", value))
    }

    pub(crate) fn list(&self, key: &str) -> Result<&'a [Value], String> {
        let value = self.any(key)?;
        value.as_array().map(Vec::as_slice).ok_or_else(|| wrong(key, "an array", value))
    }

    /// A JSON value, given as itself or as text that holds it.
    pub(crate) fn json(&self, key: &str) -> Result<Value, String> {
        match self.any(key)? {
            Value::String(text) => serde_json::from_str(text).map_err(|error| format!("`{key}` is not JSON: {error}.")),
            value => Ok(value.clone()),
        }
    }
}

pub(crate) fn one_of(key: &str, given: &str, known: &[&str]) -> String {
    format!("`{key}` is {given:?}, which is not known. Use one of: {}.", known.join(", "))
}

fn wrong(key: &str, wanted: &str, value: &Value) -> String {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    format!("`{key}` must be {wanted}, but is {found}.")
}
