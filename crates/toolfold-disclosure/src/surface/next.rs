//! What to do after a refusal, in the words of the surface it is told on. The engine speaks of `find_tools` alone; here
//! that becomes the tool that the client really has.

use serde_json::Value;
use toolfold_core::{NextAction, Refusal, Surface};

use super::{gateway, hybrid, levels, lifecycle, ontology, single, two_phase};

/// What a next action is for.
pub(super) enum Wish {
    /// See what there is.
    Anything,
    Query(String),
    Path(Vec<String>),
    Tool(String),
}

/// A refusal whose next action is one that clients of this surface can take.
pub fn fitted(surface: Surface, mut refusal: Refusal) -> Refusal {
    let Some(next) = refusal.next_action.take_if(|next| next.tool == "find_tools" && surface != Surface::Compact)
    else {
        return refusal;
    };
    let wish = Wish::read(&next.arguments);
    let action = match surface {
        Surface::Hybrid => hybrid::next(&wish),
        Surface::TwoPhase => two_phase::next(&wish),
        Surface::Single => single::next(&wish),
        Surface::Lifecycle => lifecycle::next(&wish),
        Surface::Levels => levels::next(&wish),
        Surface::Ontology => ontology::next(&wish),
        Surface::Gateway => gateway::next(&wish),
        Surface::Compact | Surface::Direct => return refusal,
    };
    let (tool, arguments) = action;
    refusal.next_action = Some(NextAction { tool: tool.to_owned(), arguments });
    refusal
}

impl Wish {
    fn read(arguments: &Value) -> Wish {
        let text = |key: &str| arguments[key].as_str().map(str::to_owned);
        if let Some(tool) = text("tool") {
            return Wish::Tool(tool);
        }
        if let Some(query) = text("query") {
            return Wish::Query(query);
        }
        match serde_json::from_value::<Vec<String>>(arguments["path"].clone()) {
            Ok(path) if !path.is_empty() => Wish::Path(path),
            _ => Wish::Anything,
        }
    }
}
