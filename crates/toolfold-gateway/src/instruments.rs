//! The way from the gateway to counters and traces.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;
use toolfold_core::{Entry, ServerName};
use toolfold_disclosure::{Action, is_reserved};
use toolfold_telemetry::{Context, Meter, Role, Span, Telemetry};
use toolfold_wire::{Object, Raw, RpcError};

use crate::gate::{Failed, Outcome};
use crate::gateway::Inner;
use crate::recording::is_error;
use crate::request::{Client, ClientKind, Request};

#[derive(Default)]
pub(crate) struct Instruments {
    pub(crate) meter: Meter,
    /// Entries that wait to be approved.
    pub(crate) held: AtomicU64,
    telemetry: OnceLock<Telemetry>,
}

/// A request of a client that is being answered.
pub(crate) struct Watched {
    method: String,
    begun: Instant,
    span: Option<Span>,
}

impl Instruments {
    /// Begins to send, where the configuration names a collector.
    pub(crate) fn start(&self, inner: &Arc<Inner>) {
        let weak = Arc::downgrade(inner);
        let read = move || weak.upgrade().map(|inner| inner.metrics()).unwrap_or_default();
        if let Some(telemetry) = Telemetry::start(&inner.snapshot.load().config.telemetry, read) {
            let _ = self.telemetry.set(telemetry);
        }
    }

    pub(crate) async fn flush(&self) {
        if let Some(telemetry) = self.telemetry.get() {
            telemetry.flush().await;
        }
    }

    pub(crate) fn begin(&self, request: &mut Request) -> Watched {
        let method = request.method.clone();
        let span = self.telemetry.get().map(|_| {
            let context = Context::of(&request.params);
            request.context = Some(context);
            let target = request.params.string("name").filter(|name| is_reserved(name));
            let mut attributes = about(&request.client);
            attributes.extend(request.id.clone().map(|id| ("jsonrpc.request.id", id)));
            span(context, Role::Server, &method, target, attributes)
        });
        Watched { method, begun: Instant::now(), span }
    }

    pub(crate) fn end(&self, watched: Watched, answer: &Result<Raw, RpcError>) {
        let Watched { method, begun, span } = watched;
        let error = match answer {
            Ok(result) => is_error(result).then(|| "tool_error".to_owned()),
            Err(error) => Some(error.code.to_string()),
        };
        self.meter.served(&method, error.as_deref(), begun.elapsed());
        self.finish(span, error);
    }

    /// Something is about to be asked of a server: it is told which trace that belongs to.
    pub(crate) fn ask(
        &self,
        request: &Request,
        server: &ServerName,
        entry: Option<&Entry>,
        params: &mut Object,
    ) -> Option<Span> {
        self.telemetry.get()?;
        let context = request.context.unwrap_or_else(|| Context::of(&request.params)).child();
        context.write(params);
        let mut attributes = vec![("server.address", server.to_string())];
        attributes.extend(entry.map(|entry| ("toolfold.tool.id", entry.id.to_string())));
        Some(span(context, Role::Client, &request.method, entry.map(|entry| entry.name().to_owned()), attributes))
    }

    pub(crate) fn asked(&self, span: Option<Span>, outcome: &Result<Outcome, Failed>) {
        self.finish(span, error_of(outcome));
    }

    pub(crate) fn disclosed(&self, action: &Action, took: Duration) {
        let via = match action {
            Action::Search(..) => "search",
            Action::Browse(..) | Action::Nodes(..) | Action::Active { .. } | Action::Read(_) => "browse",
            Action::Describe(..) => "describe",
            Action::Load(_) => "load",
            Action::Call { .. } | Action::Shut { .. } | Action::Run { .. } => return,
            Action::Unknown(_) | Action::Refuse(_) => return,
        };
        self.meter.disclosed(via, took);
    }

    fn finish(&self, span: Option<Span>, error: Option<String>) {
        if let (Some(telemetry), Some(span)) = (self.telemetry.get(), span) {
            telemetry.send(Span { ended: SystemTime::now(), error, ..span });
        }
    }
}

/// What the conventions call the error of something that was asked of a server.
pub(crate) fn error_of(outcome: &Result<Outcome, Failed>) -> Option<String> {
    match outcome {
        Ok(Outcome::Done(result)) => is_error(result).then(|| "tool_error".to_owned()),
        Ok(_) => None,
        Err(Failed::Answered(error)) => Some(error.code.to_string()),
        Err(Failed::Refused(refusal)) => Some(refusal.code.as_str().to_owned()),
    }
}

fn span(
    context: Context,
    role: Role,
    method: &str,
    target: Option<String>,
    attributes: Vec<(&'static str, String)>,
) -> Span {
    let now = SystemTime::now();
    Span { context, role, method: method.to_owned(), target, begun: now, ended: now, error: None, attributes }
}

fn about(client: &Client) -> Vec<(&'static str, String)> {
    match client.kind {
        ClientKind::Session => vec![("mcp.session.id", client.id.to_string())],
        ClientKind::Request | ClientKind::Inside => Vec::new(),
    }
}
