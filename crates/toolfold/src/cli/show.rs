//! `toolfold show`: one tool, at any level.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolfold_core::{Surface, shown, shown_json, shown_line};
use toolfold_disclosure::{Action, View, answer, route};
use toolfold_wire::{Object, raw};

use super::Fail;
use super::ask::Answer;
use super::output::Style;

#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct Show {
    /// The tool: its id, its bare name, or any spelling that is clear
    pub(crate) tool: String,
    /// How much to tell
    #[arg(long, value_enum, default_value_t = Detail::Details)]
    detail: Detail,
    /// Only this parameter, whole
    #[arg(long, value_name = "NAME")]
    parameter: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum, Serialize, Deserialize)]
enum Detail {
    Name,
    Summary,
    Signature,
    Details,
    Full,
}

impl Show {
    pub(crate) fn answer(&self, view: &View<'_>, style: Style) -> Result<Answer, Fail> {
        let level = self.detail.to_possible_value().map(|value| value.get_name().to_owned());
        let mut arguments = json!({"tool": self.tool, "detail": level});
        if let Some(parameter) = &self.parameter {
            arguments["parameter"] = json!(parameter);
        }
        let action = route(Surface::Compact, view, "find_tools", Some(&raw(&arguments)));
        if let Action::Refuse(refusal) = &action {
            return Err(Fail::refused(refusal));
        }
        let result = answer(Surface::Compact, view, &action).map_err(|refusal| Fail::refused(&refusal))?;
        let content = Object::parse(&result).and_then(|object| object.read::<Value>("content")).unwrap_or_default();
        let text = content[0]["text"].as_str().unwrap_or_default();
        Ok(Answer::new(if style.json { shown_json(text).into_owned() } else { for_people(text) }))
    }
}

/// JSON members as labelled lines; what is not a JSON object is shown as it is.
fn for_people(text: &str) -> String {
    let Ok(Value::Object(mut about)) = serde_json::from_str::<Value>(text) else { return shown(text).into_owned() };
    let title = ["tool", "agent", "skill"].iter().find_map(|kind| about.shift_remove(*kind)).unwrap_or_default();
    let mut told = format!("{}\n", shown_line(title.as_str().unwrap_or_default()));
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
        let label = shown_line(&label);
        told.push_str(&format!("  {label:<16}  {}\n", shown(&value).replace('\n', "\n                    ")));
    }
    told
}
