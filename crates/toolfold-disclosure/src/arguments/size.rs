//! How large arguments are, before they are made into a tree: a number of two bytes is a node of many.

use serde_json::Value;
use toolfold_core::{Fuel, Spent};
use toolfold_wire::{Raw, has_more_values};

use super::MOST_VALUES;

/// Reading JSON: this many bytes are a step.
pub(super) const BYTES_IN_A_STEP: usize = 8;

/// The arguments as a value; `None` where they are too many values to look at, or no JSON that we can read.
pub(super) fn read(raw: &Raw, fuel: &Fuel) -> Result<Option<Value>, Spent> {
    let text = raw.get();
    fuel.burn_for(text.len(), BYTES_IN_A_STEP)?;
    if has_more_values(text, MOST_VALUES) {
        return Ok(None);
    }
    Ok(serde_json::from_str(text).ok())
}
