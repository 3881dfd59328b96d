//! Servers that are configured and not there are said wherever they could be what is missed: in a line at the end of what
//! was found or browsed, and in the message of what was not found.
//!
//! Nothing is added where nothing is missing.

use serde_json::{Value, json};
use toolfold_core::{Code, Refusal};

use super::View;

/// What is missing, as a line of its own.
pub(crate) fn note(view: &View<'_>) -> Option<String> {
    view.what_is_missing().map(|missing| format!("Missing: {missing}"))
}

/// An answer that is an object, and as a last member of it what is missing.
pub(crate) fn noted(view: &View<'_>, mut answer: Value) -> Value {
    if let Some(missing) = view.what_is_missing() {
        answer["missing"] = json!(missing);
    }
    answer
}

/// A refusal of what may be only missing says so.
pub(super) fn said(view: &View<'_>, mut refusal: Refusal) -> Refusal {
    let may_be_missing = matches!(refusal.code, Code::NoMatchInCategory | Code::UnknownPath | Code::ToolNotFound);
    if let Some(missing) = view.what_is_missing().filter(|_| may_be_missing) {
        refusal.message = format!("{} {missing}", refusal.message);
    }
    refusal
}
