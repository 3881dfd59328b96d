//! Toolfold behind itself. A server of the file that is this program, or the address this program listens on, would ask
//! itself for its tools, which asks itself: it is left out with a warning.
//!
//! Another Toolfold with another file is a server like any other.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use toolfold_core::ServerName;
use url::{Host, Url};

use crate::config::{Http, Server, Transport};
use crate::options::LoadOptions;
use crate::program;
use crate::report::{Place, Report};
use crate::resolve::Draft;

/// What the program is called where it is not found by its path.
const NAME: &str = "toolfold";

pub(crate) fn leave_out(draft: &mut Draft, options: &LoadOptions, file: Option<&Path>, report: &mut Report) {
    let http = draft.config.http.clone();
    let ours = |server: &Server| match &server.transport {
        Transport::Stdio { command, args, cwd, .. } => {
            let folder = cwd.as_deref().unwrap_or(&options.directory);
            is_own_command(command, args, folder, options, file).then_some("it is this program, with this file")
        }
        Transport::Http { url, .. } => {
            is_own_address(url, &http).then_some("it is the address that Toolfold listens on")
        }
        // Its own API, as any other, is somebody's wish and leads nowhere else.
        Transport::Api(_) | Transport::Agent { .. } => None,
    };
    let own: Vec<(ServerName, &str)> =
        draft.config.servers.values().filter_map(|server| Some((server.name.clone(), ours(server)?))).collect();
    for (name, why) in own {
        draft.config.servers.remove(&name);
        let place = draft.places.get(&name).cloned().unwrap_or_else(|| Place::new(None, format!("servers.{name}")));
        let hint = "take it out: Toolfold would be behind itself".to_owned();
        report.warn(&place, format!("is left out: {why}"), hint);
    }
}

/// The program itself, or something of its name, told to serve: directly or through another program (`npx toolfold serve`).
fn is_own_command(command: &str, args: &[String], folder: &Path, options: &LoadOptions, file: Option<&Path>) -> bool {
    let paths = options.environment.get("PATH").map_or("", String::as_str);
    let us = options.program.as_ref().and_then(|program| program.canonicalize().ok());
    let is_us = |word: &str| {
        let found = || program::find(word, paths, folder).and_then(|path| path.canonicalize().ok());
        is_our_name(word) || (us.is_some() && found() == us)
    };
    let words: Vec<&str> =
        std::iter::once(command).chain(args.iter().flat_map(|argument| argument.split_whitespace())).collect();
    let Some(at) = words.iter().position(|word| is_us(word)) else { return false };
    let rest = &words[at + 1..];
    rest.contains(&"serve") && other_file(rest, folder, file).is_none()
}

/// A path to it, or its package with or without a version: `toolfold@latest`. A `toolfold.toml` is none.
fn is_our_name(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let name = name.split_once(['@', '=']).map_or(name, |(name, _)| name);
    name.strip_suffix(".exe").unwrap_or(name) == NAME
}

/// The file that is named for it, where that is another than ours.
fn other_file(words: &[&str], folder: &Path, file: Option<&Path>) -> Option<PathBuf> {
    let inline = words.iter().find_map(|word| word.strip_prefix("--config="));
    let apart =
        || words.iter().position(|word| ["--config", "-c"].contains(word)).and_then(|at| words.get(at + 1).copied());
    let named = folder.join(inline.or_else(apart)?).canonicalize().ok()?;
    let ours = file.and_then(|file| file.canonicalize().ok());
    (Some(&named) != ours.as_ref()).then_some(named)
}

fn is_own_address(url: &str, http: &Http) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    if url.port_or_known_default() != Some(http.listen.port()) {
        return false;
    }
    let listening = http.listen.ip();
    // Whoever listens everywhere listens on loopback too.
    let here = |ip: IpAddr| {
        ip == listening
            || (ip.is_loopback() || ip.is_unspecified()) && (listening.is_loopback() || listening.is_unspecified())
    };
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            let local = name == "localhost" || name.ends_with(".localhost");
            (local && (listening.is_loopback() || listening.is_unspecified()))
                || http.hosts.iter().any(|host| host == name)
        }
        Some(Host::Ipv4(ip)) => here(ip.into()),
        Some(Host::Ipv6(ip)) => here(ip.to_ipv4_mapped().map_or(IpAddr::from(ip), IpAddr::from)),
        None => false,
    }
}
