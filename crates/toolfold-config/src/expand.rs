//! `${VAR}` and `${VAR:-default}` in values. What a variable holds is never expanded again: a value from the
//! environment is data.

use crate::raw::Dialect;

/// Defaults inside defaults; nobody writes three.
const DEEPEST: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    Unset(String),
    /// `${` without `}`.
    Unclosed,
    NotAName(String),
    TooDeep,
}

/// The text with every variable replaced, or everything that stands in the way.
///
/// As in a shell, the default also replaces a variable that is set to nothing. `$$` is a dollar sign in our own files
/// only: programs that share an `mcpServers` file do not know that escape, and a password there must stay what it is.
pub(crate) fn expand(
    text: &str,
    dialect: Dialect,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<String, Vec<Trouble>> {
    let mut expansion = Expansion { dialect, lookup, troubles: Vec::new() };
    let expanded = expansion.run(text, 0);
    if expansion.troubles.is_empty() { Ok(expanded) } else { Err(expansion.troubles) }
}

struct Expansion<'a> {
    dialect: Dialect,
    lookup: &'a dyn Fn(&str) -> Option<String>,
    troubles: Vec<Trouble>,
}

impl Expansion<'_> {
    fn run(&mut self, text: &str, depth: usize) -> String {
        if depth > DEEPEST {
            self.troubles.push(Trouble::TooDeep);
            return String::new();
        }
        let mut expanded = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            expanded.push_str(&rest[..at]);
            let after = &rest[at + 1..];
            if self.dialect == Dialect::Toolfold && after.starts_with('$') {
                expanded.push('$');
                rest = &after[1..];
            } else if let Some(inner) = after.strip_prefix('{') {
                let Some(end) = closing(inner) else {
                    self.troubles.push(Trouble::Unclosed);
                    return expanded;
                };
                expanded.push_str(&self.variable(&inner[..end], depth));
                rest = &inner[end + 1..];
            } else {
                expanded.push('$');
                rest = after;
            }
        }
        expanded.push_str(rest);
        expanded
    }

    /// What stands between the braces.
    fn variable(&mut self, inner: &str, depth: usize) -> String {
        // Editors write `${env:NAME}` for the same thing.
        let inner = if self.dialect == Dialect::Client { inner.strip_prefix("env:").unwrap_or(inner) } else { inner };
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        if !is_name(name) {
            self.troubles.push(Trouble::NotAName(name.to_owned()));
            return String::new();
        }
        match ((self.lookup)(name), default) {
            (Some(value), None) => value,
            (Some(value), Some(_)) if !value.is_empty() => value,
            (_, Some(default)) => self.run(default, depth + 1),
            (None, None) => {
                self.troubles.push(Trouble::Unset(name.to_owned()));
                String::new()
            }
        }
    }
}

/// Where the brace that was opened before this text is closed, other `${…}` in between passed over.
fn closing(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut open = 0;
    for (i, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' if i > 0 && bytes[i - 1] == b'$' => open += 1,
            b'}' if open == 0 => return Some(i),
            b'}' => open -= 1,
            _ => {}
        }
    }
    None
}

fn is_name(name: &str) -> bool {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    plain && name.chars().next().is_some_and(|c| !c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn from(pairs: &[(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        move |name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn variables_defaults_and_dollars() {
        let lookup = from(&[("A", "1"), ("EMPTY", ""), ("B", "${A}")]);
        let check = |text: &str| expand(text, Dialect::Toolfold, &lookup).unwrap();
        assert_eq!(check("x${A}y${A}"), "x1y1");
        assert_eq!(check("${B}"), "${A}");
        assert_eq!(check("${EMPTY}|${EMPTY:-d}|${NONE:-}|${NONE:-${A}}"), "|d||1");
        assert_eq!(check("$$${A} $${A} $5 cost$"), "$1 ${A} $5 cost$");
    }

    #[test]
    fn other_programs_have_no_escape_and_a_prefix() {
        let lookup = from(&[("A", "1")]);
        assert_eq!(expand("p$$w ${env:A}", Dialect::Client, &lookup).unwrap(), "p$$w 1");
    }

    #[test]
    fn every_trouble_at_once() {
        let troubles = expand("${X} ${1} ${Y} ${", Dialect::Toolfold, &from(&[])).unwrap_err();
        let unset = |name: &str| Trouble::Unset(name.to_owned());
        assert_eq!(troubles, [unset("X"), Trouble::NotAName("1".to_owned()), unset("Y"), Trouble::Unclosed]);
        let deep = format!("{}{}", "${A:-".repeat(1000), "}".repeat(1000));
        assert_eq!(expand(&deep, Dialect::Toolfold, &from(&[])).unwrap_err(), [Trouble::TooDeep]);
    }

    proptest! {
        #[test]
        fn never_panics(text in r"([$][{]|[$]|[}]|:-|A|é|env:)*") {
            for dialect in [Dialect::Toolfold, Dialect::Client] {
                let _ = expand(&text, dialect, &from(&[("A", "1")]));
            }
        }

        #[test]
        fn no_dollar_no_change(text in "[^$]*") {
            prop_assert_eq!(expand(&text, Dialect::Toolfold, &from(&[])), Ok(text));
        }

        #[test]
        fn doubled_dollars_come_back_single(text in any::<String>()) {
            prop_assert_eq!(expand(&text.replace('$', "$$"), Dialect::Toolfold, &from(&[])), Ok(text));
        }

        #[test]
        fn a_value_is_taken_as_it_is(value in any::<String>(), before in "[^$]*", after in "[^$]*") {
            let text = format!("{before}${{A}}{after}");
            let expanded = expand(&text, Dialect::Toolfold, &from(&[("A", &value)]));
            prop_assert_eq!(expanded, Ok(format!("{before}{value}{after}")));
        }
    }
}
