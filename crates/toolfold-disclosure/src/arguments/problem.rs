//! Refusals that teach: what is wrong, where, and the schema of that part, so that the next try can be right.

use serde_json::{Value, json};
use toolfold_core::{Code, Entry, Next, Refusal, words};
use toolfold_schema::{Flaw, Violation};

use crate::schema::{parameters, resolve};

pub(super) const MOST_PROBLEMS: usize = 5;
/// A schema longer than this is left to `find_tools`.
const LONGEST_SCHEMA: usize = 4000;
const LONGEST_MESSAGE: usize = 200;
/// Of a name that is shown, or compared with others.
const LONGEST_NAME: usize = 60;
/// Names that one is compared with.
const MOST_COMPARED: usize = 500;

struct Problem {
    at: String,
    what: String,
    schema: Value,
}

pub(super) fn not_an_object(entry: &Entry) -> Refusal {
    let schema = entry.input_schema();
    let problem = Problem { at: "/".to_owned(), what: "the arguments must be a JSON object".to_owned(), schema };
    refuse(entry, vec![problem])
}

/// What is wrong with the arguments.
pub(super) fn refusal(entry: &Entry, schema: &Value, arguments: &Value, broken: &[Violation<'_>]) -> Refusal {
    refuse(entry, broken.iter().map(|broken| problem(schema, arguments, broken)).collect())
}

fn refuse(entry: &Entry, problems: Vec<Problem>) -> Refusal {
    let told: Vec<String> = problems.iter().map(|problem| format!("{}: {}", problem.at, problem.what)).collect();
    let message = format!("The arguments do not fit {}. Correct what the hints say and call again.", entry.id);
    let details: Vec<Value> = problems
        .into_iter()
        .map(|problem| {
            let mut shown = json!({"at": problem.at, "problem": problem.what});
            if problem.schema.to_string().len() <= LONGEST_SCHEMA {
                shown["schema"] = problem.schema;
            }
            shown
        })
        .collect();
    Refusal::new(Code::InvalidArguments, message)
        .hints(told)
        .details(json!({ "problems": details }))
        .next(Next::Describe { tool: entry.id.to_string(), full: true })
}

fn problem(root: &Value, arguments: &Value, broken: &Violation<'_>) -> Problem {
    let (place, part) = (&broken.at, broken.schema);
    let object = if place.is_empty() { Some(arguments) } else { arguments.pointer(place) };
    match &broken.kind {
        Flaw::Required(name) => missing(root, part, place, name, object),
        Flaw::AdditionalProperties(unexpected) | Flaw::UnevaluatedProperties(unexpected) => {
            Problem { at: shown(place), what: unknown(root, part, unexpected), schema: part.clone() }
        }
        _ => Problem { at: shown(place), what: said(broken), schema: part.clone() },
    }
}

fn missing(root: &Value, part: &Value, place: &str, name: &str, object: Option<&Value>) -> Problem {
    let known = parameters(root, part).list;
    let schema = known.iter().find(|parameter| parameter.name == name).map(|parameter| resolve(root, parameter.schema));
    let given = object.and_then(Value::as_object).into_iter().flatten().map(|(key, _)| key.as_str());
    let strange = given.take(MOST_COMPARED).filter(|key| key.len() <= LONGEST_NAME);
    let strange = strange.filter(|key| known.iter().all(|parameter| parameter.name != *key)).take(50);
    let meant = words::nearest(name, strange).map_or(String::new(), |key| format!(" (is {key:?} meant to be it?)"));
    Problem {
        at: format!("{place}/{name}"),
        what: format!("is required and missing{meant}"),
        schema: schema.cloned().unwrap_or(Value::Bool(true)),
    }
}

fn unknown(root: &Value, part: &Value, unexpected: &[String]) -> String {
    let known = parameters(root, part).list;
    let each = unexpected.iter().take(MOST_PROBLEMS).map(|name| {
        let name: String = name.chars().take(LONGEST_NAME).collect();
        let near = words::nearest(&name, known.iter().take(MOST_COMPARED).map(|parameter| parameter.name));
        near.map_or(format!("{name:?} is not a parameter"), |near| {
            format!("{name:?} is not a parameter (did you mean {near:?}?)")
        })
    });
    each.collect::<Vec<_>>().join("; ")
}

/// The checker's own words, without the value: that may be long, and the caller knows it.
fn said(broken: &Violation<'_>) -> String {
    let text = broken.text("it");
    let short: String = text.chars().take(LONGEST_MESSAGE).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

fn shown(place: &str) -> String {
    if place.is_empty() { "/".to_owned() } else { place.to_owned() }
}
