//! Arguments are checked against the tool's own schema before a server hears of them, and a refusal says what to change.
//!
//! What a reader would get wrong: the schema is the untrusted side here. One that cannot be compiled, or that would cost
//! too much to check against, lets the call through: the server has the last word anyway.

mod bounds;
mod problem;
mod repair;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;
use toolfold_core::{Entry, Fingerprint, Refusal, ToolId};
use toolfold_wire::Raw;

/// Compiled schemas kept. What is called is called again; what is not is compiled anew in a millisecond.
const MOST_KEPT: usize = 256;
/// Reasons kept for the log until somebody takes them.
const MOST_REASONS: usize = 256;
const BACKTRACKING: usize = 100_000;
const LARGEST_PATTERN: usize = 1 << 20;

/// Checks arguments and remembers compiled schemas.
#[derive(Default)]
pub struct Checker {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    compiled: HashMap<Fingerprint, Arc<Compiled>>,
    /// Oldest first.
    order: VecDeque<Fingerprint>,
    unusable: Vec<(ToolId, String)>,
}

struct Compiled {
    schema: Value,
    validator: Option<Validator>,
    bounds: bounds::Bounds,
}

impl Checker {
    pub fn new() -> Checker {
        Checker::default()
    }

    /// The arguments to send: as they came where they are valid, repaired where JSON stood in a string, `{}` where
    /// there were none.
    pub fn check(&self, entry: &Entry, arguments: Option<Raw>) -> Result<Option<Raw>, Refusal> {
        let given = repair::as_object(arguments);
        let Ok(value) = serde_json::from_str::<Value>(given.get()) else { return Ok(Some(given)) };
        if !value.is_object() {
            return Err(problem::not_an_object(entry));
        }
        let compiled = self.compiled(entry);
        let Some(validator) = compiled.validator.as_ref().filter(|_| compiled.bounds.allow(&value)) else {
            return Ok(Some(given));
        };
        if validator.is_valid(&value) {
            return Ok(Some(given));
        }
        let repaired = repair::members(&compiled.schema, &given);
        let (sent, value) = match repaired.as_ref().and_then(|raw| serde_json::from_str(raw.get()).ok()) {
            Some(repaired_value) => (repaired.unwrap_or(given), repaired_value),
            None => (given, value),
        };
        match problem::refusal(entry, &compiled.schema, validator, &value) {
            Some(refusal) => Err(refusal),
            None => Ok(Some(sent)),
        }
    }

    /// Schemas that could not be used since this was last asked, each with the reason, for the log.
    pub fn take_unusable(&self) -> Vec<(ToolId, String)> {
        std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner).unusable)
    }

    fn compiled(&self, entry: &Entry) -> Arc<Compiled> {
        let known = self.kept.lock().unwrap_or_else(PoisonError::into_inner).compiled.get(&entry.fingerprint).cloned();
        // Compiled without the lock: a slow schema holds up its own calls only.
        known.unwrap_or_else(|| {
            let (compiled, unusable) = compile(entry);
            self.keep(entry, Arc::new(compiled), unusable)
        })
    }

    fn keep(&self, entry: &Entry, compiled: Arc<Compiled>, unusable: Option<String>) -> Arc<Compiled> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.compiled.insert(entry.fingerprint, compiled.clone()).is_none() {
            kept.order.push_back(entry.fingerprint);
            if let Some(reason) = unusable.filter(|_| kept.unusable.len() < MOST_REASONS) {
                kept.unusable.push((entry.id.clone(), reason));
            }
        }
        if kept.order.len() > MOST_KEPT
            && let Some(oldest) = kept.order.pop_front()
        {
            kept.compiled.remove(&oldest);
        }
        compiled
    }
}

fn compile(entry: &Entry) -> (Compiled, Option<String>) {
    let unusable = |reason: String| {
        (Compiled { schema: Value::Null, validator: None, bounds: bounds::Bounds::default() }, Some(reason))
    };
    if entry.definition.get().len() > bounds::LARGEST_SCHEMA {
        return unusable("its definition is too large to be checked against".to_owned());
    }
    let schema = entry.input_schema();
    let bounds = match bounds::Bounds::of(&schema) {
        Ok(bounds) => bounds,
        Err(reason) => return unusable(reason),
    };
    let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACKING).size_limit(LARGEST_PATTERN);
    match jsonschema::options().offline().with_pattern_options(patterns).build(&schema) {
        Ok(validator) => (Compiled { schema, validator: Some(validator), bounds }, None),
        Err(error) => {
            let reason: String = error.to_string().chars().take(300).collect();
            unusable(format!("its schema cannot be used: {reason}"))
        }
    }
}
