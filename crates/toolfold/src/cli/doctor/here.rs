//! Toolfold's own surroundings: what it reads, where it remembers, whether it runs, and where it would listen.

use std::path::Path;

use tokio::net::TcpListener;
use toolfold_clients::Environment;
use toolfold_config::{Config, LoadOptions, Loaded, Origin, PreciseTier, Problems};
use toolfold_core::{StorePlace, shown_line};
use toolfold_store::Store;

use super::super::check::served_without_servers;
use super::super::cost::counted;
use super::super::instance::{self, Found, Note};
use super::super::own_file::shown_path;
use super::rung::{Ladder, Rung};

pub(crate) async fn look(
    options: &LoadOptions,
    loaded: &Result<Loaded, Problems>,
    environment: &Environment,
) -> Ladder {
    let mut ladder = Ladder::new(format!("Toolfold {}", env!("CARGO_PKG_VERSION")));
    let config = match loaded {
        Ok(loaded) => {
            configuration(loaded, environment).into_iter().for_each(|rung| ladder.push(rung));
            Some(&loaded.config)
        }
        Err(problems) => {
            problems.0.iter().for_each(|problem| ladder.push(wrong(problem)));
            None
        }
    };
    ladder.push(state(options.data_dir.as_deref(), environment));
    if let Some(place) = config.and_then(|config| config.store.as_ref()) {
        ladder.push(store(place, environment).await);
    }
    let running = match (options.data_dir.as_deref(), loaded) {
        (Some(state), Ok(loaded)) => instance::find(state, &loaded.origin).await,
        _ => Found::default(),
    };
    let (running, silent) = (running.running.map(|(note, _)| note), running.silent);
    ladder.push(instance(running.as_ref(), silent.first().copied()));
    if let Some(config) = config {
        ladder.push(port(config, running.as_ref()).await);
        ladder.push(search(config, environment));
    }
    ladder
}

fn configuration(loaded: &Loaded, environment: &Environment) -> Vec<Rung> {
    let mut rungs = Vec::new();
    let servers = loaded.config.servers.len() + loaded.config.unusable.len();
    rungs.push(match &loaded.origin {
        Origin::File(path) if servers == 0 => {
            let text = format!(
                "{}, which names no server: {}",
                shown_path(path, environment),
                served_without_servers(&loaded.config)
            );
            Rung::note("configuration", text)
                .advised("take over what your clients have with `toolfold import`, or `toolfold add` one")
        }
        Origin::File(path) => {
            Rung::good("configuration", format!("{}, {}", shown_path(path, environment), counted(servers, "server")))
        }
        Origin::Default => Rung::note("configuration", "none: the built-in toolbox is served")
            .advised("take over what your clients have with `toolfold import`, or `toolfold add` a server"),
    });
    let notices = loaded.notices.iter().filter(|notice| !is_told_elsewhere(&notice.message));
    rungs.extend(notices.map(|notice| {
        let rung = Rung::note("configuration", notice_text(notice));
        notice.hint.iter().fold(rung, |rung, hint| rung.advised(hint.clone()))
    }));
    rungs
}

/// What a server's own ladder says.
fn is_told_elsewhere(message: &str) -> bool {
    message.starts_with("is left out: the variable")
}

fn wrong(problem: &toolfold_config::Problem) -> Rung {
    let rung = match problem.severity {
        toolfold_config::Severity::Error => Rung::bad("configuration", notice_text(problem)),
        toolfold_config::Severity::Warning => Rung::note("configuration", notice_text(problem)),
    };
    problem.hint.iter().fold(rung, |rung, hint| rung.advised(hint.clone()))
}

/// Without its hint, which is the arrow.
fn notice_text(problem: &toolfold_config::Problem) -> String {
    let plain = toolfold_config::Problem { hint: None, ..problem.clone() };
    plain.to_string().replace(": warning: ", ": ")
}

/// Where instances, logs, trust and backups are noted: tried with a file, as rights alone do not tell.
fn state(folder: Option<&Path>, environment: &Environment) -> Rung {
    let Some(folder) = folder else {
        return Rung::note("state", "there is no HOME: nothing is remembered, and a running Toolfold is not found")
            .advised("set HOME or XDG_STATE_HOME");
    };
    let shown = shown_path(folder, environment);
    let made = std::fs::create_dir_all(folder);
    let probe = folder.join(format!(".doctor-{}", std::process::id()));
    let written = made.and_then(|()| std::fs::write(&probe, "")).and_then(|()| std::fs::remove_file(&probe));
    match written {
        Ok(()) => Rung::good("state", format!("{shown} can be written")),
        Err(error) => Rung::bad("state", format!("{shown} cannot be written: {error}"))
            .advised("give yourself the right to write there, or set XDG_STATE_HOME to another folder"),
    }
}

async fn store(place: &StorePlace, environment: &Environment) -> Rung {
    let shown = place.file().map_or_else(|| place.to_string(), |path| shown_path(path, environment));
    if place.file().is_some_and(|path| !path.exists()) {
        return Rung::good("store", format!("{shown} will be made when there is something to remember"));
    }
    match Store::at(Some(place)).await {
        Ok(opened) => {
            let remembered = opened.store.load_manifests().await;
            opened.store.close().await;
            match (opened.notice, remembered) {
                (Some(notice), _) => Rung::note("store", shown_line(&notice)),
                (None, Ok(all)) => Rung::good("store", format!("{shown}, {} remembered", counted(all.len(), "server"))),
                (None, Err(error)) => unreadable(&error),
            }
        }
        Err(error) => unreadable(&error),
    }
}

fn unreadable(error: &toolfold_store::StoreError) -> Rung {
    let rung = Rung::bad("store", error.to_string());
    if matches!(error, toolfold_store::StoreError::Unreachable { .. } | toolfold_store::StoreError::Address { .. }) {
        return rung.advised(error.hint());
    }
    rung.advised("everything works without it, and slower: move the file away, or name another with TOOLFOLD_STORE")
}

fn instance(running: Option<&Note>, silent: Option<u32>) -> Rung {
    match (running, silent) {
        (Some(note), _) => {
            let place = note.address.clone().unwrap_or_else(|| "stdin and stdout".to_owned());
            Rung::good("running", format!("process {} on {place}", note.pid))
        }
        (None, Some(pid)) => Rung::note("running", format!("process {pid}, which does not answer"))
            .advised("see what holds it up, or end it: commands go on without it, and start servers of their own"),
        (None, None) => Rung::good("running", "not with this configuration; clients start their own"),
    }
}

/// Only `serve` needs it, so a port that is taken is no failure.
async fn port(config: &Config, running: Option<&Note>) -> Rung {
    let listen = config.http.listen;
    let is_ours = running
        .and_then(|note| note.address.as_deref())
        .is_some_and(|url| url.contains(&format!(":{}/", listen.port())));
    match TcpListener::bind(listen).await {
        _ if is_ours => Rung::good("port", format!("{listen} is Toolfold's own")),
        Ok(_) => Rung::good("port", format!("{listen} is free for `toolfold serve`")),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            let advice = format!(
                "stop what listens there (`ss -ltnp`), or choose another: toolfold serve --listen :{}",
                listen.port().wrapping_add(1)
            );
            Rung::note("port", format!("{listen} is in use by another program")).advised(advice)
        }
        Err(error) => Rung::note("port", format!("{listen} cannot be listened on: {error}"))
            .advised("correct `listen` below [http]"),
    }
}

fn search(config: &Config, environment: &Environment) -> Rung {
    match &config.precise {
        PreciseTier::Off => Rung::good("search", "fast; the precise tier is off"),
        PreciseTier::File(path) if path.is_file() => {
            Rung::good("search", format!("precise, with {}", shown_path(path, environment)))
        }
        PreciseTier::File(path) => Rung::bad("search", format!("{} does not exist", shown_path(path, environment)))
            .advised("correct `precise` below [search], or leave it out"),
        PreciseTier::Auto(paths) => match (paths.iter().find(|path| path.is_file()), paths.last()) {
            (Some(path), _) => Rung::good("search", format!("precise, with {}", shown_path(path, environment))),
            (None, Some(place)) => Rung::good(
                "search",
                format!(
                    "fast; it would be more precise with weights/precise.bin of the repository copied to {}",
                    shown_path(place, environment)
                ),
            ),
            (None, None) => Rung::good("search", "fast"),
        },
    }
}
