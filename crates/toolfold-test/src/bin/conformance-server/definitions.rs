//! What the server lists, as the JSON it is on the wire. The names are the suite's; a renamed one fails its scenario.

use serde_json::{Value, json};

/// The smallest PNG (one pixel) and the shortest WAV (no samples).
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
pub(crate) const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

/// Tools without arguments: name and description.
const PLAIN: [(&str, &str); 22] = [
    ("test_simple_text", "Answers with a text."),
    ("test_image_content", "Answers with an image."),
    ("test_audio_content", "Answers with a sound."),
    ("test_embedded_resource", "Answers with an embedded resource."),
    ("test_multiple_content_types", "Answers with text, an image and a resource."),
    ("test_tool_with_logging", "Sends log messages while it works."),
    ("test_tool_with_progress", "Reports progress while it works."),
    ("test_error_handling", "Always answers with an error."),
    ("test_elicitation_sep1034_defaults", "Asks the user, with a default for every field."),
    ("test_elicitation_sep1330_enums", "Asks the user to choose, in every way there is."),
    ("test_reconnection", "Answers on a stream that may be resumed."),
    ("test_missing_capability", "Needs a client that can sample."),
    ("test_streaming_elicitation", "Asks the user on the stream of its answer."),
    ("test_logging_tool", "Logs if the request asked for a log."),
    ("test_trigger_tool_change", "Changes the list of tools."),
    ("test_trigger_prompt_change", "Changes the list of prompts."),
    ("test_input_required_result_elicitation", "Needs a name from the user."),
    ("test_input_required_result_sampling", "Needs an answer from a model."),
    ("test_input_required_result_list_roots", "Needs the client's roots."),
    ("test_input_required_result_request_state", "Needs a confirmation and its own state back."),
    ("test_input_required_result_multiple_inputs", "Needs a name, a greeting and the roots."),
    ("test_input_required_result_multi_round", "Needs two answers, one after the other."),
];

/// The tool that comes and goes with `test_trigger_tool_change`.
pub(crate) const CHANGING_TOOL: &str = "test_changing_tool";
/// The prompt that comes and goes with `test_trigger_prompt_change`.
pub(crate) const CHANGING_PROMPT: &str = "test_changing_prompt";

pub(crate) fn tools(with_changing: bool) -> Value {
    let plain =
        |(name, description)| json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
    let mut tools: Vec<Value> = PLAIN.into_iter().map(plain).collect();
    tools.push(plain(("test_input_required_result_tampered_state", "Needs its own state back, untouched.")));
    tools.push(plain(("test_input_required_result_capabilities", "Asks only for what the client can do.")));
    tools.push(with_text("test_sampling", "Asks the client's model.", "prompt", "What to ask the model"));
    tools.push(with_text("test_elicitation", "Asks the user.", "message", "What to ask the user"));
    tools.push(json!({
        "name": "json_schema_2020_12_tool",
        "description": "Has a schema with the keywords of JSON Schema 2020-12.",
        "inputSchema": schema_2020_12(),
    }));
    tools.push(json!({
        "name": "test_custom_header",
        "description": "Wants its region in a header as well.",
        "inputSchema": {"type": "object", "properties": {
            "region": {"type": "string", "description": "Where to work", "x-mcp-header": "Region"},
        }},
    }));
    if with_changing {
        tools.push(plain((CHANGING_TOOL, "Is listed only now and then.")));
    }
    tools.into()
}

pub(crate) fn prompts(with_changing: bool) -> Value {
    let argument = |name: &str, about: &str| json!({"name": name, "description": about, "required": true});
    let mut prompts = vec![
        json!({"name": "test_simple_prompt", "description": "A prompt without arguments."}),
        json!({"name": "test_prompt_with_arguments", "description": "A prompt with two arguments.", "arguments": [
            argument("arg1", "The first argument"), argument("arg2", "The second argument"),
        ]}),
        json!({"name": "test_prompt_with_embedded_resource", "description": "A prompt with a resource in it.",
            "arguments": [argument("resourceUri", "The resource to put in")]}),
        json!({"name": "test_prompt_with_image", "description": "A prompt with an image in it."}),
        json!({"name": "test_input_required_result_prompt", "description": "A prompt that needs the user first."}),
    ];
    if with_changing {
        prompts.push(json!({"name": CHANGING_PROMPT, "description": "Is listed only now and then."}));
    }
    prompts.into()
}

pub(crate) fn resources() -> Value {
    json!([
        {"uri": "test://static-text", "name": "static-text", "description": "A text", "mimeType": "text/plain"},
        {"uri": "test://static-binary", "name": "static-binary", "description": "An image", "mimeType": "image/png"},
        {"uri": "test://watched-resource", "name": "watched-resource", "description": "A text to watch",
            "mimeType": "text/plain"},
    ])
}

pub(crate) fn templates() -> Value {
    json!([{"uriTemplate": "test://template/{id}/data", "name": "template", "description": "Data by its id",
        "mimeType": "application/json"}])
}

/// The contents of a resource; `None` for one that does not exist.
pub(crate) fn content(uri: &str) -> Option<Value> {
    if let Some(id) = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data")) {
        let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
        return Some(json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()}));
    }
    match uri {
        "test://static-text" => {
            let text = "This is the content of the static text resource.";
            Some(json!({"uri": uri, "mimeType": "text/plain", "text": text}))
        }
        "test://static-binary" => Some(json!({"uri": uri, "mimeType": "image/png", "blob": PNG})),
        "test://watched-resource" => Some(json!({"uri": uri, "mimeType": "text/plain", "text": "Watched content."})),
        _ => None,
    }
}

fn with_text(name: &str, description: &str, parameter: &str, about: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {
        "type": "object", "properties": {parameter: {"type": "string", "description": about}}, "required": [parameter],
    }})
}

fn schema_2020_12() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {
            "street": {"type": "string"}, "city": {"type": "string"},
        }}},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}
