//! The repository is tidy, and the rules would notice if it were not; what is recorded is compared with.

mod eval;

use xtask::{Dependency, Package, Workspace, tidy};

#[test]
fn the_repository_is_tidy() {
    let findings = tidy::check(&Workspace::find().unwrap()).unwrap();
    assert!(findings.is_empty(), "`cargo xtask tidy` finds:\n{}", findings.join("\n"));
}

#[test]
fn an_edge_against_the_flow_is_found() {
    let package = |name: &str, dependencies: &[(&str, bool)]| Package {
        name: name.to_owned(),
        dependencies: dependencies
            .iter()
            .map(|(name, dev)| Dependency { name: (*name).to_owned(), dev: *dev })
            .collect(),
    };
    let findings = tidy::edges(&[
        package("toolfold-catalog", &[("toolfold-core", false), ("toolfold-gateway", false), ("toolfold-test", true)]),
        package("toolfold-index", &[("tokio", false)]),
        package("toolfold-serve", &[("hyper", false), ("rmcp", true), ("clap", false)]),
        package("toolfold-extra", &[]),
        package("toolfold", &[("toolfold-test", false)]),
    ]);
    assert_eq!(
        findings,
        [
            "crates/toolfold-catalog/Cargo.toml: may not depend on toolfold-gateway",
            "crates/toolfold-index/Cargo.toml: may not depend on tokio",
            "crates/toolfold-serve/Cargo.toml: may not depend on rmcp",
            "crates/toolfold-serve/Cargo.toml: may not depend on clap",
            "crates/toolfold-extra: has no place in the order of crates (xtask/src/tidy/dependencies.rs)",
            "crates/toolfold/Cargo.toml: may not depend on toolfold-test",
        ]
    );
}

#[test]
fn a_dependency_without_a_reason_is_found() {
    let manifest = "[workspace.dependencies]\ntoolfold = { path = \"crates/toolfold\" }\nurl = \"2\" # reads URLs\nserde = \"1\"\n\n[profile.dev]\ndebug = 0\n";
    assert_eq!(tidy::reasons(manifest), ["Cargo.toml:4: serde has no comment that says why it is here"]);
}

#[test]
fn the_rules_for_sources_notice() {
    assert_eq!(tidy::opening("a.rs", "//! Says.\n"), None);
    assert_eq!(tidy::opening("a.rs", "use std;\n").unwrap(), "a.rs: does not open with //!, what it is");
    assert_eq!(tidy::size("a.rs", &"x\n".repeat(400)), None);
    assert_eq!(tidy::size("a.rs", &"x\n".repeat(401)).unwrap(), "a.rs: 401 lines before its tests, more than 400");
    assert_eq!(tidy::size("a.rs", &format!("x\n#[cfg(test)]\nmod tests {{\n{}", "x\n".repeat(401))), None);
    // What is for tests alone and stands among the rest does not end it.
    assert!(tidy::size("a.rs", &format!("x\n#[cfg(test)]\nmod tests;\n{}", "x\n".repeat(401))).is_some());
    let put_off = concat!("// TO", "DO: later\nlet todo = 1;\n");
    assert_eq!(tidy::todos("a.rs", put_off), ["a.rs:1: do it, or open an issue and say so there"]);
}

#[test]
fn links_that_lead_nowhere_are_found() {
    let texts = [
        ("README.md", "[a](docs/a.md) [b](docs/b.md) `[no](link)` [there](LICENSE) [out](https://example.com)"),
        ("docs/a.md", "# One Thing: `x`\n[up](../README.md) [here](#one-thing-x) [`code`](#two)\n```\n[no](link)\n```"),
        ("docs/SUMMARY.md", "[c](c.md)"),
        ("docs/c.md", ""),
    ];
    let texts = texts.map(|(file, text)| (file.into(), text.to_owned())).into();
    let exists = |path: &std::path::Path| path == std::path::Path::new("LICENSE");
    let findings = [
        "README.md:1: the link docs/b.md leads nowhere",
        "docs/a.md:2: the link ../README.md leads out of the book",
        "docs/a.md:2: the link #two leads nowhere",
    ];
    assert_eq!(tidy::astray(&texts, &exists), findings);
    assert_eq!(tidy::unlisted(&texts), ["docs/a.md: is not in docs/SUMMARY.md"]);
}

#[test]
fn the_disk_and_the_clock_are_found_in_a_pure_crate() {
    let text = "// std::fs is fine in a comment\nuse std::time::Instant;\nuse std::collections::BTreeMap;\n";
    assert_eq!(
        tidy::purity("crates/toolfold-index/src/a.rs", text),
        ["crates/toolfold-index/src/a.rs:2: std::time in a crate that knows no IO and no clock"]
    );
    assert!(tidy::purity("crates/toolfold-store/src/a.rs", text).is_empty());
    assert!(tidy::purity("crates/toolfold-index/tests/it/main.rs", text).is_empty());
}

#[test]
fn a_way_around_the_gate_is_found() {
    let text = "source.request(call).await;\nself.upstream.notify(method);\nmy_upstream.notify(method);\npeer.notify(method);\n";
    assert_eq!(
        tidy::gate("crates/toolfold-gateway/src/dispatch.rs", text),
        [
            "crates/toolfold-gateway/src/dispatch.rs:1: speaks to a server; only the gate does",
            "crates/toolfold-gateway/src/dispatch.rs:2: speaks to a server; only the gate does",
        ]
    );
    assert!(tidy::gate("crates/toolfold-gateway/src/gate/mod.rs", text).is_empty());
    assert!(tidy::gate("crates/toolfold-upstream/src/upstream.rs", text).is_empty());
}

#[test]
fn a_centre_that_grows_is_found() {
    let text = "// impl Gateway {\nimpl Gateway {}\nimpl Handle for Gateway {\nimpl GatewayOptions {\n";
    assert_eq!(
        tidy::centre("crates/toolfold-gateway/src/status.rs", text),
        [
            "crates/toolfold-gateway/src/status.rs:2: impl Gateway; make the feature a struct with what it needs",
            "crates/toolfold-gateway/src/status.rs:3: impl Gateway; make the feature a struct with what it needs",
        ]
    );
    assert!(tidy::centre("crates/toolfold-gateway/src/dispatch.rs", text).is_empty());
}

#[test]
fn an_error_that_is_only_text_is_found_in_a_library() {
    let text = "// Result<(), String>\nfn a() -> Result<BTreeMap<String, String>, Bad> {}\n\
                fn b(f: impl Fn(&str) -> Result<Vec<(u8, u8)>, String>) {}\ntype C = Option<Result<(), String>>;\n\
                fn d() -> Result<\n    u8,\n    String,\n> {}\nfn e() -> io::Result<String> {}\n";
    let found = |line: usize| {
        format!("crates/toolfold-store/src/a.rs:{line}: an error that is only text; make it a type with thiserror")
    };
    assert_eq!(tidy::untyped("crates/toolfold-store/src/a.rs", text), [found(3), found(4), found(5)]);
    assert!(tidy::untyped("crates/toolfold/src/cli/mod.rs", text).is_empty());
}

#[test]
fn a_dependency_that_nobody_uses_is_found() {
    let dependency = |name: &str, dev: bool| Dependency { name: name.to_owned(), dev };
    let dependencies = vec![dependency("serde-json", false), dependency("url", false), dependency("insta", true)];
    let package = Package { name: "toolfold-x".to_owned(), dependencies };
    let sources = [
        ("src/lib.rs", "use serde_json::Value;\n/// No hurl here."),
        ("tests/it/main.rs", "use insta::assert_snapshot; use url::Url;"),
    ];
    let sources = sources.map(|(file, text)| (file.into(), text.to_owned()));
    assert_eq!(tidy::unused(&package, &sources), ["crates/toolfold-x/Cargo.toml: url is not used"]);
}

#[test]
fn two_types_of_one_name_that_meet_are_found() {
    let sources = [
        ("crates/toolfold-a/src/lib.rs", "pub struct Thing;\npub(crate) enum Own {}\npub struct Alone;"),
        ("crates/toolfold-b/src/lib.rs", "pub struct Thing;\npub(crate) enum Own {}"),
        ("crates/toolfold-b/src/meets.rs", "use toolfold_a::Alone;\nfn f(_: Thing) {}"),
        ("crates/toolfold-b/src/apart.rs", "use toolfold_a::Alone;\n// Thing\nfn f(_: Own) {}"),
        ("crates/toolfold-c/src/lib.rs", "fn f(_: toolfold_a::Thing, _: toolfold_b::Thing, _: Own) {}"),
    ];
    let sources = sources.map(|(file, text)| (file.to_owned(), text.to_owned()));
    let places = "crates/toolfold-a/src/lib.rs, crates/toolfold-b/src/lib.rs";
    assert_eq!(
        tidy::shared_names(&sources),
        [
            format!("crates/toolfold-b/src/meets.rs: Thing means two things here: {places}"),
            format!("crates/toolfold-c/src/lib.rs: Thing means two things here: {places}"),
        ]
    );
}

#[test]
fn a_path_of_one_machine_is_found() {
    assert_eq!(tidy::places("a.md", "see /home/jo/x"), ["a.md:1: a path of one machine: see /home/jo/x"]);
    assert_eq!(tidy::places("a.md", "`/tmp/x`").len(), 1);
    assert!(tidy::places("a.md", "/home/ada/work/toolfold.toml is right").is_empty());
    assert!(tidy::places("a.md", "https://example.com/home/x and ./work/y and ~/tmp/z").is_empty());
}

#[test]
fn a_command_that_does_not_exist_is_found() {
    let known = ["serve".to_owned(), "check".to_owned()];
    let text = "Run `toolfold serve` or `toolfold fly`.\n```sh\ntoolfold check\ntoolfold --version\ncargo xtask dance\ncargo run -- serve\n```\n`toolfold.toml`, `toolfold-core`";
    assert_eq!(
        tidy::commands("a.md", text, &known),
        ["a.md:1: there is no such command: toolfold fly", "a.md:5: there is no such command: cargo xtask dance"]
    );
}
