//! A configuration as it was typed: right keys, right types, nothing expanded and nothing decided.
//! Whether the parts make sense together is asked in `resolve`, not here.

use crate::api::RawApi;
use crate::cluster::RawCluster;
use crate::code::RawCode;
use crate::doors::RawDoors;
use crate::node::{Node, Value};
use crate::raw_access::{RawIssuer, RawRule};
use crate::raw_auth::{RawAuth, RawOAuth};
use crate::raw_operation::{RawAudit, RawLimits, RawTelemetry};
use crate::report::{Place, Report};
use crate::results::RawResults;
use crate::table::{Amount, Field, Pairs, Table, Texts};

/// Whose file it is, which decides what a dollar sign and a strange name mean in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Dialect {
    #[default]
    Toolfold,
    /// An `mcpServers` file of another program.
    Client,
}

/// What `pin` says for "whatever is called most", and `precise` for "wherever it is".
pub(crate) const AUTO: &str = "auto";

#[derive(Debug, Default)]
pub(crate) struct RawConfig {
    pub(crate) dialect: Dialect,
    pub(crate) surface: Field<String>,
    pub(crate) groups: Field<String>,
    pub(crate) format: Field<String>,
    pub(crate) pin: Field<Texts>,
    pub(crate) prefer: Field<Texts>,
    pub(crate) doors: RawDoors,
    pub(crate) learn: Field<String>,
    pub(crate) budget: Field<i64>,
    pub(crate) toolbox: Field<bool>,
    pub(crate) store: Field<String>,
    pub(crate) agents: Field<Texts>,
    pub(crate) skills: Field<Texts>,
    pub(crate) scripts: Field<Texts>,
    pub(crate) trust_agents: Field<String>,
    pub(crate) trust_skills: Field<String>,
    pub(crate) trust_scripts: Field<String>,
    pub(crate) code: RawCode,
    pub(crate) nodes: Vec<RawNodeRule>,
    pub(crate) rules: Vec<RawRule>,
    pub(crate) issuers: Vec<RawIssuer>,
    /// `precise` under `[search]`.
    pub(crate) precise: Field<String>,
    pub(crate) http: RawHttp,
    /// `results` under `[scan]`.
    pub(crate) results: Field<String>,
    /// `[results]`.
    pub(crate) kept: RawResults,
    pub(crate) limits: RawLimits,
    pub(crate) audit: RawAudit,
    pub(crate) telemetry: RawTelemetry,
    pub(crate) oauth: RawOAuth,
    pub(crate) cluster: RawCluster,
    pub(crate) servers: Vec<RawServer>,
    /// Whether servers were typed at all, readable or not.
    pub(crate) names_servers: bool,
}

#[derive(Debug, Default)]
pub(crate) struct RawHttp {
    pub(crate) listen: Field<String>,
    pub(crate) hosts: Field<Texts>,
    pub(crate) origins: Field<Texts>,
    pub(crate) token: Field<String>,
    pub(crate) local: Field<bool>,
    pub(crate) public_url: Field<String>,
}

/// One `[[nodes]]`.
#[derive(Debug)]
pub(crate) struct RawNodeRule {
    pub(crate) place: Place,
    pub(crate) path: Field<Texts>,
    pub(crate) summary: Field<String>,
    pub(crate) tags: Field<Texts>,
    pub(crate) matches: Field<Texts>,
}

#[derive(Debug, Default)]
pub(crate) struct RawServer {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) command: Field<String>,
    pub(crate) args: Field<Texts>,
    pub(crate) env: Field<Pairs>,
    pub(crate) cwd: Field<String>,
    pub(crate) url: Field<String>,
    pub(crate) headers: Field<Pairs>,
    pub(crate) start: Field<String>,
    pub(crate) run: Field<String>,
    pub(crate) era: Field<String>,
    pub(crate) prefix: Field<bool>,
    pub(crate) trust: Field<String>,
    pub(crate) forbid: Field<Texts>,
    pub(crate) aliases: Field<Pairs>,
    pub(crate) enabled: Field<bool>,
    pub(crate) timeout: Field<Amount>,
    pub(crate) connect_timeout: Field<Amount>,
    pub(crate) idle_timeout: Field<Amount>,
    pub(crate) stop_timeout: Field<Amount>,
    pub(crate) max_message: Field<Amount>,
    pub(crate) auth: RawAuth,
    pub(crate) api: RawApi,
    /// An unknown key was probably `command` or `url`: then neither is missing.
    pub(crate) misspelled: bool,
}

impl RawConfig {
    pub(crate) fn read(root: &Node, report: &mut Report) -> RawConfig {
        let mut raw = RawConfig::default();
        let Some(mut table) = Table::open(root, Place::default(), report) else { return raw };
        raw.surface = table.text("surface", report);
        raw.groups = table.text("groups", report);
        raw.format = table.text("format", report);
        raw.pin = table.texts_or_word("pin", AUTO, report);
        raw.prefer = table.texts("prefer", report);
        raw.doors = RawDoors::read(&mut table, report);
        raw.learn = table.text("learn", report);
        raw.budget = table.integer("budget", report);
        raw.toolbox = table.flag("toolbox", report);
        raw.store = table.text("store", report);
        (raw.agents, raw.trust_agents, raw.servers) = read_agents(&mut table, report);
        raw.names_servers = !raw.servers.is_empty();
        (raw.skills, raw.trust_skills) = read_paths(&mut table, "skills", report);
        (raw.scripts, raw.trust_scripts) = read_paths(&mut table, "scripts", report);
        if let Some((node, place)) = table.take("code") {
            raw.code = RawCode::read(node, place, report);
        }
        for (node, place) in table.tables("nodes", report) {
            raw.nodes.extend(RawNodeRule::read(node, place, report));
        }
        for (node, place) in table.tables("rules", report) {
            raw.rules.extend(RawRule::read(node, place, report));
        }
        for (node, place) in table.tables("issuers", report) {
            raw.issuers.extend(RawIssuer::read(node, place, report));
        }
        if let Some((node, place)) = table.take("search") {
            raw.precise = read_precise(node, place, report);
        }
        if let Some((node, place)) = table.take("limits") {
            raw.limits = RawLimits::read(node, place, report);
        }
        if let Some((node, place)) = table.take("audit") {
            raw.audit = RawAudit::read(node, place, report);
        }
        if let Some((node, place)) = table.take("telemetry") {
            raw.telemetry = RawTelemetry::read(node, place, report);
        }
        if let Some((node, place)) = table.take("results") {
            raw.kept = RawResults::read(node, place, report);
        }
        if let Some((node, place)) = table.take("oauth") {
            raw.oauth = RawOAuth::read(node, place, report);
        }
        if let Some((node, place)) = table.take("cluster") {
            raw.cluster = RawCluster::read(node, place, report);
        }
        if let Some((node, place)) = table.take("scan") {
            raw.results = read_results(node, place, report);
        }
        if let Some((node, place)) = table.take("http") {
            raw.http = RawHttp::read(node, place, report);
        }
        if let Some((node, place)) = table.take("servers") {
            raw.names_servers = true;
            raw.servers.extend(read_servers(node, place, report, RawServer::read));
        }
        table.refuse_rest(report);
        raw
    }
}

impl RawHttp {
    fn read(node: &Node, place: Place, report: &mut Report) -> RawHttp {
        let Some(mut table) = Table::open(node, place, report) else { return RawHttp::default() };
        let raw = RawHttp {
            listen: table.text("listen", report),
            hosts: table.texts("hosts", report),
            origins: table.texts("origins", report),
            token: table.text("token", report),
            local: table.flag("local", report),
            public_url: table.text("public_url", report),
        };
        table.refuse_rest(report);
        raw
    }
}

impl RawNodeRule {
    fn read(node: &Node, place: Place, report: &mut Report) -> Option<RawNodeRule> {
        let mut table = Table::open(node, place.clone(), report)?;
        let raw = RawNodeRule {
            place,
            path: table.texts("path", report),
            summary: table.text("summary", report),
            tags: table.texts("tags", report),
            matches: table.texts("match", report),
        };
        table.refuse_rest(report);
        Some(raw)
    }
}

fn read_precise(node: &Node, place: Place, report: &mut Report) -> Field<String> {
    let Some(mut table) = Table::open(node, place, report) else { return Field::Wrong };
    let precise = table.text("precise", report);
    table.refuse_rest(report);
    precise
}

fn read_results(node: &Node, place: Place, report: &mut Report) -> Field<String> {
    let Some(mut table) = Table::open(node, place, report) else { return Field::Wrong };
    let results = table.text("results", report);
    table.refuse_rest(report);
    results
}

/// A table of files: `paths`, and how far what is there is believed.
fn read_paths(table: &mut Table<'_>, key: &'static str, report: &mut Report) -> (Field<Texts>, Field<String>) {
    let Some((node, place)) = table.take(key) else { return (Field::Absent, Field::Absent) };
    let Some(mut table) = Table::open(node, place, report) else { return (Field::Wrong, Field::Absent) };
    let read = (table.texts("paths", report), table.text("trust", report));
    table.refuse_rest(report);
    read
}

/// Files of agents, and agents elsewhere: a table for each, which has a card.
fn read_agents(table: &mut Table<'_>, report: &mut Report) -> (Field<Texts>, Field<String>, Vec<RawServer>) {
    let Some((node, place)) = table.take("agents") else { return (Field::Absent, Field::Absent, Vec::new()) };
    let Some(mut table) = Table::open(node, place, report) else { return (Field::Wrong, Field::Absent, Vec::new()) };
    let (paths, trust) = (table.texts("paths", report), table.text("trust", report));
    let mut agents = Vec::new();
    for (member, place) in table.take_tables() {
        if let Some(table) = Table::open(&member.node, place, report) {
            agents.push(RawServer::read_agent(&member.name, table, report));
        }
    }
    table.refuse_rest(report);
    (paths, trust, agents)
}

impl RawServer {
    /// An agent is a server that has a card instead of an address.
    fn read_agent(name: &str, mut table: Table<'_>, report: &mut Report) -> RawServer {
        let card = table.text("card", report);
        if card.is_absent() {
            let hint =
                "the address of its card: \"https://…/.well-known/agent-card.json\"; files of agents are in `paths`";
            report.error(&table.place, "has no `card`", hint.to_owned());
        }
        let api = RawApi { card, ..RawApi::default() };
        let raw = RawServer { api, misspelled: true, ..RawServer::read_common(name, &mut table, report) };
        table.refuse_rest(report);
        raw
    }

    fn read(name: &str, mut table: Table<'_>, report: &mut Report) -> RawServer {
        let mut raw = RawServer {
            command: table.text("command", report),
            args: table.texts("args", report),
            env: table.pairs("env", report),
            cwd: table.text("cwd", report),
            url: table.text("url", report),
            start: table.text("start", report),
            run: table.text("run", report),
            era: table.text("era", report),
            idle_timeout: table.amount("idle_timeout", report),
            stop_timeout: table.amount("stop_timeout", report),
            api: RawApi::read(&mut table, report),
            ..RawServer::read_common(name, &mut table, report)
        };
        let meant = table.refuse_rest(report);
        raw.misspelled = meant.iter().any(|key| ["command", "url", "openapi", "tools"].contains(key));
        raw
    }

    /// What servers and agents can both be told.
    fn read_common(name: &str, table: &mut Table<'_>, report: &mut Report) -> RawServer {
        RawServer {
            name: name.to_owned(),
            place: table.place.clone(),
            headers: table.pairs("headers", report),
            prefix: table.flag("prefix", report),
            trust: table.text("trust", report),
            forbid: table.texts("forbid", report),
            aliases: table.pairs("aliases", report),
            enabled: table.flag("enabled", report),
            timeout: table.amount("timeout", report),
            connect_timeout: table.amount("connect_timeout", report),
            max_message: table.amount("max_message", report),
            auth: RawAuth::read(table, report),
            ..RawServer::default()
        }
    }
}

/// Every server of a table of servers that is a table itself.
pub(crate) fn read_servers(
    node: &Node,
    place: Place,
    report: &mut Report,
    read: fn(&str, Table<'_>, &mut Report) -> RawServer,
) -> Vec<RawServer> {
    let Some(table) = Table::open(node, place, report) else { return Vec::new() };
    let mut servers = Vec::new();
    for (member, place) in table.rest() {
        if let (Value::Text(_), false) = (&member.node.value, report.speaks_json) {
            let hint = format!("write a table: `[{}]`, then `command = \"…\"` or `url = \"…\"` below it", place.key);
            report.error(&place, "expected a table, found a string", hint);
        } else if let Some(table) = Table::open(&member.node, place, report) {
            servers.push(read(&member.name, table, report));
        }
    }
    servers
}
