//! A tool's parameters in one line. A required parameter is never left out, however long the line gets, unless there are
//! hundreds, which nobody reads in a line; optional ones give way to `…`, the least needed first.

use serde_json::Value;
use toolfold_core::{Entry, Fuel};

use super::order::{MOST_NAMED, by_need};
use super::shape::{CUT, FUEL, MARK, Tool, parameter_shape, shown_name};
use crate::schema::{Parameter, parameters};

/// Characters after which no optional parameter is added.
const LONG_ENOUGH: usize = 150;
/// For all parameters of a tool.
const ALL_FUEL: u64 = 4 * FUEL;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Without the parentheses.
    pub text: String,
    /// A call could go wrong without reading on: the text has a `~`.
    pub partial: bool,
}

pub fn signature(entry: &Entry) -> Signature {
    let schema = entry.input_schema();
    let all = parameters(&schema, &schema);
    let conditional = all.conditional || super::limit::unsaid(&schema);
    written(&schema, by_need(entry, &all.list), Some(&Tool::of(entry).with_parameters(&all.list)), conditional)
}

pub(super) fn of_schema(schema: &Value) -> Signature {
    let all = parameters(schema, schema);
    written(schema, all.list.iter().collect(), None, all.conditional)
}

fn written(schema: &Value, list: Vec<&Parameter<'_>>, tool: Option<&Tool<'_>>, conditional: bool) -> Signature {
    let mut parts: Vec<String> = Vec::new();
    let (mut length, mut left) = (0, ALL_FUEL);
    for parameter in list {
        if parts.len() == MOST_NAMED {
            parts.push(format!("{CUT}{MARK}"));
            break;
        }
        let optional = if parameter.required { "" } else { "?" };
        // Each has its own share: one that is large is not told at the cost of the others.
        let share = left.min(FUEL);
        let fuel = Fuel::new(share);
        let shape = parameter_shape(schema, parameter, tool, &fuel);
        left -= share - fuel.left().min(share);
        let shown = format!("{}{optional}: {shape}", shown_name(parameter.name));
        if !parameter.required && !parts.is_empty() && length + shown.len() > LONG_ENOUGH {
            parts.push(CUT.to_string());
            break;
        }
        length += shown.len() + 2;
        parts.push(shown);
    }
    if conditional {
        parts.push(MARK.to_string());
    }
    let text = parts.join(", ");
    Signature { partial: text.contains(MARK), text }
}
