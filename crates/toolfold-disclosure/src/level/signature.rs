//! A tool's parameters in one line. A required parameter is never left out, however long the line gets; optional ones
//! give way, and the mark says so.

use serde_json::Value;
use toolfold_core::Entry;

use super::shape::{MARK, shape, shown_name};
use crate::schema::parameters;

/// Characters after which no optional parameter is added.
const LONG_ENOUGH: usize = 180;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Without the parentheses.
    pub text: String,
    /// Something is not shown: the text has a `~`.
    pub partial: bool,
}

pub fn signature(entry: &Entry) -> Signature {
    of_schema(&entry.input_schema())
}

pub(super) fn of_schema(schema: &Value) -> Signature {
    let parameters = parameters(schema, schema);
    let mut text = String::new();
    let mut partial = parameters.conditional;
    for parameter in &parameters.list {
        let optional = if parameter.required { "" } else { "?" };
        let shape = shape(schema, parameter.schema);
        let shown = format!("{}{optional}: {shape}", shown_name(parameter.name));
        if !parameter.required && !text.is_empty() && text.len() + shown.len() > LONG_ENOUGH {
            add(&mut text, &format!("…{MARK}"));
            return Signature { text, partial: true };
        }
        partial |= shape.contains(MARK);
        add(&mut text, &shown);
    }
    if parameters.conditional {
        add(&mut text, &MARK.to_string());
    }
    Signature { text, partial }
}

fn add(text: &mut String, part: &str) {
    if !text.is_empty() {
        text.push_str(", ");
    }
    text.push_str(part);
}
