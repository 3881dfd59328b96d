//! The official conformance suite, through Toolfold: what it asks of a server, asked of our fixture with Toolfold in
//! between, and what it asks of a client, asked of Toolfold with the suite's own servers behind it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use toolfold_test::binary;

use crate::peers::{self, Beside, node, script};
use crate::world::{Served, World};

/// Everybody has to show who they are, but for this machine; and what exists for it is what a rule grants.
const CLOSED: &str = "[http]\ntoken = \"unused\"\nlocal = true\n\n[[rules]]\nwho = \"local\"\neffect = \"call\"\n";

#[test]
fn servers_of_the_legacy_era() {
    check_server("2025-11-25", "legacy", "");
}

#[test]
fn servers_of_the_modern_era() {
    check_server("2026-07-28", "modern", "");
}

#[test]
fn servers_of_the_legacy_era_with_rights() {
    check_server("2025-11-25", "legacy", CLOSED);
}

#[test]
fn servers_of_the_modern_era_with_rights() {
    check_server("2026-07-28", "modern", CLOSED);
}

#[test]
fn servers_of_the_legacy_era_with_a_token() {
    check_signed_in("2025-11-25", "legacy");
}

#[test]
fn servers_of_the_modern_era_with_a_token() {
    check_signed_in("2026-07-28", "modern");
}

#[test]
fn clients_of_the_legacy_era() {
    for scenario in ["tools_call", "json-schema-2020-12-preservation", "sse-retry"] {
        check_client(scenario, "2025-11-25");
    }
}

#[test]
fn clients_of_the_modern_era() {
    let scenarios = [
        "tools_call",
        "request-metadata",
        "http-standard-headers",
        "http-custom-headers",
        "http-invalid-tool-headers",
        "json-schema-2020-12-preservation",
        "json-schema-ref-no-deref",
    ];
    for scenario in scenarios {
        check_client(scenario, "2026-07-28");
    }
}

/// Logins at servers: required in both revisions.
const LOGINS: [&str; 14] = [
    "metadata-default",
    "metadata-var1",
    "metadata-var2",
    "metadata-var3",
    "basic-cimd",
    "scope-from-www-authenticate",
    "scope-from-scopes-supported",
    "scope-omitted-when-undefined",
    "scope-step-up",
    "scope-retry-limit",
    "token-endpoint-auth-basic",
    "token-endpoint-auth-post",
    "token-endpoint-auth-none",
    "pre-registration",
];

/// Required in the newer one alone.
const MODERN_LOGINS: [&str; 11] = [
    "resource-mismatch",
    "offline-access-scope",
    "offline-access-not-supported",
    "authorization-server-migration",
    "iss-supported",
    "iss-not-advertised",
    "iss-supported-missing",
    "iss-wrong-issuer",
    "iss-unexpected",
    "iss-normalized",
    "metadata-issuer-mismatch",
];

const EXTENSIONS: [&str; 6] = [
    "client-credentials-jwt",
    "client-credentials-basic",
    "enterprise-managed-authorization",
    "dpop",
    "dpop-nonce",
    "wif-jwt-bearer",
];

#[test]
fn logins_of_the_legacy_era() {
    check_logins(&LOGINS, "2025-11-25");
}

#[test]
fn logins_of_the_modern_era() {
    check_logins(&LOGINS, "2026-07-28");
}

#[test]
fn logins_of_the_modern_era_alone() {
    check_logins(&MODERN_LOGINS, "2026-07-28");
}

#[test]
fn logins_by_extensions() {
    check_logins(&EXTENSIONS, "2025-11-25");
    check_logins(&EXTENSIONS, "2026-07-28");
}

#[test]
fn logins_from_before_servers_described_themselves() {
    check_logins(&["2025-03-26-oauth-metadata-backcompat", "2025-03-26-oauth-endpoint-fallback"], "2025-03-26");
}

/// All of them are tried, and all of them pass, warnings included.
fn check_logins(scenarios: &[&str], revision: &str) {
    let failed: Vec<String> = scenarios
        .iter()
        .map(|scenario| (scenario, run_client(&format!("auth/{scenario}"), revision)))
        .filter(|(_, run)| !run.success || !run.total().contains(" 0 failed, 0 warnings"))
        .map(|(scenario, run)| format!("{scenario}, {revision}:\n{}", run.output))
        .collect();
    assert!(failed.is_empty(), "{} of {} fail:\n{}", failed.len(), scenarios.len(), failed.join("\n\n"));
}

/// The suite knows nothing of tokens: one that an issuer signed is put into everything that it asks. It then finds in each
/// scenario what it finds where nobody has to show anything; and without the token it is not let in at all.
fn check_signed_in(revision: &str, era: &str) {
    let mut command = node();
    command.arg(script("issuer.mjs")).arg("the suite");
    let issuer = Beside::start(command);
    let text = |key: &str| issuer.said[key].as_str().unwrap().to_owned();
    let closed = format!(
        "[[issuers]]\nissuer = {:?}\naudiences = [\"the suite\"]\n[[rules]]\nwho = \"alice\"\neffect = \"call\"\n",
        text("issuer")
    );
    // Each its own: it remembers what was called.
    let fixtures = [fixture(), fixture()];
    let (open, closed) = (in_front(&fixtures[0], era, ""), in_front(&fixtures[1], era, &closed));
    let (open_served, closed_served) = (open.serve(), closed.serve());
    let without = Run::of_server(&open, &open_served.url, revision);
    let mut command = conformance_after(&closed, Some(&script("bearer.mjs")));
    command.args(["server", "--url", &closed_served.url, "--requirements", revision]);
    let with = Run::of(command.env("SERVED", &closed_served.url).env("TOKEN", text("token")));
    println!("{revision}: without a token {}, with one {}", without.total(), with.total());
    assert!(with.success, "a required scenario fails:\n{}", with.output);
    // Not how many checks of one pass: a SHOULD that the suite waits a moment for is a pass or a warning.
    let failed =
        |run: &Run| -> Vec<_> { run.scenarios.iter().map(|(name, (_, failed))| (name.clone(), *failed)).collect() };
    assert!(!with.scenarios.is_empty() && failed(&with) == failed(&without), "{}\n{}", without.output, with.output);
    let nobody = Run::of_server(&closed, &closed_served.url, revision);
    assert!(!nobody.success, "it is not let in:\n{}", nobody.output);
}

fn fixture() -> Served {
    let mut command = Command::new(binary("toolfold-test", "conformance-server"));
    command.args(["--port", "0"]).stdin(Stdio::null()).stdout(Stdio::null());
    Served::start(&mut command)
}

fn in_front(fixture: &Served, era: &str, more: &str) -> World {
    World::with_config(&format!(
        "surface = \"direct\"\n\n[servers.fixture]\nurl = {:?}\nprefix = false\nera = {era:?}\n\n{more}",
        fixture.url
    ))
}

/// Everything the revision requires passes; of what it does not require, all that the fixture passes alone.
fn check_server(revision: &str, era: &str, more: &str) {
    let fixture = fixture();
    let world = in_front(&fixture, era, more);
    let served = world.serve();
    let alone = Run::of_server(&world, &fixture.url, revision);
    let through = Run::of_server(&world, &served.url, revision);
    println!("{revision}: alone {}, through Toolfold {}", alone.total(), through.total());
    assert!(through.success, "a required scenario fails:\n{}", through.output);
    for (scenario, (_, failed)) in &alone.scenarios {
        let through = through.scenarios.get(scenario).map(|(_, failed)| failed);
        assert!(*failed > 0 || through == Some(&0), "{scenario} passes alone and fails through Toolfold");
    }
}

fn check_client(scenario: &str, revision: &str) {
    let run = run_client(scenario, revision);
    assert!(run.success, "{scenario}, {revision}:\n{}", run.output);
}

fn run_client(scenario: &str, revision: &str) -> Run {
    let world = World::with_config("");
    let mut command = conformance(&world);
    let driver = format!("{} {}", peers::module(".bin/node").display(), script("through.mjs").display());
    // Extensions are on no revision's list: without `--force` they are skipped, and a skipped one counts as passed.
    command.args(["client", "--force", "--scenario", scenario, "--spec-version", revision, "--command", &driver]);
    // A login takes several processes one after another, and a loaded machine its time for each.
    command.args(["--timeout", "180000"]);
    command.env("TOOLFOLD", env!("CARGO_BIN_EXE_toolfold"));
    let run = Run::of(&mut command);
    println!("{revision} {scenario}: {}", run.total());
    run
}

struct Run {
    success: bool,
    /// Checks passed and failed, by scenario.
    scenarios: BTreeMap<String, (u32, u32)>,
    output: String,
}

impl Run {
    fn of_server(world: &World, url: &str, revision: &str) -> Run {
        let mut command = conformance(world);
        command.args(["server", "--url", url, "--requirements", revision]);
        Run::of(&mut command)
    }

    fn of(command: &mut Command) -> Run {
        let output = command.stdin(Stdio::null()).output().expect("the conformance suite can be started");
        let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        Run {
            success: output.status.success(),
            scenarios: said.lines().filter_map(scenario).collect(),
            output: format!("{said}\n{complained}"),
        }
    }

    fn total(&self) -> String {
        let line = self.output.lines().find(|line| line.starts_with("Total:") || line.starts_with("Passed:"));
        line.unwrap_or("nothing").to_owned()
    }
}

fn conformance(world: &World) -> Command {
    conformance_after(world, None)
}

/// The suite, with a script of ours loaded before it.
fn conformance_after(world: &World, before: Option<&Path>) -> Command {
    let mut command = world.settle(node());
    if let Some(before) = before {
        command.arg("--import").arg(before);
    }
    command.arg(peers::module("@modelcontextprotocol/conformance/dist/index.js"));
    command
}

/// `✓ tools-list: 3 passed, 0 failed`
fn scenario(line: &str) -> Option<(String, (u32, u32))> {
    let (name, counts) = line.strip_prefix(['✓', '✗'])?.trim().split_once(": ")?;
    let (passed, failed) = counts.split_once(" passed, ")?;
    Some((name.to_owned(), (passed.parse().ok()?, failed.strip_suffix(" failed")?.parse().ok()?)))
}
