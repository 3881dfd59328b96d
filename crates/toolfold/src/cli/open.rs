//! A gateway for one command: what is remembered is used, what is not known yet is asked for while the person sees
//! whom we wait for.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use toolfold::{Registry, toolbox};
use toolfold_config::Config;
use toolfold_gateway::{Gateway, LocalServer, Options, Snapshot};

use super::output::{progress, tell};
use super::{Common, Fail};

/// Runs `work` on a gateway whose servers have all said what they offer, or failed.
pub(crate) fn with_gateway<T, F>(common: &Common, work: impl FnOnce(Gateway, Arc<Snapshot>) -> F) -> Result<T, Fail>
where
    F: Future<Output = Result<T, Fail>>,
{
    let loaded = common.load(&common.options())?;
    log("warn");
    runtime()?.block_on(async {
        let gateway = Gateway::start(Options { local: local_servers(&loaded.config), config: loaded.config });
        let snapshot = settle(&gateway).await;
        let outcome = work(gateway.clone(), snapshot).await;
        gateway.stop().await;
        outcome
    })
}

async fn settle(gateway: &Gateway) -> Arc<Snapshot> {
    let settled = gateway.settled_completely();
    tokio::pin!(settled);
    let mut shown = false;
    loop {
        tokio::select! {
            snapshot = &mut settled => {
                if shown {
                    progress("");
                }
                return snapshot;
            }
            () = tokio::time::sleep(Duration::from_millis(200)) => {
                let waiting: Vec<String> =
                    gateway.status().await.iter().filter(|server| server.state == "starting").map(|server| server.name.to_string()).collect();
                progress(&format!("connecting to {} …", waiting.join(", ")));
                shown = true;
            }
        }
    }
}

/// The tools of this process that a configuration asks for.
pub(crate) fn local_servers(config: &Config) -> Vec<LocalServer> {
    if !config.toolbox {
        return Vec::new();
    }
    let mut registry = Registry::new("toolbox");
    toolbox::register(&mut registry);
    vec![registry.into_server()]
}

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Fail> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// The log, on stderr; `TOOLFOLD_LOG` says how much of it.
pub(crate) fn log(default: &str) {
    use std::io::IsTerminal;
    use tracing_subscriber::EnvFilter;
    let wanted = std::env::var("TOOLFOLD_LOG").unwrap_or_else(|_| default.to_owned());
    let filter = EnvFilter::try_new(&wanted).unwrap_or_else(|_| {
        tell(&format!("TOOLFOLD_LOG={wanted:?} is not a filter; use error, warn, info, debug or trace."));
        EnvFilter::new(default)
    });
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false);
    // Set already: a program that embeds us logs its own way.
    let _ = subscriber.try_init();
}
