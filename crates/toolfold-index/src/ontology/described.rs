//! The nodes as they are described: the built-in ones, changed and joined by those of a configuration.

use serde::Deserialize;
use toolfold_core::{NodeRule, Pattern};

static BUILT_IN: &str = include_str!("../../data/ontology.toml");

#[derive(Debug, Clone, Default)]
pub(super) struct Described {
    pub(super) path: Vec<String>,
    pub(super) summary: String,
    pub(super) tags: Vec<String>,
    pub(super) aliases: Vec<String>,
    /// Further names that somebody may look for it by. They say nothing of what belongs here.
    pub(super) asked: Vec<String>,
    /// What entries are compared with. Without any, nothing is placed here by meaning.
    pub(super) phrases: Vec<String>,
    pub(super) patterns: Vec<Pattern>,
    /// Of the configuration: shown whatever is in it, and before the others.
    pub(super) own: bool,
    /// A rule says anew what belongs here.
    pub(super) rewritten: bool,
}

impl Described {
    /// Every name but its own that it answers to.
    pub(super) fn other_names(&self) -> impl Iterator<Item = &String> {
        self.aliases.iter().chain(&self.asked)
    }

    pub(super) fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    fn apply(&mut self, rule: &NodeRule) {
        self.own = true;
        if let Some(summary) = &rule.summary {
            self.summary.clone_from(summary);
        }
        if let Some(tags) = &rule.tags {
            self.tags.clone_from(tags);
        }
        if let Some(matches) = &rule.matches {
            self.rewritten = true;
            let (patterns, phrases): (Vec<_>, Vec<_>) = matches.iter().partition(|item| NodeRule::is_pattern(item));
            self.patterns = patterns.into_iter().map(|pattern| Pattern::new(pattern)).collect();
            self.phrases = phrases.into_iter().cloned().collect();
        }
    }
}

/// The built-in nodes, roots before what is below them, behind those that the rules name.
pub(super) fn tree(rules: &[NodeRule]) -> Vec<Described> {
    let mut nodes = built_in();
    let mut own = Vec::new();
    for rule in rules {
        let path = spelled(&nodes, &rule.path);
        let known = nodes.iter().position(|node| node.path == path).map(|place| nodes.remove(place));
        let is_new = known.is_none();
        let mut node = known.unwrap_or_else(|| Described { path, ..Described::default() });
        node.apply(rule);
        // A new node that says nothing about what belongs to it is taken at its word.
        if is_new && rule.matches.is_none() {
            node.phrases = vec![format!("{} {}", node.name(), node.summary)];
        }
        own.push(node);
    }
    own.extend(nodes);
    own
}

/// A path with its names as the tree spells them, as far as the tree knows them. Of several names each may be an old one.
fn spelled(nodes: &[Described], path: &[String]) -> Vec<String> {
    let mut known: Vec<String> = Vec::new();
    for name in path {
        let beside = nodes.iter().filter(|node| node.path.len() == known.len() + 1 && node.path.starts_with(&known));
        let named = beside.clone().find(|node| node.name().to_lowercase() == name.to_lowercase());
        let aliased = |node: &&Described| node.other_names().any(|alias| alias.eq_ignore_ascii_case(name));
        let node = named.or_else(|| beside.clone().find(aliased).filter(|_| path.len() > 1));
        let Some(node) = node else { break };
        known.push(node.name().to_owned());
    }
    let rest = path[known.len()..].to_vec();
    [known, rest].concat()
}

#[derive(Deserialize)]
struct Tree {
    root: Vec<Root>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Root {
    name: String,
    summary: String,
    tags: Vec<String>,
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(default)]
    asked: Vec<String>,
    node: Vec<Child>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Child {
    name: String,
    summary: String,
    tags: Vec<String>,
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(default)]
    asked: Vec<String>,
    says: Vec<String>,
}

/// A test reads the tree, so that no build with a broken one passes.
fn built_in() -> Vec<Described> {
    let tree: Tree = toml::from_str(BUILT_IN).expect("the tree in this binary is whole");
    tree.root.into_iter().flat_map(Root::described).collect()
}

impl Root {
    fn described(self) -> Vec<Described> {
        let Root { name, summary, tags, aliases, asked, node } = self;
        let below = node.into_iter().map(|child| Described {
            path: vec![name.clone(), child.name],
            summary: child.summary,
            tags: child.tags,
            aliases: child.aliases,
            asked: child.asked,
            phrases: child.says,
            ..Described::default()
        });
        let below: Vec<Described> = below.collect();
        let root = Described { path: vec![name], summary, tags, aliases, asked, ..Described::default() };
        std::iter::once(root).chain(below).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_built_in_tree_has_two_levels_and_no_name_that_means_two_nodes() {
        let nodes = tree(&[]);
        let mut names = HashSet::new();
        for node in &nodes {
            assert!(node.path.len() == 1 || (node.path.len() == 2 && node.phrases.len() >= 3), "{:?}", node.path);
            assert!(!node.summary.is_empty() && !node.tags.is_empty(), "{:?}", node.path);
            let aliases =
                node.other_names().map(String::as_str).filter(|alias| !alias.eq_ignore_ascii_case(node.name()));
            for name in aliases.chain([node.name()]) {
                assert!(names.insert(name.to_lowercase()), "{name} is there twice");
            }
        }
    }
}
