//! rmcp's handler: it finds the answer in the other files and decides nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::*;
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::broadcast;

use crate::calls::{self, complete, typed};
use crate::definitions;
use crate::input::{self, Round};

type Context = RequestContext<RoleServer>;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    Tools,
    Prompts,
}

/// What all connections see.
pub(crate) struct Shared {
    changing_tool: AtomicBool,
    changing_prompt: AtomicBool,
    changes: broadcast::Sender<Change>,
}

impl Default for Shared {
    fn default() -> Self {
        let changes = broadcast::channel(16).0;
        Shared { changing_tool: AtomicBool::new(false), changing_prompt: AtomicBool::new(false), changes }
    }
}

impl Shared {
    /// Makes an entry come or go, and tells everybody who listens.
    pub(crate) async fn change(&self, change: Change, context: &Context) -> String {
        let flag = match change {
            Change::Tools => &self.changing_tool,
            Change::Prompts => &self.changing_prompt,
        };
        let listed = !flag.fetch_xor(true, Ordering::SeqCst);
        let _ = self.changes.send(change);
        // A modern client hears of it where it listens, never on the stream of another request.
        if context.meta.protocol_version().is_none() {
            let _ = match change {
                Change::Tools => context.peer.notify_tool_list_changed().await,
                Change::Prompts => context.peer.notify_prompt_list_changed().await,
            };
        }
        format!("{change:?} changed: the changing entry is {}.", if listed { "listed" } else { "gone" })
    }
}

pub(crate) struct Conformance {
    shared: Arc<Shared>,
}

impl Conformance {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Conformance { shared }
    }

    fn tools(&self) -> Value {
        definitions::tools(self.shared.changing_tool.load(Ordering::SeqCst))
    }
}

#[expect(deprecated, reason = "the older protocol versions that are tested have subscriptions and log levels")]
impl ServerHandler for Conformance {
    fn get_info(&self) -> ServerConfig {
        let capabilities = json!({
            "tools": {"listChanged": true}, "prompts": {"listChanged": true},
            "resources": {"listChanged": true, "subscribe": true}, "logging": {}, "completions": {},
        });
        let capabilities: ServerCapabilities = typed(capabilities).unwrap_or_default();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("toolfold-conformance", "1.0.0"))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = self.tools().as_array()?.iter().find(|tool| tool["name"] == name)?.clone();
        typed(tool).ok()
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: Context) -> Result<ListToolsResult, ErrorData> {
        complete(json!({"tools": self.tools()}))
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Result<CallToolResponse, ErrorData> {
        let capabilities = context.client_capabilities().unwrap_or_default();
        let (responses, state) = (request.input_responses.as_ref(), request.request_state.as_deref());
        match input::play(&request.name, responses, state, &capabilities)? {
            Some(Round::Ask(result)) => return Ok(result.into()),
            Some(Round::Done(text)) => {
                let result: CallToolResult = complete(json!({"content": [{"type": "text", "text": text}]}))?;
                return Ok(result.into());
            }
            None => {}
        }
        if self.get_tool(&request.name).is_none() {
            return Err(ErrorData::invalid_params(format!("Unknown tool: {}", request.name), None));
        }
        let arguments = request.arguments.map(Value::Object).unwrap_or_else(|| json!({}));
        calls::call(&self.shared, &request.name, &arguments, &context).await.map(Into::into)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        complete(json!({"prompts": definitions::prompts(self.shared.changing_prompt.load(Ordering::SeqCst))}))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let capabilities = context.client_capabilities().unwrap_or_default();
        let (responses, state) = (request.input_responses.as_ref(), request.request_state.as_deref());
        let text = match input::play(&request.name, responses, state, &capabilities)? {
            Some(Round::Ask(result)) => return Ok(result.into()),
            Some(Round::Done(text)) => Some(text),
            None => None,
        };
        let arguments = request.arguments.map(Value::Object).unwrap_or_default();
        let result: GetPromptResult = complete(json!({"messages": messages(&request.name, &arguments, text)?}))?;
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        complete(json!({"resources": definitions::resources()}))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        complete(json!({"resourceTemplates": definitions::templates()}))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(content) = definitions::content(&request.uri) else {
            return Err(ErrorData::resource_not_found("Resource not found", Some(json!({"uri": request.uri}))));
        };
        let result: ReadResourceResult = complete(json!({"contents": [content]}))?;
        Ok(result.into())
    }

    async fn complete(&self, request: CompleteRequestParams, _: Context) -> Result<CompleteResult, ErrorData> {
        let value = &request.argument.value;
        let values: Vec<_> = ["paris", "park", "party"].into_iter().filter(|word| word.starts_with(value)).collect();
        complete(json!({"completion": {"values": values, "total": values.len(), "hasMore": false}}))
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.shared.changes.subscribe();
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.recv() => change,
            };
            // The sink refuses what was not asked for: that is its answer, not a failure.
            let _ = match change {
                Ok(Change::Tools) => context.sink().notify_tool_list_changed().await,
                Ok(Change::Prompts) => context.sink().notify_prompt_list_changed().await,
                Err(_) => Ok(()),
            };
        }
    }
}

fn messages(name: &str, arguments: &Value, input: Option<String>) -> Result<Value, ErrorData> {
    let text = |text: String| json!({"role": "user", "content": {"type": "text", "text": text}});
    let of = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
    Ok(match name {
        "test_simple_prompt" => json!([text("This is a simple prompt for testing.".into())]),
        "test_prompt_with_arguments" => {
            json!([text(format!("Prompt with arguments: arg1='{}', arg2='{}'", of("arg1"), of("arg2")))])
        }
        "test_prompt_with_embedded_resource" => {
            let resource = json!({"uri": of("resourceUri"), "mimeType": "text/plain",
                "text": "Embedded resource content for testing."});
            let resource = json!({"role": "user", "content": {"type": "resource", "resource": resource}});
            json!([resource, text("Please process the embedded resource above.".into())])
        }
        "test_prompt_with_image" => {
            let image = json!({"type": "image", "data": definitions::PNG, "mimeType": "image/png"});
            json!([{"role": "user", "content": image}, text("Please analyze the image above.".into())])
        }
        "test_input_required_result_prompt" => json!([text(input.unwrap_or_default())]),
        definitions::CHANGING_PROMPT => json!([text("Here for now.".into())]),
        _ => return Err(ErrorData::invalid_params(format!("Unknown prompt: {name}"), None)),
    })
}
