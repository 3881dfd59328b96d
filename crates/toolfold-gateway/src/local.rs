//! Tools that live in this process: the built-in toolbox, and whatever a program that embeds Toolfold registers.
//! A handler is built when its tool is first called, so registering a thousand tools costs a thousand definitions.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};
use toolfold_core::{Entry, ServerName};
use toolfold_wire::{BoxFuture, Raw, RpcError, raw};

/// What a handler answers: a whole tool result, or text to make one of.
pub enum Output {
    Text(String),
    /// Structured content; the text beside it is its JSON.
    Json(Value),
    /// A tool result as it goes to the client.
    Result(Raw),
    /// The tool failed, and this says what to do about it.
    Failure(String),
}

pub type Handler = Arc<dyn Fn(Value) -> BoxFuture<'static, Output> + Send + Sync>;
type Build = dyn Fn() -> Handler + Send + Sync;

#[derive(Clone)]
pub struct LocalTool {
    pub definition: Value,
    build: Arc<Build>,
    handler: Arc<OnceLock<Handler>>,
}

impl LocalTool {
    /// A tool whose handler is built by `build` when it is first called.
    pub fn new(definition: Value, build: impl Fn() -> Handler + Send + Sync + 'static) -> Self {
        LocalTool { definition, build: Arc::new(build), handler: Arc::default() }
    }

    /// A tool that computes its answer: it runs on a thread where blocking is fine.
    pub fn blocking(definition: Value, run: impl Fn(Value) -> Output + Send + Sync + 'static) -> Self {
        let run = Arc::new(run);
        LocalTool::new(definition, move || {
            let run = run.clone();
            Arc::new(move |arguments| {
                let run = run.clone();
                let work = tokio::task::spawn_blocking(move || run(arguments));
                Box::pin(async move { work.await.unwrap_or_else(|_| Output::Failure("The tool crashed.".into())) })
            })
        })
    }

    pub fn name(&self) -> &str {
        self.definition["name"].as_str().unwrap_or_default()
    }

    pub async fn call(&self, arguments: Value) -> Raw {
        let handler = self.handler.get_or_init(|| (self.build)()).clone();
        handler(arguments).await.into_result()
    }
}

impl fmt::Debug for LocalTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LocalTool({})", self.name())
    }
}

impl Output {
    fn into_result(self) -> Raw {
        let text = |text: String| json!([{"type": "text", "text": text}]);
        match self {
            Output::Text(content) => raw(&json!({"content": text(content)})),
            Output::Json(value) => raw(&json!({"content": text(value.to_string()), "structuredContent": value})),
            Output::Failure(message) => raw(&json!({"content": text(message), "isError": true})),
            Output::Result(result) => result,
        }
    }
}

/// A named set of in-process tools: a server like any other, only nearer.
#[derive(Debug, Clone)]
pub struct LocalServer {
    pub name: ServerName,
    pub title: Option<String>,
    pub tools: Vec<LocalTool>,
}

impl LocalServer {
    /// Whether every tool could be called; where not, why.
    pub(crate) fn check(&self) -> Result<(), String> {
        let check = |tool: &LocalTool| Entry::tool(&self.name, &raw(&tool.definition)).map(drop);
        self.tools.iter().try_for_each(|tool| check(tool).map_err(|why| format!("the tool {:?} {why}", tool.name())))
    }

    /// These tools and the newer ones, which take the place of those of the same name.
    pub(crate) fn with(&self, newer: LocalServer) -> LocalServer {
        let replaced: HashSet<&str> = newer.tools.iter().map(LocalTool::name).collect();
        let kept = self.tools.iter().filter(|tool| !replaced.contains(tool.name())).cloned();
        let tools = kept.chain(newer.tools.iter().cloned()).collect();
        LocalServer { name: newer.name, title: newer.title.or_else(|| self.title.clone()), tools }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Option<Raw>) -> Result<Raw, RpcError> {
        let Some(tool) = self.tools.iter().find(|known| known.name() == tool) else {
            return Err(RpcError::invalid_params(format!("Unknown tool: {tool}")));
        };
        let arguments = arguments.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_else(|| json!({}));
        Ok(tool.call(arguments).await)
    }
}
