//! `toolfold serve`: the main job.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolfold::watch;
use toolfold_audit::EventKind;
use toolfold_config::{Config, LoadOptions, Origin};
use toolfold_core::Surface;
use toolfold_gateway::{Gateway, Options};
use toolfold_serve::{Address, serve_http, serve_stdio};

use super::open::{local_servers, runtime};
use super::output::tell;
use super::{Common, Fail, instance, journal, log, parse_surface};

#[derive(Args)]
pub(crate) struct Serve {
    /// Speak MCP on stdin and stdout instead of HTTP
    #[arg(long, conflicts_with = "listen")]
    stdio: bool,
    /// Where to listen [default: 127.0.0.1:7420]
    #[arg(long, value_name = "ADDRESS:PORT")]
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
        log::start(common, if self.stdio { "warn" } else { "info" });
        let runtime = runtime()?;
        let outcome = runtime.block_on(self.serve(options, loaded.config, loaded.origin));
        // Reading stdin cannot be interrupted: do not wait for the thread that does.
        runtime.shutdown_background();
        outcome
    }

    async fn serve(self, options: LoadOptions, config: Config, origin: Origin) -> Result<(), Fail> {
        let stop = CancellationToken::new();
        tokio::spawn(stop_on_signal(stop.clone()));
        let (surface, listen, look) = (config.surface, config.http.listen, watch::Look::at(&config));
        let listener = if self.stdio { None } else { Some(bind(listen).await?) };
        let announcement = announce(&config, &origin);
        let gateway = Gateway::start(Options { local: local_servers(&config), config });
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
        let served = match listener {
            Some(listener) => {
                let address = Address(listener.local_addr()?);
                tell(&format!(
                    "{announcement}\n  MCP      {}\n  status   http://{}/v1/status",
                    address.mcp(),
                    address.0
                ));
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

async fn bind(address: SocketAddr) -> Result<TcpListener, Fail> {
    TcpListener::bind(address).await.map_err(|error| {
        Fail::usage(format!("cannot listen on {address}: {error}"))
            .hint("choose another place with --listen, or stop what listens there")
    })
}

fn announce(config: &Config, origin: &Origin) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut servers: Vec<&str> = config.servers.keys().map(|name| name.as_str()).collect();
    if config.toolbox {
        servers.push("toolbox");
    }
    let behind = if servers.is_empty() { "nothing yet".to_owned() } else { servers.join(", ") };
    let from = match origin {
        Origin::File(path) => format!("  config   {}", path.display()),
        Origin::Default => "  config   none: this is the built-in toolbox. To add your own servers, write a toolfold.toml:\n\n             \
             [servers.files]\n             command = \"npx\"\n             args = [\"-y\", \"@modelcontextprotocol/server-filesystem\", \".\"]\n"
            .to_owned(),
    };
    format!("Toolfold {version}\n{from}\n  surface  {}\n  servers  {behind}", config.surface)
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
