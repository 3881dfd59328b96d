//! Arguments of a meta-tool, read as they were meant: a number given as text, a list given as JSON text, one name where
//! a list is expected. A model that is refused for a quotation mark learns nothing.

use serde_json::{Map, Value};
use toolfold_core::{Code, Refusal};
use toolfold_wire::{Object, Raw, raw_of};

/// A query is a phrase; what goes on for a page is not made better by its end.
const LONGEST_QUERY: usize = 400;
/// Characters of a name in a path, of a tag, of a parameter's path: more than anything has.
const LONGEST_NAME: usize = 500;
/// Steps of a path and tags that are looked at.
const MOST_STEPS: usize = 32;
/// Bytes of a list or an object that is read here at all: each of its items costs many times its length.
const LARGEST_LIST: usize = 256 * 1024;

pub(super) struct Arguments(Object);

impl Arguments {
    pub(super) fn read(arguments: Option<&Raw>) -> Result<Arguments, Refusal> {
        let Some(given) = arguments.filter(|given| given.get() != "null") else { return Ok(Arguments(Object::new())) };
        let object = Object::parse(given).or_else(|| {
            let text: String = serde_json::from_str(given.get()).ok()?;
            if text.trim().is_empty() { Some(Object::new()) } else { Object::parse(&raw_of(text.trim()).ok()?) }
        });
        object.map(Arguments).ok_or_else(|| Refusal::new(Code::InvalidRequest, "The arguments must be a JSON object."))
    }

    /// A text that says something; numbers count as their digits.
    pub(super) fn text(&self, key: &str) -> Result<Option<String>, Refusal> {
        match self.value(key) {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
            Value::Number(number) => Ok(Some(number.to_string())),
            Value::Array(items) if items.len() == 1 && items[0].is_string() => Ok(items[0].as_str().map(str::to_owned)),
            _ => Err(Refusal::new(Code::InvalidRequest, format!("`{key}` must be a string."))),
        }
    }

    /// One text or a list of them.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<String>, Refusal> {
        let wrong = || Refusal::new(Code::InvalidRequest, format!("`{key}` must be a string or a list of strings."));
        match self.value(key) {
            Value::Null => Ok(Vec::new()),
            Value::String(text) if text.trim().is_empty() => Ok(Vec::new()),
            Value::String(text) => Ok(listed(&text).unwrap_or_else(|| vec![text.trim().to_owned()])),
            Value::Array(items) => {
                let texts: Option<Vec<String>> = items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
                texts.ok_or_else(wrong)
            }
            _ => Err(wrong()),
        }
    }

    /// What is searched for; empty where nothing is said.
    pub(super) fn query(&self) -> Result<String, Refusal> {
        Ok(self.text("query")?.map(|query| beginning(&query, LONGEST_QUERY)).unwrap_or_default())
    }

    /// A short text: a name, or part of one.
    pub(super) fn name(&self, key: &str) -> Result<Option<String>, Refusal> {
        Ok(self.text(key)?.map(|name| beginning(&name, LONGEST_NAME)))
    }

    /// One name or several.
    pub(super) fn names(&self, key: &str) -> Result<Vec<String>, Refusal> {
        let names = self.texts(key)?;
        Ok(names.iter().take(MOST_STEPS).map(|name| beginning(name, LONGEST_NAME)).collect())
    }

    /// A list of names, or `Servers/github`.
    pub(super) fn path(&self, key: &str) -> Result<Vec<String>, Refusal> {
        let steps = self.texts(key)?;
        let split = steps.iter().flat_map(|step| step.split(['/', '>'])).map(str::trim);
        Ok(split.filter(|step| !step.is_empty()).take(MOST_STEPS).map(|step| beginning(step, LONGEST_NAME)).collect())
    }

    /// In lower case.
    pub(super) fn tags(&self) -> Result<Vec<String>, Refusal> {
        let tags = self.texts("tags")?;
        Ok(tags.iter().take(MOST_STEPS).map(|tag| beginning(tag, LONGEST_NAME).to_lowercase()).collect())
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<usize>, Refusal> {
        let number = match self.value(key) {
            Value::Null => return Ok(None),
            Value::String(text) if text.trim().is_empty() => return Ok(None),
            Value::String(text) => text.trim().parse::<f64>().ok(),
            value => value.as_f64(),
        };
        let number = number.filter(|number| number.is_finite()).map(|number| number.max(0.0) as usize);
        let wrong = || Refusal::new(Code::InvalidRequest, format!("`{key}` must be a number."));
        number.map(Some).ok_or_else(wrong)
    }

    /// Whether something is wanted; not, unless said.
    pub(super) fn flag(&self, key: &str) -> Result<bool, Refusal> {
        match self.value(key) {
            Value::Null => Ok(false),
            Value::Bool(flag) => Ok(flag),
            Value::String(text) if ["true", "false", ""].contains(&text.as_str()) => Ok(text == "true"),
            _ => Err(Refusal::new(Code::InvalidRequest, format!("`{key}` must be true or false."))),
        }
    }

    /// A member as it came.
    pub(super) fn take(&mut self, key: &str) -> Option<Raw> {
        self.0.remove(key)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.0.contains(key)
    }

    /// The arguments of a tool that is called through a meta-tool. A model that puts them beside the tool's name
    /// instead of inside `arguments` means what it says.
    pub(super) fn take_inner(&mut self, named_by: &str) -> Option<Raw> {
        let inner = ["arguments", "args", "params", "input", "tool_args"].iter().find_map(|key| self.take(key));
        inner.or_else(|| self.rest(named_by))
    }

    /// What else there is, as an object; `None` where there is nothing.
    fn rest(&self, but: &str) -> Option<Raw> {
        let mut rest = self.0.clone();
        rest.remove(but);
        (!rest.is_empty()).then(|| rest.to_raw())
    }

    /// A member as a value; of one that is too large to be read, no more than that it is none of what could be meant.
    pub(super) fn value(&self, key: &str) -> Value {
        match self.0.get(key) {
            Some(given) if given.get().len() > LARGEST_LIST && !given.get().starts_with('"') => {
                Value::Object(Map::new())
            }
            _ => self.0.read(key).unwrap_or_default(),
        }
    }
}

fn beginning(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// A list given as JSON text.
fn listed(text: &str) -> Option<Vec<String>> {
    let list = text.trim_start().starts_with('[') && text.len() <= LARGEST_LIST;
    list.then(|| serde_json::from_str(text).ok()).flatten()
}
