//! The same decisions, made again in the words of the documents: every rule is looked at for every question, and nothing
//! is sorted out beforehand.

use std::collections::BTreeMap;

use proptest::prelude::*;
use toolfold_access::{Extent, Reason, Rules, Subject};
use toolfold_core::{AccessRule, Identity, Kind, Pattern, Principal, Proof, RiskClass, RuleEffect, ServerName};

/// A rule before its patterns are patterns.
#[derive(Debug, Clone)]
struct Plain {
    who: Vec<&'static str>,
    groups: Vec<&'static str>,
    scopes: Vec<&'static str>,
    claims: Vec<(&'static str, &'static str)>,
    what: Vec<&'static str>,
    servers: Vec<&'static str>,
    nodes: Vec<&'static str>,
    kinds: Vec<Kind>,
    risk: Vec<RiskClass>,
    effect: RuleEffect,
}

#[derive(Debug, Clone)]
struct Person {
    name: &'static str,
    groups: Vec<&'static str>,
    scopes: Vec<&'static str>,
    claims: Vec<(&'static str, &'static str)>,
}

#[derive(Debug, Clone)]
struct Thing {
    server: &'static str,
    name: &'static str,
    aliases: Vec<&'static str>,
    kind: Kind,
    risk: RiskClass,
    nodes: Vec<&'static str>,
}

impl Plain {
    fn rule(&self, number: usize) -> AccessRule {
        let patterns = |texts: &[&str]| texts.iter().map(|text| Pattern::new(text)).collect();
        AccessRule {
            number,
            line: None,
            who: patterns(&self.who),
            groups: patterns(&self.groups),
            scopes: self.scopes.iter().map(|text| (*text).to_owned()).collect(),
            claims: self.claims.iter().map(|(name, value)| ((*name).to_owned(), Pattern::new(value))).collect(),
            what: patterns(&self.what),
            servers: patterns(&self.servers),
            nodes: self.nodes.iter().map(|node| vec![(*node).to_owned()]).collect(),
            kinds: self.kinds.clone(),
            risk: self.risk.clone(),
            effect: self.effect,
        }
    }

    /// A star is anything: tried letter by letter.
    fn fits(pattern: &str, text: &str) -> bool {
        match (pattern.chars().next(), text.chars().next()) {
            (None, None) => true,
            (Some('*'), _) => {
                Plain::fits(&pattern[1..], text) || (!text.is_empty() && Plain::fits(pattern, &text[1..]))
            }
            (Some(a), Some(b)) if a.eq_ignore_ascii_case(&b) => Plain::fits(&pattern[1..], &text[1..]),
            _ => false,
        }
    }

    fn is_about(&self, person: &Person, thing: &Thing) -> bool {
        let mut parts = vec![];
        parts.push(self.who.is_empty() || self.who.iter().any(|who| Plain::fits(who, person.name)));
        parts.push(
            self.groups.is_empty()
                || self.groups.iter().any(|group| person.groups.iter().any(|has| Plain::fits(group, has))),
        );
        parts.push(
            self.scopes.is_empty()
                || self
                    .scopes
                    .iter()
                    .any(|scope| person.scopes.iter().any(|has| has == scope || scope.starts_with(&format!("{has}:")))),
        );
        for claim in &self.claims {
            parts.push(person.claims.iter().any(|has| has.0 == claim.0 && Plain::fits(claim.1, has.1)));
        }
        parts.push(self.servers.is_empty() || self.servers.iter().any(|server| Plain::fits(server, thing.server)));
        let mut names = vec![thing.name];
        if self.effect == RuleEffect::Forbid {
            names.extend(&thing.aliases);
        }
        let ids: Vec<String> = names.iter().map(|name| format!("{}.{name}", thing.server)).collect();
        parts.push(self.what.is_empty() || self.what.iter().any(|what| ids.iter().any(|id| Plain::fits(what, id))));
        parts.push(self.nodes.is_empty() || self.nodes.iter().any(|node| thing.nodes.contains(node)));
        parts.push(self.kinds.is_empty() || self.kinds.contains(&thing.kind));
        parts.push(self.risk.is_empty() || self.risk.contains(&thing.risk));
        parts.into_iter().all(|part| part)
    }
}

fn reference(rules: &[Plain], person: &Person, thing: &Thing) -> Extent {
    let about = |effect: RuleEffect| rules.iter().any(|rule| rule.effect == effect && rule.is_about(person, thing));
    if about(RuleEffect::Forbid) {
        Extent::Nothing
    } else if about(RuleEffect::Call) {
        Extent::Call
    } else if about(RuleEffect::See) {
        Extent::See
    } else {
        Extent::Nothing
    }
}

fn some<T: Clone + std::fmt::Debug + 'static>(of: Vec<T>) -> impl Strategy<Value = Vec<T>> {
    // Mostly nothing, or hardly any rule would fit.
    prop_oneof![3 => Just(Vec::new()), 2 => proptest::sample::subsequence(of.clone(), 1..=of.len().min(2))]
}

fn plain() -> impl Strategy<Value = Plain> {
    let who = (
        some(vec!["alice", "b*", "*"]),
        some(vec!["ops", "d*"]),
        some(vec!["tools", "tools:read", "hr"]),
        some(vec![("dep", "sales"), ("level", "*")]),
    );
    let what = (
        some(vec!["hr.*", "*.read", "ops.write_it", "*_it", "hr.old"]),
        some(vec!["hr", "o*"]),
        some(vec!["Data", "Coding"]),
        some(vec![Kind::Tool, Kind::Prompt]),
        some(RiskClass::ALL.to_vec()),
    );
    let effect = proptest::sample::select(RuleEffect::ALL.to_vec());
    (who, what, effect).prop_map(|((who, groups, scopes, claims), (what, servers, nodes, kinds, risk), effect)| Plain {
        who,
        groups,
        scopes,
        claims,
        what,
        servers,
        nodes,
        kinds,
        risk,
        effect,
    })
}

fn person() -> impl Strategy<Value = Person> {
    let name = proptest::sample::select(vec!["alice", "bob", "Ben", "carol"]);
    (
        name,
        some(vec!["ops", "dev"]),
        some(vec!["tools", "tools:read", "tools:write", "toolsmith"]),
        some(vec![("dep", "sales"), ("dep", "law")]),
    )
        .prop_map(|(name, groups, scopes, claims)| Person { name, groups, scopes, claims })
}

fn thing() -> impl Strategy<Value = Thing> {
    let name = proptest::sample::select(vec!["read", "write_it", "x", "old"]);
    let server = proptest::sample::select(vec!["hr", "ops", "HR2"]);
    let kind = proptest::sample::select(vec![Kind::Tool, Kind::Prompt, Kind::Resource]);
    let risk = proptest::sample::select(RiskClass::ALL.to_vec());
    (server, name, some(vec!["old", "read"]), kind, risk, some(vec!["Data", "Coding"]))
        .prop_map(|(server, name, aliases, kind, risk, nodes)| Thing { server, name, aliases, kind, risk, nodes })
}

fn principal(person: &Person) -> Principal {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let mut claims: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in &person.claims {
        claims.entry((*name).to_owned()).or_default().push((*value).to_owned());
    }
    Principal::new(Identity {
        name: person.name.to_owned(),
        proof: Proof::Signed("https://issuer.example".to_owned()),
        groups: texts(&person.groups),
        scopes: texts(&person.scopes),
        claims,
    })
}

fn decided(rules: &[Plain], person: &Person, thing: &Thing) -> Option<(Extent, Reason)> {
    let rules = Rules::new(rules.iter().enumerate().map(|(place, rule)| rule.rule(place + 1)).collect());
    let rights = rules.rights(&principal(person))?;
    let server = ServerName::new(thing.server).unwrap();
    let aliases: Vec<String> = thing.aliases.iter().map(|alias| (*alias).to_owned()).collect();
    let is_in = |path: &[String]| thing.nodes.iter().any(|node| path == [*node]);
    let subject = Subject {
        server: &server,
        name: thing.name,
        aliases: &aliases,
        kind: thing.kind,
        risk: thing.risk,
        is_in: &is_in,
    };
    let decision = rules.decide(&rights, &subject);
    Some((decision.level, decision.reason))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn decisions_are_those_of_the_reference(rules in proptest::collection::vec(plain(), 1..6), person in person(), thing in thing()) {
        let (level, reason) = decided(&rules, &person, &thing).unwrap();
        prop_assert_eq!(level, reference(&rules, &person, &thing));
        // The rule that is named is one that says so by itself.
        match reason {
            Reason::Rule(place) => {
                let rule = &rules[place];
                prop_assert!(rule.is_about(&person, &thing));
                let says = match rule.effect { RuleEffect::Forbid => Extent::Nothing, RuleEffect::See => Extent::See, RuleEffect::Call => Extent::Call };
                prop_assert_eq!(says, level);
            }
            Reason::NotGranted => prop_assert_eq!(level, Extent::Nothing),
            Reason::Open => prop_assert!(false, "there are rules"),
        }
    }

    #[test]
    fn the_order_does_not_matter(mut rules in proptest::collection::vec(plain(), 1..6), person in person(), thing in thing()) {
        let before = decided(&rules, &person, &thing).unwrap().0;
        rules.reverse();
        prop_assert_eq!(decided(&rules, &person, &thing).unwrap().0, before);
        rules.push(Plain { effect: RuleEffect::Forbid, who: vec![], groups: vec![], scopes: vec![], claims: vec![], what: vec![], servers: vec![], nodes: vec![], kinds: vec![], risk: vec![] });
        prop_assert_eq!(decided(&rules, &person, &thing).unwrap().0, Extent::Nothing, "forbid wins");
    }

    #[test]
    fn a_server_that_is_seen_whole_hides_nothing(rules in proptest::collection::vec(plain(), 1..6), person in person(), thing in thing()) {
        let compiled = Rules::new(rules.iter().enumerate().map(|(place, rule)| rule.rule(place + 1)).collect());
        let rights = compiled.rights(&principal(&person)).unwrap();
        let server = ServerName::new(thing.server).unwrap();
        let level = reference(&rules, &person, &thing);
        if compiled.commands(&rights, &server) {
            prop_assert_eq!(level, Extent::Call);
        }
        let forbidden = rules.iter().any(|rule| rule.effect == RuleEffect::Forbid && rule.is_about(&person, &thing));
        if compiled.sees_all_of(&rights, &server) && !forbidden {
            prop_assert!(level >= Extent::See);
        }
    }
}
