//! One server, tried from the beginning: nothing that is remembered of it is used, and nothing is remembered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use toolfold_config::{ApiSource, Config, DocumentPlace, LoadOptions, Server, Transport, find_program};
use toolfold_core::Secret;
use toolfold_gateway::vault;
use toolfold_store::Store;
use toolfold_upstream::{Event, House, Manifest, Report, State, Upstream};
use toolfold_wire::{Memory, Object};
use url::{Host, Url};

use super::super::cost;
use super::rung::{Ladder, Rung};
use super::{advice, scan};

/// For what the era of a server is found out with, and to say goodbye.
const SPARE: Duration = Duration::from_secs(6);
/// However little time there is, a server is given this.
const LEAST: Duration = Duration::from_secs(1);

/// What servers are tried with.
pub(crate) struct Ground {
    options: LoadOptions,
    house: House,
}

impl Ground {
    /// Logins are used where there are any: without them it would be another server that is tried.
    pub(crate) async fn new(options: LoadOptions, config: &Config) -> Ground {
        let secrets = config.http.token.iter().chain(&config.key).cloned().collect();
        let mut house = House { secrets, ..House::new(Memory::new(config.limits.memory)) };
        house.oauth = std::sync::Arc::new(config.oauth.clone());
        let there = config.store.as_ref().filter(|place| place.file().is_none_or(Path::exists));
        if let Some(place) = there
            && let Ok(opened) = Store::at(Some(place)).await
        {
            house.vault = vault(Some(std::sync::Arc::new(opened.store)), config.key.clone());
        }
        Ground { options, house }
    }

    /// Climbs until something breaks or `until`. What was started is handed back to be stopped, so that nobody waits for
    /// that to read the outcome.
    pub(crate) async fn climb(&self, server: &Server, until: Instant) -> (Ladder, Option<Upstream>) {
        let begun = Instant::now();
        let mut ladder = Ladder::new(server.name.as_str());
        ladder.push(Rung::good("configuration", reached(server)));
        ladder.push(Rung::good("variables", "all that it names are set"));
        if begun >= until {
            let advice = format!("give it more time: toolfold doctor {} --timeout 60", server.name);
            ladder.push(Rung::bad("not tried", "the time was up before its turn came").advised(advice));
            return (ladder, None);
        }
        let way = match &server.transport {
            Transport::Stdio { command, env, cwd, .. } => self.command(command, env, cwd.as_deref()),
            Transport::Http { url, .. } | Transport::Agent { card: url, .. } => self.address(url, until).await,
            Transport::Api(source) => self.source(source, until).await,
        };
        let is_way = way.iter().all(|rung| rung.mark != super::rung::Mark::Bad);
        way.into_iter().for_each(|rung| ladder.push(rung));
        let upstream = if is_way { Some(self.greet(server, until, &mut ladder).await) } else { None };
        ladder.took = begun.elapsed();
        (ladder, upstream)
    }

    fn command(&self, command: &str, env: &BTreeMap<String, Secret>, cwd: Option<&Path>) -> Vec<Rung> {
        let own = self.options.environment.get("PATH").map(String::as_str);
        let paths = env.get("PATH").map(Secret::expose).or(own).unwrap_or_default();
        let found = find_program(command, paths, cwd.unwrap_or(&self.options.directory));
        vec![match found {
            Some(path) => Rung::good("command", path.display().to_string()),
            None if command.contains('/') => {
                Rung::bad("command", format!("{command} does not exist, or may not be executed"))
                    .advised(advice::install(command))
            }
            None => Rung::bad("command", format!("{command} is not on the PATH")).advised(advice::install(command)),
        }]
    }

    /// Where its document is, and the programs that its tools run.
    async fn source(&self, source: &ApiSource, until: Instant) -> Vec<Rung> {
        let mut rungs = match (&source.document, &source.base_url) {
            (Some(DocumentPlace::Url(url)), _) | (None, Some(url)) => self.address(url, until).await,
            (Some(DocumentPlace::File(path)), _) if path.is_file() => {
                vec![Rung::good("document", path.display().to_string())]
            }
            (Some(DocumentPlace::File(path)), _) => {
                let advice = "correct `openapi`: it is looked for beside the configuration";
                vec![Rung::bad("document", format!("{} is not there", path.display())).advised(advice)]
            }
            (None, None) => Vec::new(),
        };
        let programs: BTreeSet<&str> = source.programs().collect();
        for program in programs {
            rungs.extend(self.command(program, &source.env, source.cwd.as_deref()));
        }
        rungs
    }

    /// The name is looked up and a connection is made, which then is not used.
    async fn address(&self, url: &str, until: Instant) -> Vec<Rung> {
        let Ok(url) = Url::parse(url) else { return vec![Rung::bad("address", "its url is none")] };
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return vec![Rung::bad("address", "its url names no host")];
        };
        if let Some(proxy) = self.proxy(&url, &host) {
            return vec![Rung::good("address", format!("through the proxy that {proxy} names"))];
        }
        let begun = Instant::now();
        let name = host.to_string();
        let bare = name.trim_matches(['[', ']']).to_owned();
        let found = timeout_at(until, tokio::net::lookup_host((bare.as_str(), port))).await;
        let addresses: Vec<_> = found.ok().and_then(Result::ok).map(Iterator::collect).unwrap_or_default();
        let Some(first) = addresses.first() else {
            let advice = "a typing error in `url`, or no network: does it open in a browser?";
            return vec![
                Rung::bad("address", format!("nobody knows the name {name}")).after(begun.elapsed()).advised(advice),
            ];
        };
        let resolved = match host {
            Host::Domain(_) => Rung::good("address", format!("{name} is {}", first.ip())).after(begun.elapsed()),
            Host::Ipv4(_) | Host::Ipv6(_) => Rung::good("address", bare),
        };
        let begun = Instant::now();
        let connected = timeout_at(until, tokio::net::TcpStream::connect(&addresses[..])).await;
        let connected = match connected {
            Ok(Ok(_)) => Rung::good("connection", format!("port {port} answers")).after(begun.elapsed()),
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                let advice =
                    format!("start the server, or correct the port in `url`: nothing listens on {name}:{port}");
                Rung::bad("connection", format!("port {port} is closed")).after(begun.elapsed()).advised(advice)
            }
            Ok(Err(error)) => Rung::bad("connection", error.to_string())
                .after(begun.elapsed())
                .advised("is there a network, and does a firewall let this through?"),
            Err(_) => Rung::bad("connection", format!("port {port} does not answer"))
                .after(begun.elapsed())
                .advised("a firewall may be in between, or the machine is off; a proxy is named in HTTPS_PROXY"),
        };
        vec![resolved, connected]
    }

    /// The variable that names a proxy for this address.
    fn proxy(&self, url: &Url, host: &Host<&str>) -> Option<&'static str> {
        let local = match host {
            Host::Domain(name) => *name == "localhost",
            Host::Ipv4(ip) => ip.is_loopback(),
            Host::Ipv6(ip) => ip.is_loopback(),
        };
        let names: &[&'static str] = match url.scheme() {
            "https" => &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
            _ => &["http_proxy", "ALL_PROXY", "all_proxy"],
        };
        let is_set = |name: &&&'static str| self.options.environment.get(**name).is_some_and(|value| !value.is_empty());
        names.iter().find(is_set).copied().filter(|_| !local)
    }

    async fn greet(&self, server: &Server, until: Instant, ladder: &mut Ladder) -> Upstream {
        let is_process = matches!(server.transport, Transport::Stdio { .. });
        let (reports, mut inbox) = mpsc::unbounded_channel();
        let begun = Instant::now();
        // So that it gives up by itself, and tells what was last heard, before we do.
        let time = until.saturating_duration_since(begun).saturating_sub(SPARE).max(LEAST);
        let mut hasty = server.clone();
        hasty.timeouts.connect = hasty.timeouts.connect.min(Duration::from_secs(time.as_secs()));
        let patience = hasty.timeouts.connect.as_secs();
        let upstream = Upstream::spawn(hasty.into(), None, reports, &self.house);
        let mut listening = None;
        while let Ok(Some(Report { event, .. })) = timeout_at(until, inbox.recv()).await {
            match event {
                Event::State(State::Ready) if listening.is_none() => {
                    if is_process {
                        ladder.push(Rung::good("process", "started"));
                    }
                    ladder.push(Rung::good("greeting", "answered").after(begun.elapsed()));
                    listening = Some(Instant::now());
                }
                Event::State(State::Failing { why, .. }) => {
                    failed(&why, server, patience, begun.elapsed(), ladder);
                    return upstream;
                }
                Event::State(State::NeedsLogin { .. }) => {
                    let name = server.name.as_str();
                    let variable = name.to_ascii_uppercase().replace('-', "_");
                    let advice = format!(
                        "toolfold login {name}; if it takes a token instead, write headers = {{ Authorization = \"Bearer ${{{variable}_TOKEN}}\" }} below [servers.{name}]"
                    );
                    ladder.push(Rung::bad("login", "nobody is logged in").after(begun.elapsed()).advised(advice));
                    return upstream;
                }
                Event::Listed(manifest) => {
                    let took = listening.map(|since: Instant| since.elapsed());
                    listed(&manifest, took.unwrap_or_default(), ladder);
                    ladder.push(scan::look(&manifest, &server.name));
                    return upstream;
                }
                Event::State(_) | Event::Updated { .. } | Event::Parted(_) => {}
            }
        }
        let silent = format!("no answer within {} s", begun.elapsed().as_secs());
        let (step, why) = match listening {
            Some(_) => ("tools", "the server did not answer tools/list"),
            None => ("greeting", "the server did not answer the greeting"),
        };
        let advice = advice::after(why, None, server, patience);
        ladder.push(Rung::bad(step, silent).advised(advice));
        upstream
    }
}

/// What is run or reached: no argument and no query, which may be secrets.
fn reached(server: &Server) -> String {
    match &server.transport {
        Transport::Stdio { command, .. } => command.clone(),
        Transport::Http { url, .. } | Transport::Agent { card: url, .. } => {
            url.split(['?', '#']).next().unwrap_or_default().to_owned()
        }
        Transport::Api(source) => source.shown(),
    }
}

fn failed(why: &str, server: &Server, patience: u64, took: Duration, ladder: &mut Ladder) {
    let (whole, words) = match why.split_once("; it said: ") {
        Some((whole, words)) => (whole, Some(words.to_owned())),
        None => (why, None),
    };
    // What to do is said by the arrow.
    let what = [": check ", ": correct "]
        .iter()
        .filter_map(|end| whole.split_once(end))
        .map(|(what, _)| what)
        .next()
        .unwrap_or(whole);
    let never_ran =
        ["was not found", "does not exist", "may not be executed", "could not be started", "before it began"];
    let step = match &server.transport {
        Transport::Stdio { .. } if never_ran.iter().any(|part| what.contains(part)) => "process",
        Transport::Stdio { .. } => {
            ladder.push(Rung::good("process", "started"));
            "greeting"
        }
        _ if what.to_lowercase().contains("certificate") => "TLS",
        Transport::Http { .. } => "greeting",
        Transport::Api(_) => "document",
        Transport::Agent { .. } => "card",
    };
    let advice = advice::after(whole, words.as_deref(), server, patience);
    ladder.push(Rung::bad(step, what).after(took).saying(words).advised(advice));
}

fn listed(manifest: &Manifest, took: Duration, ladder: &mut Ladder) {
    if let Some(greeting) = ladder.rungs.iter_mut().rfind(|rung| rung.step == "greeting") {
        greeting.text = format!("protocol {}{}", manifest.version, introduced(manifest));
    }
    let tokens: usize = manifest.tools.iter().map(cost::of_tool).sum();
    ladder.offered = Some((manifest.tools.len(), tokens));
    let mut text = format!("{}, {}", cost::counted(manifest.tools.len(), "tool"), cost::counted(tokens, "token"));
    for (count, what) in [
        (manifest.prompts.len(), "prompt"),
        (manifest.resources.len(), "resource"),
        (manifest.templates.len(), "template"),
    ] {
        if count > 0 {
            text.push_str(&format!(", {}", cost::counted(count, what)));
        }
    }
    let nothing = [&manifest.tools, &manifest.prompts, &manifest.resources, &manifest.templates];
    ladder.push(match nothing.iter().all(|list| list.is_empty()) {
        true => Rung::note("tools", "it offers nothing").advised(format!(
            "does it need a setting, or a login, to offer something? `toolfold logs {}`",
            ladder.name
        )),
        false => Rung::good("tools", text),
    });
    if let Some(rung) = ladder.rungs.last_mut() {
        rung.took = Some(took);
    }
}

/// `, github 1.2.0`
fn introduced(manifest: &Manifest) -> String {
    let Some(info) = manifest.server_info.as_ref().and_then(Object::parse) else { return String::new() };
    let name: String = info.string("name").unwrap_or_default().chars().take(60).collect();
    let version: String = info.string("version").unwrap_or_default().chars().take(30).collect();
    if name.is_empty() { String::new() } else { format!(", {name} {version}").trim_end().to_owned() }
}
