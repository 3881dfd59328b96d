//! How the servers are, for people.

use std::time::Duration;

use serde::Serialize;
use toolfold_core::ServerName;
use toolfold_upstream::State;

use crate::gate::Source;
use crate::snapshot::Snapshot;
use crate::turnstile::Turnstile;

/// What a person sees of one server.
#[derive(Debug, Clone, Serialize)]
pub struct ServerStatus {
    pub name: ServerName,
    pub state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_in_seconds: Option<u64>,
    pub tools: usize,
    /// What it offers and is held until somebody approves it.
    #[serde(skip_serializing_if = "is_zero")]
    pub held: usize,
    /// What of it serves, and has something in it that is worth a look.
    #[serde(skip_serializing_if = "is_zero")]
    pub review: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// `here`, or the replica's address, while it runs on one of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_at: Option<String>,
}

/// How the servers are that exist in this snapshot.
pub(crate) fn status_of(snapshot: &Snapshot, turnstile: &Turnstile) -> Vec<ServerStatus> {
    let counts = snapshot.quarantine.counts();
    let describe = |(name, source): (&ServerName, &Source)| {
        let tools = snapshot.catalog.server(name);
        let (state, why, retry) = label(source.state());
        // One that failed the last time is failing until it does better, also while it is tried again.
        let (state, why) = match snapshot.failing.get(name) {
            Some(failed) if why.is_none() && state != "stopped" => ("failing", Some(failed.clone())),
            _ => (state, why),
        };
        let rest = turnstile.resting(name);
        let (state, why, retry) = match rest {
            Some(rest) => ("failing", Some(left_alone(rest.failures, why)), Some(rest.left)),
            None => (state, why, retry),
        };
        let (held, review) = counts.get(name).copied().unwrap_or_default();
        ServerStatus {
            name: name.clone(),
            state,
            why,
            retry_in_seconds: retry.map(|wait| wait.as_secs()),
            tools: tools.map_or(0, |tools| tools.entries.len()),
            held,
            review,
            protocol: source.manifest().map(|manifest| manifest.version.clone()),
            runs_at: source.runs_at(),
        }
    };
    let mut all: Vec<ServerStatus> = snapshot.sources().map(describe).collect();
    let unusable = snapshot.config.unusable.iter().filter(|(name, _)| snapshot.is_seen(name));
    all.extend(unusable.map(|(name, why)| ServerStatus {
        name: name.clone(),
        state: "failing",
        why: Some(why.clone()),
        retry_in_seconds: None,
        tools: 0,
        held: 0,
        review: 0,
        protocol: None,
        runs_at: None,
    }));
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that serde asks for")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn left_alone(failures: u32, why: Option<String>) -> String {
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    format!("left alone for a while after {failures} failed calls in a row{why}")
}

fn label(state: State) -> (&'static str, Option<String>, Option<Duration>) {
    match state {
        State::Configured => ("configured", None, None),
        State::Known => ("known", None, None),
        State::Starting => ("starting", None, None),
        State::Ready => ("ready", None, None),
        State::Failing { why, retry_in } => ("failing", Some(why), Some(retry_in)),
        State::NeedsLogin { why } => ("needs login", Some(why), None),
        State::Stopped => ("stopped", None, None),
    }
}

/// What somebody may want to know later of how a server was.
pub(crate) fn worth_noting(state: &State) -> Option<&'static str> {
    match state {
        State::Ready => Some("ready"),
        State::Failing { .. } => Some("failing"),
        State::NeedsLogin { .. } => Some("needs login"),
        State::Stopped => Some("stopped"),
        State::Configured | State::Known | State::Starting => None,
    }
}
