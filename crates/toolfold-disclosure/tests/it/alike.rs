//! Tools of several servers that do the same, over the lists of real servers where they are at hand: what a preferred server
//! leads, and what stands in one line. Both are whole lists, to be read line by line: a tool that leads what it is not like
//! misleads, and one that is joined to another is hidden.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolfold_core::{ServerName, Surface};
use toolfold_disclosure::{View, answer, route};
use toolfold_index::{Hit, Query};
use toolfold_wire::raw;

use crate::fixture::{Fixture, source, text, tool};
use crate::real;

const REQUESTS: [&str; 60] = [
    "navigate to a url",
    "click on an element",
    "take a screenshot of the page",
    "fill in a form",
    "upload a file in the browser",
    "run javascript in the page",
    "go back in the browser",
    "hover over an element",
    "type text into a field",
    "close the browser page",
    "list open tabs",
    "press a key",
    "drag an element",
    "handle a dialog",
    "list pods",
    "get pod logs",
    "delete a pod",
    "install a helm chart",
    "uninstall a helm chart",
    "scale a deployment",
    "list kubernetes namespaces",
    "apply a kubernetes manifest",
    "run a command in a pod",
    "create a merge request",
    "create a branch",
    "create an issue",
    "create an issue in gitlab",
    "close an issue",
    "list pull requests",
    "fork a repository",
    "search the web",
    "scrape a web page",
    "create a calendar event",
    "list calendar events",
    "delete a calendar event",
    "read a file",
    "write a file",
    "run a sql query",
    "list tables",
    "describe a table",
    "list git branches",
    "commit changes",
    "show git log",
    "switch to another branch",
    "list databases",
    "upload a file to google drive",
    "share a file",
    "search emails",
    "send an email",
    "send a message to a channel",
    "list users",
    "get current time",
    "list projects",
    "create a project",
    "create a task",
    "add a comment to an issue",
    "get a page",
    "list deployments",
    "query metrics",
    "delete a bucket",
];

const PREFERRED: &str = "chrome-devtools-mcp server-puppeteer-2025 playwright-mcp mcp-server-kubernetes awslabs-eks kubernetes-mcp-server \
    server-gitlab-2025 gitlab-zereight server-github-2025 google-calendar git-cyanheads mcp-server-git \
    workspace-mcp google-workspace-mcp ms-365 mcp-atlassian firecrawl exa \
    neon mcp-server-sqlite serena-agent netlify sentry azure-devops";

fn hits(view: &View<'_>, request: &str) -> Vec<Hit> {
    view.search(Query { text: request, limit: 30, explain: true, ..Query::default() }).hits
}

#[test]
fn what_preferred_servers_lead_over_real_catalogs() {
    let Some(sources) = real::sources() else { return };
    let fixture = Fixture::of(sources);
    let id = |entry: usize| fixture.catalog.entry(entry).id.to_string();
    let mut told = String::new();
    let mut left = String::new();
    for request in REQUESTS {
        let usual = hits(&fixture.view(), request);
        for preferred in PREFERRED.split_whitespace() {
            let servers = [ServerName::new(preferred).unwrap()];
            let found = hits(&fixture.view().preferring(&servers), request);
            for hit in &found {
                if let Some(before) = hit.explain.preferred_to {
                    writeln!(told, "{request}: {} before {}", id(hit.entry), id(before)).unwrap();
                }
            }
            let own = |hit: &&Hit| fixture.catalog.entry(hit.entry).server() == &servers[0];
            if let Some(first) = usual.iter().take(10).find(own)
                && fixture.catalog.entry(found[0].entry).server() != &servers[0]
            {
                writeln!(left, "{request}: {} stays behind {}", id(first.entry), id(found[0].entry)).unwrap();
            }
        }
    }
    println!("LEFT\n{left}");
    assert_snapshot!(told);
}

#[test]
fn what_is_joined_over_real_catalogs() {
    let Some(sources) = real::sources() else { return };
    let fixture = Fixture::of(sources);
    let mut files: Vec<_> =
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../eval/real")).unwrap().flatten().collect();
    files.sort_by_key(std::fs::DirEntry::path);
    let mut joined: BTreeSet<String> = BTreeSet::new();
    let mut lines = 0;
    let mut ask = |request: &str| {
        for line in fixture.find(json!({"query": request})).lines() {
            let Some((shown, rest)) = line.split_once(" (also in ") else { continue };
            let id = shown.split(['(', ' ']).next().unwrap_or_default();
            joined.insert(format!("{id} + {}", rest.trim_end_matches(')')));
            lines += 1;
        }
    };
    for file in files {
        for line in std::fs::read_to_string(file.path()).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            ask(line["query"].as_str().unwrap());
        }
    }
    REQUESTS.iter().for_each(|request| ask(request));
    println!("{lines} lines");
    assert_snapshot!(joined.into_iter().collect::<Vec<_>>().join("\n"));
}

/// Two servers that do the same, and more that is only like it. `far` fits the requests worse.
fn two_ways() -> Fixture {
    let takes = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    Fixture::of([
        source(
            "near",
            &[
                tool("close_page", "Close the page of a browser", takes("page")),
                tool("open_page", "Open a page in a browser", takes("url")),
                tool("press_key", "Press a key in a page of the browser", takes("key")),
            ],
        ),
        source(
            "far",
            &[
                tool("browser_close", "Close the page", takes("target")),
                tool("browser_open", "Open a page", takes("target")),
                tool("browser_key_press", "Press a key on the keyboard", takes("letter")),
                tool("browser_resize", "Resize the browser window", takes("size")),
            ],
        ),
    ])
}

fn first_name(surface: Surface, view: &View<'_>, meta: &str, arguments: Value) -> String {
    let action = route(surface, view, meta, Some(&raw(&arguments)));
    let said = text(&answer(surface, view, &action).unwrap());
    let Ok(said) = serde_json::from_str::<Value>(&said) else { return said.lines().next().unwrap().to_owned() };
    let list = [&said["tools"], &said["results"], &said].into_iter().find_map(Value::as_array).unwrap();
    let name = ["name", "tool_id"].iter().find_map(|key| list[0][key].as_str()).unwrap();
    name.replace("__", ".")
}

#[test]
fn a_preferred_server_comes_first_on_every_surface_at_every_length() {
    let fixture = two_ways();
    let ways: [(Surface, &str, Value); 9] = [
        (Surface::Compact, "find_tools", json!({})),
        (Surface::Compact, "find_tools", json!({"limit": 5})),
        (Surface::Compact, "find_tools", json!({"limit": 1})),
        (Surface::Compact, "find_tools", json!({"detail": "summary"})),
        (Surface::Hybrid, "search_tools", json!({})),
        (Surface::Single, "discover_and_use_tool", json!({"action": "search"})),
        (Surface::Lifecycle, "tool_find", json!({})),
        (Surface::Ontology, "search_tool_by_category", json!({"category_path": []})),
        (Surface::Backends, "gateway_search_tools", json!({})),
    ];
    for (preferred, close, press) in
        [("far", "far.browser_close", "far.browser_key_press"), ("near", "near.close_page", "near.press_key")]
    {
        let servers = [ServerName::new(preferred).unwrap()];
        let view = fixture.view().preferring(&servers);
        for (surface, meta, arguments) in &ways {
            for (query, expected) in [("close the page of the browser", close), ("press a key", press)] {
                let mut arguments = arguments.clone();
                arguments["query"] = json!(query);
                let first = first_name(*surface, &view, meta, arguments.clone());
                assert!(first.starts_with(expected), "{surface:?} {arguments}: {first}");
            }
        }
    }
}

#[test]
fn pages_of_one_search_are_one_list_whoever_is_preferred() {
    let fixture = two_ways();
    let servers = [ServerName::new("far").unwrap()];
    let view = fixture.view().preferring(&servers);
    let ask = |limit, offset| {
        let query = Query { text: "close the page of the browser", limit, offset, ..Query::default() };
        let found = view.rank(query);
        (found.hits.iter().map(|hit| hit.entry).collect::<Vec<_>>(), found.total)
    };
    let (whole, total) = ask(10, 0);
    let paged: Vec<usize> = (0..whole.len()).flat_map(|offset| ask(1, offset).0).collect();
    assert_eq!((paged, ask(1, 3).1), (whole, total));
    assert!(ask(5, 100).0.is_empty());
}

/// What is first where the server called `mine` is preferred and `theirs` fits best.
fn first_of(request: &str, mine: Value, theirs: Value) -> String {
    let fixture = Fixture::of([source("mine", &[mine]), source("theirs", &[theirs])]);
    let servers = [ServerName::new("mine").unwrap()];
    let found = hits(&fixture.view().preferring(&servers), request);
    fixture.catalog.entry(found[0].entry).server().to_string()
}

#[test]
fn what_does_something_else_leads_nothing() {
    let plain = |name: &str, said: &str| tool(name, said, json!({"type": "object", "properties": {"id": {}}}));
    let cases = [
        (
            "remove the label of a mail",
            plain("add_label", "Add a label to a mail"),
            plain("remove_label", "Remove a label of a mail"),
            "the opposite",
        ),
        (
            "delete a branch",
            plain("delete_branch_rule", "Delete a rule about branches"),
            plain("delete_branch", "Delete a branch of a repository"),
            "another thing",
        ),
        (
            "update a page",
            plain("publish_page", "Publish a page to everyone"),
            plain("update_page", "Update a page"),
            "it publishes",
        ),
        (
            "get an invoice of a customer",
            plain("get_invoices", "Get invoices of a customer"),
            plain("get_invoice", "Get an invoice of a customer"),
            "many",
        ),
        (
            "take a picture of the page",
            plain("take_snapshot", "Take a snapshot of the page"),
            plain("take_screenshot", "Take a picture of the page"),
            "another thing",
        ),
        (
            "convert a doc to a sheet",
            plain("sheet_to_doc", "Convert between documents and sheets"),
            plain("doc_to_sheet", "Convert between documents and sheets"),
            "the other way",
        ),
        (
            "theirs_close_page",
            plain("close_page", "Close the page"),
            plain("theirs_close_page", "Close a page"),
            "a name",
        ),
        (
            "close the page with theirs",
            plain("close_page", "Close the page"),
            plain("close_page", "Close a page"),
            "whose is said",
        ),
    ];
    for (request, mine, theirs, why) in cases {
        assert_eq!(first_of(request, mine.clone(), theirs.clone()), "theirs", "{request}: {mine}: {why}");
    }
}

#[test]
fn what_is_called_in_other_words_leads_where_it_does_the_same() {
    let plain = |name: &str, said: &str| tool(name, said, json!({"type": "object", "properties": {"id": {}}}));
    let cases = [
        (
            "commit the changes to the repository",
            plain("commit", "Records what is there in the repository"),
            plain("commit", "Commit the changes to the repository"),
        ),
        (
            "install a chart",
            plain("chart_install", "Install a chart (deploy it)"),
            plain("install_chart", "Install a chart"),
        ),
        (
            "install a helm chart in a cluster",
            plain("helm_install", "Install a Helm chart in a cluster"),
            plain("install_helm_chart", "Install a Helm chart in a cluster"),
        ),
        ("delete a mail", plain("erase_mail", "Erase a mail"), plain("delete_mail", "Delete a mail")),
    ];
    for (request, mine, theirs) in cases {
        assert_eq!(first_of(request, mine.clone(), theirs.clone()), "mine", "{request}: {mine}");
    }
}

#[test]
fn one_line_stands_for_two_ways_to_one_place_and_not_for_two_places() {
    let by = |names: &[&str]| {
        let members: serde_json::Map<String, Value> =
            names.iter().map(|name| (name.to_string(), json!({"type": "string"}))).collect();
        json!({"type": "object", "properties": members, "required": names})
    };
    let answer = |one: &str, two: &str, tools: [Value; 2]| {
        let [first, second] = tools;
        Fixture::of([source(one, &[first]), source(two, &[second])]).find(json!({"query": "install a helm chart"}))
    };
    let ways = || {
        [
            tool("helm_install", "Install a Helm chart in the cluster", by(&["chart"])),
            tool("install_helm_chart", "Install a Helm chart with values", by(&["chart"])),
        ]
    };
    assert!(
        answer("kube-server", "mcp-kube", ways()).contains("(also in "),
        "{}",
        answer("kube-server", "mcp-kube", ways())
    );
    let strangers = answer("alpha", "beta", ways());
    assert!(!strangers.contains("also in"), "each in its own cluster: {strangers}");
    let users = || tool("list_users", "List all users", json!({"type": "object", "properties": {"limit": {}}}));
    let fixture = Fixture::of([source("alpha", &[users()]), source("beta", &[users()])]);
    let told = fixture.find(json!({"query": "list all users"}));
    assert!(!told.contains("also in"), "each its own users: {told}");
}

fn marked() -> Fixture {
    let nothing = || json!({"type": "object"});
    Fixture::of([source(
        "code",
        &[
            tool("delete_branch", "Delete a branch of the project", nothing()),
            tool("list_branches", "List branches of the project", nothing()),
        ],
    )])
}

#[test]
fn what_destroys_is_marked_wherever_a_summary_is_read_and_what_looks_is_not() {
    let fixture = marked();
    for (surface, meta, more) in [
        (Surface::Hybrid, "search_tools", json!({})),
        (Surface::TwoPhase, "search_tools", json!({})),
        (Surface::Single, "discover_and_use_tool", json!({"action": "search"})),
        (Surface::Lifecycle, "tool_find", json!({})),
    ] {
        let mut arguments = more;
        arguments["query"] = json!("branch of the project");
        let said = fixture.say(surface, meta, arguments);
        let tools = said["tools"].as_array().or(said.as_array()).unwrap();
        let described = |name: &str| {
            let tool = tools.iter().find(|tool| tool["name"].as_str().unwrap().ends_with(name)).unwrap();
            tool["description"].as_str().unwrap().to_owned()
        };
        assert_eq!(described("delete_branch"), "! Delete a branch of the project", "{surface:?}");
        assert_eq!(described("list_branches"), "List branches of the project", "{surface:?}");
    }
}
