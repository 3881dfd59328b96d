//! Names that tools had before. A server that renames a tool breaks everybody who knows the old name, models that
//! remember it from an earlier conversation among them; the old one is therefore an alias from then on.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolfold_core::{Entry, Fingerprint};

/// By old name, the present one. At most this many of one server are kept.
const MOST: usize = 256;

/// Takes in what changed from one list of a server to the next: a tool that is gone and one that is new are the same
/// tool if nothing but the name is different, and no other one could be meant.
pub fn follow(old_names: &mut BTreeMap<String, String>, before: &[Arc<Entry>], after: &[Arc<Entry>]) {
    let gone = only_in(before, after);
    let new = only_in(after, before);
    for (body, name) in &gone {
        let Some(Some(now)) = new.get(body) else { continue };
        let Some(name) = name else { continue };
        old_names.values_mut().filter(|present| *present == name).for_each(|present| present.clone_from(now));
        old_names.insert(name.clone(), now.clone());
    }
    // A name that is a tool's own again is no old one.
    old_names.retain(|old, _| !after.iter().any(|entry| entry.name() == old));
    while old_names.len() > MOST {
        old_names.pop_first();
    }
}

/// The names of the entries that the other list has not, by all the rest of them; nothing where two share that.
/// One that says nothing of itself cannot be told from others.
fn only_in(these: &[Arc<Entry>], those: &[Arc<Entry>]) -> BTreeMap<Fingerprint, Option<String>> {
    let mut found = BTreeMap::new();
    let known: std::collections::HashSet<&str> = those.iter().map(|entry| entry.name()).collect();
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
