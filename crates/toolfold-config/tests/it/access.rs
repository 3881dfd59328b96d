//! Rules and issuers: what they come to, and what is said of those that could never mean anything.

use insta::assert_snapshot;
use toolfold_core::{Kind, RiskClass, RuleEffect};

use crate::{load_as, toml};

#[test]
fn a_rule_knows_its_place_and_a_text_is_a_list_of_one() {
    let text = "[servers.hr]\ncommand = \"a\"\n\n[[rules]]\nwho = \"alice\"\nservers = [\"hr\", \"x*\"]\nkinds = \"tool\"\nrisk = [\"read\", \"write\"]\n\
                nodes = \"Business / Payments\"\nclaims = { department = \"sales\" }\neffect = \"see\"\n\n[[rules]]\neffect = \"forbid\"\nwhat = \"*.delete_*\"\n";
    let loaded = load_as("toolfold.toml", text).unwrap();
    assert_eq!(loaded.notices, []);
    let [first, second] = &loaded.config.rules[..] else { panic!("two rules") };
    assert_eq!((first.number, first.line, second.number, second.line), (1, Some(4), 2, Some(13)));
    assert!(first.who[0].matches("Alice") && first.servers[1].matches("xy"));
    assert_eq!((&first.kinds[..], &first.risk[..]), (&[Kind::Tool][..], &[RiskClass::Read, RiskClass::Write][..]));
    assert_eq!(first.nodes, [["Business", "Payments"]]);
    assert_eq!((first.effect, second.effect), (RuleEffect::See, RuleEffect::Forbid));
    assert!(!loaded.config.is_open(), "from the first rule on, everybody shows who they are");
}

#[test]
fn who_is_let_in_without_credentials() {
    let open = |text: &str| load_as("toolfold.toml", text).unwrap().config.is_open();
    assert!(open("toolbox = true"));
    assert!(!open("[http]\nlocal = false"));
    assert!(!open("[http]\ntoken = \"${TOKEN}\""));
    assert!(open("[http]\ntoken = \"${TOKEN}\"\nlocal = true"));
    assert!(!open("[[issuers]]\nissuer = \"http://127.0.0.1:9000\""));
    assert!(!open("[http]\nlisten = \"0.0.0.0:1\"\nlocal = false"));
}

#[test]
fn rules_that_mean_nothing_are_told() {
    assert_snapshot!(toml("[servers.hr]\ncommand = \"a\"\n[[rules]]\nwho = []\n[[rules]]\nservers = \"hrr\"\nkinds = [\"tools\"]\nrisk = \"reed\"\neffect = \"allow\"\n[[rules]]\nwhom = \"a\"\nwhat = \"\"\neffect = \"call\"\n"), @r#"
    toolfold.toml:3:1: rules[0]: does not say what it grants or forbids
      hint: write `effect = "call"`, "see" or "forbid"
    toolfold.toml:4:1: rules[0].who: is an empty list, which fits nothing
      hint: leave it out where everything is meant
    toolfold.toml:6:1: warning: rules[1].servers: there is no server "hrr"
      hint: did you mean `hr`?
    toolfold.toml:7:10: rules[1].kinds[0]: "tools" is not a choice here
      hint: did you mean "tool"?
    toolfold.toml:8:1: rules[1].risk: "reed" is not a choice here
      hint: did you mean "read"?
    toolfold.toml:9:1: rules[1].effect: "allow" is not a choice here
      hint: choose from: see, call, forbid
    toolfold.toml:11:1: rules[2].whom: unknown key
      hint: did you mean `who`?
    toolfold.toml:12:1: rules[2].what: is empty
      hint: write a name, or `*` for any
    "#);
}

#[test]
fn issuers_are_reached_safely() {
    assert_snapshot!(toml("[http]\npublic_url = \"https://x.example/?a=b\"\n[[issuers]]\nissuer = \"http://login.example\"\n[[issuers]]\naudiences = \"a\"\n[[issuers]]\nissuer = \"https://a.example\"\njwks = \"ftp://a.example\"\nintrospection = \"https://a.example/i\"\n[[issuers]]\nissuer = \"https://a.example\"\n"), @r#"
    toolfold.toml:2:1: http.public_url: has a query or a fragment
      hint: write the address alone
    toolfold.toml:4:1: issuers[0].issuer: "http://login.example" is not encrypted
      hint: write an address of https, or of this machine: "https://login.example.com"
    toolfold.toml:5:1: issuers[1]: has no issuer
      hint: write its address as it says it itself: `issuer = "https://login.example.com"`
    toolfold.toml:9:1: issuers[2].jwks: "ftp://a.example" is not an address of HTTP
      hint: write an address of https, or of this machine: "https://login.example.com"
    toolfold.toml:10:1: issuers[2].introspection: goes with two other keys
      hint: an issuer that is asked wants to know by whom: `introspection`, `client_id` and `client_secret`
    toolfold.toml:11:1: issuers[3]: there is another issuer "https://a.example"
      hint: make one of the two
    "#);
    assert_snapshot!(toml("[http]\nlisten = \"0.0.0.0:1\"\n[[issuers]]\nissuer = \"https://a.example\"\n"), @r#"
    http.public_url: is needed: tokens of issuers are for an address
      hint: write where clients find it: `public_url = "https://tools.example.com"` under `[http]`
    "#);
    assert_snapshot!(toml("[http]\nlocal = true\npublic_url = \"https://x.example\"\n"), @r#"
    http.local: does not go with `public_url`: everybody would be `local`
      hint: a proxy in front of Toolfold comes from this machine too: leave `local` out
    "#);
}
