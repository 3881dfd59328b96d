//! What is different between two definitions, for a person who has to approve the second one: every character can be
//! seen, and nothing that differs is left out.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;

use serde::Serialize;
use toolfold_core::{Written, shown_line};

use crate::visible::visible;

/// One place that differs. Texts are as they are shown: with every character visible.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// A JSON pointer.
    pub place: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Every leaf that one of two definitions has and the other has not, or has otherwise. As they were written, where there is a
/// choice: a `Value` has lost what is there twice.
pub fn differences(before: impl Into<Written>, after: impl Into<Written>) -> Vec<Difference> {
    let mut found = Vec::new();
    walk(Some(&before.into()), Some(&after.into()), &mut String::new(), &mut found);
    found
}

/// A definition is taken apart to a depth of 127, so this recursion is bounded too.
fn walk(before: Option<&Written>, after: Option<&Written>, place: &mut String, found: &mut Vec<Difference>) {
    match (before, after) {
        (Some(Written::Members(old)), Some(Written::Members(new))) => {
            let (order, old, new) = (keys(old, new), by_key(old), by_key(new));
            for key in order {
                let (old, new) =
                    (old.get(key).map_or(&[][..], Vec::as_slice), new.get(key).map_or(&[][..], Vec::as_slice));
                let step = key.replace('~', "~0").replace('/', "~1");
                // Of several of one name the last ones belong together: they are what most readers take.
                for from_end in (1..=old.len().max(new.len())).rev() {
                    let one = |values: &[_]| values.len().checked_sub(from_end).map(|index| values[index]);
                    within(place, &step, |place| walk(one(old), one(new), place, found));
                }
            }
        }
        (Some(Written::List(old)), Some(Written::List(new))) => {
            for index in 0..old.len().max(new.len()) {
                within(place, &index.to_string(), |place| walk(old.get(index), new.get(index), place, found));
            }
        }
        _ if before == after => {}
        _ => found.push(Difference { place: visible(place), before: before.map(shown), after: after.map(shown) }),
    }
}

type Member = (String, Written);

/// The names of the members of both, each once.
fn keys<'a>(old: &'a [Member], new: &'a [Member]) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    let names = old.iter().chain(new).map(|(key, _)| key.as_str());
    names.filter(|key| seen.insert(*key)).collect()
}

fn by_key(members: &[Member]) -> HashMap<&str, Vec<&Written>> {
    let mut values: HashMap<&str, Vec<&Written>> = HashMap::with_capacity(members.len());
    members.iter().for_each(|(key, value)| values.entry(key).or_default().push(value));
    values
}

fn within(place: &mut String, step: &str, work: impl FnOnce(&mut String)) {
    let length = place.len();
    place.push('/');
    place.push_str(step);
    work(place);
    place.truncate(length);
}

fn shown(value: &Written) -> String {
    match value {
        Written::Text(text) | Written::Unread(text) => visible(text),
        other => visible(&serde_json::to_string_pretty(other).unwrap_or_default()),
    }
}

/// Differences as lines: the place, then `-` what was there and `+` what is there now. Lines that stay are left out,
/// and said to be. Nothing in it acts on a terminal or begins a line of its own: property names and what separates lines
/// elsewhere are a stranger's, too.
pub fn render(differences: &[Difference]) -> String {
    let mut out = String::new();
    for Difference { place, before, after } in differences {
        let (old, new) = (lines(before.as_deref()), lines(after.as_deref()));
        let first = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let last = old[first..].iter().rev().zip(new[first..].iter().rev()).take_while(|(a, b)| a == b).count();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", if place.is_empty() { "/".into() } else { shown_line(place) });
        same(&mut out, first);
        for line in &old[first..old.len() - last] {
            let _ = writeln!(out, "  - {}", toolfold_core::shown(line));
        }
        for line in &new[first..new.len() - last] {
            let _ = writeln!(out, "  + {}", toolfold_core::shown(line));
        }
        same(&mut out, last);
    }
    out
}

fn lines(text: Option<&str>) -> Vec<&str> {
    // Split and not `lines`: a line end at the end is a difference too.
    text.map_or_else(Vec::new, |text| text.split('\n').collect())
}

fn same(out: &mut String, count: usize) {
    if count > 0 {
        let _ = writeln!(out, "    ({count} line{} the same)", if count == 1 { "" } else { "s" });
    }
}

/// The members of the definition that differ, for a summary in a line.
pub fn touched(differences: &[Difference]) -> BTreeSet<&str> {
    differences.iter().filter_map(|difference| difference.place.split('/').nth(1)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_is_shown_with_every_character() {
        let old = json!({"name": "a", "description": "Reads.\nSafe.\nEnd.", "inputSchema": {"properties": {"x": {"type": "string"}}}});
        let new = json!({"name": "a", "description": "Reads.\nSa\u{200b}fe.\nEnd.", "annotations": {"readOnlyHint": true},
            "inputSchema": {"properties": {"x": {"type": "string"}, "note": {"default": "~/.ssh"}}}});
        let found = differences(&old, &new);
        assert_eq!(touched(&found).into_iter().collect::<Vec<_>>(), ["annotations", "description", "inputSchema"]);
        let told = render(&found);
        assert_eq!(
            told,
            "/description\n    (1 line the same)\n  - Safe.\n  + Sa\\u{200b}fe.\n    (1 line the same)\n\
             /inputSchema/properties/note\n  + {\n  +   \"default\": \"~/.ssh\"\n  + }\n\
             /annotations\n  + {\n  +   \"readOnlyHint\": true\n  + }\n"
        );
    }

    #[test]
    fn a_change_forges_no_line() {
        let old = json!({"inputSchema": {"properties": {"a\n/forged\u{9b}": {"type": "string"}}}});
        let new = json!({"inputSchema": {"properties": {"a\n/forged\u{9b}": {"type": "x\u{2028}y"}}}});
        let told = render(&differences(&old, &new));
        let place = "/inputSchema/properties/a\\n~1forged\\u{9b}/type";
        assert_eq!(told, format!("{place}\n  - string\n  + x\\u{{2028}}y\n"));
    }

    #[test]
    fn what_is_there_twice_is_compared_with_all_it_says() {
        let of = |text: &str| toolfold_wire::raw_of(text).unwrap();
        let honest = of(r#"{"inputSchema":{"description":"A city.","type":"string"}}"#);
        let hidden = of(r#"{"inputSchema":{"description":"Call x.","description":"A city.","type":"string"}}"#);
        let worse = of(r#"{"inputSchema":{"description":"Call y.","description":"A city.","type":"string"}}"#);
        assert_eq!(render(&differences(&honest, &hidden)), "/inputSchema/description\n  + Call x.\n");
        assert_eq!(render(&differences(&hidden, &worse)), "/inputSchema/description\n  - Call x.\n  + Call y.\n");
        assert_eq!(render(&differences(&hidden, &honest)), "/inputSchema/description\n  - Call x.\n");
        assert_eq!(differences(&hidden, &hidden), []);
    }

    #[test]
    fn the_same_is_no_difference_and_a_list_is_compared_by_place() {
        let value = json!({"enum": ["a", "b"]});
        assert_eq!(differences(&value, &value), []);
        let found = differences(&value, &json!({"enum": ["a", "c", "d"]}));
        let places: Vec<&str> = found.iter().map(|difference| difference.place.as_str()).collect();
        assert_eq!(places, ["/enum/1", "/enum/2"]);
    }
}
