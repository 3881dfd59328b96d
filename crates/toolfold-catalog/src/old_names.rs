//! Names that tools had before. A server that renames a tool breaks everybody who knows the old name, models that
//! remember it from an earlier conversation among them; the old one is therefore an alias from then on.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use toolfold_core::{Entry, Fingerprint};

/// How many are kept of one server, and how many of one tool: who changes names all the time collects none.
const MOST: usize = 256;
const MOST_OF_ONE: usize = 8;

/// Takes in what changed from one list of a server to the next, by old name the present one: a tool that is gone and one
/// that is new are the same tool if description and schemas are, and no other one could be meant.
pub fn follow(old_names: &mut BTreeMap<String, String>, before: &[Arc<Entry>], after: &[Arc<Entry>]) {
    let new = only_in(after, before);
    for (body, name) in only_in(before, after) {
        let (Some(Some(now)), Some(name)) = (new.get(&body), name) else { continue };
        redirect(old_names, &name, now);
        old_names.insert(name, now.clone());
    }
    // A name may also have gone to another tool, and its tool have got a new one.
    let present: BTreeSet<String> = old_names.values().cloned().collect();
    for entry in before.iter().filter(|entry| present.contains(entry.name())) {
        let taken = after.iter().any(|other| other.name() == entry.name() && other.nameless() != entry.nameless());
        if let (true, Some(Some(now))) = (taken, new.get(&entry.nameless())) {
            redirect(old_names, entry.name(), now);
        }
    }
    // A name that is a tool's own again is no old one.
    old_names.retain(|old, _| !after.iter().any(|entry| entry.name() == old));
    if old_names.len() > MOST {
        old_names.retain(|_, present| after.iter().any(|entry| entry.name() == present));
    }
    let mut kept = BTreeMap::new();
    old_names.retain(|_, present| {
        let count: &mut usize = kept.entry(present.clone()).or_default();
        *count += 1;
        *count <= MOST_OF_ONE
    });
    while old_names.len() > MOST {
        old_names.pop_last();
    }
}

fn redirect(old_names: &mut BTreeMap<String, String>, from: &str, to: &str) {
    old_names.values_mut().filter(|present| *present == from).for_each(|present| to.clone_into(present));
}

/// The names of the entries that the other list has not, by all the rest of them; nothing where two share that.
/// One that says nothing of itself cannot be told from others.
fn only_in(these: &[Arc<Entry>], those: &[Arc<Entry>]) -> BTreeMap<Fingerprint, Option<String>> {
    let mut found = BTreeMap::new();
    let known: HashSet<&str> = those.iter().map(|entry| entry.name()).collect();
    for entry in these.iter().filter(|entry| !known.contains(entry.name()) && !entry.description.is_empty()) {
        let only = Some(entry.name().to_owned());
        found.entry(entry.nameless()).and_modify(|name| *name = None).or_insert(only);
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolfold_core::ServerName;
    use toolfold_wire::raw;

    use super::*;

    fn list(tools: &[(&str, &str)]) -> Vec<Arc<Entry>> {
        let server = ServerName::new("s").expect("a name");
        let read = |(name, description): &(&str, &str)| {
            let definition = json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
            Arc::new(Entry::tool(&server, &raw(&definition)).expect("a tool"))
        };
        tools.iter().map(read).collect()
    }

    fn followed(lists: &[&[(&str, &str)]]) -> Vec<(String, String)> {
        let mut old_names = BTreeMap::new();
        for pair in lists.windows(2) {
            follow(&mut old_names, &list(pair[0]), &list(pair[1]));
        }
        old_names.into_iter().collect()
    }

    #[test]
    fn a_tool_that_only_changed_its_name_keeps_the_old_ones() {
        let pair = |old: &str, now: &str| (old.to_owned(), now.to_owned());
        let (a, b, c) = (("a", "Does it."), ("b", "Does it."), ("c", "Does it."));
        assert_eq!(followed(&[&[a], &[b]]), [pair("a", "b")]);
        assert_eq!(followed(&[&[a], &[b], &[c]]), [pair("a", "c"), pair("b", "c")]);
        assert_eq!(followed(&[&[a], &[b], &[a]]), [pair("b", "a")]);
        // Another tool has taken the name.
        assert_eq!(followed(&[&[a], &[b], &[("b", "Does that."), c]]), [pair("a", "c")]);
        // A list that was empty for a while forgets nothing.
        assert_eq!(followed(&[&[a], &[b], &[], &[b]]), [pair("a", "b")]);
    }

    #[test]
    fn what_could_be_another_tool_is_not_guessed() {
        assert!(followed(&[&[("a", "Does it.")], &[("b", "Does that.")]]).is_empty());
        assert!(followed(&[&[("a", "Does it.")], &[("b", "Does it."), ("c", "Does it.")]]).is_empty());
        assert!(followed(&[&[("a", "Does it."), ("b", "Does it.")], &[("c", "Does it.")]]).is_empty());
        assert!(followed(&[&[("a", "")], &[("b", "")]]).is_empty());
        assert!(followed(&[&[("a", "Does it.")], &[("a", "Does it."), ("b", "Does it.")]]).is_empty());
    }
}
