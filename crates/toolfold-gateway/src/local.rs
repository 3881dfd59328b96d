//! Tools that live in this process: the built-in toolbox, and whatever a program that embeds Toolfold registers.
//! A handler is built when its tool is first called, so registering a thousand tools costs a thousand definitions.
//!
//! What a reader would get wrong: a call that is cancelled or times out is a future that is dropped. A handler that is
//! a future ends with it; one that computes on a thread ends where it looks at its fuel, and otherwise when it is done.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use toolfold_core::{BadDefinition, Code, Entry, Fuel, Refusal, ServerName};
use toolfold_disclosure::refusal_result;
use toolfold_wire::{BoxFuture, Raw, RpcError, has_more_values, raw};

use crate::gate::Failed;
use crate::threads::{NoAnswer, Threads};

/// What a handler answers: a whole tool result, or text to make one of.
pub enum Output {
    Text(String),
    /// Structured content; the text beside it is its JSON.
    Json(Value),
    /// A tool result as it goes to the client.
    Result(Raw),
    /// The tool failed, and this says what to do about it.
    Failure(String),
    /// The call is not answered at all: too much was asked for, or too often.
    Refusal(Refusal),
}

pub type Handler = Arc<dyn Fn(Value) -> BoxFuture<'static, Output> + Send + Sync>;
type Build = dyn Fn() -> Handler + Send + Sync;
type Compute = dyn Fn(Value, &Fuel) -> Output + Send + Sync;

/// What one call of a tool that computes may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The bytes of its arguments.
    pub bytes: usize,
    /// The values in them: each takes many times its text in memory.
    pub values: usize,
    /// The work it may do, in steps of [`Fuel`].
    pub fuel: u64,
}

impl Bounds {
    /// A handler that is the program's own may do as it likes.
    const NONE: Bounds = Bounds { bytes: usize::MAX, values: usize::MAX, fuel: u64::MAX };
}

/// Where tools with bounds compute, and where those without do: a handler that never ends takes nothing from the others.
static BOUNDED: Threads = Threads::new(8, Duration::from_secs(10));
static UNBOUNDED: Threads = Threads::new(64, Duration::from_secs(30));
/// Arguments above this many bytes are read on a thread: it takes longer than others should wait.
const LONG_TO_READ: usize = 256 << 10;

#[derive(Clone)]
pub struct LocalTool {
    pub definition: Value,
    run: Run,
}

#[derive(Clone)]
enum Run {
    Waits { build: Arc<Build>, handler: Arc<OnceLock<Handler>> },
    Computes { threads: &'static Threads, bounds: Bounds, compute: Arc<Compute> },
}

impl LocalTool {
    /// A tool whose handler is built by `build` when it is first called.
    pub fn new(definition: Value, build: impl Fn() -> Handler + Send + Sync + 'static) -> Self {
        LocalTool { definition, run: Run::Waits { build: Arc::new(build), handler: Arc::default() } }
    }

    /// A tool that computes its answer: it runs on a thread where blocking is fine.
    pub fn blocking(definition: Value, run: impl Fn(Value) -> Output + Send + Sync + 'static) -> Self {
        let compute = Arc::new(move |arguments, _: &Fuel| run(arguments));
        LocalTool { definition, run: Run::Computes { threads: &UNBOUNDED, bounds: Bounds::NONE, compute } }
    }

    /// A tool that computes its answer within bounds, and stops where its fuel says so: because it is spent, or because
    /// the call was cancelled or took too long.
    pub fn bounded(
        definition: Value,
        bounds: Bounds,
        run: impl Fn(Value, &Fuel) -> Output + Send + Sync + 'static,
    ) -> Self {
        LocalTool { definition, run: Run::Computes { threads: &BOUNDED, bounds, compute: Arc::new(run) } }
    }

    pub fn name(&self) -> &str {
        self.definition["name"].as_str().unwrap_or_default()
    }

    pub async fn call(&self, arguments: Value) -> Raw {
        self.call_with(Given::Value(arguments)).await.unwrap_or_else(|refusal| refusal_result(&refusal))
    }

    async fn call_with(&self, given: Given) -> Result<Raw, Refusal> {
        match &self.run {
            Run::Waits { build, handler } => {
                let handler = handler.get_or_init(|| build()).clone();
                result(handler(given.read().await).await)
            }
            Run::Computes { threads, bounds, compute } => {
                if let Given::Json(json) = &given
                    && let Some(refusal) = too_large(json.get(), *bounds)
                {
                    return Err(refusal);
                }
                let (bounds, compute) = (*bounds, compute.clone());
                let work = threads.run(move |stop| {
                    let fuel = Fuel::stoppable(bounds.fuel, stop.clone());
                    result(compute(given.value(), &fuel))
                });
                work.await.unwrap_or_else(|why| Err(unanswered(why)))
            }
        }
    }
}

impl fmt::Debug for LocalTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LocalTool({})", self.name())
    }
}

/// Arguments before and after they are read.
enum Given {
    Json(Raw),
    Value(Value),
}

impl Given {
    fn value(self) -> Value {
        match self {
            Given::Value(value) => value,
            Given::Json(json) => serde_json::from_str(json.get()).unwrap_or_else(|_| json!({})),
        }
    }

    async fn read(self) -> Value {
        match &self {
            Given::Json(json) if json.get().len() > LONG_TO_READ => {
                UNBOUNDED.run(move |_| self.value()).await.unwrap_or_else(|_| json!({}))
            }
            _ => self.value(),
        }
    }
}

fn too_large(json: &str, bounds: Bounds) -> Option<Refusal> {
    let message = if json.len() > bounds.bytes {
        format!("The arguments have {} bytes, and this tool takes at most {}.", json.len(), bounds.bytes)
    } else if has_more_values(json, bounds.values) {
        format!("The arguments hold more than {} values, which is more than this tool takes.", bounds.values)
    } else {
        return None;
    };
    Some(Refusal::new(Code::TooLarge, message).hint("Give it less at a time."))
}

fn unanswered(why: NoAnswer) -> Refusal {
    match why {
        NoAnswer::Busy => Refusal::new(Code::RateLimited, "Too many calls are being worked on at the moment.")
            .hint("The same call may work in a few seconds."),
        NoAnswer::Crashed => Refusal::new(Code::ServerUnavailable, "The tool crashed."),
    }
}

fn result(output: Output) -> Result<Raw, Refusal> {
    let text = |text: String| json!([{"type": "text", "text": text}]);
    Ok(match output {
        Output::Text(content) => raw(&json!({"content": text(content)})),
        Output::Json(value) => raw(&json!({"content": text(value.to_string()), "structuredContent": value})),
        Output::Failure(message) => raw(&json!({"content": text(message), "isError": true})),
        Output::Result(result) => result,
        Output::Refusal(refusal) => return Err(refusal),
    })
}

/// Why tools of this process are not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unregistered {
    #[error("the tool {tool:?} {why}")]
    Tool { tool: String, why: BadDefinition },
    #[error("{0} is a server of the configuration")]
    Taken(ServerName),
    #[error("the gateway was stopped")]
    Stopped,
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
    pub(crate) fn check(&self) -> Result<(), Unregistered> {
        let check = |tool: &LocalTool| Entry::tool(&self.name, &raw(&tool.definition)).map(drop);
        let wrong = |tool: &LocalTool, why| Unregistered::Tool { tool: tool.name().to_owned(), why };
        self.tools.iter().try_for_each(|tool| check(tool).map_err(|why| wrong(tool, why)))
    }

    /// These tools and the newer ones, which take the place of those of the same name.
    pub(crate) fn with(&self, newer: LocalServer) -> LocalServer {
        let replaced: HashSet<&str> = newer.tools.iter().map(LocalTool::name).collect();
        let kept = self.tools.iter().filter(|tool| !replaced.contains(tool.name())).cloned();
        let tools = kept.chain(newer.tools.iter().cloned()).collect();
        LocalServer { name: newer.name, title: newer.title.or_else(|| self.title.clone()), tools }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Option<Raw>) -> Result<Raw, Failed> {
        let Some(tool) = self.tools.iter().find(|known| known.name() == tool) else {
            return Err(Failed::Answered(RpcError::invalid_params(format!("Unknown tool: {tool}"))));
        };
        let given = arguments.map_or_else(|| Given::Value(json!({})), Given::Json);
        tool.call_with(given).await.map_err(Failed::Refused)
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn eight_bounded_calls_at_a_time_and_the_next_waits_ten_seconds() {
        let _seven = BOUNDED.busy(7).await;
        assert_eq!(BOUNDED.run(|_| "done").await, Ok("done"));
        let _eighth = BOUNDED.busy(1).await;
        let begun = Instant::now();
        assert_eq!(BOUNDED.run(|_| "done").await, Err(NoAnswer::Busy));
        assert_eq!(begun.elapsed(), Duration::from_secs(10));
    }
}
