//! The servers as a person looks after them: how they are, what they said last, and a way to start and stop them.

use hyper::StatusCode;
use serde_json::{Value, json};
use toolfold_config::Transport;
use toolfold_core::{Code, Next, Principal, Refusal, ServerName, Surface, shown_line, words};
use toolfold_disclosure::fitted;
use toolfold_gateway::ServerStatus;
use toolfold_wire::{Object, Raw};

use crate::http::App;
use crate::http::failure::refused;
use crate::http::reply::{Reply, json_response};
use crate::text::shown;

/// Characters of a line of stderr.
const LONGEST_LINE: usize = 400;

/// Every server with its state, and what it said last on stderr.
pub(crate) async fn servers(app: &App, principal: Principal) -> Reply {
    let servers: Vec<Value> =
        app.gateway.status_for(&principal).await.iter().map(|server| described(app, server)).collect();
    match app.budget.answer(json!({"servers": servers}).to_string()) {
        Some(body) => json_response(StatusCode::OK, body),
        None => refused(&Refusal::new(Code::RateLimited, "Too many large answers are waiting to be read.")),
    }
}

fn described(app: &App, status: &ServerStatus) -> Value {
    let config = app.gateway.config();
    let transport = config.servers.get(&status.name).map(|server| match server.transport {
        Transport::Stdio { .. } => "stdio",
        Transport::Http { .. } => "http",
        Transport::Api(_) => "api",
        Transport::Agent { .. } => "agent",
    });
    let said: Vec<String> = app.gateway.servers().said(&status.name).iter().map(|line| said_line(line)).collect();
    let mut server = json!(status);
    if let Some(why) = &status.why {
        server["why"] = json!(shown_line(why));
    }
    // Without one it lives in this process, or cannot be used as it is configured.
    server["transport"] = json!(transport);
    server["said"] = json!(said);
    server
}

/// As much of a line as is read at a glance: pages ask for all servers every few seconds.
fn said_line(line: &str) -> String {
    shown_line(line).chars().take(LONGEST_LINE).collect()
}

/// `{"server"}`: starts it now, also where it was stopped or is to be tried later.
pub(crate) async fn start(app: &App, asked: &Raw) -> Reply {
    match named(app, asked) {
        Ok(server) if app.gateway.servers().start(&server) => done(&server),
        Ok(server) => refused(&ours(&server)),
        Err(refusal) => refused(&refusal),
    }
}

/// `{"server"}`: stops it until somebody starts it.
pub(crate) async fn stop(app: &App, asked: &Raw) -> Reply {
    match named(app, asked) {
        Ok(server) if app.gateway.servers().stop(&server).await => done(&server),
        Ok(server) => refused(&ours(&server)),
        Err(refusal) => refused(&refusal),
    }
}

fn done(server: &ServerName) -> Reply {
    json_response(StatusCode::OK, json!({"server": server}).to_string())
}

fn named(app: &App, asked: &Raw) -> Result<ServerName, Refusal> {
    let Some(name) = Object::parse(asked).and_then(|asked| asked.string("server")) else {
        return Err(Refusal::new(Code::InvalidRequest, "`server`, the name of a server, is required."));
    };
    let config = app.gateway.config();
    let known = || config.servers.keys().chain(config.unusable.keys());
    if let Some(server) = known().find(|server| server.as_str() == name) {
        return Ok(server.clone());
    }
    let message = format!("No server {:?} is configured.", shown(&shown_line(&name)));
    let near = words::nearest(&name, known().map(ServerName::as_str)).map(str::to_owned);
    Err(overview(Refusal::new(Code::InvalidRequest, message).hints(near)))
}

/// A server that is configured wrongly, or lives in this process.
fn ours(server: &ServerName) -> Refusal {
    let message = format!("{server} cannot be started or stopped: its configuration cannot be used.");
    overview(Refusal::new(Code::InvalidRequest, message).hint("`toolfold check` says what is wrong with it."))
}

fn overview(refusal: Refusal) -> Refusal {
    fitted(Surface::Ontology, refusal.next(Next::Overview))
}
