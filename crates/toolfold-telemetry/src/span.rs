//! A piece of work with a beginning and an end, as OpenTelemetry's conventions for MCP name it.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::context::Context;
use crate::protobuf::{Message, attribute, number, resource, scope};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Towards a client.
    Server,
    /// Towards a server.
    Client,
}

#[derive(Debug, Clone)]
pub struct Span {
    pub context: Context,
    pub role: Role,
    pub method: String,
    /// The tool or prompt as whoever asks names it, where that is one that exists.
    pub target: Option<String>,
    pub begun: SystemTime,
    pub ended: SystemTime,
    /// Why it failed, where it did.
    pub error: Option<String>,
    /// What else it belongs to: the trace of the HTTP request that carried it.
    pub link: Option<Context>,
    pub attributes: Vec<(&'static str, String)>,
}

impl Span {
    fn encode(&self) -> Message {
        // The conventions name tools and prompts; a resource has an address, which is no name.
        let target = self.target.as_ref().filter(|_| matches!(self.method.as_str(), "tools/call" | "prompts/get"));
        let name = match target {
            Some(target) => format!("{} {target}", self.method),
            None => self.method.clone(),
        };
        let kind = match self.role {
            Role::Server => 2,
            Role::Client => 3,
        };
        let mut attributes = vec![attribute("mcp.method.name", &self.method)];
        if let Some(target) = target {
            let key = if self.method == "prompts/get" { "gen_ai.prompt.name" } else { "gen_ai.tool.name" };
            attributes.push(attribute(key, target));
        }
        if self.method == "tools/call" {
            attributes.push(attribute("gen_ai.operation.name", "execute_tool"));
        }
        attributes.extend(self.attributes.iter().map(|(key, value)| match value.parse() {
            Ok(port) if key.ends_with(".port") => number(key, port),
            _ => attribute(key, value),
        }));
        attributes.extend(self.error.as_ref().map(|error| attribute("error.type", error)));
        let mut span = Message::default().bytes(1, &self.context.trace).bytes(2, &self.context.span);
        if let Some(parent) = &self.context.parent {
            span = span.bytes(4, parent);
        }
        span = span.text(5, &name).varint(6, kind);
        span = span.fixed64(7, nanoseconds(self.begun)).fixed64(8, nanoseconds(self.ended)).messages(9, attributes);
        if let Some(link) = &self.link {
            // That it is known, and from elsewhere.
            let flags = 0x300 | u32::from(link.sampled);
            let link = Message::default().bytes(1, &link.trace).bytes(2, &link.span).fixed32(6, flags);
            span = span.message(13, link);
        }
        match self.error {
            Some(_) => span.message(15, Message::default().varint(3, 2)),
            None => span,
        }
    }
}

/// `ExportTraceServiceRequest`.
pub(crate) fn encode(spans: &[Span]) -> Vec<u8> {
    let scoped = Message::default().message(1, scope()).messages(2, spans.iter().map(Span::encode));
    let whole = Message::default().message(1, resource()).message(2, scoped);
    Message::default().message(1, whole).into_bytes()
}

pub(crate) fn nanoseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}
