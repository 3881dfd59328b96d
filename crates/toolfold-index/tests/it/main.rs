//! Ranked names, not scores: what a user of the search sees.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod deeds;
mod folding;
mod languages;
mod learned;
mod ontology;
mod placed;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use insta::assert_snapshot;
use proptest::prelude::*;

use serde_json::{Value, json};
use toolfold_catalog::{Catalog, ServerSource, ServerTools};
use toolfold_core::{Kind, ServerName, slug};
use toolfold_index::{FLOOR, Filter, Index, Precise, Query, packed};
use toolfold_wire::{Raw, raw};

fn server(name: &str, tools: Vec<Raw>) -> Arc<ServerTools> {
    let name = ServerName::new(name).unwrap();
    Arc::new(ServerTools::read(ServerSource { name, prefix: true, title: None, instructions: None, tools }).0)
}

fn tool(name: &str, description: &str, schema: Value) -> Raw {
    raw(&json!({"name": name, "description": description, "inputSchema": schema}))
}

fn plain(name: &str, description: &str) -> Raw {
    tool(name, description, json!({"type": "object"}))
}

fn catalog() -> Catalog {
    Catalog::merge(1, servers())
}

fn servers() -> Vec<Arc<ServerTools>> {
    let issue = json!({"properties": {"title": {"type": "string", "description": "Headline of the ticket"}, "state": {"enum": ["open", "closed"]}}});
    let mut read_only: Value = serde_json::from_str(plain("list_issues", "List issues in a repository").get()).unwrap();
    read_only["annotations"] = json!({"readOnlyHint": true});
    vec![
        server(
            "github",
            vec![
                tool("create_issue", "Create a new issue in a repository", issue),
                raw(&read_only),
                plain("search", "Search code, issues and users"),
                plain("delete_repository", "Delete a repository for ever"),
            ],
        ),
        server(
            "gitlab",
            vec![
                plain("create_issue", "Create an issue in a project"),
                plain("get_pipeline", "Status of a pipeline run"),
            ],
        ),
        server("weather", vec![plain("get_forecast", "Forecast for the coming days: rain, wind and temperature")]),
    ]
}

fn found(catalog: &Catalog, query: Query<'_>) -> String {
    let index = Index::build(catalog);
    let found = index.search(catalog, &Query { limit: 10, answers_only: true, ..query });
    let names: Vec<String> = found.hits.iter().map(|hit| catalog.entry(hit.entry).id.to_string()).collect();
    names.join(" ")
}

fn ranked(text: &str) -> String {
    found(&catalog(), Query { text, ..Query::default() })
}

#[test]
fn names_come_first() {
    assert_snapshot!(ranked("create issue"), @"github.create_issue gitlab.create_issue github.list_issues github.search");
    assert_snapshot!(ranked("gitlab.create_issue"), @"gitlab.create_issue github.create_issue gitlab.get_pipeline github.list_issues github.search");
    assert_snapshot!(ranked("github__search"), @"github.search github.list_issues github.create_issue github.delete_repository");
    assert_snapshot!(ranked("createIssues"), @"gitlab.create_issue github.create_issue github.list_issues github.search");
    assert_snapshot!(ranked("search"), @"github.search");
}

#[test]
fn words_are_found_in_every_field() {
    assert_snapshot!(ranked("will it rain"), @"weather.get_forecast");
    assert_snapshot!(ranked("headline"), @"github.create_issue");
    assert_snapshot!(ranked("closed"), @"github.create_issue");
    assert_snapshot!(ranked("deleting repositories"), @"github.delete_repository github.list_issues github.create_issue");
    assert_snapshot!(ranked("gitlab pipelines"), @"gitlab.get_pipeline gitlab.create_issue");
}

#[test]
fn tags_and_aliases_are_words_of_a_tool() {
    let tagged = |name: &str, extra: Value| {
        let mut definition: Value = serde_json::from_str(plain(name, "Does what it does").get()).unwrap();
        definition.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        raw(&definition)
    };
    let tools = vec![
        tagged("alpha", json!({"_meta": {"framework": {"tags": ["billing"]}}})),
        tagged("beta", json!({"aliases": ["print_poster"]})),
        tagged("gamma", json!({"_meta": {"tags": ["surgery", 7]}})),
    ];
    let catalog = Catalog::merge(1, [server("s", tools)]);
    let first = |text| found(&catalog, Query { text, ..Query::default() }).split(' ').next().unwrap().to_owned();
    assert_eq!([first("billing"), first("print a poster"), first("surgery")], ["s.alpha", "s.beta", "s.gamma"]);
    let tags = Some(vec!["Billing".to_owned()]);
    let filter = Filter { tags, ..Filter::default() };
    assert_eq!(found(&catalog, Query { filter, ..Query::default() }), "s.alpha");
}

#[test]
fn an_old_name_is_as_good_as_a_name() {
    let mut tools =
        Arc::into_inner(server("s", vec![plain("read_url", "Reads it"), plain("page", "Turns it")])).unwrap();
    tools.answer_to(&BTreeMap::from([("fetch_page".to_owned(), "read_url".to_owned())]));
    let catalog = Catalog::merge(1, [Arc::new(tools)]);
    let found = Index::build(&catalog).search(&catalog, &Query { text: "fetchPages", limit: 1, ..Query::default() });
    assert_eq!(catalog.entry(found.hits[0].entry).name(), "read_url");
    assert!(found.hits[0].confidence >= 0.95, "{found:?}");
}

#[test]
fn slips_and_politeness_are_forgiven() {
    assert_snapshot!(ranked("weahter forcast"), @"weather.get_forecast");
    assert_snapshot!(ranked("could you please get me the pipeline status, thanks"), @"gitlab.get_pipeline weather.get_forecast github.create_issue");
    assert_snapshot!(ranked("the"), @"");
    assert_snapshot!(ranked("zzzzz"), @"");
}

#[test]
fn filters_hold() {
    let catalog = catalog();
    let with = |filter: Filter<'_>| found(&catalog, Query { text: "issue", filter, ..Query::default() });
    let gitlab = vec![ServerName::new("gitlab").unwrap()];
    assert_snapshot!(with(Filter { servers: Some(gitlab), ..Filter::default() }), @"gitlab.create_issue");
    assert_snapshot!(with(Filter { read_only: Some(true), ..Filter::default() }), @"github.list_issues");
    assert_snapshot!(with(Filter { within: Some(&[0, 4]), ..Filter::default() }), @"github.create_issue gitlab.create_issue");
    assert_snapshot!(with(Filter { prefix: Some("github.l".into()), ..Filter::default() }), @"github.list_issues");
    assert_snapshot!(with(Filter { kind: Some(Kind::Agent), ..Filter::default() }), @"");
    let all = found(
        &catalog,
        Query { filter: Filter { prefix: Some("get_".into()), ..Filter::default() }, ..Query::default() },
    );
    assert_snapshot!(all, @"gitlab.get_pipeline weather.get_forecast");
}

#[test]
fn a_hit_says_why_it_is_there_and_how_sure_that_is() {
    let catalog = catalog();
    let index = Index::build(&catalog);
    let best =
        |text| index.search(&catalog, &Query { text, limit: 1, explain: true, ..Query::default() }).hits.remove(0);
    let hit = best("github issue headline");
    let terms: Vec<String> = hit.explain.terms.iter().map(|term| format!("{} {:?}", term.term, term.fields)).collect();
    assert_snapshot!(terms.join("\n"), @"
    issue [Name, Summary]
    headlin [ParameterDescription]
    github [Server]
    issu [Name, Summary]
    headline [ParameterDescription]
    ticket [ParameterDescription]
    ");
    let sure = [best("github.create_issue"), best("create issues"), best("new issue"), best("a new way to play chess")]
        .map(|hit| hit.confidence);
    assert!(sure.is_sorted_by(|a, b| a > b), "{sure:?}");
    assert!(sure[0] > 0.95 && sure[3] < 0.3, "{sure:?}");
}

#[test]
fn what_nothing_fits_is_answered_with_nothing() {
    let catalog = catalog();
    let index = Index::build(&catalog);
    let search =
        |text, answers_only| index.search(&catalog, &Query { text, limit: 3, answers_only, ..Query::default() }).hits;
    for text in ["zzzzz", "qwxv jkpt", "knit a woollen sweater", "Какая сегодня фаза луны"] {
        assert!(search(text, false).first().is_none_or(|hit| hit.confidence < FLOOR), "{text}");
        assert!(search(text, true).is_empty(), "{text}");
    }
    assert!(search("make a ticket", true)[0].confidence >= FLOOR);
}

/// Whether anything fits is told of short requests that name nothing, and told worse the more there is to be somewhat alike.
#[test]
fn what_nothing_is_about_fits_nothing() {
    let catalog = catalog();
    let filler = (0..400).map(|number| plain(&format!("part_{number}"), &format!("Reads part {number} of a machine")));
    let large = Catalog::merge(2, servers().into_iter().chain([server("parts", filler.collect())]));
    let fits = |catalog: &Catalog, text| {
        Index::build(catalog).search(catalog, &Query { text, limit: 3, ..Query::default() }).fits
    };
    for text in ["knit a sweater", "bake bread"] {
        let (few, many) = (fits(&catalog, text), fits(&large, text));
        assert!(many < few && many < 0.07, "{text}: {few} {many}");
    }
    assert!(fits(&large, "create an issue in a repository") > 0.5);
    // The thing in it that nobody speaks of counts, and what somebody is called does not.
    let (elsewhere, named) = (fits(&large, "create an issue in a restaurant"), fits(&large, "create an issue for bob"));
    assert!(1.0 - elsewhere > 2.0 * (1.0 - named), "{elsewhere} {named}");
    assert_eq!(fits(&large, "github.create_issue"), 1.0, "it is named");
    assert_eq!(fits(&large, "knit a woollen sweater with seven colours by friday"), 1.0, "a story is not judged");
}

#[test]
fn an_encoder_has_its_say_once_it_is_attached() {
    let catalog = catalog();
    let index = Index::build(&catalog);
    let is_search = |entry: usize| catalog.entry(entry).name() == "search";
    let place = |index: &Index| {
        let found = index.search(&catalog, &Query { text: "umbrella or raincoat", limit: 10, ..Query::default() });
        found.hits.iter().position(|hit| is_search(hit.entry)).unwrap_or(10)
    };
    let without = place(&index);
    // It finds every query like the one tool, and all others unlike.
    let made = |count: usize| {
        let mut precise = Precise::new(Arc::new(|_| vec![1.0, 0.0].into()));
        let vector = |entry| if is_search(entry) { vec![1.0, 0.0] } else { vec![0.0, 1.0] };
        (0..count).for_each(|entry| precise.push(&packed(&vector(entry).into())));
        precise
    };
    assert!(index.with_vectors(Some(Arc::new(made(catalog.len() - 1)))).is_none());
    let precise = index.with_vectors(Some(Arc::new(made(catalog.len())))).unwrap();
    assert!(precise.is_precise() && !index.is_precise());
    assert!(place(&precise) < without);
    assert_eq!(place(&precise.with_vectors(None).unwrap()), without);
}

#[test]
fn the_same_query_has_the_same_answer_to_the_last_bit() {
    let catalog = catalog();
    let answer = |index: &Index, text| {
        let found = index.search(&catalog, &Query { text, limit: 10, ..Query::default() });
        found.hits.iter().map(|hit| (hit.entry, hit.score.to_bits(), hit.confidence.to_bits())).collect::<Vec<_>>()
    };
    let (one, other) = (Index::build(&catalog), Index::build(&catalog));
    for text in ["issue", "tell me the weather and open a ticket about it", "Überprüfe den Code"] {
        assert_eq!(answer(&one, text), answer(&one, text));
        assert_eq!(answer(&one, text), answer(&other, text));
    }
}

#[test]
fn pages_join_without_gap_or_overlap() {
    let tools = (0..25).map(|i| plain(&format!("report_{i}"), "")).collect();
    let catalog = Catalog::merge(1, [server("s", tools)]);
    let index = Index::build(&catalog);
    let page = |offset| {
        let found = index.search(&catalog, &Query { text: "report", limit: 10, offset, ..Query::default() });
        assert_eq!(found.total, 25);
        found.hits.into_iter().map(|hit| hit.entry).collect::<Vec<_>>()
    };
    let all: Vec<usize> = [0, 10, 20, 30].into_iter().flat_map(page).collect();
    assert_eq!(all.len(), 25);
    assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), 25);
}

#[test]
fn an_enormous_definition_is_indexed_within_bounds() {
    let huge = "word ".repeat(1_000_000);
    let deep = (0..60).fold(json!({}), |inner, _| json!({"properties": {"a": inner}}));
    let catalog = Catalog::merge(1, [server("s", vec![tool("one", &huge, deep)])]);
    let index = Index::build(&catalog);
    assert!(index.bytes() < 10_000, "{} bytes", index.bytes());
    assert_eq!(index.search(&catalog, &Query { text: "word", limit: 1, ..Query::default() }).total, 1);
}

/// The tool lists of real servers, where somebody has put them beside the repository.
#[allow(clippy::print_stderr, reason = "what is skipped is said to be")]
fn real_servers() -> Option<Vec<Arc<ServerTools>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/catalogs");
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("SKIPPED: there are no real tool lists beside the repository");
        return None;
    };
    let mut servers = Vec::new();
    for file in files.map(|file| file.unwrap().path()).filter(|file| file.extension().is_some_and(|end| end == "json"))
    {
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).unwrap();
        let Ok(list) = serde_json::from_str::<BTreeMap<String, Raw>>(&text) else {
            continue;
        };
        if stem.starts_with('_') {
            continue;
        }
        servers.push(server(&slug(&stem), serde_json::from_str(list["tools"].get()).unwrap()));
    }
    Some(servers)
}

/// What real catalogs cost. The numbers are printed, not asserted, but for the size.
#[test]
fn real_catalogs_are_small() {
    let Some(servers) = real_servers() else { return };
    let start = Instant::now();
    let catalog = Catalog::merge(1, servers);
    let merged = start.elapsed();
    let start = Instant::now();
    let index = Index::build(&catalog);
    let built = start.elapsed();
    let start = Instant::now();
    let same = index.update(&catalog);
    let updated = start.elapsed();
    println!("{} tools: merged in {merged:?}, built in {built:?}, updated in {updated:?}", catalog.len());
    println!("{} bytes, {} a tool", index.bytes(), index.bytes() / catalog.len());
    assert!(index.bytes() / catalog.len() < 2000, "3,000 tools fit in 6 MB");
    assert_eq!(same.bytes(), index.bytes());
}

/// What a person sees who asks the tools of a hundred real servers.
#[test]
fn real_catalogs_are_searched_by_meaning() {
    let Some(servers) = real_servers() else { return };
    let catalog = Catalog::merge(1, servers);
    let index = Index::build(&catalog);
    let best = |text: &str| {
        let found = index.search(&catalog, &Query { text, limit: 3, answers_only: true, ..Query::default() });
        let names: Vec<String> = found.hits.iter().map(|hit| catalog.entry(hit.entry).id.to_string()).collect();
        format!("{text}: {}", names.join(" "))
    };
    let asked = [
        "open a pull request",
        "read a file from disk",
        "send a message to a slack channel",
        "take a picture of a web page",
        "what is the time in Tokyo",
        "run an SQL query",
        "find a flight to Rome and book a hotel there",
        "knit a woollen sweater",
    ];
    assert_snapshot!(asked.map(best).join("\n"), @"
    open a pull request: server-github-2025.create_pull_request azure-devops.repo_pull_request_write postman.createCollectionPullRequest
    read a file from disk: server-filesystem.read_text_file server-filesystem.read_file server-filesystem.read_media_file
    send a message to a slack channel: dynatrace.send_slack_message server-slack-2025.slack_post_message server-slack-2025.slack_reply_to_thread
    take a picture of a web page: chrome-devtools-mcp.take_screenshot playwright-mcp.browser_take_screenshot server-puppeteer-2025.puppeteer_screenshot
    what is the time in Tokyo: mcp-server-time.get_current_time google-calendar.get-current-time ms-365.find-meeting-times
    run an SQL query: awslabs-postgres.run_query mcp-clickhouse.run_query mcp-server-motherduck.execute_query
    find a flight to Rome and book a hotel there: ms-365.list-room-list-rooms ms-365.get-room mapbox.optimization_tool
    knit a woollen sweater:
    ");
}

fn any_tools() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::vec(("[a-c_]{1,6}", "([a-z]{1,8} ?){0,12}|\\PC{0,40}"), 0..12)
}

fn of(tools: &[(String, String)]) -> Catalog {
    Catalog::merge(1, [server("s", tools.iter().map(|(name, description)| plain(name, description)).collect())])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// An index that was updated answers as one that was built.
    #[test]
    fn updating_is_building(before in any_tools(), after in any_tools(), text in "([a-z]{1,8} ?){0,4}") {
        let (before, after) = (of(&before), of(&[before.clone(), after].concat()));
        let updated = Index::build(&before).update(&after);
        let built = Index::build(&after);
        prop_assert_eq!(updated.bytes(), built.bytes());
        let query = Query { text: &text, limit: 50, ..Query::default() };
        let answer = |index: &Index| {
            index.search(&after, &query).hits.iter().map(|hit| (hit.entry, hit.score.to_bits(), hit.copies)).collect::<Vec<_>>()
        };
        prop_assert_eq!(answer(&updated), answer(&built));
    }

    #[test]
    fn any_query_is_answered_in_order(tools in any_tools(), text in "\\PC{0,60}|([a-c]{1,6} ?){0,5}", offset in 0usize..20) {
        let catalog = of(&tools);
        let index = Index::build(&catalog);
        let found = index.search(&catalog, &Query { text: &text, limit: 5, offset, ..Query::default() });
        prop_assert!(found.hits.len() <= 5 && found.total <= catalog.len());
        prop_assert!(found.hits.iter().all(|hit| (0.0..=1.0).contains(&hit.confidence)));
        prop_assert!(found.hits.is_sorted_by(|a, b| a.confidence >= b.confidence));
    }

    #[test]
    fn a_tool_is_found_by_its_id(tools in any_tools()) {
        let catalog = of(&tools);
        let index = Index::build(&catalog);
        for entry in catalog.entries().iter().filter(|entry| entry.name().contains(char::is_alphabetic)) {
            let id = entry.id.to_string();
            let found = index.search(&catalog, &Query { text: &id, limit: 20, ..Query::default() });
            let fold = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
            // Names that differ in underscores alone share the first places.
            let first: Vec<String> = found.hits.iter().map(|hit| catalog.entry(hit.entry)).take_while(|hit| fold(hit.name()) == fold(entry.name())).map(|hit| hit.id.to_string()).collect();
            prop_assert!(first.contains(&id), "{id} is not among {first:?}");
        }
    }
}
