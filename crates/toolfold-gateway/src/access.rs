//! What of the whole is for whom.

use std::sync::Arc;

use serde::Serialize;
use toolfold_access::{Extent, Grant};
use toolfold_core::{Entry, Principal, Proof, ServerName};
use toolfold_disclosure::{Action, route};
use toolfold_wire::Object;

use crate::call::beside;
use crate::change::Change;
use crate::current::Current;
use crate::decisions::ruled_id;
use crate::learning::Learning;
use crate::progress::Waiting;
use crate::request::Client;
use crate::scope::Scope;
use crate::snapshot::Snapshot;

/// What somebody may do with one entry, and which rule says so.
#[derive(Debug, Clone, Serialize)]
pub struct Permission {
    /// As rules speak of it: a prompt by its own name and a resource by its address.
    pub id: String,
    /// As it is called in lists and searches.
    #[serde(skip)]
    pub listed: String,
    /// `call`, `see` or `nothing`.
    pub level: &'static str,
    /// `rule 3 (line 41)`; nothing where there are no rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// What of the whole is for whom.
pub struct AccessRights<'a> {
    pub(crate) waiting: &'a Waiting,
    pub(crate) snapshot: &'a Current,
    pub(crate) learning: &'a Learning,
}

impl AccessRights<'_> {
    /// What of a change concerns somebody: with rules, lists change for some and not for others.
    pub fn concerning(&self, change: &Change, principal: &Principal) -> Vec<Change> {
        let rules = !self.snapshot.load().rules.is_empty();
        match change {
            Change::Resource { server, uri, .. } if rules => {
                let may = self.snapshot.seen(principal).decision_on_resource(server, uri).level == Extent::Call;
                if may { vec![change.clone()] } else { Vec::new() }
            }
            Change::Snapshot(_) => beside(true, || change.for_principal(principal)),
            other => vec![other.clone()],
        }
    }

    /// Whether somebody sees whatever there is, and so may look at what others do.
    pub fn sees_everything(&self, principal: &Principal) -> bool {
        self.snapshot.limited(principal).is_none()
    }

    /// Whether a server exists for somebody.
    pub fn sees(&self, principal: &Principal, server: &ServerName) -> bool {
        self.snapshot.seen(principal).is_seen(server)
    }

    /// What somebody may do with everything there is, seen or not. For whoever runs the program.
    pub async fn permissions(&self, principal: &Principal) -> Vec<Permission> {
        self.waiting.settled().await;
        let whole = self.snapshot.load_full();
        let decided: Vec<Grant> = whole.decisions_for(principal);
        let said = |(entry, decision): (&Arc<Entry>, &Grant)| Permission {
            id: ruled_id(entry),
            listed: entry.id.to_string(),
            level: match decision.level {
                Extent::Nothing => "nothing",
                Extent::See => "see",
                Extent::Call => "call",
            },
            rule: whole.rule_of(*decision),
        };
        whole.catalog.entries().iter().zip(&decided).map(said).collect()
    }

    /// Whether a call of this entry would be let through.
    pub fn may_call(&self, client: &Client, entry: &Entry) -> bool {
        let seen = self.snapshot.seen(&client.principal());
        seen.decision(entry).level == Extent::Call && !seen.forbids(entry)
    }

    /// The scope with which a request could be answered that cannot be now, where one would help.
    pub async fn scope_wanted(&self, client: &Client, method: &str, params: &Object) -> Option<String> {
        let principal = client.principal();
        // Only what an issuer gave out has scopes.
        if !matches!(principal.identity().proof, Proof::Signed(_) | Proof::Introspected(_)) {
            return None;
        }
        let about = About::of(method, params)?;
        if self.snapshot.load().rules.scopes().is_empty() {
            return None;
        }
        self.waiting.published().await;
        let scope = Scope::seen_by(self.snapshot.seen(&principal), self.learning, client);
        let seen = &scope.snapshot;
        let wanted = match about {
            About::Tool(name) => {
                let Action::Call { entry, .. } = route(client.surface, &scope.view(), &name, params.get("arguments"))
                else {
                    return None;
                };
                let entry = seen.catalog.entry(entry);
                if seen.decision(entry).level == Extent::Call {
                    return None;
                }
                seen.scopes_wanted(&principal, entry)
            }
            About::Prompt(name) => seen.scopes_for_prompt(&principal, &name),
            About::Address(uri) => seen.scopes_for_resource(&principal, &uri),
        };
        wanted.map(|scopes| scopes.join(" "))
    }

    /// Every scope that a rule names.
    pub fn scopes(&self) -> Vec<String> {
        self.snapshot.load().rules.scopes()
    }
}

/// What a request is about that may take a scope.
enum About {
    Tool(String),
    Prompt(String),
    Address(String),
}

impl About {
    fn of(method: &str, params: &Object) -> Option<About> {
        match method {
            "tools/call" => params.string("name").map(About::Tool),
            "prompts/get" => params.string("name").map(About::Prompt),
            "resources/read" | "resources/subscribe" => params.string("uri").map(About::Address),
            "completion/complete" => {
                let reference = params.object("ref")?;
                let prompt = reference.string("name").map(About::Prompt);
                prompt.or_else(|| reference.string("uri").map(About::Address))
            }
            _ => None,
        }
    }
}

/// What somebody may see of the counters who does not see everything.
pub(crate) fn counters_seen(text: &str, snapshot: &Snapshot) -> String {
    let seen = |server: &str| ServerName::new(server).is_ok_and(|server| snapshot.is_seen(&server));
    let known = |tool: &str| snapshot.catalog.resolve(tool).is_ok();
    labelled(text, &seen, &known)
}

/// The samples that are about a server that is seen, with what is said of their kind.
fn labelled(text: &str, seen: &dyn Fn(&str) -> bool, known: &dyn Fn(&str) -> bool) -> String {
    let (mut shown, mut about) = (String::new(), String::new());
    for line in text.lines() {
        if line.starts_with('#') {
            if !line.starts_with("# EOF") && !is_about_the_same(&about, line) {
                about.clear();
            }
            about.push_str(line);
            about.push('\n');
            continue;
        }
        let label = |name: &str| {
            let start = line.find(&format!("{name}=\""))? + name.len() + 2;
            line[start..].split('"').next()
        };
        let server = label("server").is_some_and(seen);
        if server && label("tool").is_none_or(|tool| tool.is_empty() || known(tool)) {
            shown.push_str(&std::mem::take(&mut about));
            shown.push_str(line);
            shown.push('\n');
        }
    }
    shown.push_str("# EOF\n");
    shown
}

/// Whether two comments are about one kind of sample: `# HELP name …`, `# TYPE name …`.
fn is_about_the_same(before: &str, line: &str) -> bool {
    let name = |line: &str| line.split_whitespace().nth(2).map(str::to_owned);
    before.lines().next().is_some_and(|first| name(first) == name(line))
}

#[cfg(test)]
mod tests {
    use super::labelled;

    #[test]
    fn counters_of_what_is_not_seen_are_not_there() {
        let text = "# HELP calls Calls.\n# TYPE calls counter\ncalls_total{server=\"hr\",outcome=\"done\"} 3\n\
                    calls_total{server=\"ops\",outcome=\"done\"} 1\n# HELP held Held.\nheld 3\n\
                    # HELP only Of one.\nonly{server=\"hr\"} 1\n# EOF\n";
        let shown = labelled(text, &|server| server == "ops", &|_| true);
        assert_eq!(
            shown,
            "# HELP calls Calls.\n# TYPE calls counter\ncalls_total{server=\"ops\",outcome=\"done\"} 1\n# EOF\n"
        );
        assert_eq!(labelled(text, &|_| false, &|_| true), "# EOF\n");
    }
}
