//! `toolfold show`: one tool, at any level.

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use toolfold_core::Surface;
use toolfold_disclosure::{Action, answer, route};
use toolfold_wire::{Object, raw};

use super::open::with_gateway;
use super::output::{plain, print};
use super::{Common, Fail};

#[derive(Args)]
pub(crate) struct Show {
    /// The tool: its id, its bare name, or any spelling that is clear
    tool: String,
    /// How much to tell
    #[arg(long, value_enum, default_value_t = Detail::Details)]
    detail: Detail,
    /// Only this parameter, whole
    #[arg(long, value_name = "NAME")]
    parameter: Option<String>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Detail {
    Name,
    Summary,
    Signature,
    Details,
    Full,
}

impl Show {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        with_gateway(common, async |_, snapshot| {
            let level = self.detail.to_possible_value().map(|value| value.get_name().to_owned());
            let mut arguments = json!({"tool": self.tool, "detail": level});
            if let Some(parameter) = &self.parameter {
                arguments["parameter"] = json!(parameter);
            }
            let view = snapshot.view();
            let action = route(Surface::Compact, &view, "find_tools", Some(&raw(&arguments)));
            if let Action::Refuse(refusal) = &action {
                return Err(Fail::refused(refusal));
            }
            let result = answer(Surface::Compact, &view, &action).map_err(|refusal| Fail::refused(&refusal))?;
            let text = text_of(&result);
            print(&plain(&if common.json { text } else { for_people(&text) }))
        })
    }
}

/// JSON members as labelled lines; what is not a JSON object is shown as it is.
fn for_people(text: &str) -> String {
    let Ok(Value::Object(mut about)) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    let title = ["tool", "agent", "skill"].iter().find_map(|kind| about.shift_remove(*kind)).unwrap_or_default();
    let mut shown = format!("{}\n", title.as_str().unwrap_or_default());
    for (label, value) in about {
        let value = match value {
            Value::String(text) => text,
            Value::Array(items) if items.iter().all(Value::is_string) => {
                items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
            }
            other @ (Value::Object(_) | Value::Array(_)) => serde_json::to_string_pretty(&other).unwrap_or_default(),
            other => other.to_string(),
        };
        let label = label.replace('_', " ");
        shown.push_str(&format!("  {label:<16}  {}\n", value.replace('\n', "\n                    ")));
    }
    shown
}

/// The text of a tool result.
pub(crate) fn text_of(result: &toolfold_wire::Raw) -> String {
    let content = Object::parse(result).and_then(|object| object.read::<Value>("content")).unwrap_or_default();
    let texts = content.as_array().into_iter().flatten().map(|item| match item["text"].as_str() {
        Some(text) => text.to_owned(),
        None => item.to_string(),
    });
    texts.collect::<Vec<_>>().join("\n")
}
