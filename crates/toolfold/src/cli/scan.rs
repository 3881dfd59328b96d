//! `toolfold scan`: what is suspicious about definitions, of the servers that are configured or in a file.
//!
//! What a reader would get wrong: nothing found approves nothing. The answer says so.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolfold_core::{Absent, ServerName, shown_line};
use toolfold_disclosure::View;
use toolfold_gateway::Gateway;
use toolfold_scan::{Context, Finding, Piece, Report, Role, Severity, scan_definition, scan_entry, scan_texts};

use super::ask::{Answer, Ask, Needs};
use super::output::{Style, as_json, print};
use super::{Common, Fail};

/// Bytes of a file that is read.
const LARGEST: u64 = 64 << 20;

#[derive(Debug, Args, Serialize, Deserialize)]
#[command(
    after_help = "A file is a tool, a list of tools as a server answers it, JSON lines of either, or any text, such as a \
SKILL.md.

Findings are reasons to look, not verdicts, and nothing found approves nothing. Exit codes: 0 nothing that would be held, \
1 a hard finding, 2 usage or configuration, 3 no hard finding, and a server could not be looked at."
)]
pub(crate) struct Scan {
    /// A server, or a file with definitions [default: all that is configured]
    #[arg(value_name = "SERVER|FILE")]
    what: Option<String>,
}

/// What was looked at: ids with what was found.
type Scanned = Vec<(String, Report)>;

/// A server that has not said what it offers.
#[derive(Serialize)]
struct Unlisted<'a> {
    server: &'a str,
    why: String,
}

impl Scan {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let Some(file) = self.what.as_deref().map(Path::new).filter(|path| path.is_file()) else {
            return common.ask(Ask::Scan(self));
        };
        let answer = told(&in_file(file)?, &[], Style::here(common.json))?;
        print(&answer.text)?;
        answer.but.map_or(Ok(()), Err)
    }

    pub(crate) fn needs(&self) -> Needs {
        // Whoever is not waited for is not looked at, and that is a failure here.
        self.what.as_ref().map_or(Needs::Status, |server| Needs::Server(server.clone()))
    }

    /// What is served is looked through, and what is held has been.
    pub(crate) async fn answer(&self, gateway: &Gateway, view: &View<'_>, style: Style) -> Result<Answer, Fail> {
        let held = gateway.approvals().list(self.what.clone(), 0, usize::MAX).await.held;
        let is_meant = |name: &ServerName| self.what.as_deref().is_none_or(|what| what == name.as_str());
        let wanted: Vec<&ServerName> = view.servers().filter(|name| is_meant(name)).collect();
        let unlisted: Vec<Unlisted<'_>> =
            view.absent().iter().filter(|absent| is_meant(&absent.server)).map(unlisted).collect();
        if wanted.is_empty() && unlisted.is_empty() && held.is_empty() {
            self.refuse_unknown(gateway).await?;
        }
        // Who was there first is not known here: the order is that of the names.
        let mut context = Context::new();
        for name in view.servers() {
            let tools = view.of_server(name).map(|place| view.entry(place)).filter(|entry| entry.is_tool());
            context.add(name.as_str(), tools.map(|entry| (entry.name(), entry.description.as_str())));
        }
        let mut scanned = Scanned::new();
        for name in wanted {
            let instructions = view.instructions(name).map(|text| piece("instructions", text));
            scanned.push((name.to_string(), scan_texts(name.as_str(), instructions, &context)));
            let entries = view.of_server(name).map(|place| view.entry(place));
            scanned.extend(entries.map(|entry| (entry.id.to_string(), scan_entry(entry, &context))));
        }
        scanned.extend(held.into_iter().map(|held| {
            let id = if held.serves_old { format!("{} (held)", held.id) } else { held.id };
            (id, Report { findings: held.findings, ..Report::default() })
        }));
        told(&scanned, &unlisted, style)
    }

    /// A server may have nothing; one that nobody configured is a slip of the pen.
    async fn refuse_unknown(&self, gateway: &Gateway) -> Result<(), Fail> {
        let Some(what) = &self.what else { return Ok(()) };
        if gateway.status().await.iter().any(|server| server.name.as_str() == what) {
            return Ok(());
        }
        let fail = Fail::usage(format!("there is no server and no file {:?}", shown_line(what)));
        Err(fail.hint("`toolfold status` shows the servers"))
    }
}

fn unlisted(absent: &Absent) -> Unlisted<'_> {
    Unlisted { server: absent.server.as_str(), why: absent.said() }
}

fn piece<'a>(place: &str, text: &'a str) -> Piece<'a> {
    Piece { place: place.to_owned(), role: Role::Prose, text }
}

fn in_file(file: &Path) -> Result<Scanned, Fail> {
    let unreadable = |why: String| Fail::usage(format!("{} {why}", shown_line(&file.display().to_string())));
    if file.metadata().is_ok_and(|about| about.len() > LARGEST) {
        return Err(unreadable("is larger than 64 MiB".to_owned()));
    }
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(format!("cannot be read: {error}")))?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let found = Definitions::read(&text, &name);
    if found.list.is_empty() && found.texts.is_empty() && found.cases.is_empty() {
        return Ok(vec![(name.to_string(), scan_texts(&name, [piece("text", &text)], &Context::new()))]);
    }
    Ok(found.scan())
}

/// Definitions of a file, each with its server, in their order.
#[derive(Default)]
struct Definitions {
    list: Vec<(String, Value)>,
    /// Instructions of servers.
    texts: Vec<(String, String)>,
    /// Lines with a tool and those it is seen beside: each is a world of its own.
    cases: Vec<Case>,
}

/// A tool as somebody has put it down to be judged: `{"id", "server", "tool", "peers": [{"server", "tool"}]}`.
struct Case {
    id: String,
    server: String,
    tool: Value,
    peers: Vec<(String, Value)>,
}

impl Definitions {
    fn read(text: &str, server: &str) -> Definitions {
        let mut found = Definitions::default();
        match serde_json::from_str(text) {
            Ok(value) => found.take(value, server),
            // One a line. A text that is none of this has lines that are no JSON, and nothing is found.
            Err(_) => {
                let lines = text.lines().filter(|line| line.starts_with('{'));
                lines.filter_map(|line| serde_json::from_str(line).ok()).for_each(|value| found.take(value, server));
            }
        }
        found
    }

    /// A definition, a list of them, the answer of a server that has one, or a line that names the server beside it.
    fn take(&mut self, value: Value, server: &str) {
        match value {
            Value::Array(items) => items.into_iter().for_each(|item| self.take(item, server)),
            Value::Object(mut members) => {
                let named = members.get("server").and_then(Value::as_str).unwrap_or(server).to_owned();
                if let Some(case) = Case::of(&members, &named) {
                    return self.cases.push(case);
                }
                for inner in ["result", "tool", "tools", "prompts", "resources"] {
                    if let Some(value @ (Value::Object(_) | Value::Array(_))) = members.shift_remove(inner) {
                        self.take(value, &named);
                    }
                }
                if let Some(Value::String(text)) = members.get("instructions") {
                    self.texts.push((named, text.clone()));
                } else if members.get("name").is_some_and(Value::is_string) {
                    self.list.push((named, Value::Object(members)));
                }
            }
            _ => {}
        }
    }

    fn scan(&self) -> Scanned {
        fn text<'a>(value: &'a Value, key: &str) -> &'a str {
            value.get(key).and_then(Value::as_str).unwrap_or_default()
        }
        let mut order: Vec<&str> = Vec::new();
        let mut tools: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
        for (server, definition) in &self.list {
            let of_server = tools.entry(server).or_insert_with(|| {
                order.push(server);
                Vec::new()
            });
            of_server.push((text(definition, "name"), text(definition, "description")));
        }
        let mut context = Context::new();
        order.iter().for_each(|server| context.add(server, tools[server].iter().copied()));
        let texts = self
            .texts
            .iter()
            .map(|(server, text)| (server.clone(), scan_texts(server, [piece("instructions", text)], &context)));
        let entries = self.list.iter().map(|(server, definition)| {
            (format!("{server}.{}", text(definition, "name")), scan_definition(server, definition, &context))
        });
        texts.chain(entries).chain(self.cases.iter().map(Case::scan)).collect()
    }
}

impl Case {
    /// `None` for what has no id of its own, or is no tool.
    fn of(members: &serde_json::Map<String, Value>, server: &str) -> Option<Case> {
        let (id, tool) = (members.get("id")?.as_str()?, members.get("tool").filter(|tool| tool.is_object())?);
        let peers = members.get("peers").and_then(Value::as_array).into_iter().flatten();
        let peers =
            peers.filter_map(|peer| Some((peer.get("server")?.as_str()?.to_owned(), peer.get("tool")?.clone())));
        Some(Case { id: id.to_owned(), server: server.to_owned(), tool: tool.clone(), peers: peers.collect() })
    }

    fn scan(&self) -> (String, Report) {
        let text = |tool: &Value, key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut context = Context::new();
        for (server, tool) in &self.peers {
            let (name, description) = (text(tool, "name"), text(tool, "description"));
            context.add(server, [(name.as_str(), description.as_str())]);
        }
        (self.id.clone(), scan_definition(&self.server, &self.tool, &context))
    }
}

fn told(scanned: &[(String, Report)], unlisted: &[Unlisted<'_>], style: Style) -> Result<Answer, Fail> {
    let with = |severity| scanned.iter().filter(|(_, report)| report.severity() == Some(severity)).count();
    let (hard, review) = (with(Severity::Hard), with(Severity::Review));
    let worth = || scanned.iter().filter(|(_, report)| !report.findings.is_empty() || !report.unread.is_empty());
    let text = if style.json {
        let entries: Vec<Value> = worth()
            .map(|(id, report)| json!({"id": id, "findings": report.findings, "unread": report.unread}))
            .collect();
        let looked_at = scanned.len();
        as_json(&json!({
            "looked_at": looked_at, "hard": hard, "review": review, "entries": entries, "not_looked_at": unlisted,
        }))?
    } else {
        let mut text: String = worth().map(|(id, report)| entry(id, report, style)).collect();
        let plural = if scanned.len() == 1 { "entry" } else { "entries" };
        text.push_str(&format!(
            "{} {plural} looked at: {hard} with hard findings, {review} to review.\n",
            scanned.len()
        ));
        for Unlisted { server, why } in unlisted {
            text.push_str(&format!("{} was not looked at: {}\n", style.bold(server), shown_line(why)));
        }
        text.push_str("Findings are reasons to look; where there are none, nothing is approved.\n");
        text
    };
    let but = match (hard, unlisted) {
        (1.., _) => Some(Fail::silent(1)),
        (0, [_, ..]) => Some(Fail::silent(3)),
        (0, []) => None,
    };
    Ok(Answer { text, but })
}

fn entry(id: &str, report: &Report, style: Style) -> String {
    let mut text = format!("{}\n", style.bold(&shown_line(id)));
    for Finding { family, rule, severity, place, excerpt, reason } in &report.findings {
        let severity = if *severity == Severity::Hard { "hard  " } else { "review" };
        let family = family.as_str();
        text.push_str(&format!("  {severity}  {} {}\n", shown_line(place), shown_line(reason)));
        text.push_str(&format!("          {}\n", shown_line(excerpt)));
        text.push_str(&format!("          {}\n", style.dim(&format!("{family}/{rule}"))));
    }
    for unread in &report.unread {
        text.push_str(&format!("  unread  {}: {} bytes\n", shown_line(&unread.place), unread.bytes));
    }
    text
}
