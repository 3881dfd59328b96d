//! Streamable HTTP. One endpoint answers both eras: a request of the stateless one carries its version with it, any
//! other belongs to a session that began with `initialize`.

mod event_log;
mod guard;
mod headers;
mod modern;
mod overview;
mod post;
mod reply;
mod rest;
mod session;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::handler::Handler;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolfold_core::Surface;
use toolfold_gateway::Gateway;
use tower_service::Service;

use guard::Guard;
use reply::json_response;
use session::Sessions;

/// The largest request body.
const LARGEST_BODY: usize = 32 * 1024 * 1024;

/// Where a server listens, for people.
#[derive(Debug, Clone, Copy)]
pub struct Address(pub SocketAddr);

impl Address {
    pub fn mcp(self) -> String {
        format!("http://{}/mcp", self.0)
    }
}

#[derive(Clone)]
pub(crate) struct App {
    gateway: Gateway,
    surface: Surface,
    sessions: Arc<Sessions>,
    guard: Arc<Guard>,
    stop: CancellationToken,
}

/// Serves until told to stop; what is under way then is finished first.
pub async fn serve_http(
    gateway: Gateway,
    surface: Surface,
    listener: TcpListener,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let guard = Guard::new(&gateway.config().http, listener.local_addr()?);
    let sessions = Arc::new(Sessions::default());
    tokio::spawn(Sessions::sweep(Arc::downgrade(&sessions), stop.clone()));
    let app = App { gateway, surface, sessions, guard: Arc::new(guard), stop: stop.clone() };
    let routes = Router::new()
        .route("/mcp/{surface}", any(named_surface))
        .route("/healthz", get(|| async { json_response(StatusCode::OK, r#"{"status":"ok"}"#.into()) }))
        .merge(rest::routes())
        .route("/", get(front))
        .fallback(nothing_here)
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .with_state(app.clone());
    let door = door.with_state(Arc::new(Door { app, routes })).into_make_service();
    axum::serve(listener, door).with_graceful_shutdown(stop.cancelled_owned()).await
}

struct Door {
    app: App,
    routes: Router,
}

/// Where every request comes in. The endpoint itself is not looked up among the routes: nearly all requests are for it,
/// and the way through a router costs as much as all that is done there for a call.
async fn door(State(door): State<Arc<Door>>, request: Request) -> Response {
    let Door { app, routes } = &*door;
    if let Some(refusal) = app.guard.refusal(request.headers()) {
        return refusal;
    }
    if request.uri().path() == "/mcp" {
        return post::mcp(app, app.surface, request).await;
    }
    routes.clone().call(request).await.into_response()
}

async fn named_surface(State(app): State<App>, Path(name): Path<String>, request: Request) -> Response {
    let Some(surface) = Surface::parse(&name) else {
        let known: Vec<&str> = Surface::ALL.iter().map(|surface| surface.as_str()).collect();
        let message = format!("There is no surface {name:?}. Use one of: {}.", known.join(", "));
        return (StatusCode::NOT_FOUND, message).into_response();
    };
    post::mcp(&app, surface, request).await
}

async fn front(headers: HeaderMap) -> String {
    let host = headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or("127.0.0.1:7420").to_owned();
    format!(
        "Toolfold {} is running.\n\nMCP endpoint: http://{host}/mcp\nHTTP API: http://{host}/openapi.json\nState of the servers: http://{host}/v1/status\n",
        env!("CARGO_PKG_VERSION")
    )
}

async fn nothing_here() -> Response {
    (StatusCode::NOT_FOUND, "There is nothing here. The MCP endpoint is /mcp.\n").into_response()
}
