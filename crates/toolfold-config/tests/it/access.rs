//! Rules and issuers: what they come to, and what is said of those that could never mean anything.

use insta::assert_snapshot;
use toolfold_core::{Effect, Kind, RiskClass};

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
    assert_eq!((first.effect, second.effect), (Effect::See, Effect::Forbid));
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
    assert_snapshot!(toml("[servers.hr]\ncommand = \"a\"\n[[rules]]\nwho = []\n[[rules]]\nservers = \"hrr\"\nkinds = [\"tools\"]\nrisk = \"reed\"\neffect = \"allow\"\n[[rules]]\nwhom = \"a\"\nwhat = \"\"\neffect = \"call\"\n"), @"");
}

#[test]
fn issuers_are_reached_safely() {
    assert_snapshot!(toml("[http]\npublic_url = \"https://x.example/?a=b\"\n[[issuers]]\nissuer = \"http://login.example\"\n[[issuers]]\naudiences = \"a\"\n[[issuers]]\nissuer = \"https://a.example\"\njwks = \"ftp://a.example\"\nintrospection = \"https://a.example/i\"\n[[issuers]]\nissuer = \"https://a.example\"\n"), @"");
    assert_snapshot!(toml("[http]\nlisten = \"0.0.0.0:1\"\n[[issuers]]\nissuer = \"https://a.example\"\n"), @"");
    assert_snapshot!(toml("[http]\nlocal = true\npublic_url = \"https://x.example\"\n"), @"");
}
