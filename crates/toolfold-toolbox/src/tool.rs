//! A toolbox tool before it is registered: its definition, put together piece by piece, and the function behind it.

use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::problem::Problem;

/// What a tool answers: text for reading, or an object that its output schema describes.
#[derive(Debug)]
pub(crate) enum Reply {
    Text(String),
    Json(Value),
}

pub(crate) type Replied = Result<Reply, Problem>;
pub(crate) type Run = fn(&Arguments<'_>) -> Replied;

pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) run: Run,
    title: &'static str,
    description: &'static str,
    properties: serde_json::Map<String, Value>,
    required: Vec<&'static str>,
    output: Option<Value>,
    steady: bool,
}

impl Tool {
    pub(crate) fn new(name: &'static str, title: &'static str, description: &'static str, run: Run) -> Self {
        let (properties, required) = (serde_json::Map::new(), Vec::new());
        Tool { name, title, description, run, properties, required, output: None, steady: true }
    }

    /// A parameter that must be given.
    pub(crate) fn needs(mut self, name: &'static str, schema: Value) -> Self {
        self.required.push(name);
        self.takes(name, schema)
    }

    /// A parameter that may be given.
    pub(crate) fn takes(mut self, name: &'static str, schema: Value) -> Self {
        self.properties.insert(name.to_owned(), schema);
        self
    }

    /// The members of the object that the tool answers with; all of them are always there.
    pub(crate) fn gives(mut self, properties: Value) -> Self {
        let required: Vec<&String> = properties.as_object().into_iter().flat_map(|members| members.keys()).collect();
        self.output = Some(json!({"type": "object", "required": required, "properties": properties}));
        self
    }

    /// The same arguments may have another answer next time.
    pub(crate) fn varies(mut self) -> Self {
        self.steady = false;
        self
    }

    pub(crate) fn definition(&self) -> Value {
        let mut schema = json!({"type": "object", "properties": self.properties, "additionalProperties": false});
        if !self.required.is_empty() {
            schema["required"] = json!(self.required);
        }
        let annotations = json!({
            "title": self.title, "readOnlyHint": true, "destructiveHint": false,
            "idempotentHint": self.steady, "openWorldHint": false,
        });
        let mut definition = json!({
            "name": self.name, "title": self.title, "description": self.description, "inputSchema": schema,
        });
        if let Some(output) = &self.output {
            definition["outputSchema"] = output.clone();
        }
        definition["annotations"] = annotations;
        definition
    }
}

/// `{"type": "string", "description": …}`
pub(crate) fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

pub(crate) fn number(about: &str) -> Value {
    json!({"type": "number", "description": about})
}

pub(crate) fn flag(about: &str) -> Value {
    json!({"type": "boolean", "description": about, "default": false})
}

pub(crate) fn integer(about: &str, usual: i64, least: i64, most: i64) -> Value {
    json!({"type": "integer", "description": about, "default": usual, "minimum": least, "maximum": most})
}

pub(crate) fn choice(about: &str, options: &[&str]) -> Value {
    json!({"type": "string", "description": about, "enum": options})
}
