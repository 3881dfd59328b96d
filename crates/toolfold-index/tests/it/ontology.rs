//! Where entries are in the tree of capabilities: as a reader would look for them, and the same however the catalog came
//! about.

use std::collections::BTreeMap;
use std::sync::Arc;

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::json;
use toolfold_catalog::{Catalog, Node, SERVERS, ServerTools};
use toolfold_core::{Entry, Kind, NodeRule};
use toolfold_index::{Index, OTHER, Placement};

use crate::{plain, real_servers, server};

fn placed(rules: &[NodeRule], servers: impl IntoIterator<Item = Arc<ServerTools>>) -> Catalog {
    let catalog = Catalog::merge(1, servers);
    let index = Index::build(&catalog);
    Placement::default().update(rules, &catalog, &index).apply(catalog)
}

fn capabilities(catalog: &Catalog) -> Vec<&Node> {
    let roots = catalog.root().children.iter().filter(|root| root.name() != SERVERS);
    roots.flat_map(Node::walk).collect()
}

/// Every capability with what is in it and in none below it.
fn shown(catalog: &Catalog) -> String {
    let name = |position: usize| catalog.entry(position).name().to_owned();
    let line = |node: &&Node| {
        let own: Vec<String> = node.own_entries().into_iter().map(name).collect();
        format!("{}: {}", node.path.join("/"), own.join(", ")).trim_end().to_owned()
    };
    capabilities(catalog).iter().map(line).collect::<Vec<_>>().join("\n")
}

fn path(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn rule(names: &[&str], matches: &[&str]) -> NodeRule {
    NodeRule { path: path(names), matches: Some(path(matches)), ..NodeRule::default() }
}

fn mixed() -> Arc<ServerTools> {
    server(
        "mixed",
        vec![
            plain("rename_symbol", "Renames a symbol project-wide and updates references"),
            plain("put_object", "Uploads an object to a bucket"),
            plain("read_file", "Read the contents of a file"),
            plain("run_query", "Run a SQL query against the database"),
            plain("send_email", "Send an email to somebody"),
            plain("post_message", "Post a message to a channel and reply in its thread"),
            plain("oauth_login", "Log a user in with OAuth"),
            plain("web_search", "Search the web for recent pages"),
            plain("base64_encode", "Encode a text as base64"),
            plain("http_request", "Send an HTTP request to an endpoint"),
            plain("list_models", "List the language models that are available"),
            plain("text_to_image", "Generate an image from a prompt"),
            plain("create_event", "Create an event in a calendar and invite people"),
            plain("set_thermostat", "Set the temperature of a thermostat at home"),
            plain("frobnicate", "Frobnicate the quux"),
        ],
    )
}

#[test]
fn entries_are_where_a_reader_would_look_for_them() {
    assert_snapshot!(shown(&placed(&[], [mixed()])), @"
    Coding:
    Coding/Refactoring: rename_symbol
    Storage:
    Storage/Files: read_file
    Storage/Object storage: put_object
    Databases:
    Databases/SQL: run_query
    Data:
    Data/Conversion: base64_encode
    Media:
    Media/Images: text_to_image
    User:
    User/Auth: oauth_login
    Messaging:
    Messaging/Email: send_email
    Messaging/Chat: post_message
    Search:
    Search/Web search: web_search
    Web:
    Web/APIs: http_request
    AI:
    AI/Models: list_models
    Office:
    Office/Calendar: create_event
    Devices:
    Devices/Home: set_thermostat
    Other: frobnicate
    ");
}

#[test]
fn nodes_answer_to_their_names_in_any_case_and_to_their_aliases() {
    let catalog = placed(&[], [mixed()]);
    let at = |names: &[&str]| catalog.node(&path(names)).map(|node| node.path.join("/"));
    let asked = ["database", "FileSystem", "api", "AI", "search", "transform", "auth", "messaging", "coding", "Files"];
    let lines: Vec<String> = asked.iter().map(|name| format!("{name}: {}", at(&[name]).unwrap())).collect();
    assert_snapshot!(lines.join("\n"), @"
    database: Databases
    FileSystem: Storage/Files
    api: Web/APIs
    AI: AI
    search: Search
    transform: Data/Conversion
    auth: User/Auth
    messaging: Messaging
    coding: Coding
    Files: Storage/Files
    ");
    assert_eq!(at(&["database", "sql"]).unwrap(), "Databases/SQL");
    assert_eq!(at(&["databse"]), Err(path(&["Databases"])), "the nearest, by an alias");
    assert_eq!(at(&["Coding", "Refactorin"]), Err(path(&["Coding", "Refactoring"])));
    let node = catalog.node(&path(&["Storage", "Object storage"])).unwrap();
    assert!(!node.summary.is_empty() && node.tags.contains(&"objects".to_owned()), "{node:?}");
}

#[test]
fn a_server_keeps_its_name_and_a_category_is_never_a_server() {
    let files = server("filesystem", vec![plain("read_file", "Read the contents of a file")]);
    let catalog = placed(&[], [files]);
    assert_eq!(catalog.node(&path(&["filesystem"])).unwrap().path, ["Servers", "filesystem"]);
    assert_eq!(catalog.capability(&path(&["filesystem"])).unwrap().path, ["Storage", "Files"]);
    assert!(catalog.capability(&path(&["Servers", "filesystem"])).is_none());
}

#[test]
fn a_second_node_is_only_for_what_surely_fits_it() {
    let clusters = vec![
        plain("create_cluster", "Create a database cluster"),
        plain("list_cluster_backups", "List backups of a database cluster"),
        plain("restore_backup", "Restore from a backup"),
    ];
    let catalog = placed(&[], [server("db", clusters)]);
    assert_snapshot!(shown(&catalog), @"
    Storage:
    Storage/Backups: list_cluster_backups, restore_backup
    Databases:
    Databases/Database servers: create_cluster
    ");
    assert_eq!(catalog.home(1).unwrap(), ["Storage", "Backups"]);
    let twice = [rule(&["Safety"], &["db.*backup*"]), rule(&["Night shift"], &["db.list_*"])];
    let catalog = placed(&twice, catalog.servers().iter().cloned());
    let safety = catalog.node(&path(&["Safety"])).unwrap();
    assert_eq!((safety.entries.len(), catalog.node(&path(&["Night shift"])).unwrap().entries.len()), (2, 1));
    assert_eq!(catalog.root().entries.len(), 3, "each counted once");
}

#[test]
fn a_capability_that_nothing_has_is_answered_with_the_one_above() {
    let people = server("people", vec![plain("list_contacts", "List the contacts in the address book")]);
    let catalog = placed(&[], [people]);
    let at = |names: &[&str]| catalog.node(&path(names)).map(|node| node.path.join("/"));
    assert_eq!(at(&["login"]).as_deref(), Ok("User"));
    assert_eq!(at(&["password reset"]).as_deref(), Ok("User"), "what somebody may look for it by");
    assert_eq!(at(&["User", "Contacts"]).as_deref(), Ok("User/Contacts"));
    let user = catalog.node(&path(&["User"])).unwrap();
    assert!(user.aliases.contains(&"oauth".to_owned()), "{:?}", user.aliases);
}

#[test]
fn a_node_answers_to_its_old_names() {
    let talk = server(
        "talk",
        vec![
            plain("list_voices", "List the voices that can speak a text"),
            plain("text_to_speech", "Read a text aloud with a voice"),
            plain("create_bucket", "Create an object storage bucket"),
            plain("upload_object", "Upload an object to a bucket"),
        ],
    );
    let catalog = placed(&[], [talk.clone()]);
    let at = |names: &[&str]| catalog.node(&path(names)).map(|node| node.path.join("/"));
    assert_eq!(at(&["Rendering", "Sound"]).as_deref(), Ok("Media/Sound"));
    assert_eq!(at(&["Storage", "Buckets"]).as_deref(), Ok("Storage/Object storage"));
    assert_eq!(at(&["buckets"]).as_deref(), Ok("Storage/Object storage"));
    let renamed = placed(&[rule(&["Rendering", "Sound"], &["talk.list_voices"])], [talk]);
    assert!(renamed.root().children.iter().all(|root| root.name() != "Rendering"), "{}", shown(&renamed));
}

#[test]
fn rules_add_nodes_replace_nodes_and_name_what_belongs_to_them() {
    let money = server(
        "money",
        vec![
            plain("refund_charge", "Refund a charge to a customer"),
            plain("list_invoices", "List invoices that are due"),
            plain("read_file", "Read the contents of a file"),
        ],
    );
    let rules = [
        NodeRule {
            summary: Some("Everything about money".to_owned()),
            tags: Some(path(&["till"])),
            ..rule(&["Accounting"], &["Money.*_invoices", "refund a charge to a customer"])
        },
        NodeRule { path: path(&["storage", "files"]), summary: Some("Our files".to_owned()), ..NodeRule::default() },
        rule(&["Storage", "Archive"], &[]),
    ];
    let catalog = placed(&rules, [money]);
    assert_snapshot!(shown(&catalog), @"
    Accounting: list_invoices, refund_charge
    Storage:
    Storage/Files: read_file
    Storage/Archive:
    ");
    let said = |names: &[&str]| catalog.node(&path(names)).unwrap().summary.clone();
    assert_eq!(said(&["accounting"]), "Everything about money");
    assert_eq!(said(&["filesystem"]), "Our files", "the alias of a built-in node stays");
    assert_eq!(catalog.node(&path(&["Accounting"])).unwrap().tags, ["till"]);
    assert!(catalog.node(&path(&["Storage", "Archive"])).unwrap().entries.is_empty(), "there although empty");
}

#[test]
fn one_doubtful_entry_has_no_node_for_itself() {
    let odd =
        server("odd", vec![plain("giraffe", "Feed a giraffe at the zoo"), plain("tarot", "Lays out tarot cards")]);
    let catalog = placed(&[], [odd]);
    assert_snapshot!(shown(&catalog), @"Other: giraffe, tarot");
}

#[test]
fn agents_and_skills_have_places_too() {
    let name = toolfold_core::ServerName::new("agents").unwrap();
    let text = json!({"name": "reviewer", "description": "Reviews pull requests and comments on the code"});
    let entry = Entry::document(&name, Kind::Agent, &toolfold_wire::raw(&text)).unwrap();
    let catalog = placed(&[], [Arc::new(ServerTools::documents(name, "agents", vec![Arc::new(entry)]))]);
    assert_eq!(catalog.home(0).unwrap(), ["Coding", "Reviews"]);
}

/// What a tree says, for comparison.
fn places(catalog: &Catalog) -> BTreeMap<String, Vec<String>> {
    let ids = |node: &Node| node.entries.iter().map(|at| catalog.entry(*at).id.to_string()).collect();
    capabilities(catalog).into_iter().map(|node| (node.path.join("/"), ids(node))).collect()
}

fn some_server() -> impl Strategy<Value = Vec<(String, String)>> {
    let word = prop_oneof![
        Just("issue"),
        Just("file"),
        Just("sql"),
        Just("email"),
        Just("deploy"),
        Just("invoice"),
        Just("quux"),
        Just("map"),
    ];
    let tool = prop::collection::vec(word, 1..4).prop_map(|words| (words.join("_"), words.join(" ")));
    prop::collection::vec(tool, 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Everything is somewhere, the order of servers does not matter, and an update is as exact as a new beginning.
    #[test]
    fn an_update_is_as_exact_as_a_new_beginning(lists in prop::collection::vec(some_server(), 1..5), changed in some_server()) {
        let read = |(number, tools): (usize, &Vec<(String, String)>)| {
            server(&format!("s{number}"), tools.iter().map(|(name, about)| plain(name, about)).collect())
        };
        let servers: Vec<Arc<ServerTools>> = lists.iter().enumerate().map(read).collect();
        let old = Catalog::merge(1, servers.clone());
        let old_index = Index::build(&old);
        let before = Placement::default().update(&[], &old, &old_index);

        let mut newer = servers;
        newer[0] = read((0, &changed));
        let fresh = places(&placed(&[], newer.clone()));
        let reversed = places(&placed(&[], newer.iter().rev().cloned()));
        let catalog = Catalog::merge(2, newer);
        let index = old_index.update(&catalog);
        let updated = before.update(&[], &catalog, &index).apply(catalog);
        prop_assert_eq!(&places(&updated), &fresh);
        prop_assert_eq!(&reversed, &fresh);
        for position in 0..updated.len() {
            let home = updated.node(updated.home(position).unwrap()).unwrap();
            prop_assert!(home.holds(position));
        }
    }
}

/// The tree of real servers: nearly everything has its place, and no node is a heap or a leftover.
#[test]
fn the_tree_of_real_servers_is_worth_browsing() {
    let Some(servers) = real_servers() else { return };
    let catalog = placed(&[], servers);
    let all = catalog.len();
    let share = |node: &Node| node.entries.len() as f64 / all as f64;
    let other = catalog.node(&path(&[OTHER])).map_or(0.0, share);
    eprintln!("{all} entries, {} nodes, {:.1} % in {OTHER}", capabilities(&catalog).len(), 100.0 * other);
    assert!(other < 0.05, "{other}");
    for node in capabilities(&catalog) {
        assert!(share(node) < 0.25, "{} has {:.2} of everything", node.path.join("/"), share(node));
        // A server that is one tool in all may have a node for itself: that one is no leftover.
        let is_server =
            |at: &usize| catalog.server(catalog.entry(*at).server()).is_some_and(|of| of.entries.len() == 1);
        let is_leftover = node.entries.len() < 2 && !node.entries.iter().any(is_server);
        assert!(node.path.len() < 2 || !is_leftover, "{} has one entry", node.path.join("/"));
    }
}
