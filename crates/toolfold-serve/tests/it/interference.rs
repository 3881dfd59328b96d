//! What may not be seen does not exist: the same requests against one Toolfold with a server that is hidden from whoever
//! asks and against another one without that server are answered with the same bytes, ids and times aside.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolfold_config::{Config, Learn};
use toolfold_core::{AccessRule, Pattern, RuleEffect, Secret, Surface};
use toolfold_test::{FakeServer, HttpClient, plain_http};

use crate::support::{all_settled, config, over_http, start};

pub(crate) const TOKEN: &str = "alices-token";

/// Only these servers exist for whoever has the token.
pub(crate) fn seen(servers: &[&str]) -> AccessRule {
    let patterns = |names: &[&str]| names.iter().map(|name| Pattern::new(name)).collect();
    AccessRule {
        number: 1,
        line: Some(1),
        who: patterns(&["token"]),
        groups: Vec::new(),
        scopes: Vec::new(),
        claims: BTreeMap::new(),
        what: Vec::new(),
        servers: patterns(servers),
        nodes: Vec::new(),
        kinds: Vec::new(),
        risk: Vec::new(),
        effect: RuleEffect::Call,
    }
}

async fn served(mut config: Config) -> SocketAddr {
    config.http.token = Some(Secret::new(TOKEN));
    // What was learned depends on when it was written down: that is a time. `learned.rs` asks with what was learned before.
    config.learn = Learn::Off;
    let gateway = start(config);
    all_settled(&gateway).await;
    over_http(gateway, Surface::Compact).await
}

/// Ids and times aside.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut hex = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_hexdigit() {
            hex.push(c);
            continue;
        }
        // Handles and sessions are 32 digits; nothing else here is as long.
        plain.push_str(if hex.len() >= 32 { "#" } else { &hex });
        hex.clear();
        plain.push(c);
    }
    let mut lines: Vec<String> = Vec::new();
    for line in plain.lines() {
        let mut line = line.to_owned();
        for key in ["\"catalog\":", "\"at\":", "\"milliseconds\":"] {
            while let Some(start) = line.find(key) {
                let end = line[start + key.len()..].find([',', '}']).map_or(line.len(), |at| start + key.len() + at);
                line.replace_range(start..end, &format!("<{}>", &key[1..3]));
            }
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// Everything that somebody could ask who knows, or guesses, what is hidden.
struct Questions {
    queries: Vec<String>,
    tools: Vec<String>,
    paths: Vec<Vec<String>>,
    uris: Vec<String>,
    prompts: Vec<String>,
}

impl Questions {
    /// Arguments of meta-tools, in the words of every surface.
    fn arguments(&self) -> Vec<Value> {
        let mut all = vec![json!({}), json!({"action": "search", "query": ""}), json!({"detail": "full"})];
        for query in &self.queries {
            all.push(json!({"query": query}));
            all.push(json!({"query": query, "limit": 3}));
            all.push(json!({"query": query, "kind": "resource"}));
            all.push(json!({"action": "search", "query": query}));
        }
        for tool in &self.tools {
            all.push(json!({"tool": tool, "tool_id": tool, "name": tool, "toolName": tool}));
            all.push(json!({"tool": tool}));
            all.push(json!({"name": tool, "arguments": {}}));
            all.push(json!({"tool_id": tool, "arguments": {}}));
            all.push(json!({"tool": tool, "arguments": {"text": 7}}));
            all.push(json!({"action": "execute", "tool": tool, "name": tool, "arguments": {}}));
            all.push(json!({"names": [tool]}));
            all.push(json!({"toolNames": [tool], "names": [tool]}));
            all.push(json!({"prefix": tool}));
        }
        for path in &self.paths {
            all.push(json!({"path": path}));
            all.push(json!({"path": path, "query": self.queries[0]}));
            all.push(json!({"category": path.join("/"), "query": self.queries[0]}));
            all.push(json!({"group": path.last(), "backend": path.last()}));
        }
        all
    }
}

/// Asks everything, and gives all answers with what was asked.
async fn interrogate(address: SocketAddr, questions: &Questions) -> Vec<(String, String)> {
    let mut said = Vec::new();
    for surface in Surface::ALL {
        let client = || {
            HttpClient::new(format!("http://{address}/mcp/{surface}"))
                .with_header("authorization", &format!("Bearer {TOKEN}"))
        };
        let (legacy, modern) = (client(), client());
        said.push((format!("{surface} initialize"), legacy.initialize("2025-11-25").await.to_string()));
        said.push((format!("{surface} discover"), modern.modern("server/discover", json!({})).await.to_string()));
        // Everything on the surfaces that have a way to ask everything, a part of it on the others.
        let step = if [Surface::Compact, Surface::Ontology].contains(&surface) { 1 } else { 5 };
        for asked in requests(questions, step, &legacy.request("tools/list", json!({})).await) {
            let (method, params) = asked;
            let old = shown(legacy.try_request(&method, params.clone()).await);
            said.push((format!("{surface} legacy {method} {params}"), old));
            if !["ping", "logging/setLevel"].contains(&method.as_str()) {
                let new = shown(modern.try_modern(&method, params.clone()).await);
                said.push((format!("{surface} modern {method} {params}"), new));
            }
        }
    }
    said.extend(rest(address, questions).await);
    said.into_iter().map(|(asked, answer)| (asked, plain(&answer))).collect()
}

fn shown(outcome: Result<toolfold_wire::Raw, toolfold_wire::RpcError>) -> String {
    match outcome {
        Ok(result) => result.get().to_owned(),
        Err(error) => format!("{} {} {:?}", error.code, error.message, error.data),
    }
}

fn requests(questions: &Questions, step: usize, list: &Value) -> Vec<(String, Value)> {
    let mut all: Vec<(String, Value)> = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"]
        .iter()
        .map(|method| ((*method).to_owned(), json!({})))
        .collect();
    for tool in list["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        // Tools of servers are called below; every meta-tool is asked everything.
        let arguments = if name.contains("__") { vec![json!({})] } else { questions.arguments() };
        let arguments = arguments.into_iter().step_by(step);
        all.extend(arguments.map(|given| ("tools/call".to_owned(), json!({"name": name, "arguments": given}))));
    }
    for tool in &questions.tools {
        all.push(("tools/call".to_owned(), json!({"name": tool, "arguments": {}})));
    }
    for prompt in &questions.prompts {
        all.push(("prompts/get".to_owned(), json!({"name": prompt})));
        let reference = json!({"type": "ref/prompt", "name": prompt});
        all.push((
            "completion/complete".to_owned(),
            json!({"ref": reference, "argument": {"name": "a", "value": "b"}}),
        ));
    }
    for uri in &questions.uris {
        all.push(("resources/read".to_owned(), json!({"uri": uri})));
        let reference = json!({"type": "ref/resource", "uri": uri});
        all.push((
            "completion/complete".to_owned(),
            json!({"ref": reference, "argument": {"name": "a", "value": "b"}}),
        ));
    }
    all.push(("vendor/extension".to_owned(), json!({"any": "thing"})));
    all.push(("logging/setLevel".to_owned(), json!({"level": "debug"})));
    all.push(("ping".to_owned(), json!({})));
    all
}

async fn rest(address: SocketAddr, questions: &Questions) -> Vec<(String, String)> {
    let mut said = Vec::new();
    let ask = async |method: &str, path: &str, body: Option<&Value>| {
        let request = plain_http().request(method.parse().unwrap(), format!("http://{address}{path}"));
        let request = request.bearer_auth(TOKEN).header("content-type", "application/json");
        let reply = match body {
            Some(body) => request.body(body.to_string()).send().await.unwrap(),
            None => request.send().await.unwrap(),
        };
        (format!("{method} {path} {body:?}"), format!("{} {}", reply.status(), reply.text().await.unwrap()))
    };
    for verb in ["list", "search_tool_by_category", "search_nodes", "expand_tool", "call_tool", "explain", "levels"] {
        for arguments in questions.arguments() {
            said.push(ask("POST", &format!("/v1/{verb}"), Some(&arguments)).await);
        }
    }
    let views =
        ["status", "tools", "tools?limit=1", "tree", "stats", "servers", "calls", "tokens", "approvals", "nothing"];
    for view in views {
        said.push(ask("GET", &format!("/v1/{view}"), None).await);
    }
    for path in ["/openapi.json", "/healthz", "/readyz", "/mcp/nothing"] {
        said.push(ask("GET", path, None).await);
    }
    // Of what is counted how often, of what is measured which there are: how long something took is a time.
    let (asked, counters) = ask("GET", "/metrics", None).await;
    let which = |line: &str| {
        let name = line.split(['{', ' ']).next().unwrap_or_default();
        let counted = name.ends_with("_total") || name.ends_with("_count");
        if counted { line.to_owned() } else { line.rsplit_once(' ').map_or(line, |(sample, _)| sample).to_owned() }
    };
    // In whatever order: that is a matter of chance.
    let mut samples: Vec<String> = counters.lines().map(which).collect();
    samples.sort();
    said.push((asked, samples.join("\n")));
    said
}

/// Compares what both say, and tells the first differences.
fn compare(hidden: &[(String, String)], absent: &[(String, String)], secrets: &[&str]) {
    assert_eq!(hidden.len(), absent.len());
    let differing: Vec<String> = hidden
        .iter()
        .zip(absent)
        .filter(|(a, b)| a != b)
        .take(5)
        .map(|(a, b)| format!("{}\n  hidden: {}\n  absent: {}", a.0, cut(&a.1), cut(&b.1)))
        .collect();
    assert!(differing.is_empty(), "{} answers; of those that differ:\n{}", hidden.len(), differing.join("\n"));
    for (asked, answer) in hidden {
        for secret in secrets {
            // Whoever names it may be told what they said.
            assert!(asked.contains(secret) || !answer.contains(secret), "{asked} tells of {secret}: {}", cut(answer));
        }
    }
}

fn cut(text: &str) -> String {
    text.chars().take(1500).collect()
}

pub(crate) fn tool(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string", "description": "What to say."}}},
    })
}

fn questions() -> Questions {
    let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    Questions {
        queries: texts(&[
            "send a letter to a customer",
            "salary of an employee",
            "payroll",
            "read a file",
            "sned lettr",
            "everything about people",
        ]),
        tools: texts(&[
            "post.send_letter",
            "payroll.read_salary",
            "payroll__read_salary",
            "read_salary",
            "read_salry",
            "send_letter",
            "payroll",
            "payroll.nothing",
            "store.read_file",
        ]),
        paths: vec![
            Vec::new(),
            texts(&["Servers"]),
            texts(&["Servers", "payroll"]),
            texts(&["payroll"]),
            texts(&["Servers", "post"]),
            texts(&["Business"]),
            texts(&["Storage"]),
            texts(&["Nowhere"]),
        ],
        uris: texts(&[
            "file:///handbook",
            "payroll+file:///handbook",
            "pay://2026/11",
            "post+file:///handbook",
            "x://none",
        ]),
        prompts: texts(&["payroll__raise", "post__greet", "post__gret", "payroll__rise"]),
    }
}

#[tokio::test]
async fn a_hidden_server_is_as_good_as_none() {
    as_good_as_none(vec![seen(&["post", "store", "local"])]).await;
}

/// Hidden from somebody who otherwise sees whatever there is.
#[tokio::test]
async fn a_forbidden_server_is_as_good_as_none() {
    let (all, by_name) = (seen(&["*"]), AccessRule { number: 2, effect: RuleEffect::Forbid, ..seen(&["payroll"]) });
    let by_id = AccessRule { what: vec![Pattern::new("payroll.*")], servers: Vec::new(), ..by_name.clone() };
    tokio::join!(as_good_as_none(vec![all.clone(), by_name]), as_good_as_none(vec![all, by_id]));
}

async fn as_good_as_none(rules: Vec<AccessRule>) {
    let post = FakeServer::script(json!({
        "instructions": "Letters, in and out.",
        "tools": [
            tool("send_letter", "Send a letter to a customer by post."),
            tool("list_letters", "List the letters that came in."),
            tool("read_salary", "Read aloud what a letter says of a salary."),
            tool("find_person", "Find a person by name in the address book."),
        ],
        "prompts": [{"name": "greet", "description": "Greet somebody."}],
        "resources": [{"uri": "file:///handbook", "name": "Handbook"}],
    }));
    let store = FakeServer::script(json!({
        "tools": [tool("read_file", "Read a file of the shared folder."), tool("write_file", "Write a file.")],
        "templates": [{"uriTemplate": "pay://{year}/{month}", "name": "Payments"}],
    }));
    // As near to the others as it can be: the same words, the same names, the same addresses.
    let payroll = FakeServer::script(json!({
        "instructions": "Salaries. Confidential.",
        "tools": [
            tool("read_salary", "Read the salary of an employee from the payroll."),
            tool("send_letter", "Send a letter to a customer about a salary."),
            tool("raise_salary", "Raise the salary of an employee."),
            tool("list_employees", "List every employee and their salary."),
        ],
        "prompts": [{"name": "raise", "description": "Ask for a raise."}, {"name": "greet"}],
        "resources": [{"uri": "file:///handbook", "name": "Payroll handbook"}, {"uri": "pay://2026/11", "name": "November"}],
        "templates": [{"uriTemplate": "pay://{any}", "name": "Any payment"}],
    }));
    let both = [("post", &post), ("store", &store)];
    let absent = Config { rules: rules.clone(), ..config(Surface::Compact, &both) };
    let all = [("post", &post), ("store", &store), ("payroll", &payroll)];
    let hidden = Config { rules, ..config(Surface::Compact, &all) };
    let (hidden, absent) = (served(hidden).await, served(absent).await);
    let questions = questions();
    let (a, b) = (interrogate(hidden, &questions).await, interrogate(absent, &questions).await);
    compare(&a, &b, &["raise_salary", "list_employees", "Confidential", "Any payment"]);
    assert_eq!(payroll.received("tools/call").len(), 0, "and nothing of it got there");
}

fn real_catalogs() -> Option<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/catalogs");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).ok()?.map(|file| file.unwrap().path()).collect();
    let is_list = |path: &PathBuf| {
        path.extension().is_some_and(|kind| kind == "json")
            && !path.file_name().unwrap().to_string_lossy().starts_with('_')
    };
    files.retain(is_list);
    files.sort();
    Some(files)
}

#[tokio::test]
async fn a_hidden_server_is_as_good_as_none_among_real_ones() {
    let Some(files) = real_catalogs() else {
        println!("not run: no ../shared/catalogs beside this repository");
        return;
    };
    // A few of them, far apart; which ones must not matter.
    let chosen: Vec<&PathBuf> = files.iter().step_by((files.len() / 4).max(1)).take(4).collect();
    let fakes: Vec<(String, FakeServer)> = chosen
        .iter()
        .map(|path| {
            let name = toolfold_core::slug(&path.file_stem().unwrap().to_string_lossy());
            (name, FakeServer::script(json!({"catalog": path})))
        })
        .collect();
    for (out, (secret, _)) in fakes.iter().enumerate().take(1) {
        let others: Vec<(&str, &FakeServer)> =
            fakes.iter().filter(|(name, _)| name != secret).map(|(name, fake)| (name.as_str(), fake)).collect();
        let all: Vec<(&str, &FakeServer)> = fakes.iter().map(|(name, fake)| (name.as_str(), fake)).collect();
        let names: Vec<&str> = others.iter().map(|(name, _)| *name).chain(["local"]).collect();
        let rules = vec![seen(&names)];
        let hidden = served(Config { rules: rules.clone(), ..config(Surface::Compact, &all) }).await;
        let absent = served(Config { rules, ..config(Surface::Compact, &others) }).await;
        let saved: Value = serde_json::from_str(&std::fs::read_to_string(chosen[out]).unwrap()).unwrap();
        let known = saved["tools"].as_array().unwrap().iter().take(3);
        let known: Vec<String> = known.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        let mut asked = questions();
        asked.queries.truncate(3);
        asked.queries.extend(known.iter().map(|name| name.replace(['_', '-'], " ")));
        asked.tools = known.iter().flat_map(|name| [name.clone(), format!("{secret}.{name}")]).collect();
        asked.paths = vec![Vec::new(), vec!["Servers".to_owned(), secret.clone()]];
        let (a, b) = (interrogate(hidden, &asked).await, interrogate(absent, &asked).await);
        println!("{secret}: {} answers compared", a.len());
        compare(&a, &b, &[]);
    }
}
