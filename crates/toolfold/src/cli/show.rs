//! `toolfold show`: one tool. For a person, what it takes and a command to type; at any level, what a model is told of it;
//! or the schema as its server wrote it.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolfold_core::{Entry, Surface, shown, shown_json, shown_line};
use toolfold_disclosure::level::{Level, describe, example, lines, parameter};
use toolfold_disclosure::{Action, View, answer, route};
use toolfold_wire::{Object, raw};

use super::Fail;
use super::ask::Answer;
use super::output::{Style, as_json};

#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct Show {
    /// The tool: its id, its bare name, or any spelling that is clear
    pub(crate) tool: String,
    /// What a model is told at this level [default: what a person needs; with --json: details]
    #[arg(long, value_enum)]
    detail: Option<Detail>,
    /// Only this parameter, whole
    #[arg(long, value_name = "NAME")]
    parameter: Option<String>,
    /// The definition as its server wrote it, with its JSON Schema
    #[arg(long, conflicts_with_all = ["detail", "parameter"])]
    schema: bool,
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
        let entry = view.resolve(&self.tool).ok().map(|place| view.entry(place));
        if let (Some(entry), true) = (entry, self.schema) {
            let definition: Value = serde_json::from_str(entry.definition.get()).unwrap_or_default();
            return as_json(&definition).map(Answer::new);
        }
        let is_plain = self.detail.is_none() && self.parameter.is_none() && !style.json;
        if let (Some(entry), true) = (entry.filter(|entry| entry.is_tool()), is_plain) {
            return Ok(Answer::new(told(entry, style)));
        }
        self.as_a_model_sees_it(view, style)
    }

    fn as_a_model_sees_it(&self, view: &View<'_>, style: Style) -> Result<Answer, Fail> {
        let level = self.detail.unwrap_or(Detail::Details).to_possible_value().map(|value| value.get_name().to_owned());
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
        Ok(Answer::new(if style.json { shown_json(text).into_owned() } else { labelled(text) }))
    }
}

/// A tool for a person: what it does, each parameter with its type and what is said of it, and how to call it.
fn told(entry: &Entry, style: Style) -> String {
    let about: Value = serde_json::from_str(describe(entry, Level::Details).get()).unwrap_or_default();
    let mut text = format!("{}{}\n", style.bold(&shown_line(&entry.id.to_string())), style.dim(&manner(entry)));
    text.push_str(&style.wrapped(&shown(&entry.description), 2));
    let names = about["parameters"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let parameters: Vec<String> = names.map(|name| told_parameter(entry, name, style)).collect();
    text.push_str(&match parameters.is_empty() {
        true if takes_more(&entry.input_schema()) => {
            format!(
                "\n  What it takes has no names here: toolfold show {} --schema\n",
                shown_line(&entry.id.to_string())
            )
        }
        true => "\n  It takes nothing.\n".to_owned(),
        false => format!("\n{}", parameters.concat()),
    });
    if let Some(returns) = about["returns"].as_str() {
        text.push_str(&format!("\n  {}\n{}", style.dim("gives"), style.wrapped(&shown(returns), 4)));
    }
    text.push_str(&format!("\n  {}\n    {}\n", style.dim("call it"), shown_line(&command(entry))));
    text
}

/// Whether a schema without properties of its own asks for something all the same.
fn takes_more(schema: &Value) -> bool {
    let elsewhere =
        ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "patternProperties", "required"];
    // For a tool that takes nothing nobody writes anything there but `false`.
    let is_open = matches!(&schema["additionalProperties"], Value::Object(_) | Value::Bool(true));
    let is_empty = |value: &Value| {
        value.as_array().is_some_and(Vec::is_empty) || value.as_object().is_some_and(serde_json::Map::is_empty)
    };
    is_open || elsewhere.iter().any(|key| schema.get(key).is_some_and(|value| !is_empty(value)))
}

/// What its server says of its effects, and where it says nothing its name and text.
fn manner(entry: &Entry) -> String {
    let hints = entry.member("annotations");
    let is = |hint: &str| hints[hint] == Value::Bool(true);
    let words = match (is("readOnlyHint"), is("destructiveHint")) {
        (true, _) => "  only reads",
        (false, true) => "  may destroy something",
        (false, false) if lines(entry).grave => "  ! may destroy something, or show it to everybody",
        (false, false) => "",
    };
    words.to_owned()
}

fn told_parameter(entry: &Entry, listed: &str, style: Style) -> String {
    let name = listed.trim_end_matches('?');
    let about: Value = match parameter(entry, name) {
        Ok(about) => serde_json::from_str(about.get()).unwrap_or_default(),
        Err(_) => Value::Null,
    };
    // The mark that a model is told to read on at: a person has --parameter.
    let kind = about["type"].as_str().unwrap_or("anything").replace('~', "…");
    let needed = if about["required"] == Value::Bool(true) { ", required" } else { "" };
    let mut text =
        format!("  {}  {}\n", style.bold(&shown_line(name)), style.dim(&format!("{}{needed}", shown_line(&kind))));
    if let Some(description) = about["description"].as_str() {
        text.push_str(&style.wrapped(&shown(description), 6));
    }
    if let Some(default) = about.get("default") {
        text.push_str(&style.wrapped(&format!("default: {}", shown_line(&default.to_string())), 6));
    }
    text
}

/// A command that can be typed as it stands, with what a call needs.
fn command(entry: &Entry) -> String {
    let example = example(entry);
    let argument = |(name, value): (&String, &Value)| match value {
        Value::String(text) => quoted(&format!("{name}={text}")),
        other => quoted(&format!("{name}:={other}")),
    };
    let arguments = example.as_object().into_iter().flatten().map(argument);
    let words = [format!("toolfold call {}", entry.id)].into_iter().chain(arguments);
    words.collect::<Vec<_>>().join(" ")
}

/// As one word of a shell's.
fn quoted(word: &str) -> String {
    let plain = word.chars().all(|c| c.is_alphanumeric() || "_-./:=@,+%…".contains(c));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// JSON members as labelled lines; what is not a JSON object is shown as it is.
fn labelled(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use toolfold_core::ServerName;

    #[test]
    fn a_command_can_be_typed_as_it_stands() {
        let definition = json!({"name": "make", "inputSchema": {"type": "object", "required": ["title", "count", "tags"], "properties": {
            "title": {"type": "string", "default": "it's"}, "count": {"type": "integer", "minimum": 3}, "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1}}}});
        let entry = Entry::tool(&ServerName::new("shop").unwrap(), &raw(&definition)).unwrap();
        let command = command(&entry);
        assert!(command.starts_with("toolfold call shop.make "), "{command}");
        assert!(command.contains(" count:=3"), "{command}");
        assert!(command.contains("'tags:=["), "{command}");
        assert_eq!(quoted("title=it's"), r"'title=it'\''s'");
    }
}
