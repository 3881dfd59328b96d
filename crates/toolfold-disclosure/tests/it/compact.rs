//! The `compact` surface as a client sees it.

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolfold_core::Surface;
use toolfold_disclosure::{Action, instructions, tokens, tools};

use crate::fixture::{Fixture, github, slack, source, tool};

fn listed(fixture: &Fixture) -> String {
    let tools: Vec<String> = tools(Surface::Compact, &fixture.view()).iter().map(|raw| raw.get().to_owned()).collect();
    format!("[{}]", tools.join(","))
}

#[test]
fn the_list_is_small_and_always_the_same() {
    let fixture = Fixture::new();
    let list = listed(&fixture);
    println!("{} tokens", tokens::count(&list));
    assert!(tokens::count(&list) <= 200, "{} tokens", tokens::count(&list));
    assert_eq!(list, listed(&Fixture::of([])), "what is behind does not change it");
    let compacted: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(compacted.to_string(), list, "no byte is wasted");
    assert_snapshot!(list.replace("},{\"name\"", "},\n{\"name\""), @r#"
    [{"name":"find_tools","description":"Find tools. query: short English phrase naming service and action, one step at a time. No arguments: overview; path: a node. tool: id or list, for details; detail \"full\": schema (if it shows ~); parameter: only that.","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"path":{"type":"array","items":{"type":"string"}},"tool":{},"parameter":{},"detail":{},"limit":{},"cursor":{}}},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}},
    {"name":"call_tool","description":"Call a tool that find_tools showed. fields: JSON paths to keep.","inputSchema":{"type":"object","properties":{"tool":{"type":"string"},"arguments":{"type":"object"},"fields":{}},"required":["tool"]},"_meta":{"anthropic/alwaysLoad":true}}]
    "#);
}

#[test]
fn instructions_are_short_whatever_is_behind() {
    assert_snapshot!(instructions(Surface::Compact, &["github", "notes", "slack"]), @r#"
    Tools are behind find_tools. Do not assume that a tool exists: search first, with a short phrase naming service and action, one step at a time; when unsure, browse by path. Before calling a tool whose signature shows ~, read it with detail "full". When refused, follow the hints and next_action.
    Servers: github, notes, slack
    "#);
    println!("{} tokens", tokens::count(&instructions(Surface::Compact, &[])));
    for letters in ["x", "q7-", "server", "ZZZZZZZZ", "Zq_"] {
        let names: Vec<String> = (0..60).map(|i| format!("{}{i}", letters.repeat(1 + i % 5))).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = instructions(Surface::Compact, &names);
        assert!(tokens::count(&text) <= 120, "{} tokens: {text}", tokens::count(&text));
    }
}

#[test]
fn pinned_tools_follow_under_their_exposed_names() {
    let mut fixture = Fixture::new();
    fixture.pins =
        ["github.merge_pull_request", "notes.search"].map(|id| fixture.catalog.resolve(id).unwrap()).to_vec();
    let list = tools(Surface::Compact, &fixture.view());
    let pinned: Vec<&str> = list[2..].iter().map(|raw| raw.get()).collect();
    assert_snapshot!(pinned.join("\n"), @r#"
    {"name":"github__merge_pull_request","description":"Merge a pull request","inputSchema":{"type":"object","properties":{"owner":{"type":"string","description":"Owner of the repository"},"repo":{"type":"string"},"number":{"type":"integer"}},"required":["owner","repo","number"]}}
    { "name" : "search",  "description": "Search notes by text", "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
      "execution": {"taskSupport": "optional"} }
    "#);
}

#[test]
fn nothing_asked_shows_what_there_is() {
    let mut fixture = Fixture::new();
    fixture.pins = vec![fixture.catalog.resolve("post_message").unwrap()];
    assert_snapshot!(fixture.find(json!({})), @"
    slack.post_message(channel: string, text: string) — Posts a message to a channel
    Coding — 1 tool: Write, review, build, test and ship software
    Messaging — 2 tools: Email, chat, text messages, calls, queues and notices
    Projects — 2 tools: Issues, boards, sprints, tasks and shared knowledge
    Office — 2 tools: Documents, spreadsheets, slides, notes, forms, calendars
    Servers/github — 3 tools: Work with issues and pull requests
    Servers/notes — 2 tools: call_tool, search
    Servers/slack — 2 tools: post_message, list_channels
    ");
    assert_snapshot!(fixture.find(json!({"path": ["Servers", "github"]})), @"
    github.create_issue — Create a new issue in a GitHub repository
    github.list_issues — List issues in a repository
    github.merge_pull_request — Merge a pull request
    ");
    assert_eq!(fixture.find(json!({"path": "servers/GitHub"})), fixture.find(json!({"path": ["github"]})));
    assert_snapshot!(fixture.find(json!({"path": ["gihub"]})), @r#"{"error":{"code":"UNKNOWN_PATH","message":"There is no node \"gihub\".","hints":["Servers/github"],"next_action":{"tool":"find_tools","arguments":{"path":["Servers","github"]}}}}"#);
    assert_snapshot!(Fixture::of([]).find(json!({})), @"There are no tools yet: no server is configured, or none has answered so far. Ask again in a moment.");
}

#[test]
fn a_query_gives_one_line_for_each_hit() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.find(json!({"query": "github create issue"})), @"github.create_issue(owner: string, repo: string, title: string, body?: string, labels?: string[]) — Create a new issue in a GitHub repository");
    assert_snapshot!(fixture.find(json!({"query": "please could you post a mesage"})), @"
    slack.post_message(channel: string, text: string) — Posts a message to a channel
    notes.call_tool
    ");
    assert_snapshot!(fixture.find(json!({"query": "issues", "limit": "1"})), @r#"
    github.list_issues(owner: string, repo: string, state?: "open"|"closed"|"all", filter?: {label: string, since?: string(date-time)}) — List issues in a repository
    next cursor: issues_18832x1 (1 more)
    "#);
    assert_snapshot!(fixture.find(json!({"query": "issues", "detail": "names"})), @"
    github.list_issues
    github.create_issue
    ");
}

#[test]
fn nothing_found_says_what_to_do() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.find(json!({"query": "zeppelin"})), @r#"No tool here fits "zeppelin". Nearest nodes: Office/Notes. Try other words for service and action, or browse with path. Servers: github, notes, slack"#);
    assert_snapshot!(fixture.find(json!({"query": "post message", "path": ["github"]})), @r#"{"error":{"code":"NO_MATCH_IN_CATEGORY","message":"Nothing in Servers/github matches \"post message\". The nodes in the hints have matches.","hints":["Messaging/Chat","Servers/slack"],"next_action":{"tool":"find_tools","arguments":{"query":"post message"}}}}"#);
    assert_snapshot!(fixture.find(json!({"query": "deliver the news by pigeon"})), @"
    No close match. The nearest:
    slack.post_message(channel: string, text: string) — Posts a message to a channel
    ");
}

#[test]
fn a_cursor_goes_on_where_the_answer_stopped() {
    let many: Vec<_> = (0..30).map(|i| tool(&format!("report_{i}"), "", json!({"type": "object"}))).collect();
    let fixture = Fixture::of([source("s", &many)]);
    let mut seen = Vec::new();
    let mut request = json!({"query": "report"});
    loop {
        let answer = fixture.find(request);
        let (cursors, lines): (Vec<&str>, Vec<&str>) =
            answer.lines().partition(|line| line.starts_with("next cursor: "));
        seen.extend(lines.iter().map(|line| line.split('(').next().unwrap().to_owned()));
        let Some(cursor) = cursors.first() else { break };
        request = json!({"cursor": cursor.split(' ').nth(2).unwrap()});
    }
    assert_eq!(seen.len(), 30);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 30);
}

/// The lines of an answer and of every page behind it, and what each page says is left.
fn all_pages(fixture: &Fixture, request: Value) -> (Vec<String>, Vec<usize>) {
    let (mut lines, mut left) = (Vec::new(), Vec::new());
    let mut answer = fixture.find(request);
    loop {
        let mut page: Vec<String> = answer.lines().map(str::to_owned).collect();
        let Some(last) = page.pop_if(|line| line.starts_with("next cursor: ")) else {
            lines.extend(page);
            return (lines, left);
        };
        lines.extend(page);
        let words: Vec<&str> = last.split(' ').collect();
        left.push(words[3].trim_start_matches('(').parse().unwrap());
        answer = fixture.find(json!({"cursor": words[2]}));
    }
}

fn reports() -> Fixture {
    let report = |i: usize| tool(&format!("export_report_{i}"), "Export a report", json!({"type": "object"}));
    let many: Vec<_> = (0..64).map(report).collect();
    Fixture::of([source("paper", &many), source("other", &[report(99), report(98)])])
}

#[test]
fn every_page_says_how_many_are_left() {
    let fixture = reports();
    for request in [json!({"query": "export"}), json!({"query": "export", "path": ["Servers", "paper"]})] {
        let whole = if request["path"].is_null() { 66 } else { 64 };
        let (lines, left) = all_pages(&fixture, request.clone());
        assert_eq!(lines.len(), whole, "{request}");
        let pages: Vec<usize> = (1..left.len() + 1).map(|page| whole - 10 * page).collect();
        assert_eq!(left, pages, "{request}");
    }
}

#[test]
fn a_search_in_a_node_is_answered_like_one_without() {
    let fixture = reports();
    let answer = fixture.find(json!({"query": "export", "path": ["paper"]}));
    assert!(!answer.contains("other.") && answer.contains("(54 more)"), "{answer}");
    assert_eq!(answer.matches("()").count(), 4, "as many with what they take as elsewhere: {answer}");
    let named = fixture.find(json!({"query": "export_report_7", "path": ["paper"]}));
    assert!(named.starts_with("paper.export_report_7()") && !named.contains("next cursor"), "{named}");
}

#[test]
fn who_says_where_gets_what_is_there() {
    let zoo = ["feed_animal", "clean_cage", "open_gate", "close_gate", "count_visitors"]
        .map(|name| tool(name, &format!("{} in the zoo", name.replace('_', " ")), json!({"type": "object"})));
    let fixture = Fixture::of([source("zoo", &zoo), github(), slack()]);
    let request = "gate opening hours of the reptile house on public holidays";
    let limited = fixture.find(json!({"query": request, "path": ["zoo"], "limit": 3}));
    assert!(limited.contains("zoo.open_gate"), "{limited}");
    assert!(fixture.find(json!({"query": request, "path": ["zoo"]})).contains("zoo.open_gate"));
    let (lines, left) = all_pages(&fixture, json!({"query": request, "path": ["zoo"]}));
    assert!(left.is_empty() || lines.len() > left[0], "{lines:?} {left:?}");
}

#[test]
fn no_cursor_leads_to_nothing() {
    let fixture = Fixture::new();
    for query in
        ["deliver the news by pigeon", "please could you post a mesage", "issues", "repository issues", "channel"]
    {
        let (lines, _) = all_pages(&fixture, json!({"query": query}));
        assert!(lines.iter().all(|line| !line.contains("INVALID_CURSOR")), "{query}: {lines:?}");
    }
}

#[test]
fn a_cursor_that_is_not_ours_is_refused() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.find(json!({"query": "issue", "cursor": "bogus"})), @r#"{"error":{"code":"INVALID_CURSOR","message":"This cursor was not given out by find_tools. Ask again without it.","hints":[],"next_action":{"tool":"find_tools","arguments":{"query":"issue"}}}}"#);
    let answer = fixture.find(json!({"query": "issue", "limit": 1}));
    let cursor = answer.lines().last().unwrap().split(' ').nth(2).unwrap();
    assert_snapshot!(fixture.find(json!({"query": "other", "cursor": cursor})), @r#"{"error":{"code":"INVALID_CURSOR","message":"This cursor belongs to another query. Ask again without it.","hints":[],"next_action":{"tool":"find_tools","arguments":{"query":"other"}}}}"#);
    // The catalog shrank in the meantime.
    let emptier = Fixture::of([source("github", &[tool("create_issue", "Create an issue", json!({}))])]);
    assert_snapshot!(emptier.find(json!({"cursor": cursor})), @r#"{"error":{"code":"INVALID_CURSOR","message":"There is nothing behind this cursor any more: what is served has changed. Ask again without it.","hints":[],"next_action":{"tool":"find_tools","arguments":{"query":"issue"}}}}"#);
}

#[test]
fn a_small_budget_shows_less_of_each_and_cuts_none() {
    let mut fixture = Fixture::new();
    fixture.budget = 90;
    assert_snapshot!(fixture.find(json!({"query": "repository issues"})), @r#"
    github.list_issues(owner: string, repo: string, state?: "open"|"closed"|"all", filter?: {label: string, since?: string(date-time)}) — List issues in a repository
    github.create_issue — Create a new issue in a GitHub repository
    github.merge_pull_request
    notes.search
    notes.call_tool
    "#);
    fixture.budget = 1;
    assert_snapshot!(fixture.find(json!({"query": "repository issues"})), @"
    github.list_issues
    next cursor: repository_issues_17005 (2 more)
    ");
}

#[test]
fn a_tool_is_described_as_far_as_asked() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.find(json!({"tool": "create_issue"})), @r#"{"tool":"github.create_issue","description":"Create a new issue in a GitHub repository. Labels must exist. Returns the issue.","parameters":["owner","repo","title","body?","labels?"],"usage":"github.create_issue(owner='…', repo='…', title='…', body='…')","estimated_tokens":63}"#);
    assert_snapshot!(fixture.find(json!({"tool": "[\"github.list_issues\", \"slack/list_channels\", \"nothing\"]"})), @r#"
    {"tool":"github.list_issues","description":"List issues in a repository, with filters for state and labels and with pagination of the result pages","parameters":["owner","repo","state?","filter?"],"usage":"github.list_issues(owner='…', repo='…', state='open')","estimated_tokens":61}
    {"tool":"slack.list_channels","description":"List channels with slack","parameters":[],"usage":"slack.list_channels()","estimated_tokens":26}
    {"error":{"code":"TOOL_NOT_FOUND","message":"There is no tool called \"nothing\". Search for what it should do.","hints":[],"next_action":{"tool":"find_tools","arguments":{"query":"nothing"}}}}
    "#);
    assert_snapshot!(fixture.find(json!({"tool": "slack.post_message", "detail": "full"})), @r#"{"tool":"slack.post_message","description":"This tool posts a message to a channel","input_schema":{"type":"object","properties":{"channel":{"type":"string"},"text":{"type":"string"}},"required":["channel","text"],"additionalProperties":false},"usage":"slack.post_message(channel='…', text='…')","estimated_tokens":69}"#);
    assert_snapshot!(fixture.find(json!({"tool": "list_issues", "parameter": "filter.since"})), @r#"{"tool":"github.list_issues","parameter":"filter.since","type":"string(date-time)","required":false,"validation":{"format":"date-time"},"schema":{"type":"string","format":"date-time"},"estimated_tokens":44}"#);
    assert_snapshot!(fixture.find(json!({"tool": "list_issues", "parameter": "stat"})), @r#"{"error":{"code":"INVALID_REQUEST","message":"github.list_issues has no parameter \"stat\".","hints":["state"],"next_action":{"tool":"find_tools","arguments":{"tool":"github.list_issues"}}}}"#);
    assert_snapshot!(fixture.find(json!({"tool": "creat_isue"})), @r#"{"error":{"code":"TOOL_NOT_FOUND","message":"There is no tool called \"creat_isue\". Use one of the hints, or search for what it should do.","hints":["github.create_issue"],"next_action":{"tool":"find_tools","arguments":{"query":"creat isue"}}}}"#);
}

#[test]
fn a_call_is_understood_in_every_spelling() {
    let fixture = Fixture::new();
    let wanted = fixture.catalog.resolve("slack.post_message").unwrap();
    let arguments = json!({"channel": "c", "text": "t"});
    for (name, given) in [
        ("call_tool", json!({"tool": "slack.post_message", "arguments": arguments})),
        ("call_tool", json!({"tool": "slack__post_message", "arguments": arguments})),
        ("call_tool", json!({"name": "postMessage", "args": arguments})),
        ("call_tool", json!({"tool": "slack:post_message", "channel": "c", "text": "t"})),
        ("slack__post_message", arguments.clone()),
        ("post_message", arguments.clone()),
    ] {
        let Action::Call { entry, arguments: sent, .. } = fixture.route(name, given.clone()) else {
            panic!("{name} {given} is no call");
        };
        assert_eq!(entry, wanted);
        assert_eq!(sent.unwrap().get(), arguments.to_string());
    }
    let Action::Search(search, _) =
        fixture.route("call_tool", json!({"tool": "find_tools", "arguments": {"query": "x"}}))
    else {
        panic!("find_tools through call_tool is a search");
    };
    assert_eq!(search.query, "x");
}

#[test]
fn a_call_that_means_nothing_is_refused_with_a_way_on() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.ask("call_tool", json!({"tool": "github.create_isue"})), @r#"{"error":{"code":"TOOL_NOT_FOUND","message":"There is no tool called \"github.create_isue\". Use one of the hints, or search for what it should do.","hints":["github.create_issue","github.list_issues"],"next_action":{"tool":"find_tools","arguments":{"query":"github create isue"}}}}"#);
    assert_snapshot!(fixture.ask("call_tool", json!({})), @r#"{"error":{"code":"INVALID_REQUEST","message":"call_tool needs `tool`: the name of a tool, as find_tools shows it.","hints":[],"next_action":{"tool":"find_tools","arguments":{}}}}"#);
    assert_snapshot!(fixture.ask("call_tool", json!({"tool": "call_tool"})), @r#"{"error":{"code":"INVALID_REQUEST","message":"call_tool cannot call itself: name the tool to be called.","hints":[],"next_action":{"tool":"find_tools","arguments":{}}}}"#);
    assert_snapshot!(fixture.ask("find_tools", json!([1])), @r#"{"error":{"code":"INVALID_REQUEST","message":"The arguments must be a JSON object.","hints":[]}}"#);
    assert_snapshot!(fixture.find(json!({"query": {"a": 1}})), @r#"{"error":{"code":"INVALID_REQUEST","message":"`query` must be a string.","hints":[]}}"#);
    assert_snapshot!(fixture.find(json!({"query": "x", "limit": "many"})), @r#"{"error":{"code":"INVALID_REQUEST","message":"`limit` must be a number.","hints":[]}}"#);
    assert_snapshot!(fixture.find(json!({"kind": "spoon"})), @r#"{"error":{"code":"INVALID_REQUEST","message":"`kind` is one of the hints, or left out for all of them.","hints":["tool","agent","skill","prompt","resource"]}}"#);
    assert_snapshot!(fixture.find(json!({"tool": "search", "detail": "lots"})), @r#"{"error":{"code":"INVALID_REQUEST","message":"`detail` is one of the hints.","hints":["name","summary","signature","details","full"]}}"#);
}
