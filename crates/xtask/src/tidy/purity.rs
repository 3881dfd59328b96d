//! What may not be reached from where: the disk, the clock and the network from the pure crates, a server from anywhere
//! but the gate, the whole gateway from any of its features.

/// Crates that can be tested with values alone.
const PURE: [&str; 11] = [
    "toolfold-wire",
    "toolfold-core",
    "toolfold-schema",
    "toolfold-openapi",
    "toolfold-access",
    "toolfold-oauth",
    "toolfold-catalog",
    "toolfold-scan",
    "toolfold-trust",
    "toolfold-index",
    "toolfold-disclosure",
];

const OUTSIDE: [&str; 3] = ["std::fs", "std::time", "std::net"];

/// Files of pure crates that may name something of it all the same, and why.
const ALLOWED: [(&str, &str, &str); 1] =
    [("crates/toolfold-oauth/src/place.rs", "std::net", "addresses as values: nobody is spoken to there")];

/// Where the handle that everybody has is written: its parts, and the match from method to answer. A feature is a struct
/// with what it needs, in a file of its own.
const CENTRE: [&str; 2] = ["crates/toolfold-gateway/src/gateway.rs", "crates/toolfold-gateway/src/dispatch.rs"];

/// Whoever talks to a server, by the names such a thing has.
const SERVERS: [&str; 3] = ["source", "upstream", "local"];
const REQUESTS: [&str; 5] = ["call", "request", "notify", "subscribe", "unsubscribe"];
/// Where that is done: the one way to a server, and what it is a way to.
const GATE: &str = "crates/toolfold-gateway/src/gate/";

/// The disk, the clock or the network, where they do not belong.
pub fn purity(name: &str, production: &str) -> Vec<String> {
    let is_pure = PURE.iter().any(|krate| name.starts_with(&format!("crates/{krate}/src/")));
    if !is_pure {
        return Vec::new();
    }
    let allowed = |outside: &str| ALLOWED.iter().any(|(file, what, _)| *file == name && *what == outside);
    let mut findings = Vec::new();
    for (number, line) in code(production) {
        for outside in OUTSIDE.iter().filter(|outside| line.contains(**outside) && !allowed(outside)) {
            findings.push(format!("{name}:{number}: {outside} in a crate that knows no IO and no clock"));
        }
    }
    findings
}

/// A server that is spoken to from somewhere else than the gate.
pub fn gate(name: &str, production: &str) -> Vec<String> {
    if !name.starts_with("crates/toolfold-gateway/src/") || name.starts_with(GATE) {
        return Vec::new();
    }
    let spoken_to = |line: &str| {
        SERVERS.iter().any(|server| {
            REQUESTS.iter().any(|request| {
                let wanted = format!("{server}.{request}(");
                line.match_indices(&wanted)
                    .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
            })
        })
    };
    let lines = code(production).filter(|(_, line)| spoken_to(line));
    lines.map(|(number, _)| format!("{name}:{number}: speaks to a server; only the gate does")).collect()
}

/// The handle that everybody has, where it grows in yet another file.
pub fn centre(name: &str, production: &str) -> Vec<String> {
    if CENTRE.contains(&name) {
        return Vec::new();
    }
    let grows = |line: &str| line.starts_with("impl ") && line.contains("Gateway {");
    let lines = code(production).filter(|(_, line)| grows(line.trim_start()));
    lines
        .map(|(number, _)| format!("{name}:{number}: impl Gateway; make the feature a struct with what it needs"))
        .collect()
}

/// Lines without those that are comments alone, numbered.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line));
    lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
}
