//! Names of tools: an operation's own, one made of its method and path where it has none, and never two alike.

use std::collections::HashSet;

use toolfold_core::{exposed_name, slug};

/// As long as every client takes.
const LONGEST: usize = 64;

#[derive(Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// The name of an operation, free of what a client would not take, and not taken yet.
    pub(crate) fn of(&mut self, own: Option<&str>, method: &str, path: &str) -> String {
        let by_place = || fitting(&format!("{method}_{path}"));
        let own = own.map(fitting).filter(|name| !name.is_empty());
        let first = own.unwrap_or_else(by_place);
        let names = [first.clone(), by_place()].into_iter().chain((2..).map(|n| numbered(&first, n)));
        let free = names.into_iter().find(|name| !name.is_empty() && !self.taken.contains(name));
        let name = free.unwrap_or(first);
        self.taken.insert(name.clone());
        name
    }
}

/// Cut with a hash of the whole, so that two that begin alike stay two.
fn fitting(text: &str) -> String {
    let plain = slug(text);
    let mut squeezed = String::with_capacity(plain.len());
    for part in plain.split('_').filter(|part| !part.is_empty()) {
        if !squeezed.is_empty() {
            squeezed.push('_');
        }
        squeezed.push_str(part);
    }
    exposed_name(None, &squeezed)
}

/// The number is what is left after cutting.
fn numbered(name: &str, number: usize) -> String {
    let suffix = format!("_{number}");
    format!("{}{suffix}", &name[..name.len().min(LONGEST - suffix.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_two_alike_and_none_too_long() {
        let mut names = Names::default();
        let mut name = |own: Option<&str>, path: &str| names.of(own, "get", path);
        assert_eq!(name(Some("repos/get"), "/repos/{id}"), "repos_get");
        assert_eq!(name(Some("repos/get"), "/other/{id}"), "get_other_id");
        assert_eq!(name(Some("repos.get"), "/other/{id}"), "repos_get_2");
        assert_eq!(name(None, "/"), "get");
        assert_eq!(name(None, "//"), "get_2");
        let long = "x".repeat(70);
        let (one, other) = (name(Some(&long), "/a"), name(Some(&format!("{long}y")), "/b"));
        assert!(one.len() == 64 && other.len() == 64 && one != other);
        assert_eq!(name(Some("ünïcode op"), "/"), "n_code_op");
        assert_eq!(name(Some("日本"), "/日本"), "get_3");
    }
}
