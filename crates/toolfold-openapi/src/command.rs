//! A command that somebody described by hand: `["git", "log", "{ref}"]`, and a schema of its arguments.
//!
//! What a reader would get wrong: no shell reads any of it, so nothing has to be quoted, and an argument is one argument
//! whatever is in it. What is left to be feared is a value that the program takes for an option: one that begins with a dash
//! is refused, unless it stands after `--`, is only a part of an argument, or the schema says so: by `enum` or `const`, by a
//! `pattern` that begins with a dash, or by a `minimum` below zero. A pattern in which dashes may stand anywhere (`^[a-z-]+$`) is
//! of somebody who thought of names.

use serde_json::{Map, Value, json};
use toolfold_core::Fuel;
use toolfold_schema::Schema;

use crate::plan::BadArguments;
use crate::span::Span;
use crate::text::plain;

/// All arguments of a command together.
const LONGEST: usize = 128 << 10;
/// Work for the check of them.
const FUEL: u64 = 5_000_000;

#[derive(Debug, Clone, PartialEq)]
pub struct CommandPlan {
    pub program: String,
    words: Vec<Word>,
    input: Value,
}

#[derive(Debug, Clone, PartialEq)]
struct Word {
    parts: Vec<Span>,
    /// After `--`, where nothing is an option.
    operand: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadCommand {
    #[error("`command` is empty: it names a program and its arguments")]
    Empty,
    #[error("`command` names {{{0}}}, which `input` does not have among its properties")]
    Unknown(String),
    #[error("the program of `command` is an argument: that would run anything")]
    Open,
    #[error("`input` has {0:?}, which `command` does not use")]
    Unused(String),
}

impl CommandPlan {
    pub fn new(words: &[String], input: &Value) -> Result<CommandPlan, BadCommand> {
        let (program, rest) =
            words.split_first().filter(|(program, _)| !program.trim().is_empty()).ok_or(BadCommand::Empty)?;
        let properties = input.get("properties").and_then(Value::as_object);
        let is_known = |name: &str| properties.is_some_and(|all| all.contains_key(name));
        if parts(program).iter().any(|part| part.name().is_some_and(is_known)) {
            return Err(BadCommand::Open);
        }
        let mut operand = false;
        let mut read = Vec::new();
        for word in rest {
            operand |= word == "--";
            read.push(Word { parts: parts(word), operand });
        }
        let named =
            |word: &Word| word.parts.iter().filter_map(|part| part.name().map(str::to_owned)).collect::<Vec<_>>();
        let names: Vec<String> = read.iter().flat_map(named).collect();
        if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
            return Err(BadCommand::Unknown(unknown.clone()));
        }
        let unused = properties.and_then(|all| all.keys().find(|name| !names.contains(name)));
        if let Some(unused) = unused {
            return Err(BadCommand::Unused(unused.clone()));
        }
        Ok(CommandPlan { program: program.clone(), words: read, input: input.clone() })
    }

    /// As `tools/list` has it. What a program does nobody knows: it is not said to be harmless.
    pub fn definition(&self, name: &str, description: &str) -> Value {
        json!({"name": name, "description": description, "inputSchema": self.input})
    }

    /// The arguments that the program is started with. A word whose optional argument was not given is left out; a list is as
    /// many words as it has items.
    pub fn arguments(&self, given: &Map<String, Value>) -> Result<Vec<String>, BadArguments> {
        self.check(given)?;
        let mut all = Vec::new();
        for word in &self.words {
            all.extend(self.word(word, given)?);
        }
        let size: usize = all.iter().map(String::len).sum();
        match size <= LONGEST {
            true => Ok(all),
            false => Err(BadArguments(format!("the arguments are longer than {} KB together", LONGEST >> 10))),
        }
    }

    /// Here the schema has the last word: whoever comes after it is a program that runs. What cannot be checked is refused.
    fn check(&self, given: &Map<String, Value>) -> Result<(), BadArguments> {
        let known = |name: &String| self.input.get("properties").is_some_and(|all| all.get(name).is_some());
        if let Some(name) = given.keys().find(|name| !known(name)) {
            return Err(BadArguments(format!("{} is not a parameter", toolfold_core::beginning(name, 64))));
        }
        let fuel = Fuel::new(FUEL);
        let unusable = |why: String| BadArguments(format!("its `input` cannot be checked against: {why}"));
        let schema = Schema::prepare(self.input.clone(), &fuel).map_err(|error| unusable(error.to_string()))?;
        let value = Value::from(given.clone());
        let problems = schema.problems(&value, 1, &fuel).map_err(|error| unusable(error.to_string()))?;
        match problems.first() {
            Some(problem) if problem.at.is_empty() => Err(BadArguments(problem.text("the arguments"))),
            Some(problem) => Err(BadArguments(problem.text(problem.at.trim_start_matches('/')))),
            None => Ok(()),
        }
    }

    fn word(&self, word: &Word, given: &Map<String, Value>) -> Result<Vec<String>, BadArguments> {
        let given = |name: &String| given.get(name).filter(|value| !value.is_null());
        if let [Span::Name(name)] = word.parts.as_slice() {
            let values: Vec<&Value> = match given(name) {
                None => Vec::new(),
                Some(Value::Array(items)) => items.iter().collect(),
                Some(value) => vec![value],
            };
            return values.into_iter().map(|value| self.value(name, value, !word.operand)).collect();
        }
        let mut text = String::new();
        for part in &word.parts {
            match part {
                Span::Text(literal) => text.push_str(literal),
                Span::Name(name) => match given(name) {
                    // At the beginning of a word a dash makes an option of it; `--ref={ref}` is one already.
                    Some(value) => text.push_str(&self.value(name, value, text.is_empty() && !word.operand)?),
                    None => return Ok(Vec::new()),
                },
            }
        }
        Ok(vec![text])
    }

    fn value(&self, name: &str, value: &Value, begins: bool) -> Result<String, BadArguments> {
        let text = plain(value);
        if text.contains('\0') {
            return Err(BadArguments(format!("{name} holds a character that no argument of a program can hold")));
        }
        if begins && text.starts_with('-') && !self.allows_dash(name) {
            return Err(BadArguments(format!(
                "{name} begins with a dash: the program would take it for an option, which its schema does not allow"
            )));
        }
        Ok(text)
    }

    /// Whether whoever wrote the schema has thought of it.
    fn allows_dash(&self, name: &str) -> bool {
        let schema = self.input.get("properties").and_then(|all| all.get(name));
        let schema = schema.map(|schema| schema.get("items").unwrap_or(schema));
        schema.is_some_and(|schema| {
            let listed = ["enum", "const"].iter().any(|key| schema.get(key).is_some());
            let below_zero = |key: &&str| schema.get(*key).and_then(Value::as_f64).is_some_and(|least| least < 0.0);
            let pattern = schema.get("pattern").and_then(Value::as_str).and_then(|pattern| pattern.strip_prefix('^'));
            let first = pattern.map(|pattern| pattern.trim_start_matches("(?:").trim_start_matches(['(', '\\']));
            listed
                || ["minimum", "exclusiveMinimum"].iter().any(below_zero)
                || first.is_some_and(|first| first.starts_with('-'))
        })
    }
}

/// `{name}` is an argument; a brace that is none stays.
fn parts(word: &str) -> Vec<Span> {
    let (mut parts, mut rest) = (Vec::new(), word);
    let mut literal = String::new();
    while let Some((before, after)) = rest.split_once('{') {
        literal.push_str(before);
        let name = after
            .split_once('}')
            .filter(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-'));
        match name {
            Some((name, left)) => {
                if !literal.is_empty() {
                    parts.push(Span::Text(std::mem::take(&mut literal)));
                }
                parts.push(Span::Name(name.to_owned()));
                rest = left;
            }
            None => {
                literal.push('{');
                rest = after;
            }
        }
    }
    literal.push_str(rest);
    if !literal.is_empty() || parts.is_empty() {
        parts.push(Span::Text(literal));
    }
    parts
}
