//! Whether two values are the same to JSON Schema: numbers by their value, objects in any order.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use serde_json::Value;
use toolfold_core::{Fuel, Spent};

use crate::number::compare;

pub(crate) fn same(a: &Value, b: &Value, fuel: &Fuel) -> Result<bool, Spent> {
    fuel.burn(1)?;
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Ok(compare(a, b) == Ordering::Equal),
        (Value::String(a), Value::String(b)) => {
            fuel.burn_for(a.len().min(b.len()), 64)?;
            Ok(a == b)
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (a, b) in a.iter().zip(b) {
                if !same(a, b, fuel)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            for (key, a) in a {
                fuel.burn_for(key.len(), 64)?;
                let equal = match b.get(key) {
                    Some(b) => same(a, b, fuel)?,
                    None => false,
                };
                if !equal {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Null, Value::Null) => Ok(true),
        (Value::Bool(a), Value::Bool(b)) => Ok(a == b),
        _ => Ok(false),
    }
}

/// By hashes with a key that nobody knows: comparing each with each would let a list of a megabyte take hours.
pub(crate) fn all_differ(items: &[Value], fuel: &Fuel) -> Result<bool, Spent> {
    let state = RandomState::new();
    let mut seen: HashMap<u64, Vec<&Value>> = HashMap::new();
    for item in items {
        fuel.burn(8)?;
        let mut hasher = state.build_hasher();
        hash(item, &state, &mut hasher, fuel)?;
        let alike = seen.entry(hasher.finish()).or_default();
        for other in alike.iter() {
            if same(item, other, fuel)? {
                return Ok(false);
            }
        }
        alike.push(item);
    }
    Ok(true)
}

/// Equal values have equal hashes; beyond that anything goes.
fn hash(value: &Value, state: &RandomState, hasher: &mut impl Hasher, fuel: &Fuel) -> Result<(), Spent> {
    fuel.burn(2)?;
    match value {
        Value::Null => 0.hash(hasher),
        Value::Bool(value) => value.hash(hasher),
        Value::Number(number) => number.as_f64().map(|value| (value + 0.0).to_bits()).hash(hasher),
        Value::String(text) => {
            fuel.burn_for(text.len(), 16)?;
            text.hash(hasher);
        }
        Value::Array(items) => {
            items.len().hash(hasher);
            for item in items {
                hash(item, state, hasher, fuel)?;
            }
        }
        Value::Object(members) => {
            // The order of members does not count: their hashes are added up.
            let mut sum = 0u64;
            for (key, value) in members {
                fuel.burn_for(key.len(), 16)?;
                let mut member = state.build_hasher();
                key.hash(&mut member);
                hash(value, state, &mut member, fuel)?;
                sum = sum.wrapping_add(member.finish());
            }
            sum.hash(hasher);
        }
    }
    Ok(())
}
