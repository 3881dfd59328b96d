//! A node of the catalog as a person describes it. What belongs to it is decided where meanings are known.

/// One `[[nodes]]` of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeRule {
    /// From the root, at least one name.
    pub path: Vec<String>,
    /// `None` keeps what is said of a built-in node.
    pub summary: Option<String>,
    /// `None` keeps those of a built-in node.
    pub tags: Option<Vec<String>>,
    /// What belongs to it: patterns of ids, and phrases. `None` keeps the phrases of a built-in node.
    pub matches: Option<Vec<String>>,
}

impl NodeRule {
    /// Whether an item of `match` is a pattern of ids (`github.*`, `*.send_mail`) and not a phrase.
    pub fn is_pattern(item: &str) -> bool {
        item.contains(['*', '.']) && !item.contains(char::is_whitespace)
    }
}
