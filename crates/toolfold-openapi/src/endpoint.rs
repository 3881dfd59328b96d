//! An endpoint that somebody described by hand: a method, a path, and a schema of its arguments.

use serde_json::{Value, json};

use crate::body::{Body, Form, Taken};
use crate::operation::{ApiTool, annotations};
use crate::parameter::{Parameter, Where};
use crate::place::Base;
use crate::plan::{Piece, RequestPlan, pieces};
use crate::span::Span;
use crate::style::{Style, Writing};

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadEndpoint {
    #[error("its method {:?} is none of {}", .0, METHODS.join(", "))]
    Method(String),
    #[error("its path {0:?} does not begin with a slash")]
    Path(String),
    #[error("its path names {{{0}}}, which `input` does not have among its properties")]
    Unknown(String),
}

/// What is in the path goes there; the rest into the query where a request has no body, and else into a JSON body.
pub fn endpoint(
    (name, description): (&str, &str),
    (method, path): (&str, &str),
    input: &Value,
    base: &Base,
) -> Result<ApiTool, BadEndpoint> {
    let method = method.to_ascii_uppercase();
    if !METHODS.contains(&method.as_str()) {
        return Err(BadEndpoint::Method(method));
    }
    if !path.starts_with('/') {
        return Err(BadEndpoint::Path(path.to_owned()));
    }
    let (path, fixed) = path.split_once('?').unwrap_or((path, ""));
    let mut base = base.clone();
    base.query = [base.query.as_str(), fixed].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("&");
    let known: Vec<String> = input
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect();
    let mut parameters: Vec<Parameter> = Vec::new();
    let parameter = |name: &str, place: Where| {
        let style = if place == Where::Path { Style::Simple } else { Style::Form };
        let writing = Writing { style, explode: place == Where::Query, reserved: false };
        Parameter { argument: name.to_owned(), name: name.to_owned(), place, writing }
    };
    let mut plan_path = Vec::new();
    for piece in pieces(path) {
        plan_path.push(match piece {
            Span::Text(text) => Piece::Text(text),
            Span::Name(name) if !known.contains(&name) => return Err(BadEndpoint::Unknown(name)),
            Span::Name(name) => {
                Piece::Parameter(parameters.iter().position(|one| one.name == name).unwrap_or_else(|| {
                    parameters.push(parameter(&name, Where::Path));
                    parameters.len() - 1
                }))
            }
        });
    }
    let rest: Vec<String> = known.into_iter().filter(|name| parameters.iter().all(|one| one.name != *name)).collect();
    let body = match method.as_str() {
        "POST" | "PUT" | "PATCH" if !rest.is_empty() => {
            let taken = Taken::Members { names: rest, always: true };
            Some(Body { media: "application/json".to_owned(), form: Form::Json, taken })
        }
        _ => {
            parameters.extend(rest.iter().map(|name| parameter(name, Where::Query)));
            None
        }
    };
    let definition = json!({
        "name": name,
        "description": description,
        "inputSchema": input,
        "annotations": annotations(&method),
    });
    let plan = RequestPlan { method, base, public: false, output: None, path: plan_path, parameters, body };
    Ok(ApiTool { name: name.to_owned(), definition, plan })
}
