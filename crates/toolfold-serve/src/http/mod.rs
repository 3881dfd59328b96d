//! Streamable HTTP. One endpoint answers both eras: a request of the stateless one carries its version with it, any
//! other belongs to a session that began with `initialize`.
//!
//! hyper is used as it is, without a framework around it: a call spends longer in a router and its layers than in all
//! that is done here for it.

mod accept;
mod admission;
mod approvals;
mod batch;
mod body;
mod cluster;
mod connections;
mod described;
mod event;
mod event_log;
mod failure;
mod guard;
mod headers;
mod identity;
mod overview;
mod page;
mod place;
mod post;
mod reply;
mod rest;
mod routes;
mod session;
mod sessions;
mod stateless;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use toolfold_access::Handle;
use toolfold_config::Config;
use toolfold_core::{Principal, Surface};
use toolfold_gateway::Gateway;
use tracing::{debug, warn};

pub(crate) use admission::{Whom, not_believed};
use admission::{admit, passed_on};
use body::Coming;
use cluster::Replicas;
use connections::{Admitted, Connections};
pub use failure::http_status;
pub use guard::exposed;
use guard::{Guard, refuse_nobody};
use identity::Identities;
pub use page::page_key;
pub use place::Deadlines;
use place::{Busy, Watched};
use reply::Reply;
pub use rest::OPENAPI;
use sessions::{NoSession, Sessions};

use crate::budget::{Budget, Reserve};
use crate::calm::Calm;
use crate::tidings::Tidings;

/// After the time for calls under way: time for those that could not be finished to be told so.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How long whoever has connected and said nothing is listened to at the end.
const FIRST_WORDS: Duration = Duration::from_secs(1);
/// The longest head of a request.
const LARGEST_HEAD: usize = 96 * 1024;
/// What is taken into the buffers of one connection; a head has to fit, and more of an answer waits for what is in front of it.
const LARGEST_BUFFER: usize = 128 * 1024;
/// Subscriptions of stateless clients that may be open at once.
const SUBSCRIPTIONS: usize = 2_048;
/// A pause after an error of `accept` that is no single connection's fault.
const RECOVER: Duration = Duration::from_millis(20);

/// Where a server listens, for people.
#[derive(Debug, Clone, Copy)]
pub struct Address(pub SocketAddr);

impl Address {
    pub fn mcp(self) -> String {
        format!("http://{}/mcp", self.0)
    }
}

pub(crate) struct App {
    gateway: Gateway,
    surface: Surface,
    sessions: Arc<Sessions>,
    /// How many subscriptions may be open.
    subscriptions: Arc<Semaphore>,
    budget: Arc<Budget>,
    /// For what is small.
    reserve: Reserve,
    page: PageState,
    guard: Guard,
    identities: Identities,
    deadlines: Deadlines,
    /// The others, where this is one of several.
    replicas: Option<Arc<Replicas>>,
    /// No new work; what is under way goes on.
    stop: CancellationToken,
    /// What is still under way is given up.
    end: CancellationToken,
}

impl App {
    /// An id for a session that begins here.
    fn session_id(&self, principal: &Principal) -> Result<String, NoSession> {
        match &self.replicas {
            Some(replicas) => replicas.name(Handle::Session, principal).ok_or(NoSession::NoRandomness),
            None => sessions::new_id(),
        }
    }
}

/// What the page looks at, and nobody else keeps.
struct PageState {
    recent: Arc<page::Recent>,
    costs: page::Costs,
}

/// Serves until told to stop; what is under way then is finished first, within a time.
pub async fn serve_http(
    gateway: Gateway,
    surface: Surface,
    listener: TcpListener,
    stop: CancellationToken,
) -> std::io::Result<()> {
    serve_http_within(gateway, surface, listener, stop, Deadlines::default()).await
}

/// As [`serve_http`], with deadlines of the caller's choice.
pub async fn serve_http_within(
    gateway: Gateway,
    surface: Surface,
    listener: TcpListener,
    mut stop: CancellationToken,
    deadlines: Deadlines,
) -> std::io::Result<()> {
    let config = gateway.config();
    let address = listener.local_addr()?;
    let (guard, identities) = (Guard::new(&config, address), Identities::new(&config, address));
    refuse_nobody(&gateway, address).await?;
    let replicas = Replicas::join(&gateway).await?;
    let inside = listen_inside(&config).await?;
    // Told to stop, a replica says so first, and goes on for a moment.
    let own = replicas.as_ref().map_or_else(CancellationToken::new, |replicas| replicas.stop.clone());
    let told = std::mem::replace(&mut stop, own);
    // In front of several replicas there is a balancer, and all clients have its address.
    let one_address = replicas.is_some();
    let sessions = Arc::new(Sessions::new(one_address));
    tokio::spawn(sessions.clone().sweep(gateway.clone(), stop.clone()));
    tokio::spawn(sessions.clone().announce(gateway.clone(), Tidings::of(&gateway), stop.clone()));
    let (budget, subscriptions) = (Arc::new(Budget::of(&gateway)), Arc::new(Semaphore::new(SUBSCRIPTIONS)));
    let reserve = Reserve::within(gateway.memory());
    let connections = Arc::new(Connections::new(one_address, reserve.waiting.clone()));
    let end = CancellationToken::new();
    let page = PageState { recent: Arc::new(page::Recent::new(gateway.calls())), costs: page::Costs::default() };
    tokio::spawn(page.recent.clone().follow(end.clone()));
    let app = Arc::new(App {
        gateway,
        surface,
        sessions,
        subscriptions,
        budget,
        reserve,
        page,
        guard,
        identities,
        deadlines,
        replicas,
        stop,
        end: end.clone(),
    });
    if let Some(replicas) = &app.replicas {
        tokio::spawn(replicas.clone().follow(app.clone(), end.clone()));
    }
    tokio::spawn(stop_after_notice(app.clone(), told));
    let sweep = tokio::spawn(connections.clone().sweep(deadlines, end.clone()));
    let open = TaskTracker::new();
    let outside = accept(listener, Door::Outside, &app, &connections, &open);
    match inside {
        Some(inside) => {
            tokio::join!(outside, accept(inside, Door::Inside, &app, &connections, &open));
        }
        None => outside.await,
    }
    app.sessions.say_goodbye();
    open.close();
    if tokio::time::timeout(deadlines.drain, open.wait()).await.is_err() {
        warn!(connections = open.len(), "some calls took too long to be finished before the end");
        end.cancel();
        app.sessions.end_all();
        let _ = tokio::time::timeout(LAST_WORDS, open.wait()).await;
    }
    end.cancel();
    if let Some(replicas) = &app.replicas {
        replicas.end().await;
    }
    app.sessions.end_all();
    connections.cut_all();
    sweep.abort();
    Ok(())
}

/// Where replicas reach this one, apart from where clients do.
async fn listen_inside(config: &Config) -> std::io::Result<Option<TcpListener>> {
    match config.cluster.as_ref().and_then(|cluster| cluster.listen) {
        Some(address) => TcpListener::bind(address).await.map(Some),
        None => Ok(None),
    }
}

/// Stops the work once everybody who should send nothing more has had time to hear of it.
async fn stop_after_notice(app: Arc<App>, told: CancellationToken) {
    told.cancelled().await;
    if let Some(replicas) = &app.replicas {
        replicas.hand_over(&app).await;
    }
    app.stop.cancel();
}

/// Where somebody comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    Outside,
    /// For replicas alone.
    Inside,
}

/// Takes connections in until told to stop. The listener is closed with it: who comes later is told by the system, and whom the
/// system has connected before is answered, since nobody else could tell them that they were not heard.
async fn accept(listener: TcpListener, door: Door, app: &Arc<App>, connections: &Arc<Connections>, open: &TaskTracker) {
    let take = |(socket, peer): (TcpStream, SocketAddr)| match connections.admit(peer) {
        Some(admitted) => drop(open.spawn(Calm::new(serve(app.clone(), door, socket, admitted)))),
        None => refuse(&socket),
    };
    loop {
        let accepted = tokio::select! {
            () = app.stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok(accepted) => take(accepted),
            Err(error) => {
                debug!(%error, "a connection could not be taken");
                // Out of descriptors, most likely: one that does nothing is worth less than one that wants something.
                connections.give_up_one();
                tokio::time::sleep(RECOVER).await;
            }
        }
    }
    let last = |listener: &std::net::TcpListener| -> std::io::Result<(TcpStream, SocketAddr)> {
        let (socket, peer) = listener.accept()?;
        socket.set_nonblocking(true)?;
        Ok((TcpStream::from_std(socket)?, peer))
    };
    if let Ok(listener) = listener.into_std() {
        std::iter::from_fn(|| last(&listener).ok()).for_each(take);
    }
}

/// No room, said in a few bytes that fit into the socket's buffer.
fn refuse(socket: &TcpStream) {
    const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 10\r\nConnection: close\r\nContent-Length: 40\r\nContent-Type: text/plain\r\n\r\nToo many connections. Come back later.\r\n";
    // Nobody is there to hear of a failure.
    let _ = socket.try_write(FULL);
}

/// One connection, from its first request to its last.
async fn serve(app: Arc<App>, door: Door, socket: TcpStream, admitted: Admitted) {
    // Answers are small and wanted now.
    let _ = socket.set_nodelay(true);
    let admitted = Arc::new(admitted);
    let place = &admitted.place;
    // Busy from here on: what waits for its turn behind an answer that nobody takes is no head that is still coming.
    let service = service_fn(|request| answer(&app, door, (admitted.clone(), Busy::at(place)), request));
    let io = TokioIo::new(Watched { socket, admitted: admitted.clone() });
    let mut builder = http1::Builder::new();
    // Heads have their deadline from the sweep; the timer here would be set anew for every request.
    builder.header_read_timeout(None).max_header_size(LARGEST_HEAD).max_buf_size(LARGEST_BUFFER);
    let connection = builder.serve_connection(io, service);
    tokio::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => return,
        () = place.was_cut() => return,
        () = app.stop.cancelled() => {}
    }
    if place.is_quiet() && !place.awaits_head() {
        return;
    }
    // One that has said nothing yet would be closed with what is on its way; its answer closes it.
    if !place.awaits_head() {
        connection.as_mut().graceful_shutdown();
    }
    let unused = async {
        tokio::time::sleep(FIRST_WORDS).await;
        if !place.awaits_head() {
            std::future::pending().await
        }
    };
    tokio::select! {
        _ = connection => {}
        () = place.was_cut() => {}
        () = unused => {}
    }
}

async fn answer(
    app: &Arc<App>,
    door: Door,
    (from, busy): (Arc<Admitted>, Busy),
    request: hyper::Request<Incoming>,
) -> Result<Reply, Infallible> {
    let (parts, body) = request.into_parts();
    let place = from.place.clone();
    let admitted = match passed_on(app, door, &parts) {
        Some(word) => word.map(Some),
        None => admit(app, &parts, place.peer).await,
    };
    let mut reply = match admitted {
        Ok(None) => page::answer(parts.uri.path(), app.guard.is_closed()),
        Ok(Some(whom)) => routes::answer(app, whom, parts, Coming { body, from }).await,
        Err(refused) => refused.reply(&parts.method, parts.uri.path()),
    };
    reply.body_mut().hold(busy);
    // Nobody should send the next one here.
    if place.had_a_long_head()
        || app.stop.is_cancelled()
        || app.replicas.as_ref().is_some_and(|replicas| replicas.is_draining())
    {
        reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(reply)
}
