//! A server with every tool, prompt and resource that the official conformance suite asks for, built on rmcp.
//!
//! It is the one place where an MCP library is used, so that what stands behind a gateway under test was written by
//! somebody else. `--port PORT` (0 for a free one) serves HTTP at `/mcp`, `--stdio` serves stdin and stdout.

mod calls;
mod definitions;
mod handler;
mod input;

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::handler::{Conformance, Shared};

type Problem = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["--stdio"] => serve_stdio().await,
        ["--port", port] => serve_http(port).await,
        _ => Err("usage: conformance-server --stdio | --port PORT".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "conformance-server: {problem}");
            ExitCode::from(2)
        }
    }
}

async fn serve_stdio() -> Result<(), Problem> {
    let server = Conformance::new(Arc::new(Shared::default()));
    server.serve(rmcp::transport::io::stdio()).await?.waiting().await?;
    Ok(())
}

async fn serve_http(port: &str) -> Result<(), Problem> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port.parse::<u16>()?)).await?;
    writeln!(std::io::stderr(), "listening on {}", listener.local_addr()?)?;
    let shared = Arc::new(Shared::default());
    let config = StreamableHttpServerConfig::default().with_allowed_origins([
        "http://localhost:*",
        "http://127.0.0.1:*",
        "http://[::1]:*",
    ]);
    // One handler per session in the legacy era and per request in the modern one: what they share is behind the Arc.
    let service = StreamableHttpService::new(
        move || Ok(Conformance::new(Arc::clone(&shared))),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
