//! `toolfold doctor`: everything that has to be well, tried in the order in which it is needed. Each server is a ladder; where
//! a rung breaks, an arrow says what to do.
//!
//! What a reader would get wrong: servers are tried anew, beside a Toolfold that runs and without what is remembered. What
//! is printed first is who answered first, so that a silent one holds nobody up.

mod advice;
mod clients;
mod climb;
mod here;
mod rung;
mod scan;

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::Instant;
use toolfold_clients::variables_in;
use toolfold_config::{Config, Server};
use toolfold_core::{ServerName, words};

use super::cost::counted;
use super::open::{arrivals, runtime};
use super::output::{Style, print, print_json, progress};
use super::own_file::{OwnFile, environment};
use super::{Common, Fail, behind, log};
use climb::Ground;
use rung::{Ladder, Mark, Rung};

#[derive(Args, Default)]
#[command(after_help = "\
Each server is started or reached anew, at most 16 at a time, and stopped again; nothing is remembered of it. What is printed \
first is who answered first. A silent server holds up nobody, and nothing takes longer than --timeout.

Exit codes: 0 everything is well, 1 something fails. What is marked ! is worth a look and no failure.")]
pub(crate) struct Doctor {
    /// Only these servers, and nothing else
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
    /// Seconds that all servers together may take [default: 30; --wait: as long as each is allowed to]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(2..=3600))]
    timeout: Option<u64>,
    /// Ask every client that uses Toolfold whether it reaches it, with the client's own command
    #[arg(long)]
    verify: bool,
}

const USUAL: Duration = Duration::from_secs(30);
/// As long as any server could be waited for.
const LONGEST: Duration = Duration::from_secs(3600);
/// Servers that are being started at the same time.
const AT_ONCE: usize = 16;
/// After this one that has not answered gives its place to the next: it sleeps, or waits for the network.
const ALONE: Duration = Duration::from_secs(5);
/// With more servers than this, those that are well are a line each.
const MANY: usize = 8;
/// How long servers may take to stop; the reaper takes care of the rest.
const FAREWELL: Duration = Duration::from_secs(8);
const LOOK: Duration = Duration::from_millis(200);
const SILENCE: Duration = Duration::from_millis(500);

impl Doctor {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        log::start(common, "off");
        let runtime = runtime()?;
        let outcome = runtime.block_on(self.examine(common));
        // A name that is being looked up cannot be interrupted.
        runtime.shutdown_background();
        super::journal::flush();
        outcome
    }

    async fn examine(&self, common: &Common) -> Result<(), Fail> {
        let (options, style) = (common.options(), Style::here(common.json));
        let environment = environment(&options);
        let loaded = toolfold_config::load(&options);
        let mut told = Told { style, json: common.json, all: Vec::new(), in_lines: false };
        let here = if self.servers.is_empty() { Some(here::look(&options, &loaded, &environment).await) } else { None };
        here.iter().try_for_each(|ladder| told.tell(ladder, false))?;
        let config = match loaded {
            Ok(loaded) => {
                behind::stand(&loaded.origin);
                behind::refuse_itself()?;
                loaded.config
            }
            Err(problems) if here.is_none() => return Err(Fail::problems(&problems)),
            Err(_) => Config::default(),
        };
        let wanted = self.wanted(&config)?;
        let short = wanted.len() > MANY;
        let until = Instant::now() + self.time(common);
        let ground = Arc::new(Ground::new(options, &config).await);
        let mut servers: Vec<Ladder> = unusable(&config, &wanted);
        servers.iter().try_for_each(|ladder| told.tell(ladder, short))?;
        let wanted = config.servers.values().filter(|server| wanted.contains(&&server.name)).cloned().collect();
        servers.extend(try_all(ground, wanted, until, common, |ladder| told.tell(ladder, short)).await?);
        let clients = match here.is_some() {
            true => {
                let variables = OwnFile::find(common).map(|file| variables_in(file.text())).unwrap_or_default();
                Some(clients::look(&environment, &variables, self.verify).await)
            }
            false => None,
        };
        clients.iter().try_for_each(|ladder| told.tell(ladder, false))?;
        told.end(here, servers, clients)
    }

    fn time(&self, common: &Common) -> Duration {
        match self.timeout {
            Some(seconds) => Duration::from_secs(seconds),
            None if common.wait => LONGEST,
            None => USUAL,
        }
    }

    fn wanted<'c>(&self, config: &'c Config) -> Result<Vec<&'c ServerName>, Fail> {
        let all: Vec<&ServerName> = config.servers.keys().chain(config.unusable.keys()).collect();
        if self.servers.is_empty() {
            return Ok(all);
        }
        let known = |wanted: &String| {
            all.iter().find(|name| name.as_str() == wanted).copied().ok_or_else(|| {
                let fail = Fail::usage(format!("there is no server {wanted:?}"));
                match words::nearest(wanted, all.iter().map(|name| name.as_str())) {
                    Some(near) => fail.hint(format!("did you mean {near:?}?")),
                    None => fail.hint("`toolfold status` names them"),
                }
            })
        };
        self.servers.iter().map(known).collect()
    }
}

/// Servers that cannot be tried, for want of a variable.
fn unusable(config: &Config, wanted: &[&ServerName]) -> Vec<Ladder> {
    let missing = config.unusable.iter().filter(|(name, _)| wanted.contains(name));
    let ladder = |(name, why): (&ServerName, &String)| {
        let mut ladder = Ladder::new(name.as_str());
        ladder.push(Rung::good("configuration", ""));
        ladder.push(Rung::bad("variables", why.clone()).advised(advice::set(why, name.as_str())));
        ladder
    };
    missing.map(ladder).collect()
}

/// Tries them all, and tells each as it is done.
async fn try_all(
    ground: Arc<Ground>,
    servers: Vec<Server>,
    until: Instant,
    common: &Common,
    mut tell: impl FnMut(&Ladder) -> Result<(), Fail>,
) -> Result<Vec<Ladder>, Fail> {
    let mut waiting: Vec<ServerName> = servers.iter().map(|server| server.name.clone()).collect();
    let all = waiting.len();
    let (done, mut finished) = mpsc::unbounded_channel();
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut work = JoinSet::new();
    for server in servers {
        let (ground, places, done) = (ground.clone(), places.clone(), done.clone());
        work.spawn(async move {
            let place = places.acquire_owned().await.ok();
            let timer = tokio::spawn(async move {
                let _place = place;
                tokio::time::sleep(ALONE).await;
            });
            let (ladder, upstream) = ground.climb(&server, until).await;
            timer.abort();
            let _ = done.send(ladder);
            if let Some(upstream) = upstream {
                upstream.stop().await;
            }
        });
    }
    drop(done);
    let (begun, mut ladders, mut shown) = (Instant::now(), Vec::new(), false);
    loop {
        match tokio::time::timeout(LOOK, finished.recv()).await {
            Ok(Some(ladder)) => {
                if std::mem::take(&mut shown) {
                    progress("");
                }
                waiting.retain(|name| name.as_str() != ladder.name);
                tell(&ladder)?;
                ladders.push(ladder);
            }
            Ok(None) => break,
            Err(_) if begun.elapsed() >= SILENCE && !common.quiet => {
                let names: Vec<String> = waiting.iter().map(ToString::to_string).collect();
                progress(&format!("{} s: {}", begun.elapsed().as_secs(), arrivals(all, &names)));
                shown = true;
            }
            Err(_) => {}
        }
    }
    if shown {
        progress("");
    }
    let _ = tokio::time::timeout(FAREWELL, async { while work.join_next().await.is_some() {} }).await;
    Ok(ladders)
}

/// What was told, and how it ends.
struct Told {
    style: Style,
    json: bool,
    all: Vec<Mark>,
    /// The last thing that was printed is a line among others.
    in_lines: bool,
}

impl Told {
    fn tell(&mut self, ladder: &Ladder, short: bool) -> Result<(), Fail> {
        self.all.push(ladder.mark());
        if self.json {
            return Ok(());
        }
        // A gap after a ladder, none between lines, and one where lines end.
        let was_short = std::mem::replace(&mut self.in_lines, short && ladder.mark() != Mark::Bad);
        let before = if was_short && !self.in_lines { "\n" } else { "" };
        let after = if self.in_lines { "" } else { "\n" };
        print(&format!("{before}{}{after}", ladder.to_text(self.style, short)))
    }

    fn end(&self, here: Option<Ladder>, mut servers: Vec<Ladder>, clients: Option<Ladder>) -> Result<(), Fail> {
        let is_well = !self.all.contains(&Mark::Bad);
        servers.sort_by(|one, other| one.name.cmp(&other.name));
        let failing: Vec<&Ladder> = servers.iter().filter(|ladder| ladder.mark() == Mark::Bad).collect();
        if self.json {
            let many = |ladders: &[Ladder]| ladders.iter().map(Ladder::to_json).collect::<Vec<_>>();
            print_json(&json!({
                "ok": is_well,
                "toolfold": here.as_ref().map(Ladder::to_json),
                "servers": many(&servers),
                "clients": clients.as_ref().map(Ladder::to_json),
            }))?;
        } else {
            let text = summary(&servers, &failing);
            let rest = if !is_well && failing.is_empty() { " What is marked ✗ above has to be mended." } else { "" };
            print(&self.style.bold(&format!("{text}{rest}")))?;
        }
        if is_well { Ok(()) } else { Err(Fail::silent(1)) }
    }
}

/// The last line.
fn summary(servers: &[Ladder], failing: &[&Ladder]) -> String {
    let offered = servers.iter().filter_map(|ladder| ladder.offered);
    let (tools, tokens) = offered.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    let offered = match tools {
        0 => String::new(),
        _ => format!(": {}, {}", counted(tools, "tool"), counted(tokens, "token")),
    };
    let names: Vec<&str> = failing.iter().map(|ladder| ladder.name.as_str()).collect();
    match (servers.len(), failing.len()) {
        (0, _) => "No server was tried.".to_owned(),
        (1, 0) => format!("The server is well{offered}."),
        (all, 0) => format!("All {all} servers are well{offered}."),
        (1, 1) => format!("{} fails.", names.join("")),
        (all, bad) if all == bad => format!("All {all} servers fail."),
        (all, bad) => {
            let are = if all - bad == 1 { "is" } else { "are" };
            format!("{} of {all} servers {are} well{offered}. {bad} failing: {}.", all - bad, names.join(", "))
        }
    }
}
