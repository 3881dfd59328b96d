//! `toolfold status`: how the servers are. The running instance says how they are with it; without one, those that
//! nothing is known of are tried, and nothing is said before each of them has answered, failed, or had its time.

use clap::Args;
use serde::{Deserialize, Serialize};
use toolfold_core::shown_line;
use toolfold_gateway::{Gateway, ServerStatus};

use super::ask::{Answer, Ask};
use super::instance::Found;
use super::output::{Style, as_json, table, tell};
use super::{Common, Fail, instance, open};

#[derive(Debug, Args, Serialize, Deserialize)]
#[command(after_help = "\
States:
  configured   in the configuration; nothing is known of it yet
  starting     being started, or asked for the first time what it offers
  known        not running; its tools are remembered, and it is started when one of them is called
  ready        running, or reachable
  failing      could not be started or reached, or went away: the reason and the next try are said
  needs login  it is there, and nobody is logged in: `toolfold login SERVER`
  stopped      stopped on the page, or with Toolfold

Where `toolfold serve` runs with the same configuration, this is how its servers are. Where none runs, servers that nothing \
is known of are started to find out.")]
pub(crate) struct Status {}

impl Status {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        if !common.quiet && !common.json {
            tell(&open::runtime()?.block_on(who_answers(common))?);
        }
        common.ask(Ask::Status(self))
    }
}

pub(crate) async fn answer(gateway: &Gateway, style: Style) -> Result<Answer, Fail> {
    let servers = gateway.status().await;
    let text = match style.json {
        true => as_json(&servers)?,
        false => table(&servers.iter().map(row).collect::<Vec<_>>()) + &held(&servers),
    };
    let failing = servers.iter().filter(|server| server.state == "failing").count();
    let but = match failing {
        0 => None,
        1 => Some(Fail::servers("1 server is failing.")),
        many => Some(Fail::servers(format!("{many} servers are failing."))),
    };
    let but = but.or_else(|| logins(&servers));
    Ok(Answer { text, but })
}

/// Who waits for a login, where that is all that is wrong.
fn logins(servers: &[ServerStatus]) -> Option<Fail> {
    let waiting: Vec<&str> =
        servers.iter().filter(|server| server.state == NEEDS_LOGIN).map(|server| server.name.as_str()).collect();
    let first = waiting.first()?;
    let message = match waiting.len() {
        1 => format!("{first} needs a login."),
        _ => format!("{} need a login.", waiting.join(", ")),
    };
    Some(Fail::servers(message).hint(format!("toolfold login {first}")))
}

const NEEDS_LOGIN: &str = "needs login";

/// How many entries wait for somebody, if any do.
fn held(servers: &[ServerStatus]) -> String {
    let counts = [("held", servers.iter().map(|server| server.held).sum::<usize>())];
    let review = [("worth a look", servers.iter().map(|server| server.review).sum())];
    let counts = counts.into_iter().chain(review).filter(|(_, count)| *count > 0);
    let told: Vec<String> = counts.map(|(what, count)| format!("{count} {what}")).collect();
    if told.is_empty() { String::new() } else { format!("\n{}: toolfold approve\n", told.join(", ")) }
}

/// Where the answer comes from.
async fn who_answers(common: &Common) -> Result<String, Fail> {
    let options = common.options();
    let Ok(loaded) = toolfold_config::load(&options) else { return Ok(String::new()) };
    let found = match options.data_dir.as_deref() {
        Some(state) => instance::find(state, &loaded.origin).await,
        None => Found::default(),
    };
    Ok(match (found.running, found.silent.first()) {
        (Some((note, _)), _) => {
            let place = note.address.unwrap_or_else(|| "stdin and stdout".to_owned());
            format!("Toolfold is running (process {}, {place}).", note.pid)
        }
        (None, Some(pid)) => {
            format!("Toolfold is running (process {pid}) and does not answer; this is what a try finds without it.")
        }
        (None, None) => "Toolfold is not running with this configuration; this is what a try finds.".to_owned(),
    })
}

/// What is wrong with it; or, of one that one of several replicas runs, which.
fn about(server: &ServerStatus) -> String {
    match (&server.why, &server.runs_at) {
        (Some(why), _) => why.clone(),
        (None, Some(place)) => format!("runs {}", if place == "here" { place.clone() } else { format!("at {place}") }),
        (None, None) => String::new(),
    }
}

fn row(server: &ServerStatus) -> Vec<String> {
    let tools = if server.tools == 1 { "1 tool".to_owned() } else { format!("{} tools", server.tools) };
    let tools = if server.held > 0 { format!("{tools}, {} held", server.held) } else { tools };
    vec![
        server.name.to_string(),
        server.state.to_owned(),
        tools,
        shown_line(server.protocol.as_deref().unwrap_or_default()).into_owned(),
        shown_line(&about(server)).into_owned(),
    ]
}
