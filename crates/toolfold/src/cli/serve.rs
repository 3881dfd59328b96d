//! `toolfold serve`: the main job.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolfold::watch;
use toolfold_audit::EventKind;
use toolfold_clients::{Environment, KnownClient, seen};
use toolfold_config::{Config, LoadOptions, Origin};
use toolfold_core::{StorePlace, Surface, shown_line};
use toolfold_gateway::{Gateway, Options};
use toolfold_serve::{Address, exposed, serve_http, serve_stdio};
use toolfold_store::Store;

use super::check::served_without_servers;
use super::open::{arrivals, encoded, local_servers, run_scripts, runtime};
use super::output::{progress, tell};
use super::own_file::environment;
use super::token::is_expired;
use super::{Common, Fail, behind, instance, journal, log, parse_surface};

#[derive(Args)]
pub(crate) struct Serve {
    /// Speak MCP on stdin and stdout instead of HTTP
    #[arg(long, conflicts_with = "listen")]
    stdio: bool,
    /// Where to listen [default: 127.0.0.1:7420]
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_listen)]
    listen: Option<SocketAddr>,
    /// What a model sees: compact, hybrid, two-phase, single, lifecycle, levels, ontology, gateway or direct [default: compact]
    #[arg(long, value_name = "SURFACE", value_parser = parse_surface)]
    surface: Option<Surface>,
}

/// How long servers may take to stop before we end without them; the reaper takes care of the rest.
const FAREWELL: Duration = Duration::from_secs(10);

impl Serve {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let options = LoadOptions { surface: self.surface, listen: self.listen, ..common.options() };
        let loaded = common.load(&options)?;
        behind::refuse_itself()?;
        if self.stdio && std::io::stdin().is_terminal() && !common.quiet {
            tell(WAITING);
        }
        log::start(common, if self.stdio { "warn" } else { "info" });
        let runtime = runtime()?;
        let outcome = runtime.block_on(self.serve(options, loaded.config, loaded.origin, common.quiet));
        // Reading stdin cannot be interrupted: do not wait for the thread that does.
        runtime.shutdown_background();
        outcome
    }

    async fn serve(self, options: LoadOptions, config: Config, origin: Origin, quiet: bool) -> Result<(), Fail> {
        let stop = CancellationToken::new();
        tokio::spawn(stop_on_signal(stop.clone()));
        let (surface, listen, look) = (config.surface, config.http.listen, watch::Look::at(&config));
        let listener = if self.stdio { None } else { Some(bind(listen).await?) };
        if let Some(place) = config.store.as_ref().filter(|place| place.database().is_some()) {
            reach(place).await?;
        }
        if !self.stdio {
            refuse_nobody(&config, listen).await?;
        }
        let announcement = announce(&config, &origin, &options);
        let gateway = Gateway::start(Options { local: local_servers(&config), config });
        run_scripts(&gateway);
        let address = listener.as_ref().map(|listener| listener.local_addr()).transpose()?.map(Address);
        let shown = address.map(Address::mcp);
        let place = shown.clone().unwrap_or_else(|| "stdin and stdout".to_owned());
        gateway.note(
            EventKind::Start,
            None,
            "started",
            Some(format!("Toolfold {} on {place}", env!("CARGO_PKG_VERSION"))),
        );
        let door = instance::open(options.data_dir.as_deref(), &origin, shown, &gateway);
        tokio::spawn(journal::follow_calls(gateway.calls()));
        tokio::spawn(watch::reload(gateway.clone(), options, look));
        if listener.is_some() && !quiet && std::io::stderr().is_terminal() {
            tokio::spawn(tell_arrivals(gateway.clone()));
        }
        let served = match listener {
            Some(listener) => {
                let address = Address(listener.local_addr()?);
                let (mcp, place) = (address.mcp(), address.0);
                let places =
                    format!("  MCP      {mcp}\n  page     http://{place}/\n  status   http://{place}/v1/status");
                if !quiet {
                    tell(&format!("{announcement}\n{places}"));
                }
                serve_http(gateway.clone(), surface, listener, stop).await
            }
            None => serve_stdio(gateway.clone(), surface, tokio::io::stdin(), tokio::io::stdout(), stop).await,
        };
        drop(door);
        gateway.note(EventKind::Stop, None, "stopped", None);
        // Past its time, whatever is left is the reaper's.
        let _ = tokio::time::timeout(FAREWELL, gateway.stop()).await;
        journal::flush();
        Ok(served?)
    }
}

/// Where the store is a database, nothing is served before it has been reached: a replica that knew nobody would believe itself alone.
async fn reach(place: &StorePlace) -> Result<(), Fail> {
    match Store::at(Some(place)).await {
        Ok(opened) => {
            opened.store.close().await;
            Ok(())
        }
        Err(error) => Err(Fail::machine(format!("not started: {}", shown_line(&error.to_string()))).hint(error.hint())),
    }
}

/// Where others could come and nobody could show who they are, nothing is started and nothing announced.
async fn refuse_nobody(config: &Config, listen: SocketAddr) -> Result<(), Fail> {
    let Some(why) = exposed(config, listen) else { return Ok(()) };
    // A store that cannot be read is the gateway's to tell of.
    let Ok(opened) = Store::at(config.store.as_ref()).await else { return Ok(()) };
    let tokens = opened.store.tokens().await;
    opened.store.close().await;
    match tokens {
        Ok(tokens) if tokens.iter().all(is_expired) => Err(Fail::usage(why)),
        _ => Ok(()),
    }
}

async fn bind(address: SocketAddr) -> Result<TcpListener, Fail> {
    TcpListener::bind(address).await.map_err(|error| {
        Fail::usage(format!("cannot listen on {address}: {error}"))
            .hint("choose another place with --listen, or stop what listens there")
    })
}

/// What somebody reads who typed it, where a program was expected.
const WAITING: &str = "Toolfold waits for an MCP client on stdin: a JSON-RPC message on each line. That is for programs; `toolfold install \
CLIENT` makes a client start it so.\nFor you there are `toolfold serve`, `toolfold search` and `toolfold call`. Ctrl-D ends this.";
/// What is over sooner is not worth a word.
const SILENCE: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(250);
/// Clients that are named; more are counted.
const NAMED: usize = 4;

/// Says who has not answered yet, and how it ended, where a person watches.
async fn tell_arrivals(gateway: Gateway) {
    tokio::time::sleep(SILENCE).await;
    let begun = tokio::time::Instant::now();
    let mut waited = false;
    loop {
        let waiting = gateway.awaited(true).await;
        if waiting.is_empty() {
            break;
        }
        let names: Vec<String> = waiting.iter().map(ToString::to_string).collect();
        progress(&arrivals(gateway.status().await.len(), &names));
        waited = true;
        tokio::time::sleep(LOOK).await;
    }
    if waited {
        tell_outcome(&gateway, begun.elapsed() + SILENCE).await;
    }
    // Until then search does without, and that is no reason to wait.
    let is_precise = encoded(&gateway).await;
    progress("");
    if is_precise {
        tell("  search   precise");
    }
}

async fn tell_outcome(gateway: &Gateway, took: Duration) {
    progress("");
    let status = gateway.status().await;
    let failing: Vec<&str> =
        status.iter().filter(|server| server.state == "failing").map(|server| server.name.as_str()).collect();
    let tools: usize = status.iter().map(|server| server.tools).sum();
    let seconds = took.as_secs_f32();
    let failed = if failing.is_empty() {
        String::new()
    } else {
        format!("; failing: {} (`toolfold doctor` tells why)", failing.join(", "))
    };
    let logins: Vec<&str> =
        status.iter().filter(|server| server.state == "needs login").map(|server| server.name.as_str()).collect();
    let logins = match logins.first() {
        Some(first) => format!("; to be logged in to: {} (`toolfold login {first}`)", logins.join(", ")),
        None => String::new(),
    };
    tell(&format!("  ready    {tools} tools after {seconds:.1} s{failed}{logins}"));
}

fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    toolfold_config::listen(text)
        .ok_or_else(|| "write an address and a port: 127.0.0.1:7420, localhost:7420 or :7420".to_owned())
}

fn announce(config: &Config, origin: &Origin, options: &LoadOptions) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut servers: Vec<&str> = config.servers.keys().map(|name| name.as_str()).collect();
    if config.toolbox {
        servers.push("toolbox");
    }
    let behind = match (&servers[..], origin) {
        ([], _) => format!("none: {}", served_without_servers(config)),
        (["toolbox"], Origin::File(_)) if config.unusable.is_empty() => {
            "toolbox, which is built in: the configuration names no server".to_owned()
        }
        _ => servers.join(", "),
    };
    let from = match origin {
        Origin::File(path) => format!("  config   {}", shown_line(&path.display().to_string())),
        Origin::Default => no_config(&environment(options)),
    };
    let state = match (&config.store, &options.data_dir) {
        (None, None) => "\n  state    none: there is no HOME, so nothing is remembered",
        _ => "",
    };
    format!("Toolfold {version}\n{from}\n  surface  {}\n  servers  {behind}{state}", config.surface)
}

/// A first run. On a terminal clients' files are looked for, by name: none is opened.
fn no_config(environment: &Environment) -> String {
    let own = "  config   none: this is the built-in toolbox. To add your own servers, write a toolfold.toml:\n\n             \
         [servers.files]\n             command = \"npx\"\n             args = [\"-y\", \"@modelcontextprotocol/server-filesystem\", \".\"]\n";
    if !std::io::stderr().is_terminal() {
        return own.to_owned();
    }
    let mut clients: Vec<&KnownClient> = Vec::new();
    for (client, _) in seen(environment) {
        if !clients.iter().any(|known| known.id == client.id) {
            clients.push(client);
        }
    }
    let Some(first) = clients.iter().find(|client| client.is_written) else { return own.to_owned() };
    let mut names: Vec<&str> = clients.iter().take(NAMED).map(|client| client.name).collect();
    let more = format!("{} more", clients.len().saturating_sub(NAMED));
    if clients.len() > NAMED {
        names.push(&more);
    }
    let (have, their, they) =
        if clients.len() == 1 { ("has", "its", "it has") } else { ("have", "their", "they have") };
    let install = format!("toolfold install {}", first.id);
    let width = install.chars().count();
    format!(
        "  config   none: this is the built-in toolbox\n  clients  {} {have} a file here. To put {their} servers behind Toolfold:\n\n             \
         {:<width$}  takes over the servers {they}; it shows them first\n             \
         {install}  makes {} use Toolfold (--all: every client)\n",
        names.join(", "),
        "toolfold import",
        first.name,
    )
}

/// Ctrl-C or SIGTERM once: finish what is under way. Twice: end now.
async fn stop_on_signal(stop: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return;
    };
    for attempt in 0.. {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        if attempt > 0 {
            std::process::exit(130);
        }
        stop.cancel();
    }
}
