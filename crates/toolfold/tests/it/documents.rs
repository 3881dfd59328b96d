//! Agents and skills as a person meets them, and that a file which is added, changed or removed is seen while serving.

use std::fs;

use toolfold::{Gateway, LoadOptions, Options, Surface, load, watch};
use toolfold_core::Principal;
use toolfold_gateway::Client;

use crate::fakes::until;
use crate::world::World;

const CONFIG: &str = "toolbox = false\n[agents]\npaths = [\"agents\"]\n[skills]\npaths = [\"skills\"]\n";
const REVIEWER: &str = "---\nname: reviewer\ndescription: Reviews code quality. Use when a change is done.\ntools: Read, Grep\n---\nYou review.\n";

fn world() -> World {
    let world = World::with_config(CONFIG);
    for folder in ["agents", "skills/pdf"] {
        fs::create_dir_all(world.path(folder)).unwrap();
    }
    fs::write(world.path("agents/reviewer.md"), REVIEWER).unwrap();
    fs::write(world.path("skills/pdf/SKILL.md"), "---\ndescription: Fill in PDF forms.\n---\nRun it.\n").unwrap();
    world
}

fn told(world: &World, arguments: &[&str]) -> String {
    let output = world.toolfold(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).replace(&world.path("").display().to_string(), "./");
    format!("$ toolfold {}\n{}\n", arguments.join(" "), text.trim_end())
}

#[test]
fn they_are_listed_found_and_shown() {
    let world = world();
    fs::write(world.path("agents/bad.md"), "Just text.").unwrap();
    let mut text = told(&world, &["check"]);
    fs::remove_file(world.path("agents/bad.md")).unwrap();
    for arguments in [
        &["ls"][..],
        &["search", "review", "code", "-n", "1"],
        &["show", "agents.reviewer", "--detail", "full"],
        &["call", "skills.pdf"],
    ] {
        text.push_str(&told(&world, arguments));
    }
    insta::assert_snapshot!(text, @r"
    $ toolfold check
    ./agents/bad.md: warning: has no front matter: its first line must be ---
    ./toolfold.toml is right, and names no server: its agents and skills are served.
    $ toolfold ls
    Coding/   1 agent    Write, review, build, test and ship software
    Office/   1 skill    Documents, spreadsheets, slides, notes, forms, calendars
    Servers/  2 entries  every tool, by the server it belongs to
    $ toolfold search review code -n 1
    agents.reviewer [agent] — Reviews code quality
    $ toolfold show agents.reviewer --detail full
    agents.reviewer
      description       Reviews code quality. Use when a change is done.
      whenToUse         Use when a change is done
      systemPrompt      You review.
      tools             Read, Grep
      estimated tokens  45
    $ toolfold call skills.pdf
    error: skills.pdf is a skill: it is read, not called.

    hint: Read skills.pdf in full, then do what it says with the tools it names.
    ");
}

#[tokio::test]
async fn files_are_looked_after_while_serving() {
    let world = world();
    let options = LoadOptions { file: Some(world.path("toolfold.toml")), ..LoadOptions::default() };
    let config = load(&options).unwrap().config;
    let look = watch::Look::at(&config);
    let gateway = Gateway::start(Options { config, local: Vec::new() });
    gateway.settled(&me()).await;
    let watching = tokio::spawn(watch::reload(gateway.clone(), options, look));
    assert_eq!(ids(&gateway), ["agents.reviewer", "skills.pdf"]);

    fs::write(world.path("agents/planner.md"), "---\ndescription: Plans.\n---\nPlan.").unwrap();
    becomes(&gateway, &["agents.planner", "agents.reviewer", "skills.pdf"]).await;
    fs::write(world.path("agents/reviewer.md"), REVIEWER.replace("name: reviewer", "name: critic")).unwrap();
    becomes(&gateway, &["agents.critic", "agents.planner", "skills.pdf"]).await;
    fs::remove_dir_all(world.path("skills/pdf")).unwrap();
    becomes(&gateway, &["agents.critic", "agents.planner"]).await;
    fs::write(world.path("toolfold.toml"), "toolbox = false\n[agents]\npaths = [\"agents/planner.md\"]\n").unwrap();
    becomes(&gateway, &["agents.planner"]).await;
    watching.abort();
}

fn me() -> Client {
    Client::inside(Principal::local(), Surface::Direct)
}

fn ids(gateway: &Gateway) -> Vec<String> {
    let scope = gateway.latest(&me());
    let view = scope.view();
    view.entries().map(|place| view.entry(place).id.to_string()).collect()
}

/// Files are looked at once a second, and nothing is said of agents and skills that come and go: no client lists them.
async fn becomes(gateway: &Gateway, expected: &[&str]) {
    until("what the files say is there", || ids(gateway) == expected).await;
}
