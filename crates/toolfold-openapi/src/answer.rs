//! What an API answered, as the result of a tool.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use toolfold_core::{Fuel, beginning};
use toolfold_schema::Schema;
use toolfold_wire::has_more_values;

use crate::parameter::is_json;
use crate::plan::RequestPlan;

/// Characters of an answer that says why not.
const LONGEST_ERROR: usize = 8_000;
/// Work for a look at whether an answer is what was declared. It has to be little: schemas of answers are small.
const FUEL: u64 = 2_000_000;
/// Values of an answer that is looked at: what has more would run out of fuel, and be a hundred times as large before that.
const MOST_VALUES: usize = 500_000;

#[derive(Debug, Clone, Copy)]
pub struct Answered<'a> {
    pub status: u16,
    /// What the status is called.
    pub reason: &'a str,
    pub media: Option<&'a str>,
    /// Where it wants to send us.
    pub location: Option<&'a str>,
    pub body: &'a [u8],
    /// The address that was asked, without its query.
    pub address: &'a str,
}

/// For a result: everything of a success, and of anything else what it was and how it began.
pub fn result(plan: &RequestPlan, answered: Answered<'_>) -> Value {
    if !(200..300).contains(&answered.status) {
        return error(&refusal(answered));
    }
    if answered.body.is_empty() {
        return match plan.output {
            Some(_) => error(&format!(
                "{}: it worked, and the answer is empty, which its document does not say.",
                head(answered)
            )),
            None => {
                json!({"content": [{"type": "text", "text": format!("{}: done, and nothing to show for it.", head(answered))}]})
            }
        };
    }
    let media = answered.media.unwrap_or_default();
    let kind = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let text = std::str::from_utf8(answered.body).ok();
    let Some(text) = text.filter(|text| is_text(&kind, text)) else { return binary(answered, &kind) };
    let content = json!([{"type": "text", "text": text}]);
    let Some(output) = &plan.output else { return json!({ "content": content }) };
    let read = is_json(media) && !has_more_values(text, MOST_VALUES);
    let body: Option<Value> = if read { serde_json::from_str(text).ok() } else { None };
    match body.filter(|body| body.is_object() && is_valid(output, body)) {
        Some(body) => json!({"content": content, "structuredContent": body}),
        // Whoever validates results would lose this one: as an error, with all of it, nobody does.
        None => {
            let told = format!(
                "{}: it worked. The answer is not what the document of the API declares; it is:",
                head(answered)
            );
            json!({"content": [{"type": "text", "text": told}, {"type": "text", "text": text}], "isError": true})
        }
    }
}

/// A result that says why there is none.
pub(crate) fn error(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}

fn head(answered: Answered<'_>) -> String {
    format!("HTTP {} {}", answered.status, answered.reason).trim_end().to_owned()
}

fn refusal(answered: Answered<'_>) -> String {
    let hint = match answered.status {
        300..=399 => {
            let to = answered.location.map_or_else(String::new, |to| format!(" to {}", beginning(to, 300)));
            format!(
                "\nIt redirects{to}, where requests are not sent: correct `base_url` if that is where the API is now."
            )
        }
        401 => "\nThe API does not know who asks, or refuses them: `headers` of the server holds the key.".to_owned(),
        429 => "\nThe API wants fewer requests: wait before the next.".to_owned(),
        _ => String::new(),
    };
    let body = match std::str::from_utf8(answered.body) {
        Ok(text) if !text.trim().is_empty() => format!("\n{}", beginning(text, LONGEST_ERROR)),
        Ok(_) => String::new(),
        Err(_) => format!("\n({} bytes that are no text)", answered.body.len()),
    };
    format!("{}{hint}{body}", head(answered))
}

fn is_text(kind: &str, text: &str) -> bool {
    let named = kind.is_empty()
        || is_json(kind)
        || kind.starts_with("text/")
        || kind.ends_with("+xml")
        || kind.ends_with("+yaml")
        || ["xml", "javascript", "yaml", "x-yaml", "ndjson", "x-ndjson", "jsonl", "graphql", "csv", "toml", "sql"]
            .iter()
            .any(|name| kind == format!("application/{name}"));
    (named && !kind.starts_with("image/")) && !text.contains('\0')
}

fn binary(answered: Answered<'_>, kind: &str) -> Value {
    let kind = if kind.is_empty() { "application/octet-stream" } else { kind };
    let data = STANDARD.encode(answered.body);
    let content = match kind.split('/').next() {
        Some("image") => json!({"type": "image", "data": data, "mimeType": kind}),
        Some("audio") => json!({"type": "audio", "data": data, "mimeType": kind}),
        _ => json!({"type": "resource", "resource": {"uri": answered.address, "mimeType": kind, "blob": data}}),
    };
    json!({ "content": [content] })
}

fn is_valid(schema: &Value, body: &Value) -> bool {
    let fuel = Fuel::new(FUEL);
    let Ok(schema) = Schema::prepare(schema.clone(), &fuel) else { return false };
    schema.is_valid(body, &fuel).unwrap_or(false)
}
