//! Who answers a command: the instance that runs with this configuration, or a gateway for this one command. Then what is
//! remembered is used, and what is not known yet is asked for while the person sees whom we wait for.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;
use toolfold::{Registry, toolbox};
use toolfold_config::{Config, LoadOptions};
use toolfold_core::{Principal, ServerName, StorePlace, Surface};
use toolfold_gateway::{Client, Gateway, LocalServer, Options, Program, ServerStatus};
use toolfold_store::Store;

use super::ask::{Answer, Ask, ENCODER, Needs};
use super::output::{Style, progress, tell};
use super::{Common, Fail, behind, instance, journal, log};

/// How long one command waits for servers that nothing is known of yet, unless it was told to wait for all.
const PATIENCE: Duration = Duration::from_secs(15);
/// How long `status` does: it is what was asked.
const PATIENCE_OF_STATUS: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(50);
/// What is over sooner is not worth a word.
const SILENCE: Duration = Duration::from_millis(300);
/// The same of a line that stays.
const WORD: Duration = Duration::from_secs(2);

/// Asks the running instance, or a gateway of our own.
pub(crate) fn ask(common: &Common, ask: Ask) -> Result<Answer, Fail> {
    let loaded = common.load(&common.options())?;
    // Said when it was loaded, and not again as what is missing from the answer; a program reads the answer alone.
    let is_told = !common.quiet && !common.json;
    let said: Vec<ServerName> = loaded.config.unusable.keys().filter(|_| is_told).cloned().collect();
    log::start(common, "off");
    let outcome = runtime()?.block_on(async {
        let style = Style::here(common.json);
        if let Some(answer) = instance::ask(common, &loaded.origin, &ask, style).await {
            return answer;
        }
        with(loaded.config, async |gateway| {
            wait_for(gateway, &ask.needs(), common).await;
            if let (Ask::Search(_), false) = (&ask, common.quiet) {
                let _ = tokio::time::timeout(ENCODER, encoded(gateway)).await;
                progress("");
            }
            ask.answer(gateway, style).await
        })
        .await
    });
    let is_said =
        |line: &str| said.iter().any(|server| line.starts_with(&format!("{server} is configured and not running: ")));
    match outcome {
        Ok(Answer { text, but }) => Ok(Answer { text, but: but.map(|but| but.without(is_said)) }),
        Err(fail) => Err(fail.without(is_said)),
    }
}

/// Runs `work` on a gateway of our own, whose servers have all said what they offer, or failed.
pub(crate) fn with_gateway<T>(common: &Common, work: impl AsyncFnOnce(&Gateway) -> Result<T, Fail>) -> Result<T, Fail> {
    let loaded = common.load(&common.options())?;
    log::start(common, "off");
    runtime()?.block_on(with(loaded.config, async |gateway| {
        wait_for(gateway, &Needs::All, common).await;
        work(gateway).await
    }))
}

/// The same on a gateway with this configuration alone.
pub(crate) fn with_config<T>(
    common: &Common,
    config: Config,
    work: impl AsyncFnOnce(&Gateway) -> Result<T, Fail>,
) -> Result<T, Fail> {
    log::start(common, "off");
    runtime()?.block_on(with(config, async |gateway| {
        wait_for(gateway, &Needs::Status, common).await;
        work(gateway).await
    }))
}

async fn with<T>(config: Config, work: impl AsyncFnOnce(&Gateway) -> Result<T, Fail>) -> Result<T, Fail> {
    behind::refuse_itself()?;
    let gateway = Gateway::start(Options { local: local_servers(&config), config });
    run_scripts(&gateway);
    tokio::spawn(journal::follow_calls(gateway.calls()));
    let outcome = work(&gateway).await;
    gateway.stop().await;
    journal::flush();
    outcome
}

/// Scripts run in this program: it is told by its first argument.
pub(crate) fn run_scripts(gateway: &Gateway) {
    match Program::this() {
        Ok(program) => gateway.run_scripts_in(program),
        Err(error) => tracing::warn!("scripts cannot be run: {error}"),
    }
}

/// Whoever typed the command.
pub(crate) fn asker() -> Client {
    Client::inside(Principal::local(), Surface::Direct)
}

/// Waits until every server that is needed has said what it offers, or failed, or had its time; whoever did not is named.
async fn wait_for(gateway: &Gateway, needs: &Needs, common: &Common) {
    let patience = match needs {
        _ if common.wait => Duration::MAX,
        Needs::Status => PATIENCE_OF_STATUS,
        _ => PATIENCE,
    };
    if let Needs::Nobody = needs {
        return gateway.published().await;
    }
    let (begun, mut shown, mut told) = (Instant::now(), false, false);
    let waiting = loop {
        let status = gateway.status().await;
        // Whoever asks for a server by its name may have mended it.
        let named = status.iter().any(|server| is_named(server, needs));
        let all = common.wait || named || matches!(needs, Needs::Status);
        let waiting = waited_for(&gateway.awaited(all).await, &status, needs, common.wait);
        if waiting.is_empty() || begun.elapsed() >= patience {
            break waiting;
        }
        if begun.elapsed() >= SILENCE && !common.quiet {
            progress(&arrivals(status.len(), &waiting));
            shown = true;
        }
        // It may take as long as `status` waits, and no progress is shown to a file.
        if begun.elapsed() >= WORD && !common.quiet && !told && !std::io::stderr().is_terminal() {
            tell(&arrivals(status.len(), &waiting));
            told = true;
        }
        tokio::time::sleep(LOOK).await;
    };
    if shown {
        progress("");
    }
    for server in &waiting {
        // For its log: nothing else happened to it.
        tracing::info!(server = %server, waited = ?patience, "had not answered yet, and was not waited for any longer");
    }
    match needs {
        _ if waiting.is_empty() => {}
        // How they are was what was asked, and the next one who asks hears the same.
        Needs::Status => gateway.give_up(waiting.into_iter().collect(), patience).await,
        _ if common.quiet => {}
        _ => tell(&format!("not waited for any longer: {} (`--wait` waits for all)", listed(&waiting))),
    }
}

/// Waits for the encoder, and shows how far it is; whether there is one.
pub(crate) async fn encoded(gateway: &Gateway) -> bool {
    let mut done = std::pin::pin!(gateway.is_precise());
    loop {
        tokio::select! {
            precise = &mut done => break precise,
            () = tokio::time::sleep(SILENCE) => {
                if let Some((done, all)) = gateway.encoding() {
                    progress(&format!("reading tools for precise search, {done} of {all} …"));
                }
            }
        }
    }
}

/// Who is still waited for, of how many.
pub(crate) fn arrivals(all: usize, waiting: &[impl ToString]) -> String {
    let names = listed(waiting);
    match all {
        0 | 1 => format!("waiting for {names} …"),
        _ => format!("{} of {all} servers have answered, waiting for {names} …", all.saturating_sub(waiting.len())),
    }
}

fn waited_for(open: &[ServerName], servers: &[ServerStatus], needs: &Needs, all: bool) -> Vec<ServerName> {
    // What looks like a server's name may be a part of anybody's tool or node.
    let one = !all && servers.iter().any(|server| is_named(server, needs));
    let needed = |server: &&ServerStatus| !one || is_named(server, needs);
    let open = |server: &&ServerStatus| open.contains(&server.name);
    servers.iter().filter(needed).filter(open).map(|server| server.name.clone()).collect()
}

fn listed(names: &[impl ToString]) -> String {
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn is_named(server: &ServerStatus, needs: &Needs) -> bool {
    matches!(needs, Needs::Server(name) if server.name.as_str() == name)
}

/// The tools of this process that a configuration asks for.
pub(crate) fn local_servers(config: &Config) -> Vec<LocalServer> {
    if !config.toolbox {
        return Vec::new();
    }
    let mut registry = Registry::new("toolbox");
    toolbox::register_without(&mut registry, own_files(config));
    vec![registry.into_server()]
}

/// What no tool of ours may read: the configuration, with whatever secrets are in it, and what is kept between runs.
fn own_files(config: &Config) -> Vec<PathBuf> {
    let surroundings = LoadOptions::from_process();
    let folders = [surroundings.user_config_dir, surroundings.data_dir].into_iter().flatten();
    let stores = config.store.iter().filter_map(StorePlace::file);
    let stores = stores.flat_map(|store| [store.to_owned(), Store::record_path(store)]);
    config.files.iter().cloned().chain(folders).chain(stores).chain(config.audit.path.clone()).collect()
}

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Fail> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
