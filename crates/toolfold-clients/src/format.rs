//! The formats of clients' files, and reading them into one kind of value.

use jsonc_parser::ParseOptions;
use jsonc_parser::ast;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    /// Read with comments all the same: the file is judged by the program whose it is.
    Json,
    Jsonc,
    Toml,
    Yaml,
}

/// A file that cannot be read as what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is not {format}: {message}{}", .line.map(|line| format!(" (line {line})")).unwrap_or_default())]
pub struct Broken {
    pub format: &'static str,
    pub line: Option<usize>,
    /// Never a piece of the file, which may hold secrets.
    pub message: String,
}

/// A file of more than this is no configuration.
pub(crate) const LARGEST: u64 = 16 << 20;

impl FileFormat {
    pub fn name(self) -> &'static str {
        match self {
            FileFormat::Json => "JSON",
            FileFormat::Jsonc => "JSON with comments",
            FileFormat::Toml => "TOML",
            FileFormat::Yaml => "YAML",
        }
    }

    /// The file as a value; nothing at all is an empty object.
    pub fn parse(self, text: &str) -> Result<Value, Broken> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match self {
            FileFormat::Json | FileFormat::Jsonc => parse_json(text),
            FileFormat::Toml => parse_toml(text),
            FileFormat::Yaml => parse_yaml(text),
        }
    }
}

/// JSON with comments and commas too many, and nothing else that programs disagree on.
pub(crate) fn json_options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

pub(crate) fn json_error(error: &jsonc_parser::errors::ParseError) -> Broken {
    Broken { format: "JSON", line: Some(error.line_display()), message: error.kind().to_string() }
}

fn parse_json(text: &str) -> Result<Value, Broken> {
    let parsed = jsonc_parser::parse_to_ast(text, &Default::default(), &json_options());
    let parsed = parsed.map_err(|error| json_error(&error))?;
    Ok(parsed.value.as_ref().map_or_else(|| Value::Object(Map::new()), json_value))
}

fn json_value(value: &ast::Value<'_>) -> Value {
    match value {
        ast::Value::StringLit(text) => Value::from(text.value.as_ref()),
        // A number that no program could hold stays told apart from every other.
        ast::Value::NumberLit(number) => {
            serde_json::from_str::<Number>(number.value).map_or_else(|_| Value::from(number.value), Value::Number)
        }
        ast::Value::BooleanLit(flag) => Value::from(flag.value),
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::Array(list) => list.elements.iter().map(json_value).collect(),
        ast::Value::Object(object) => {
            let members =
                object.properties.iter().map(|member| (member.name.as_str().to_owned(), json_value(&member.value)));
            Value::Object(members.collect())
        }
    }
}

fn parse_toml(text: &str) -> Result<Value, Broken> {
    let table = toml::from_str::<toml::Table>(text).map_err(|error| Broken {
        format: "TOML",
        line: error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1),
        message: error.message().to_owned(),
    })?;
    Ok(toml_value(toml::Value::Table(table)))
}

fn toml_value(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::from(text),
        toml::Value::Integer(number) => Value::from(number),
        // Infinity is no JSON; it only has to stay what it was.
        toml::Value::Float(number) => {
            Number::from_f64(number).map_or_else(|| Value::from(number.to_string()), Value::Number)
        }
        toml::Value::Boolean(flag) => Value::from(flag),
        toml::Value::Datetime(time) => Value::from(time.to_string()),
        toml::Value::Array(items) => items.into_iter().map(toml_value).collect(),
        toml::Value::Table(table) => {
            Value::Object(table.into_iter().map(|(name, value)| (name, toml_value(value))).collect())
        }
    }
}

fn parse_yaml(text: &str) -> Result<Value, Broken> {
    let value: Value = serde_saphyr::from_str(text).map_err(|error| Broken {
        format: "YAML",
        line: error.location().map(|place| place.line() as usize),
        message: "it cannot be read".to_owned(),
    })?;
    Ok(if value.is_null() { Value::Object(Map::new()) } else { value })
}
