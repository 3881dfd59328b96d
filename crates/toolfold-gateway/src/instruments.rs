//! The way from the gateway to counters and traces.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;
use toolfold_config::Transport;
use toolfold_core::{Code, Entry, ServerName, beginning};
use toolfold_disclosure::{Action, is_reserved};
use toolfold_telemetry::{Carriage, Context, Measured, Meter, Role, Span, Telemetry};
use toolfold_upstream::Parted;
use toolfold_wire::{Object, RpcError};

use crate::gate::{Failed, Outcome};
use crate::gateway::Inner;
use crate::recording::is_error;
use crate::request::{Client, ClientKind, Request};
use crate::snapshot::Snapshot;

/// Characters of an address of a resource.
const LONGEST_ADDRESS: usize = 512;

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
    by: Carriage,
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
            attributes.extend(resource(&method, &request.params));
            attributes.extend(request.id.clone().map(|id| ("jsonrpc.request.id", id)));
            let link = request.carrier;
            Span { link, ..span(context, Role::Server, &method, target, attributes) }
        });
        Watched { method, by: request.client.by, begun: Instant::now(), span }
    }

    /// `failed`: a result that says so itself is an error too.
    pub(crate) fn end<T>(&self, watched: Watched, answer: &Result<T, RpcError>, failed: impl FnOnce(&T) -> bool) {
        let Watched { method, by, begun, span } = watched;
        let error = match answer {
            Ok(result) => failed(result).then(|| "tool_error".to_owned()),
            Err(error) => Some(error.code.to_string()),
        };
        let measured = Measured { method: &method, error: error.as_deref(), by, took: begun.elapsed() };
        self.meter.served(measured);
        self.finish(span, error);
    }

    /// Something is about to be asked of a server: it is told which trace that belongs to.
    pub(crate) fn ask(
        &self,
        request: &Request,
        (snapshot, server): (&Snapshot, &ServerName),
        entry: Option<&Entry>,
        params: &mut Object,
    ) -> Option<Span> {
        self.telemetry.get()?;
        let context = request.context.unwrap_or_else(|| Context::of(&request.params)).child();
        context.write(params);
        let mut attributes = vec![("toolfold.server", server.to_string())];
        attributes.extend(carriage(snapshot, server).attributes());
        attributes.extend(address(snapshot, server));
        attributes.extend(resource(&request.method, params));
        attributes.extend(entry.map(|entry| ("toolfold.tool.id", entry.id.to_string())));
        Some(span(context, Role::Client, &request.method, entry.map(|entry| entry.name().to_owned()), attributes))
    }

    pub(crate) fn asked(&self, span: Option<Span>, outcome: &Result<Outcome, Failed>) {
        self.finish(span, error_of(outcome));
    }

    /// A session with a server is over.
    pub(crate) fn parted(&self, parted: &Parted) {
        let transport = if parted.is_process { Carriage::PIPE } else { Carriage::TCP };
        let error = parted.lost.then(|| Code::ServerUnavailable.as_str());
        self.meter.parted(Carriage::new(transport, &parted.version), error, parted.lasted);
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
            // Codes of JSON-RPC are numbers, and ours are words.
            let status = error.clone().filter(|error| error.parse::<i64>().is_ok());
            let mut span = Span { ended: SystemTime::now(), error, ..span };
            span.attributes.extend(status.map(|status| ("rpc.response.status_code", status)));
            telemetry.send(span);
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
    Span {
        context,
        role,
        method: method.to_owned(),
        target,
        begun: now,
        ended: now,
        error: None,
        link: None,
        attributes,
    }
}

fn about(client: &Client) -> Vec<(&'static str, String)> {
    let mut attributes: Vec<_> = client.by.attributes().collect();
    attributes.extend(client.address.map(|address| ("client.address", address.to_string())));
    if client.kind == ClientKind::Session {
        attributes.push(("mcp.session.id", client.id.to_string()));
    }
    attributes
}

/// What carries messages to a server: nothing to one that is in this process.
pub(crate) fn carriage(snapshot: &Snapshot, server: &ServerName) -> Carriage {
    let Some(configured) = snapshot.config.servers.get(server) else { return Carriage::default() };
    let transport = match configured.transport {
        Transport::Stdio { .. } => Carriage::PIPE,
        Transport::Http { .. } | Transport::Api(_) | Transport::Agent { .. } => Carriage::TCP,
    };
    let manifest = snapshot.source(server).and_then(|source| source.manifest());
    Carriage::new(transport, manifest.as_ref().map_or("", |manifest| &manifest.version))
}

/// Where a server is that is reached over a network.
fn address(snapshot: &Snapshot, server: &ServerName) -> Vec<(&'static str, String)> {
    let configured = snapshot.config.servers.get(server).map(|server| &server.transport);
    let Some(Transport::Http { url, .. }) = configured else { return Vec::new() };
    let Ok(url) = url::Url::parse(url) else { return Vec::new() };
    let host = url.host_str().map(|host| ("server.address", host.to_owned()));
    let port = url.port_or_known_default().map(|port| ("server.port", port.to_string()));
    host.into_iter().chain(port).collect()
}

/// Which resource is asked for. An address may hold what is nobody's business: without its query, and not of any length.
fn resource(method: &str, params: &Object) -> Option<(&'static str, String)> {
    let asks = matches!(method, "resources/read" | "resources/subscribe" | "resources/unsubscribe");
    let uri = asks.then(|| params.string("uri")).flatten()?;
    let plain = uri.split(['?', '#']).next().unwrap_or_default();
    Some(("mcp.resource.uri", beginning(plain, LONGEST_ADDRESS).into_owned()))
}
