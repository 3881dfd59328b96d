//! The tools that do something while they run, or answer with more than a text.
#![expect(deprecated, reason = "the older protocol versions that are tested have logging and sampling")]

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::CallToolResult;
use rmcp::service::{RequestContext, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::definitions::{PNG, WAV};
use crate::handler::{Change, Shared};

type Context = RequestContext<RoleServer>;

const PAUSE: Duration = Duration::from_millis(50);

pub(crate) async fn call(
    shared: &Shared,
    name: &str,
    arguments: &Value,
    context: &Context,
) -> Result<CallToolResult, ErrorData> {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    let content = match name {
        "test_simple_text" => text("This is a simple text response for testing."),
        "test_image_content" => json!([image]),
        "test_audio_content" => json!([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]),
        "test_embedded_resource" => {
            json!([embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")])
        }
        "test_multiple_content_types" => {
            let data = r#"{"test":"data","value":123}"#;
            let resource = embedded("test://mixed-content-resource", "application/json", data);
            json!([{"type": "text", "text": "Multiple content types test:"}, image, resource])
        }
        "test_tool_with_logging" => text(&with_logging(context).await?),
        "test_tool_with_progress" => text(&with_progress(context).await?),
        "test_logging_tool" => text(&log_if_asked(context).await?),
        "test_sampling" => text(&sample(arguments, context).await?),
        "test_elicitation" => text(&elicit(&arguments["message"], contact_schema(), context).await?),
        "test_elicitation_sep1034_defaults" => {
            text(&elicit(&"Please review the values".into(), defaults_schema(), context).await?)
        }
        "test_elicitation_sep1330_enums" => text(&elicit(&"Please choose".into(), enums_schema(), context).await?),
        "test_missing_capability" => text(&needs_sampling(context)?),
        "test_trigger_tool_change" => text(&shared.change(Change::Tools, context).await),
        "test_trigger_prompt_change" => text(&shared.change(Change::Prompts, context).await),
        "test_error_handling" => {
            let content = text("This tool intentionally returns an error for testing");
            return complete(json!({"content": content, "isError": true}));
        }
        _ => text(&format!("{name} was called with {arguments}")),
    };
    complete(json!({"content": content}))
}

fn embedded(uri: &str, mime: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime, "text": text}})
}

async fn with_logging(context: &Context) -> Result<String, ErrorData> {
    for (n, message) in
        ["Tool execution started", "Tool processing data", "Tool execution completed"].iter().enumerate()
    {
        if n > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        log(message, context).await?;
    }
    Ok("Three messages were logged.".to_owned())
}

async fn log_if_asked(context: &Context) -> Result<String, ErrorData> {
    if context.meta.log_level().is_none() && context.meta.protocol_version().is_some() {
        return Ok("No log was asked for.".to_owned());
    }
    log("A message", context).await?;
    Ok("One message was logged.".to_owned())
}

async fn log(message: &str, context: &Context) -> Result<(), ErrorData> {
    let params = typed(json!({"level": "info", "logger": "conformance", "data": message}))?;
    context.peer.notify_logging_message(params).await.map_err(internal)
}

async fn with_progress(context: &Context) -> Result<String, ErrorData> {
    for progress in [0, 50, 100] {
        if progress > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        if let Some(token) = context.meta.get_progress_token() {
            let params = typed(json!({"progressToken": token, "progress": progress, "total": 100}))?;
            context.peer.notify_progress(params).await.map_err(internal)?;
        }
    }
    Ok("Done in three steps.".to_owned())
}

async fn sample(arguments: &Value, context: &Context) -> Result<String, ErrorData> {
    let message = json!({"role": "user", "content": {"type": "text", "text": arguments["prompt"]}});
    let params = typed(json!({"messages": [message], "maxTokens": 100}))?;
    let answer = context.peer.create_message(params).await.map_err(internal)?;
    Ok(format!("LLM response: {}", json!(answer)["content"]["text"]))
}

async fn elicit(message: &Value, schema: Value, context: &Context) -> Result<String, ErrorData> {
    let params = typed(json!({"mode": "form", "message": message, "requestedSchema": schema}))?;
    let answer = json!(context.peer.create_elicitation(params).await.map_err(internal)?);
    Ok(format!("Elicitation completed: action={}, content={}", answer["action"], answer["content"]))
}

fn needs_sampling(context: &Context) -> Result<String, ErrorData> {
    let declared = context.client_capabilities().map(|capabilities| json!(capabilities)).unwrap_or_default();
    match declared.get("sampling") {
        Some(_) => Ok("The client can sample.".to_owned()),
        None => Err(ErrorData::missing_required_client_capability(typed(json!({"sampling": {}}))?)),
    }
}

fn contact_schema() -> Value {
    let field = |about: &str| json!({"type": "string", "description": about});
    json!({"type": "object", "required": ["username", "email"], "properties": {
        "username": field("User's response"), "email": field("User's email address"),
    }})
}

fn defaults_schema() -> Value {
    json!({"type": "object", "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    }})
}

fn enums_schema() -> Value {
    let options = json!(["option1", "option2", "option3"]);
    let titled = |kind: &str| {
        json!([{"const": "value1", "title": format!("First {kind}")}, {"const": "value2", "title": format!("Second {kind}")},
            {"const": "value3", "title": format!("Third {kind}")}])
    };
    json!({"type": "object", "properties": {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled("Option")},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled("Choice")}},
    }})
}

/// JSON as one of rmcp's types: their constructors change from release to release, their JSON does not.
pub(crate) fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(internal)
}

/// A result of any kind. rmcp takes the type away again for a client of an older version.
pub(crate) fn complete<T: DeserializeOwned>(mut result: Value) -> Result<T, ErrorData> {
    result["resultType"] = "complete".into();
    typed(result)
}

fn internal(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
