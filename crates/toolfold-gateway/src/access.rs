//! Who somebody is, as far as the record knows, and what of the whole is for whom.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use toolfold_access::{Extent, Grant, Rights};
use toolfold_core::{Entry, Principal, ServerName, Surface};
use toolfold_disclosure::{Action, route};
use toolfold_store::StoreError;
use toolfold_wire::Object;

use crate::call::beside;
use crate::change::Change;
use crate::gateway::{Gateway, Inner};
use crate::request::Client;
use crate::scope::Scope;
use crate::snapshot::Snapshot;
use crate::status::ServerStatus;

/// What somebody may do with one entry, and which rule says so.
#[derive(Debug, Clone, Serialize)]
pub struct Permission {
    pub id: String,
    /// `call`, `see` or `nothing`.
    pub level: &'static str,
    /// `rule 3 (line 41)`; nothing where there are no rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

impl Inner {
    /// What exists for somebody, now.
    pub(crate) fn seen(&self, principal: &Principal) -> Arc<Snapshot> {
        let snapshot = self.snapshot.load_full();
        if snapshot.rules.is_empty() {
            return snapshot;
        }
        beside(!snapshot.is_ready_for(principal), || snapshot.seen_by(principal))
    }

    /// The rights of somebody who may not see whatever there is.
    pub(crate) fn limited(&self, principal: &Principal) -> Option<Rights> {
        let snapshot = self.snapshot.load();
        snapshot.rules.rights(principal).filter(|rights| !snapshot.rules.sees_everything(rights))
    }
}

impl Gateway {
    /// Whoever was given the token with this hash; nobody where there is none, or none any more.
    pub async fn token_holder(&self, hash: [u8; 32]) -> Result<Option<Principal>, StoreError> {
        self.0.waiting.published().await;
        let Some(store) = self.0.store.get() else { return Ok(None) };
        let token = store.token(hash).await?;
        Ok(token.map(|token| Principal::named(&token.name, token.groups)))
    }

    /// Whose tokens there are that can still be used.
    pub async fn token_names(&self) -> Result<Vec<String>, StoreError> {
        self.0.waiting.published().await;
        let Some(store) = self.0.store.get() else { return Ok(Vec::new()) };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
        let tokens = store.tokens().await?.into_iter();
        Ok(tokens.filter(|token| token.expires_at.is_none_or(|at| at > now)).map(|token| token.name).collect())
    }

    /// Whoever has a token under this name, as they would come with it.
    pub async fn token_owner(&self, name: &str) -> Option<Principal> {
        self.0.waiting.published().await;
        let tokens = self.0.store.get()?.tokens().await.ok()?;
        tokens.into_iter().find(|token| token.name == name).map(|token| Principal::named(&token.name, token.groups))
    }

    /// Everything there is, whoever asks. For whoever runs the program, and reads its configuration anyway.
    pub fn whole(&self) -> Scope {
        let client = Client::inside(Principal::local(), Surface::Direct);
        Scope::new(self.0.snapshot.load_full(), self.0.learning.learned(), &client)
    }

    /// Whether any token was given out and can still be used.
    pub async fn has_tokens(&self) -> Result<bool, StoreError> {
        Ok(!self.token_names().await?.is_empty())
    }

    /// What of a change concerns somebody: with rules, lists change for some and not for others.
    pub fn concerning(&self, change: &Change, principal: &Principal) -> Vec<Change> {
        let rules = !self.0.snapshot.load().rules.is_empty();
        match change {
            Change::Resource { server, uri } if rules => {
                let may = self.0.seen(principal).decision_on_resource(server, uri).level == Extent::Call;
                if may { vec![change.clone()] } else { Vec::new() }
            }
            Change::Snapshot(_) => beside(true, || change.for_principal(principal)),
            other => vec![other.clone()],
        }
    }

    /// Whether somebody sees whatever there is, and so may look at what others do.
    pub fn sees_everything(&self, principal: &Principal) -> bool {
        self.0.limited(principal).is_none()
    }

    /// Whether a server exists for somebody.
    pub fn sees(&self, principal: &Principal, server: &ServerName) -> bool {
        self.0.seen(principal).is_seen(server)
    }

    /// How the servers are that exist for somebody.
    pub async fn status_for(&self, principal: &Principal) -> Vec<ServerStatus> {
        self.0.waiting.published().await;
        let snapshot = self.0.seen(principal);
        self.status_of(&snapshot)
    }

    /// The counters that somebody may see, in the text format of Prometheus.
    pub fn metrics_for(&self, principal: &Principal) -> String {
        match self.0.limited(principal) {
            None => self.0.metrics(),
            Some(_) => {
                let snapshot = self.0.seen(principal);
                let seen = |server: &str| ServerName::new(server).is_ok_and(|server| snapshot.is_seen(&server));
                let known = |tool: &str| snapshot.catalog.resolve(tool).is_ok();
                labelled(&self.0.metrics(), &seen, &known)
            }
        }
    }

    /// What somebody may do with everything there is, seen or not. For whoever runs the program.
    pub async fn permissions(&self, principal: &Principal) -> Vec<Permission> {
        self.0.waiting.settled().await;
        let whole = self.0.snapshot.load_full();
        let decided: Vec<Grant> = whole.decisions_for(principal);
        let said = |(entry, decision): (&Arc<Entry>, &Grant)| Permission {
            id: entry.id.to_string(),
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
        let scope = self.0.scope(client);
        scope.snapshot.decision(entry).level == Extent::Call && !scope.snapshot.forbids(entry)
    }

    /// The scope with which a call could be made that cannot be made now, where one would help.
    pub async fn scope_wanted(&self, client: &Client, params: &Object) -> Option<String> {
        self.0.waiting.published().await;
        let principal = client.principal();
        if self.0.snapshot.load().rules.scopes().is_empty() {
            return None;
        }
        let scope = self.0.scope(client);
        let name = params.string("name")?;
        let Action::Call { entry, .. } = route(client.surface, &scope.view(), &name, params.get("arguments")) else {
            return None;
        };
        let entry = scope.snapshot.catalog.entry(entry);
        if scope.snapshot.decision(entry).level == Extent::Call {
            return None;
        }
        scope.snapshot.scopes_wanted(&principal, entry).map(|scopes| scopes.join(" "))
    }

    /// Every scope that a rule names.
    pub fn scopes(&self) -> Vec<String> {
        self.0.snapshot.load().rules.scopes()
    }
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
