//! `[[nodes]]`: categories of one's own. What is refused here is what nobody could browse to: a path without a name, with
//! a slash in one, or taken already.

use toolfold_core::NodeRule;

use crate::raw::RawNodeRule;
use crate::report::quoted;
use crate::resolve::Resolver;
use crate::table::{Field, Texts};

/// Where every server has its node.
const SERVERS: &str = "servers";
/// Deeper than anybody would walk.
const LONGEST_PATH: usize = 4;
const PATH_HINT: &str = "write the names from the root down: `path = [\"Business\", \"Payments\"]`";

impl Resolver<'_> {
    pub(crate) fn nodes(&mut self, raw: &[RawNodeRule]) -> Vec<NodeRule> {
        let mut rules: Vec<NodeRule> = Vec::new();
        for raw in raw {
            let Some(rule) = self.node_rule(raw) else { continue };
            if rules.iter().any(|other| folded(&other.path) == folded(&rule.path)) {
                let message = format!("there is another node {}", quoted(&rule.path.join("/")));
                self.report.error(&raw.place, message, "make one of the two".to_owned());
            } else {
                rules.push(rule);
            }
        }
        rules
    }

    fn node_rule(&mut self, raw: &RawNodeRule) -> Option<NodeRule> {
        let rule = NodeRule {
            summary: self.text(&raw.summary).map(|text| text.value),
            tags: self.given_texts(&raw.tags),
            matches: self.given_texts(&raw.matches),
            path: self.node_path(raw)?,
        };
        if let Some(matches) = raw.matches.given() {
            for item in matches.value.iter().filter(|item| item.value.trim().is_empty()) {
                let hint = "write a pattern such as `github.*`, or words that its tools would say of themselves";
                self.report.error(&item.place, "is empty", hint.to_owned());
            }
        }
        Some(rule)
    }

    fn node_path(&mut self, raw: &RawNodeRule) -> Option<Vec<String>> {
        if raw.path.is_absent() {
            self.report.error(&raw.place, "has no path", PATH_HINT.to_owned());
        }
        let typed = raw.path.given()?;
        let path: Vec<String> = self.texts(&raw.path).iter().map(|name| name.trim().to_owned()).collect();
        if path.len() < typed.value.len() {
            return None;
        }
        let (wrong, hint) = match path.first() {
            None => ("is empty", PATH_HINT),
            Some(_) if path.len() > LONGEST_PATH => ("has more than four names", PATH_HINT),
            Some(_) if path.iter().any(String::is_empty) => ("has an empty name in it", PATH_HINT),
            Some(_) if path.iter().any(|name| name.contains(['/', '>'])) => {
                ("has a name with a `/` or `>` in it", PATH_HINT)
            }
            Some(root) if root.to_lowercase() == SERVERS => {
                ("is where every server has its node", "choose another root")
            }
            Some(_) => return Some(path),
        };
        self.report.error(&typed.place, wrong, hint.to_owned());
        None
    }

    fn given_texts(&mut self, field: &Field<Texts>) -> Option<Vec<String>> {
        field.given().is_some().then(|| self.texts(field))
    }
}

fn folded(path: &[String]) -> Vec<String> {
    path.iter().map(|name| name.to_lowercase()).collect()
}
