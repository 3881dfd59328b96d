//! What each part of a rule means, one by one.

use toolfold_access::{Extent, Reason, Rules, Subject};
use toolfold_core::{AccessRule, Identity, Kind, Pattern, Principal, Proof, RiskClass, RuleEffect, ServerName};

fn rule(effect: RuleEffect) -> AccessRule {
    AccessRule {
        number: 1,
        line: Some(7),
        who: Vec::new(),
        groups: Vec::new(),
        scopes: Vec::new(),
        claims: Default::default(),
        what: Vec::new(),
        servers: Vec::new(),
        nodes: Vec::new(),
        kinds: Vec::new(),
        risk: Vec::new(),
        effect,
    }
}

fn signed(name: &str, scopes: &[&str]) -> Principal {
    let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
    let proof = Proof::Signed("https://issuer.example".to_owned());
    Principal::new(Identity { name: name.to_owned(), proof, groups: Vec::new(), scopes, claims: Default::default() })
}

fn tool<'a>(server: &'a ServerName, name: &'a str) -> Subject<'a> {
    Subject { risk: RiskClass::Destructive, ..Subject::offered(server, Kind::Tool, name) }
}

#[test]
fn without_rules_there_are_no_rights_to_look_at_and_with_one_nothing_is_granted_by_itself() {
    let hr = ServerName::new("hr").unwrap();
    assert_eq!(Rules::default().rights(&Principal::local()), None);
    let rules = Rules::new(vec![AccessRule { who: vec![Pattern::new("alice")], ..rule(RuleEffect::Call) }]);
    let bob = rules.rights(&Principal::named("bob", Vec::new())).unwrap();
    let decision = rules.decide(&bob, &tool(&hr, "read"));
    assert_eq!((decision.level, decision.reason), (Extent::Nothing, Reason::NotGranted));
    let local = rules.rights(&Principal::local()).unwrap();
    assert_eq!(rules.decide(&local, &tool(&hr, "read")).level, Extent::Nothing, "nobody is above the rules");
    assert_eq!(rules.get(0).unwrap().to_string(), "rule 1 (line 7)");
}

#[test]
fn a_broader_scope_suffices_and_a_similar_one_does_not() {
    let hr = ServerName::new("hr").unwrap();
    let rules = Rules::new(vec![AccessRule { scopes: vec!["tools:read".into()], ..rule(RuleEffect::Call) }]);
    let level = |scopes: &[&str]| {
        let rights = rules.rights(&signed("alice", scopes)).unwrap();
        rules.decide(&rights, &tool(&hr, "read")).level
    };
    for enough in ["tools:read", "tools", "tools:*"] {
        assert_eq!(level(&[enough]), Extent::Call, "{enough}");
    }
    for not in ["tools:write", "tool", "toolset", "tools:read:some", "*", ""] {
        assert_eq!(level(&[not]), Extent::Nothing, "{not}");
    }
}

#[test]
fn a_scope_is_asked_for_only_where_it_would_help() {
    let (hr, ops) = (ServerName::new("hr").unwrap(), ServerName::new("ops").unwrap());
    let rules = Rules::new(vec![
        rule(RuleEffect::See),
        AccessRule { scopes: vec!["hr:write".into()], servers: vec![Pattern::new("hr")], ..rule(RuleEffect::Call) },
        AccessRule {
            who: vec![Pattern::new("mallory")],
            servers: vec![Pattern::new("hr")],
            ..rule(RuleEffect::Forbid)
        },
    ]);
    let wanted = |who: &Principal, server: &ServerName| rules.scopes_wanted(who, &tool(server, "write"));
    assert_eq!(wanted(&signed("alice", &[]), &hr), Some(vec!["hr:write".to_owned()]));
    assert_eq!(wanted(&signed("alice", &["hr"]), &hr), None, "it is granted already");
    assert_eq!(wanted(&signed("alice", &[]), &ops), None, "no rule names one");
    assert_eq!(wanted(&signed("mallory", &[]), &hr), None, "forbidden all the same");
    assert_eq!(rules.scopes(), ["hr:write"]);
}

#[test]
fn what_was_forbidden_stays_so_when_it_is_renamed_and_what_was_granted_does_not() {
    let hr = ServerName::new("hr").unwrap();
    let aliases = ["delete_all".to_owned(), "read".to_owned()];
    let renamed = Subject { aliases: &aliases, ..tool(&hr, "tidy_up") };
    let level = |rules: Vec<AccessRule>| {
        let rules = Rules::new(rules);
        let rights = rules.rights(&Principal::local()).unwrap();
        rules.decide(&rights, &renamed).level
    };
    let forbid = AccessRule { what: vec![Pattern::new("hr.delete_*")], ..rule(RuleEffect::Forbid) };
    assert_eq!(level(vec![rule(RuleEffect::Call), forbid]), Extent::Nothing);
    assert_eq!(
        level(vec![AccessRule { what: vec![Pattern::new("hr.read")], ..rule(RuleEffect::Call) }]),
        Extent::Nothing
    );
}
