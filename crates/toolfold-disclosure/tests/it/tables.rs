//! The figures of the design documents that the surfaces were drawn up in, rebuilt on tools like theirs and counted with
//! a real tokenizer, theirs beside ours. `cargo xtask bench tables` prints them.
//!
//! What a reader would get wrong: their tools are not ours, and they estimated (four characters a token, or a round
//! number). What compares is the share of the first row, which is everything shown at once.

use serde_json::{Value, json};
use toolfold_catalog::ServerSource;
use toolfold_core::Surface;
use toolfold_disclosure::{View, answer, level, route, tokens, tools};
use toolfold_wire::raw;

use crate::catalogs::{CORE, bare, file, home, lines, project};
use crate::fixture::{Fixture, text};

/// What is asked for, what a document says of it, what it costs here.
type Row = (&'static str, Option<usize>, usize);

fn show(title: &str, rows: &[Row]) {
    let (first, ours_first) = (rows[0].1.unwrap_or(1), rows[0].2);
    let share = |part: usize, of: usize| format!("{:.1} %", 100.0 * part as f64 / of as f64);
    println!("\n{title:<58} {:>8} {:>8} {:>8} {:>8}", "theirs", "share", "ours", "share");
    for (what, theirs, ours) in rows {
        let (theirs, theirs_share) =
            theirs.map_or_else(Default::default, |tokens| (tokens.to_string(), share(tokens, first)));
        println!("  {what:<56} {theirs:>8} {theirs_share:>8} {ours:>8} {:>8}", share(*ours, ours_first));
    }
}

/// The tokens of a tool list.
fn listed(surface: Surface, view: &View<'_>) -> usize {
    let list: Vec<String> = tools(surface, view).iter().map(|definition| definition.get().to_owned()).collect();
    tokens::count(&format!("[{}]", list.join(",")))
}

/// The tokens of the answer of a meta-tool, as a model reads it.
fn asked(fixture: &Fixture, surface: Surface, name: &str, arguments: Value) -> usize {
    let action = route(surface, &fixture.view(), name, Some(&raw(&arguments)));
    tokens::count(&text(&answer(surface, &fixture.view(), &action).unwrap()))
}

/// The tokens of lists in which these tools are loaded.
fn with_loaded(fixture: &Fixture, names: &[&str]) -> usize {
    let loaded: Vec<usize> = names.iter().map(|name| fixture.catalog.resolve(name).unwrap()).collect();
    listed(Surface::Lifecycle, &fixture.view().having_loaded(&loaded))
}

/// This many tools: the project's and the toolbox, again and again under other names.
fn grown(count: usize) -> Fixture {
    let ours: Vec<Value> =
        [include_str!("../../../../eval/project/tools.jsonl"), include_str!("../../../../eval/toolbox/tools.jsonl")]
            .into_iter()
            .flat_map(lines)
            .collect();
    let again = |place: usize| {
        let mut tool = ours[place % ours.len()].clone();
        if place >= ours.len() {
            tool["name"] = json!(format!("{}_{}", tool["name"].as_str().unwrap(), place / ours.len() + 1));
        }
        tool
    };
    let tools: Vec<Value> = (0..count).map(again).collect();
    let servers = tools.chunks(50).enumerate().map(|(place, tools)| bare(&format!("group{place}"), tools));
    Fixture::of(servers.collect::<Vec<ServerSource>>())
}

#[test]
fn fourteen_tools_of_a_home() {
    let all = Fixture::of([home()]);
    let core = Fixture::of([home()]).pinned(&CORE);
    let direct = listed(Surface::Direct, &all.view());
    let meta = listed(Surface::Hybrid, &all.view());
    let begin = listed(Surface::Hybrid, &core.view());
    let search = asked(&core, Surface::Hybrid, "search_tools", json!({"query": "lights"}));
    let used = |name: &str| {
        let arguments = level::example(core.entry(name));
        tokens::count(&json!({"name": "use_tool", "arguments": {"name": name, "arguments": arguments}}).to_string())
    };
    let (two, three) = (
        used("set_light") + used("control_zone_lights"),
        used("set_light") + used("control_zone_lights") + used("set_thermostat"),
    );
    show(
        "14 tools, four of them pinned (hybrid)",
        &[
            ("all tools", Some(3000), direct),
            ("all tools and two meta-tools", Some(3200), direct + meta),
            ("two meta-tools alone", Some(400), meta),
            ("four pinned tools and two meta-tools", Some(1200), begin),
            ("a search for lights", Some(200), search),
            ("all of a conversation that uses two more tools", Some(1800), begin + search + two),
            ("all of a conversation that uses three more tools", Some(2000), begin + search + three),
        ],
    );
    assert!(begin < direct && meta <= 200, "{begin} of {direct}, {meta}");
    assert!(search < 200, "{search}");
}

#[test]
fn thirty_tools_of_a_project() {
    let fixture = Fixture::of([project()]);
    let all = listed(Surface::Direct, &fixture.view());
    let registry = ["registry_next", "registry_update", "registry_list"];
    let workflow = ["workflow_start", "workflow_status", "workflow_approve"];
    let six = [&registry[..], &workflow[..]].concat();
    let rows = [
        ("all tools", Some(2385), all),
        ("meta-tools alone (lifecycle, 4)", Some(147), with_loaded(&fixture, &[])),
        ("a simple task: one tool loaded", Some(218), with_loaded(&fixture, &["spec_validate"])),
        ("a workflow: three tools loaded", Some(300), with_loaded(&fixture, &workflow)),
        ("the registry: three tools loaded", Some(350), with_loaded(&fixture, &registry)),
        ("a complex workflow: six tools loaded", Some(500), with_loaded(&fixture, &six)),
        ("three tasks, one after the other: first", Some(200), with_loaded(&fixture, &["spec_init"])),
        ("second", Some(270), with_loaded(&fixture, &["spec_init", "spec_list"])),
        ("third", Some(340), with_loaded(&fixture, &["spec_init", "spec_list", "spec_validate"])),
        ("meta-tools alone (compact, 2)", None, listed(Surface::Compact, &fixture.view())),
    ];
    show("30 tools, loaded when they are needed (lifecycle)", &rows);
    assert!(rows.iter().skip(1).all(|row| row.2 * 2 < all), "less than half of everything, whatever is done");
    assert!(rows[2].2 < 500, "a simple task");
    assert!(rows[1].2 < rows[2].2 && rows[2].2 < rows[4].2 && rows[4].2 < rows[5].2);
}

#[test]
fn fifty_and_five_hundred_tools_by_level() {
    let browse = asked(&Fixture::of([file()]), Surface::Levels, "discover_tools", json!({}));
    show("9 file tools", &[("level 1 of all of them", Some(90), browse)]);
    for (count, needed, theirs) in [(50, 3, [10_000, 500, 150, 200, 850]), (500, 5, [100_000, 5000, 250, 200, 5450])] {
        let fixture = grown(count);
        let names: Vec<String> = fixture.catalog.entries().iter().map(|entry| entry.name().to_owned()).collect();
        let one = |name: &str, more: Value| {
            let mut arguments = json!({"tool": name});
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            asked(&fixture, Surface::Levels, "discover_tools", arguments)
        };
        let full = |name: &String| one(name, json!({"detail": "full"}));
        let everything: usize = names.iter().map(full).sum();
        let summaries: usize = fixture
            .catalog
            .entries()
            .iter()
            .map(|entry| tokens::count(&json!({"name": entry.name(), "summary": level::summary(entry)}).to_string()))
            .sum();
        let details: usize = names.iter().step_by(7).take(needed).map(|name| one(name, json!({}))).sum();
        let deep = full(&names[7]);
        let browsed = asked(&fixture, Surface::Levels, "discover_tools", json!({}));
        show(
            &format!("{count} tools, {needed} of them needed (levels)"),
            &[
                ("level 3 of all tools", Some(theirs[0]), everything),
                ("level 1 of all tools", Some(theirs[1]), summaries),
                ("level 1 as it is answered, groups where there are many", None, browsed),
                ("level 2 of those needed", Some(theirs[2]), details),
                ("level 3 of one", Some(theirs[3]), deep),
                ("together", Some(theirs[4]), summaries + details + deep),
                ("together as it is answered", None, browsed + details + deep),
            ],
        );
        assert!(summaries < everything / 5, "{summaries} of {everything}");
        assert!(browsed <= 1500, "an answer has a bound, however many tools there are: {browsed}");
        assert!(details / needed < deep, "each level costs more than the one before");
    }
}

#[test]
fn schemas_whole_compact_and_micro() {
    let fixture = grown(64);
    let sum = |shown: &dyn Fn(&Value) -> Value| -> usize {
        fixture.catalog.entries().iter().map(|entry| tokens::count(&shown(&entry.input_schema()).to_string())).sum()
    };
    let whole = sum(&Value::clone);
    let compact = sum(&level::compact_schema);
    let micro = sum(&level::micro_schema);
    show(
        "Schemas of 64 tools (gateway); theirs: of every hundred",
        &[("whole", Some(100), whole), ("compact", Some(60), compact), ("micro", Some(35), micro)],
    );
    assert!(micro < compact && compact < whole, "{micro}, {compact}, {whole}");
}

#[test]
fn meta_tools_cost_the_same_however_many_tools_there_are() {
    let (few, many) = (grown(30), grown(500));
    println!("\nThe tool list of each surface, with 30 and with 500 tools");
    for surface in Surface::ALL {
        let (at_few, at_many) = (listed(surface, &few.view()), listed(surface, &many.view()));
        println!("  {:<12} {at_few:>8} {at_many:>8}", surface.as_str());
        assert_eq!(at_few == at_many, surface != Surface::Direct, "{}", surface.as_str());
    }
    assert!(listed(Surface::Compact, &many.view()) <= 200);
}
