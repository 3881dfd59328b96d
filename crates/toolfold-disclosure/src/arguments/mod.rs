//! Arguments are checked against the tool's own schema before a server hears of them, and a refusal says what to change.
//!
//! What a reader would get wrong: the schema is the untrusted side here. One that cannot be used, or that asks for more
//! work than there is fuel, lets the call through: the server has the last word anyway. And the work is counted, not
//! timed: whoever calls from a thread that others wait for gives [`QUICK`] and goes elsewhere when that is spent.

mod problem;
mod repair;
mod size;

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use toolfold_core::{Entry, Fingerprint, Fuel, Refusal, Spent, ToolId};
use toolfold_schema::{Schema, Undecided, Unusable};
use toolfold_wire::Raw;

/// Fuel for a thread that others wait for: about half a millisecond. Nearly every call takes a hundredth of it.
pub const QUICK: u64 = 50_000;
/// Fuel for a thread of its own.
pub const LONG: u64 = 5_000_000;
/// A definition above this many bytes is not checked against.
pub const LARGEST_DEFINITION: usize = 1 << 20;
/// Arguments of more values than this are not checked: each takes many times its text in memory.
pub const MOST_VALUES: usize = 200_000;

/// Prepared schemas kept, in number and in bytes. What is called is called again; what is not is prepared anew.
const MOST_KEPT: usize = 256;
const HEAVIEST_KEPT: usize = 32 << 20;
/// Reasons kept for the log until somebody takes them.
const MOST_REASONS: usize = 256;
/// Arguments of this many bytes are no reason for a check that does not end: the schema is.
const SMALL: usize = 4 << 10;

/// Checks arguments and remembers prepared schemas.
#[derive(Default)]
pub struct Checker {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    prepared: HashMap<Fingerprint, Arc<Prepared>>,
    /// Oldest first.
    order: VecDeque<Fingerprint>,
    weight: usize,
    unusable: Vec<(ToolId, String)>,
}

/// A schema that can be checked against, or nothing where it cannot.
#[derive(Default)]
struct Prepared {
    schema: Option<Schema>,
    weight: usize,
    /// What there is to say of it in the log, and whether it has been said.
    reasons: Vec<String>,
    said: AtomicBool,
}

type Checked = Result<Option<Raw>, Refusal>;

impl Checker {
    pub fn new() -> Checker {
        Checker::default()
    }

    /// The arguments to send: as they came where they are valid, repaired where JSON stood in a string, `{}` where
    /// there were none. For a thread of its own: it may take a tenth of a second.
    pub fn check(&self, entry: &Entry, arguments: Option<Raw>) -> Checked {
        // Nobody can stop this one.
        self.check_at_length(entry, arguments, &Fuel::new(LONG)).unwrap_or(Ok(None))
    }

    /// As [`Checker::check`], within so much fuel, and with nothing decided where it does not suffice.
    pub fn check_within(&self, entry: &Entry, arguments: Option<Raw>, fuel: &Fuel) -> Result<Checked, Spent> {
        let given = repair::as_object(arguments, fuel)?;
        match self.verdict(entry, &given, fuel) {
            Ok(Verdict::Fits) => Ok(Ok(Some(given))),
            Ok(Verdict::Repaired(repaired)) => Ok(Ok(Some(repaired))),
            Ok(Verdict::Refused(refusal)) => Ok(Err(*refusal)),
            Err(Undecided::Spent(spent)) => Err(spent),
            Err(Undecided::Endless) => Ok(self.let_through(entry, given, "its schema refers to itself without end")),
            Err(Undecided::TooDeep) => Ok(self.let_through(entry, given, "its schema is nested too deeply")),
        }
    }

    /// As [`Checker::check`], with fuel that is all there is: a check that needs more lets the call through. An error
    /// only where nobody waits any more.
    pub fn check_at_length(&self, entry: &Entry, arguments: Option<Raw>, fuel: &Fuel) -> Result<Checked, Spent> {
        match self.check_within(entry, arguments.clone(), fuel) {
            Err(Spent::Empty) => {
                let given = arguments.unwrap_or_else(repair::none);
                let why = "its schema repeats itself so often that a check would not end";
                Ok(if given.get().len() <= SMALL { self.let_through(entry, given, why) } else { Ok(Some(given)) })
            }
            decided => decided,
        }
    }

    /// Schemas that could not be used since this was last asked, each with the reason, for the log.
    pub fn take_unusable(&self) -> Vec<(ToolId, String)> {
        std::mem::take(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner).unusable)
    }

    fn verdict(&self, entry: &Entry, given: &Raw, fuel: &Fuel) -> Result<Verdict, Undecided> {
        let Some(value) = size::read(given, fuel)? else { return Ok(Verdict::Fits) };
        if !value.is_object() {
            return Ok(Verdict::Refused(Box::new(problem::not_an_object(entry))));
        }
        let prepared = self.prepared(entry, fuel)?;
        let Some(schema) = &prepared.schema else {
            self.say(entry, &prepared);
            return Ok(Verdict::Fits);
        };
        let valid = schema.is_valid(&value, fuel)?;
        self.say(entry, &prepared);
        if valid {
            return Ok(Verdict::Fits);
        }
        let repaired = repair::members(schema.root(), given, fuel)?;
        let value = match &repaired {
            Some(repaired) => size::read(repaired, fuel)?.unwrap_or(value),
            None => value,
        };
        let problems = schema.problems(&value, problem::MOST_PROBLEMS, fuel)?;
        Ok(match (problems.is_empty(), repaired) {
            (true, Some(repaired)) => Verdict::Repaired(repaired),
            (true, None) => Verdict::Fits,
            (false, _) => Verdict::Refused(Box::new(problem::refusal(entry, schema.root(), &value, &problems))),
        })
    }

    /// Says so once, and does not try this definition again.
    fn let_through(&self, entry: &Entry, given: Raw, why: &str) -> Checked {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.prepared.get(&entry.fingerprint).is_some_and(|prepared| prepared.schema.is_none());
        if !known {
            kept.note(entry, why);
            kept.insert(entry.fingerprint, Arc::new(Prepared::default()));
        }
        Ok(Some(given))
    }

    /// Only when a check has ended: where none ever does, that is what there is to say.
    fn say(&self, entry: &Entry, prepared: &Prepared) {
        if !prepared.reasons.is_empty() && !prepared.said.swap(true, Ordering::Relaxed) {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            prepared.reasons.iter().for_each(|why| kept.note(entry, why));
        }
    }

    fn prepared(&self, entry: &Entry, fuel: &Fuel) -> Result<Arc<Prepared>, Spent> {
        let known = self.kept.lock().unwrap_or_else(PoisonError::into_inner).prepared.get(&entry.fingerprint).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        // Prepared without the lock: a slow schema holds up its own calls only.
        let prepared = Arc::new(prepare(entry, fuel)?);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(entry.fingerprint, prepared.clone());
        Ok(prepared)
    }
}

enum Verdict {
    Fits,
    Repaired(Raw),
    Refused(Box<Refusal>),
}

impl Kept {
    fn note(&mut self, entry: &Entry, why: &str) {
        if self.unusable.len() < MOST_REASONS {
            self.unusable.push((entry.id.clone(), why.to_owned()));
        }
    }

    fn insert(&mut self, fingerprint: Fingerprint, prepared: Arc<Prepared>) {
        self.weight += prepared.weight;
        let before = self.prepared.insert(fingerprint, prepared);
        match &before {
            Some(before) => self.weight -= before.weight,
            None => self.order.push_back(fingerprint),
        }
        while self.order.len() > MOST_KEPT || (self.weight > HEAVIEST_KEPT && self.order.len() > 1) {
            let Some(oldest) = self.order.pop_front().and_then(|oldest| self.prepared.remove(&oldest)) else { break };
            self.weight -= oldest.weight;
        }
    }
}

/// A schema ready to be checked against, and what there is to say about it in the log.
fn prepare(entry: &Entry, fuel: &Fuel) -> Result<Prepared, Spent> {
    let unusable = |why: String| Prepared { reasons: vec![why], ..Prepared::default() };
    let length = entry.definition.get().len();
    if length > LARGEST_DEFINITION {
        return Ok(unusable("its definition is too large to be checked against".to_owned()));
    }
    fuel.burn_for(length, size::BYTES_IN_A_STEP)?;
    let said = |why: &str| format!("its schema cannot be used: {}", why.chars().take(300).collect::<String>());
    match Schema::prepare(entry.input_schema(), fuel) {
        Ok(schema) => {
            let reasons = schema.notes().iter().map(|note| said(note)).collect();
            let weight = schema.weight() + 4 * length;
            Ok(Prepared { schema: Some(schema), weight, reasons, said: AtomicBool::new(false) })
        }
        Err(Unusable::Spent(spent)) => Err(spent),
        Err(Unusable::Malformed(why)) => Ok(unusable(said(&why))),
    }
}
