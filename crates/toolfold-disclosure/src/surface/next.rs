//! What to do after a refusal, in the words of the surface it is told on.

use toolfold_core::{Next, NextAction, Refusal, Surface};

use super::table::table;

/// A refusal whose next action is one that clients of this surface can take.
pub fn fitted(surface: Surface, mut refusal: Refusal) -> Refusal {
    // A door has said itself which tool calls what it does not.
    if refusal.next.is_none() {
        return refusal;
    }
    let step = match &refusal.next {
        // A root is browsed by asking what there is.
        Some(Next::Browse { path }) if path.is_empty() && surface != Surface::Compact => Some(&Next::Overview),
        next => next.as_ref(),
    };
    let action = step.and_then(|next| (table(surface).next)(next));
    refusal.next_action = action.map(|(tool, arguments)| Box::new(NextAction { tool: tool.to_owned(), arguments }));
    refusal
}
