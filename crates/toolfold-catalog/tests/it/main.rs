//! Many lists become one: what is set aside, what things are called, what is understood, what changed.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod between;
mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold_catalog::{Catalog, Node, ServerSource, ServerTools, SetAside, Shelf, Unresolved};
use toolfold_core::{ServerName, ToolId};
use toolfold_wire::raw;

fn source(name: &str, prefix: bool, tools: &[Value]) -> ServerSource {
    let tools = tools.iter().map(raw).collect();
    ServerSource { name: ServerName::new(name).unwrap(), prefix, title: None, instructions: None, tools }
}

fn tool(name: &str) -> Value {
    json!({"name": name, "description": "…", "inputSchema": {"type": "object"}})
}

fn read(name: &str, prefix: bool, tools: &[&str]) -> Arc<ServerTools> {
    let tools: Vec<Value> = tools.iter().map(|name| tool(name)).collect();
    Arc::new(ServerTools::read(source(name, prefix, &tools)).0)
}

fn exposed(catalog: &Catalog) -> String {
    let names = (0..catalog.len()).map(|i| format!("{} {}", catalog.entry(i).id, catalog.exposed(i)));
    names.collect::<Vec<_>>().join("\n")
}

#[test]
fn odd_tools_are_set_aside_and_the_rest_serves() {
    let list = [
        tool("good"),
        json!("nonsense"),
        json!({"name": "bare"}),
        json!({"inputSchema": {}}),
        tool("good"),
        json!({"name": "", "inputSchema": {}}),
        json!({"name": "list", "inputSchema": []}),
        tool("also"),
    ];
    let (server, set_aside) = ServerTools::read(source("s", true, &list));
    assert_eq!(server.entries.iter().map(|entry| entry.name()).collect::<Vec<_>>(), ["good", "also"]);
    let told: Vec<String> = set_aside.iter().map(|SetAside { index, why, .. }| format!("{index}: {why}")).collect();
    assert_snapshot!(told.join("\n"), @r#"
    1: is not a JSON object
    2: "bare" has no inputSchema
    3: has no name
    4: "good" is there twice; the first one serves
    5: has an empty name
    6: "list" has an inputSchema that is not an object
    "#);
}

fn is_meta(name: &str) -> bool {
    ["find_tools", "call_tool"].contains(&name)
}

#[test]
fn names_are_prefixed_or_bare_and_never_meet() {
    let long = "x".repeat(200);
    let catalog = Catalog::merge_beside(
        7,
        [
            read("a", true, &["b__c", "plain", "with space", &long]),
            read("a__b", true, &["c"]),
            read("bare", false, &["plain", "find_tools", "a__plain", "twin"]),
            read("other", false, &["twin"]),
        ],
        is_meta,
    );
    assert_eq!(catalog.number(), 7);
    assert_snapshot!(exposed(&catalog), @"
    a.b__c a__b__c_05de1b15
    a.plain a__plain
    a.with space a__with_space_cf92b18c
    a.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx a__xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_394dc412
    a__b.c a__b__c_f8b7d2e1
    bare.a__plain bare__a__plain
    bare.find_tools bare__find_tools
    bare.plain plain
    bare.twin bare__twin
    other.twin other__twin
    ");
}

#[test]
fn an_alias_is_understood_after_every_name() {
    let listed = |server: &str, tools: &[(&str, &str)]| {
        let mut read = Arc::into_inner(read(server, true, &tools.iter().map(|(name, _)| *name).collect::<Vec<_>>()))
            .expect("nobody else has it");
        let aliases: BTreeMap<String, String> =
            tools.iter().map(|(name, alias)| (alias.to_string(), name.to_string())).collect();
        read.answer_to(&aliases);
        Arc::new(read)
    };
    let catalog = Catalog::merge(
        1,
        [listed("a", &[("send_mail", "post_letter"), ("print", "search")]), listed("b", &[("search", "postLetter2")])],
    );
    let id = |spelling: &str| catalog.resolve(spelling).map(|position| catalog.entry(position).id.to_string());
    for (spelling, expected) in [
        ("post_letter", "a.send_mail"),
        ("PostLetter", "a.send_mail"),
        ("a.post_letter", "a.send_mail"),
        // Whose name it is has it.
        ("search", "b.search"),
        ("a.search", "a.print"),
        ("post letter 2", "b.search"),
    ] {
        assert_eq!(id(spelling).as_deref(), Ok(expected), "{spelling}");
    }
    assert!(id("b.post_letter").is_err());
    // An alias that looks like another server's tool is not one.
    let odd = Catalog::merge(1, [listed("evil", &[("steal", "github.create_issue")])]);
    assert!(odd.resolve("github.create_issue").is_err());
}

#[test]
fn every_unambiguous_spelling_is_understood() {
    let catalog = Catalog::merge(
        1,
        [read("github", true, &["create_issue", "search"]), read("jira", true, &["create-ticket", "search"])],
    );
    let id = |spelling: &str| match catalog.resolve(spelling) {
        Ok(position) => catalog.entry(position).id.to_string(),
        Err(Unresolved::Unknown) => format!("unknown, near {:?}", catalog.nearest(spelling)),
        Err(Unresolved::Ambiguous { candidates }) => format!("one of {candidates:?}"),
    };
    let spellings = [
        "github.create_issue",
        "github__create_issue",
        "github/create_issue",
        "github:create_issue",
        "create_issue",
        "GitHub.CreateIssue",
        " createTicket ",
        "search",
        "jira.Search",
        "github.create_isue",
        "create_ticket_now",
        "zzz",
        "",
        "…",
    ];
    let lines: Vec<String> = spellings.iter().map(|spelling| format!("{spelling:?}: {}", id(spelling))).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    "github.create_issue": github.create_issue
    "github__create_issue": github.create_issue
    "github/create_issue": github.create_issue
    "github:create_issue": github.create_issue
    "create_issue": github.create_issue
    "GitHub.CreateIssue": github.create_issue
    " createTicket ": jira.create-ticket
    "search": one of ["github.search", "jira.search"]
    "jira.Search": jira.search
    "github.create_isue": unknown, near ["github.create_issue", "github.search"]
    "create_ticket_now": unknown, near ["jira.create-ticket"]
    "zzz": unknown, near []
    "": unknown, near []
    "…": unknown, near []
    "#);
}

#[test]
fn every_server_is_a_node() {
    let mut told = source("files", true, &[tool("read"), tool("write")]);
    told.instructions =
        Some("## Files\n\n- Reads and writes files below the working directory. Mind the quota.".to_owned());
    let mut titled = source("maps", true, &[tool("route")]);
    titled.title = Some("Maps and routes".to_owned());
    let servers = [told, titled, source("misc", true, &["a", "b", "c", "d", "e"].map(tool))];
    let catalog = Catalog::merge(1, servers.map(|source| Arc::new(ServerTools::read(source).0)));
    let path = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let lines: Vec<String> = catalog
        .root()
        .walk()
        .iter()
        .map(|node| format!("{:?} {} {:?}", node.path, node.summary, node.entries))
        .collect();
    assert_snapshot!(lines.join("\n"), @r#"
    []  [0, 1, 2, 3, 4, 5, 6, 7]
    ["Servers"] every tool, by the server it belongs to [0, 1, 2, 3, 4, 5, 6, 7]
    ["Servers", "files"] Reads and writes files below the working directory [0, 1]
    ["Servers", "maps"] Maps and routes [2]
    ["Servers", "misc"] a, b, c, d, … [3, 4, 5, 6, 7]
    "#);
    assert_eq!(catalog.node(&path(&["files"])).unwrap().path, ["Servers", "files"]);
    assert_eq!(catalog.node(&path(&["SERVERS", "Maps"])).unwrap().path, ["Servers", "maps"]);
    assert_eq!(catalog.node(&path(&["mapps"])).unwrap_err(), ["Servers", "maps"]);
    assert_eq!(catalog.node(&path(&["Servers", "quite different"])).unwrap_err(), ["Servers"]);
    assert!(catalog.node(&[]).unwrap().path.is_empty());
}

#[test]
fn capabilities_stand_before_the_servers() {
    let path = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let shelf = |names: &[&str], aliases: &[&str], entries: &[usize]| Shelf {
        path: path(names),
        summary: format!("about {}", names.join(" ")),
        aliases: path(aliases),
        entries: entries.to_vec(),
        homes: entries.to_vec(),
        ..Shelf::default()
    };
    let shelves = vec![
        shelf(&["Coding", "Testing"], &["tests"], &[2, 1]),
        shelf(&["Coding"], &["code"], &[0]),
        shelf(&["Empty"], &[], &[]),
        shelf(&["Mail"], &["post"], &[1]),
    ];
    let catalog = Catalog::merge(1, [read("mail", true, &["a", "b", "c", "d"])]).with_shelves(shelves);
    let line =
        |node: &&Node| format!("{:?} {} {:?} own {:?}", node.path, node.summary, node.entries, node.own_entries());
    assert_snapshot!(catalog.root().walk().iter().map(line).collect::<Vec<_>>().join("\n"), @r#"
    []  [0, 1, 2, 3] own []
    ["Coding"] about Coding [0, 1, 2] own [0]
    ["Coding", "Testing"] about Coding Testing [1, 2] own [1, 2]
    ["Empty"] about Empty [] own []
    ["Mail"] about Mail [1] own [1]
    ["Servers"] every tool, by the server it belongs to [0, 1, 2, 3] own []
    ["Servers", "mail"] a, b, c, d [0, 1, 2, 3] own [0, 1, 2, 3]
    "#);
    let at = |names: &[&str]| catalog.node(&path(names)).map(|node| node.path.join("/"));
    assert_eq!(at(&["CODE", "testing"]).unwrap(), "Coding/Testing");
    assert_eq!(at(&["tests"]).unwrap(), "Coding/Testing");
    assert_eq!(at(&["Testing"]).unwrap(), "Coding/Testing", "the only one of that name");
    assert_eq!(at(&["mail"]).unwrap(), "Mail", "a root before a server");
    assert_eq!(catalog.capability(&path(&["post"])).unwrap().path, ["Mail"]);
    assert!(catalog.capability(&path(&["Servers"])).is_none());
    assert_eq!(at(&["tets"]), Err(path(&["Coding", "Testing"])), "by an alias");
    assert_eq!(at(&["Servers", "mial"]), Err(path(&["Servers", "mail"])));
    assert_eq!((catalog.home(1), catalog.home(3)), (Some(&path(&["Mail"])[..]), None), "the last word counts");
    let again = catalog.with_shelves(Vec::new());
    assert_eq!(again.root().children.len(), 1);
    assert_eq!(again.home(1), None);
}

#[test]
fn a_diff_names_what_came_went_and_changed() {
    let old = Catalog::merge(1, [read("s", true, &["a", "b", "c"])]);
    let mut changed = tool("b");
    changed["description"] = json!("other words");
    let new = ServerTools::read(source("s", true, &[tool("a"), changed, tool("d")])).0;
    let new = Catalog::merge(2, [Arc::new(new)]);
    let diff = old.diff(&new);
    let ids = |ids: &[ToolId]| ids.iter().map(ToolId::to_string).collect::<Vec<_>>().join(" ");
    assert_eq!(
        (ids(&diff.added).as_str(), ids(&diff.removed).as_str(), ids(&diff.changed).as_str()),
        ("s.d", "s.c", "s.b")
    );
    assert!(new.diff(&new).is_empty());
    assert!(Catalog::empty().diff(&Catalog::empty()).is_empty());
}

fn servers() -> impl Strategy<Value = Vec<(String, bool, Vec<String>)>> {
    let tool = prop_oneof!["[ab_]{1,5}", "\\PC{1,90}", Just("find_tools".to_owned()), Just("call_tool".to_owned())];
    prop::collection::vec(("[ab_]{1,4}", any::<bool>(), prop::collection::vec(tool, 0..8)), 0..6)
}

/// What a spelling means, by comparing it with all there is.
fn looked_for(catalog: &Catalog, spelling: &str) -> Vec<String> {
    let those = |fits: &dyn Fn(usize) -> bool| -> Vec<String> {
        (0..catalog.len()).filter(|at| fits(*at)).map(|at| catalog.entry(at).id.to_string()).take(5).collect()
    };
    let fold =
        |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    let split = ["/", ":", "__"].iter().find_map(|mark| spelling.split_once(mark));
    let wanted = fold(spelling);
    let after = |at: usize, name: &str| fold(catalog.entry(at).server().as_str()) + &fold(name);
    let alone = !spelling.contains(['.', '/', ':']) && !spelling.contains("__");
    let is_alias = |at: usize, alias: &String| after(at, alias) == wanted || (alone && fold(alias) == wanted);
    let steps: [&dyn Fn(usize) -> bool; 6] = [
        &|at| catalog.entry(at).id.to_string() == spelling,
        &|at| catalog.exposed(at) == spelling,
        &|at| {
            split.is_some_and(|(server, tool)| {
                catalog.entry(at).server().as_str() == server && catalog.entry(at).name() == tool
            })
        },
        &|at| catalog.entry(at).name() == spelling,
        &|at| {
            !wanted.is_empty()
                && (fold(catalog.entry(at).name()) == wanted || after(at, catalog.entry(at).name()) == wanted)
        },
        &|at| !wanted.is_empty() && catalog.entry(at).aliases.iter().any(|alias| is_alias(at, alias)),
    ];
    steps.into_iter().map(those).find(|found| !found.is_empty()).unwrap_or_default()
}

#[test]
fn a_name_that_is_no_name_costs_nothing() {
    let tools: Vec<String> = (0..2000).map(|number| format!("do_the_thing_number_{number}")).collect();
    let catalog = Catalog::merge(1, [read("many", true, &tools.iter().map(String::as_str).collect::<Vec<_>>())]);
    for name in ["a_".repeat(5 << 20), "x".repeat(10 << 20), "many.".repeat(1 << 20)] {
        assert_eq!(catalog.resolve(&name), Err(Unresolved::Unknown));
        assert!(catalog.nearest(&name).is_empty());
        assert!(catalog.node(std::slice::from_ref(&name)).is_err());
        assert!(catalog.node(&vec!["Servers".to_owned(); 200_000]).is_err());
    }
    assert_eq!(catalog.nearest("do_the_thing_numbr_7")[0], "many.do_the_thing_number_7");
}

#[test]
fn a_name_has_at_most_512_bytes() {
    let (longest, longer) = ("x".repeat(510), "x".repeat(511));
    let catalog = Catalog::merge(1, [read("s", true, &[&longest, &longer])]);
    assert_eq!(catalog.resolve(&format!("s.{longest}")), Ok(0));
    assert_eq!(catalog.resolve(&format!("s.{longer}")), Err(Unresolved::Unknown));
    // There is another name for it.
    assert_eq!(catalog.resolve(catalog.exposed(1)), Ok(1));
}

#[test]
fn a_name_that_thousands_share_is_ambiguous_and_cheap() {
    let tools: Vec<String> =
        (0..3000).map(|number| format!("a{}", "_".repeat(number % 300 + 1) + &"-".repeat(number / 300))).collect();
    let catalog = Catalog::merge(1, [read("many", true, &tools.iter().map(String::as_str).collect::<Vec<_>>())]);
    let Err(Unresolved::Ambiguous { candidates }) = catalog.resolve("A") else { panic!("one of many") };
    assert_eq!(candidates.len(), 5);
}

proptest! {
    #[test]
    fn exposed_names_are_valid_different_and_reversible(servers in servers()) {
        let read = servers.iter().map(|(name, prefix, tools)| {
            read(name, *prefix, &tools.iter().map(String::as_str).collect::<Vec<_>>())
        });
        let catalog = Catalog::merge_beside(1, read, is_meta);
        let mut seen = std::collections::HashSet::new();
        for position in 0..catalog.len() {
            let name = catalog.exposed(position);
            prop_assert!((1..=64).contains(&name.len()));
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
            prop_assert!(!is_meta(name));
            prop_assert!(seen.insert(name.to_owned()), "{name} is there twice");
            prop_assert_eq!(catalog.resolve(name), Ok(position));
            prop_assert_eq!(catalog.position(&catalog.entry(position).id), Some(position));
        }
    }

    #[test]
    fn an_id_means_its_own_entry(servers in servers()) {
        let read = servers.iter().map(|(name, prefix, tools)| {
            read(name, *prefix, &tools.iter().map(String::as_str).collect::<Vec<_>>())
        });
        let catalog = Catalog::merge(1, read);
        for (position, entry) in catalog.entries().iter().enumerate() {
            let id = entry.id.to_string();
            if id == id.trim() {
                prop_assert_eq!(catalog.resolve(&id), Ok(position));
            }
        }
    }

    #[test]
    fn a_look_up_finds_what_a_look_at_every_entry_finds(
        servers in servers(),
        aliases in prop::collection::vec("[abAB_. -]{1,5}", 4),
        spelling in "[abAB_./: -]{0,8}",
    ) {
        let read = servers.iter().map(|(name, prefix, tools)| {
            let mut read = Arc::into_inner(read(name, *prefix, &tools.iter().map(String::as_str).collect::<Vec<_>>()))
                .expect("nobody else has it");
            let pairs: BTreeMap<String, String> = aliases.iter().cloned().zip(tools.iter().cloned()).collect();
            read.answer_to(&pairs);
            Arc::new(read)
        });
        let catalog = Catalog::merge(1, read);
        let found = match catalog.resolve(&spelling) {
            Ok(position) => vec![catalog.entry(position).id.to_string()],
            Err(Unresolved::Ambiguous { candidates }) => candidates,
            Err(Unresolved::Unknown) => Vec::new(),
        };
        prop_assert_eq!(found, looked_for(&catalog, spelling.trim()));
    }

    #[test]
    fn any_spelling_has_an_answer(spelling in "\\PC{0,200}") {
        let catalog = Catalog::merge(1, [read("github", true, &["create_issue", "search"])]);
        let _ = catalog.resolve(&spelling);
        let _ = catalog.node(&[spelling]);
    }
}
