//! What rules come to: the rights of one principal, and what they say of one thing.
//!
//! The meaning is Cedar's. Without a rule everything exists for everybody; from the first one on nothing does that no
//! rule grants. Any rule that fits grants, one that forbids outdoes all that grant, and the order does not matter.
//!
//! What a reader would get wrong: to forbid is to hide. What may be seen and not called is what `see` grants and `call`
//! does not. And `forbid` goes by every name that a thing has had, a grant by its present id alone: a server that renames
//! its tools can lose by it and never gain.

use std::sync::Arc;

use toolfold_core::{AccessRule, Entry, Kind, Pattern, Principal, RiskClass, RuleEffect, ServerName};

/// How far something exists for somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Extent {
    Nothing,
    See,
    Call,
}

/// What was decided, and which rule says so, by its place among the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    pub level: Extent,
    pub reason: Reason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// There are no rules.
    Open,
    /// No rule grants it.
    NotGranted,
    Rule(usize),
}

/// Every rule there is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rules(Arc<[AccessRule]>);

/// The rules that are about one principal, by their places. Two with the same rights see the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rights(Arc<[u32]>);

/// Something that may exist or not.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    pub server: &'a ServerName,
    /// As its server calls it.
    pub name: &'a str,
    /// What else it was called, by people and before.
    pub aliases: &'a [String],
    pub kind: Kind,
    pub risk: RiskClass,
    /// Whether it is in the node of this path, or below.
    pub is_in: &'a dyn Fn(&[String]) -> bool,
}

impl<'a> Subject<'a> {
    pub fn entry(entry: &'a Entry, is_in: &'a dyn Fn(&[String]) -> bool) -> Self {
        Subject {
            server: entry.server(),
            name: entry.name(),
            aliases: &entry.aliases,
            kind: entry.kind,
            risk: RiskClass::of(entry),
            is_in,
        }
    }

    /// Something that is in no catalog: a prompt by its name, a resource by its address.
    pub fn offered(server: &'a ServerName, kind: Kind, name: &'a str) -> Self {
        Subject { server, name, aliases: &[], kind, risk: RiskClass::Read, is_in: &|_| false }
    }
}

impl Rules {
    pub fn new(rules: Vec<AccessRule>) -> Self {
        Rules(rules.into())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, place: usize) -> Option<&AccessRule> {
        self.0.get(place)
    }

    /// What of the rules is about this principal; `None` where there are no rules.
    pub fn rights(&self, principal: &Principal) -> Option<Rights> {
        let about = |place: &u32| self.0.get(*place as usize).is_some_and(|rule| is_about(rule, principal));
        (!self.is_empty()).then(|| Rights((0..self.0.len() as u32).filter(about).collect()))
    }

    /// What these rights come to for one thing.
    pub fn decide(&self, rights: &Rights, subject: &Subject<'_>) -> Grant {
        let mut best = Grant { level: Extent::Nothing, reason: Reason::NotGranted };
        for (place, rule) in self.of(rights) {
            let level = match rule.effect {
                RuleEffect::Forbid if covers(rule, subject) => {
                    return Grant { level: Extent::Nothing, reason: Reason::Rule(place) };
                }
                RuleEffect::See => Extent::See,
                RuleEffect::Call => Extent::Call,
                RuleEffect::Forbid => continue,
            };
            if level > best.level && covers(rule, subject) {
                best = Grant { level, reason: Reason::Rule(place) };
            }
        }
        best
    }

    /// What these rights grant and forbid, in words that are the same wherever the rules stand and whoever they are about.
    pub fn spelled(&self, rights: &Rights) -> String {
        let spelled = |(_, rule): (usize, &AccessRule)| {
            let AccessRule { what, servers, nodes, kinds, risk, effect, .. } = rule;
            format!("{what:?} {servers:?} {nodes:?} {kinds:?} {risk:?} {effect:?}")
        };
        let mut all: Vec<String> = self.of(rights).map(spelled).collect();
        all.sort();
        all.dedup();
        all.join("\n")
    }

    /// Whether whatever there is would be seen: one rule grants everything, and none forbids anything.
    pub fn sees_everything(&self, rights: &Rights) -> bool {
        let bare = |rule: &AccessRule| {
            let AccessRule { what, servers, nodes, kinds, risk, .. } = rule;
            let any = |patterns: &[Pattern]| patterns.is_empty() || patterns.iter().any(|pattern| pattern.covers(""));
            any(what) && any(servers) && nodes.is_empty() && kinds.is_empty() && risk.is_empty()
        };
        let granted = self.of(rights).any(|(_, rule)| rule.effect != RuleEffect::Forbid && bare(rule));
        granted && !self.of(rights).any(|(_, rule)| rule.effect == RuleEffect::Forbid)
    }

    /// Whether a server exists of which nothing is known: only where all that it could have would be seen.
    pub fn sees_all_of(&self, rights: &Rights, server: &ServerName) -> bool {
        let granted =
            self.of(rights).any(|(_, rule)| rule.effect != RuleEffect::Forbid && is_about_all_of(rule, server));
        granted && !self.of(rights).any(|(_, rule)| rule.effect == RuleEffect::Forbid && is_about_all_of(rule, server))
    }

    /// Whether whatever a server could be asked may be asked: nothing that it could have is withheld.
    pub fn commands(&self, rights: &Rights, server: &ServerName) -> bool {
        let granted = self.of(rights).any(|(_, rule)| rule.effect == RuleEffect::Call && is_about_all_of(rule, server));
        granted && !self.of(rights).any(|(_, rule)| rule.effect == RuleEffect::Forbid && may_concern(rule, server))
    }

    /// The scopes with which this principal could call something that they may not call now, of the first rule that would
    /// grant it. `None` where no scope would help.
    pub fn scopes_wanted(&self, principal: &Principal, subject: &Subject<'_>) -> Option<Vec<String>> {
        let lacking = |rule: &&AccessRule| {
            rule.effect == RuleEffect::Call
                && !rule.scopes.is_empty()
                && covers(rule, subject)
                && !is_about(rule, principal)
        };
        self.0.iter().filter(lacking).find_map(|rule| {
            let mut identity = principal.identity().clone();
            let wanted = rule.scopes.first()?.clone();
            identity.scopes.push(wanted.clone());
            let stronger = Principal::new(identity);
            let helps =
                self.rights(&stronger).is_some_and(|rights| self.decide(&rights, subject).level == Extent::Call);
            helps.then(|| vec![wanted])
        })
    }

    /// Every scope that a rule names, each once.
    pub fn scopes(&self) -> Vec<String> {
        let mut all: Vec<String> = self.0.iter().flat_map(|rule| rule.scopes.iter().cloned()).collect();
        all.sort();
        all.dedup();
        all
    }

    fn of<'r>(&'r self, rights: &'r Rights) -> impl Iterator<Item = (usize, &'r AccessRule)> {
        rights.0.iter().filter_map(|place| Some((*place as usize, self.0.get(*place as usize)?)))
    }
}

/// Whether a rule is about somebody at all.
fn is_about(rule: &AccessRule, principal: &Principal) -> bool {
    let who = principal.identity();
    let one_of = |patterns: &[Pattern], names: &[String]| {
        patterns.is_empty() || patterns.iter().any(|pattern| names.iter().any(|name| pattern.matches(name)))
    };
    let said = |(claim, pattern): (&String, &Pattern)| {
        who.claims.get(claim).is_some_and(|values| values.iter().any(|value| pattern.matches(value)))
    };
    (rule.who.is_empty() || rule.who.iter().any(|pattern| pattern.matches(&who.name)))
        && one_of(&rule.groups, &who.groups)
        && (rule.scopes.is_empty()
            || rule.scopes.iter().any(|wanted| who.scopes.iter().any(|has| suffices(has, wanted))))
        && rule.claims.iter().all(said)
}

/// Whether one scope is as good as another: the same, or a broader one (`tools` is more than `tools:read`).
fn suffices(has: &str, wanted: &str) -> bool {
    let rest = wanted.strip_prefix(has.strip_suffix(":*").unwrap_or(has));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// Whether a rule is about a thing.
fn covers(rule: &AccessRule, subject: &Subject<'_>) -> bool {
    let named = |name: &str| {
        let id = format!("{}.{name}", subject.server);
        rule.what.iter().any(|pattern| pattern.matches(&id))
    };
    let by_name = rule.what.is_empty()
        || named(subject.name)
        || (rule.effect == RuleEffect::Forbid && subject.aliases.iter().any(|alias| named(alias)));
    (rule.kinds.is_empty() || rule.kinds.contains(&subject.kind))
        && (rule.risk.is_empty() || rule.risk.contains(&subject.risk))
        && of_server(rule, subject.server)
        && by_name
        && (rule.nodes.is_empty() || rule.nodes.iter().any(|path| (subject.is_in)(path)))
}

fn of_server(rule: &AccessRule, server: &ServerName) -> bool {
    rule.servers.is_empty() || rule.servers.iter().any(|pattern| pattern.matches(server.as_str()))
}

/// Whether a rule is about whatever a server may have.
fn is_about_all_of(rule: &AccessRule, server: &ServerName) -> bool {
    let beginning = format!("{server}.");
    of_server(rule, server)
        && (rule.what.is_empty() || rule.what.iter().any(|pattern| pattern.covers(&beginning)))
        && rule.nodes.is_empty()
        && rule.kinds.is_empty()
        && rule.risk.is_empty()
}

/// Whether a rule could be about something of a server.
fn may_concern(rule: &AccessRule, server: &ServerName) -> bool {
    let beginning = format!("{server}.");
    of_server(rule, server) && (rule.what.is_empty() || rule.what.iter().any(|pattern| pattern.may_begin(&beginning)))
}
