//! The values of keywords, or a sentence about the one that is not what it has to be.

use serde_json::{Map, Number, Value};

use crate::Unusable;
use crate::vocabulary::TYPES;

pub(crate) fn malformed(key: &str, wanted: &str) -> Unusable {
    Unusable::Malformed(format!("{key:?} is not {wanted}"))
}

pub(crate) fn types(value: &Value) -> Result<Vec<String>, Unusable> {
    let one = |value: &Value| value.as_str().filter(|name| TYPES.contains(name)).map(str::to_owned);
    let names = match value {
        Value::Array(names) if !names.is_empty() => names.iter().map(one).collect(),
        value => one(value).map(|name| vec![name]),
    };
    names.ok_or_else(|| {
        let shown: String = value.to_string().chars().take(100).collect();
        Unusable::Malformed(format!("{shown} is not valid under any of the schemas listed in the 'anyOf' keyword"))
    })
}

/// A count: `2` or `2.0`. What is beyond all counting is the largest there is.
pub(crate) fn count(key: &str, value: &Value) -> Result<u64, Unusable> {
    let wrong = || malformed(key, "a whole number of at least 0");
    if let Some(count) = value.as_u64() {
        return Ok(count);
    }
    let number = value.as_f64().filter(|number| *number >= 0.0 && number.fract() == 0.0).ok_or_else(wrong)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` stays within the bounds")]
    Ok(number as u64)
}

pub(crate) fn number<'v>(key: &str, value: &'v Value) -> Result<&'v Number, Unusable> {
    value.as_number().ok_or_else(|| malformed(key, "a number"))
}

pub(crate) fn text<'v>(key: &str, value: &'v Value) -> Result<&'v str, Unusable> {
    value.as_str().ok_or_else(|| malformed(key, "a string"))
}

pub(crate) fn list<'v>(key: &str, value: &'v Value) -> Result<&'v [Value], Unusable> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| malformed(key, "an array"))
}

pub(crate) fn object<'v>(key: &str, value: &'v Value) -> Result<&'v Map<String, Value>, Unusable> {
    value.as_object().ok_or_else(|| malformed(key, "an object"))
}

pub(crate) fn names(key: &str, value: &Value) -> Result<Vec<String>, Unusable> {
    let names: Option<Vec<String>> = list(key, value)?.iter().map(|name| name.as_str().map(str::to_owned)).collect();
    names.ok_or_else(|| malformed(key, "an array of strings"))
}
