//! An error of a library is a type, so that whoever gets it can tell one from another. Text is for people, at the rim.

/// Where only people read them: the command line, and what is for tests.
const RIM: [&str; 5] = [
    "crates/toolfold/src/cli/",
    "crates/toolfold/src/main.rs",
    "crates/toolfold-test/",
    "crates/toolfold-bench/",
    "crates/xtask/",
];

/// `Result<_, String>` in a library.
pub fn untyped(name: &str, production: &str) -> Vec<String> {
    if !name.contains("/src/") || RIM.iter().any(|place| name.starts_with(place)) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (at, found) in production.match_indices("Result<") {
        let line = production[..at].lines().next_back().unwrap_or_default();
        if !line.trim_start().starts_with("//") && error(&production[at + found.len()..]) == Some("String") {
            let number = production[..at].matches('\n').count() + 1;
            findings.push(format!("{name}:{number}: an error that is only text; make it a type with thiserror"));
        }
    }
    findings
}

/// The second argument of a type whose arguments begin here.
fn error(arguments: &str) -> Option<&str> {
    let (mut depth, mut second, mut before) = (0, None, ' ');
    for (at, c) in arguments.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            // The arrow of a function.
            '>' if before == '-' => {}
            '>' if depth == 0 => return second.map(|start: usize| arguments[start..at].trim().trim_end_matches(',')),
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 && second.is_none() => second = Some(at + 1),
            '{' | ';' if depth == 0 => return None,
            _ => {}
        }
        before = c;
    }
    None
}
