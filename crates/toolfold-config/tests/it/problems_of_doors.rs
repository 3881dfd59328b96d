//! Mistakes in who may come in and through what, as they are shown.

use insta::assert_snapshot;

use crate::toml;

#[test]
fn doors_are_by_risk_or_to_servers_of_the_file() {
    let with = |doors: &str| toml(&format!("doors = {doors}\n[servers.github]\ncommand = \"x\"\n"));
    assert_snapshot!(with("\"risk\""), @"");
    assert_snapshot!(with("\"risks\""), @r#"
    toolfold.toml:1:1: doors: expected "risk" or a list of servers, found "risks"
      hint: did you mean `risk`?
    "#);
    assert_snapshot!(with("\"github\""), @r#"
    toolfold.toml:1:1: doors: expected "risk" or a list of servers, found "github"
      hint: write it as `["github"]`
    "#);
    assert_snapshot!(with("\"everything\""), @r#"
    toolfold.toml:1:1: doors: expected "risk" or a list of servers, found "everything"
      hint: "risk" adds call_tool_readonly, `["github"]` adds call_github
    "#);
    assert_snapshot!(with("[\"githup\", \"github\", \"risk\", \"toolbox\", \"a b\"]"), @r#"
    toolfold.toml:1:10: doors[0]: there is no server "githup"
      hint: did you mean `github`?
    toolfold.toml:1:30: doors[2]: there is no server "risk"
      hint: write it without brackets: `doors = "risk"`
    toolfold.toml:1:38: doors[3]: there is no server "toolbox"
    toolfold.toml:1:49: doors[4]: there is no server "a b"
    "#);
    assert_snapshot!(with("[7]"), @r"
    toolfold.toml:1:10: doors[0]: expected a string, found an integer
      hint: put it in quotes
    ");
    assert_snapshot!(with("true"), @"toolfold.toml:1:1: doors: expected a list of strings, found a boolean");
}

#[test]
fn nothing_is_served_to_the_network_without_credentials() {
    let issuer = "[[issuers]]\nissuer = \"https://login.example\"\n";
    let rule = "[[rules]]\nwho = \"alice\"\neffect = \"call\"\n";
    for (http, rest, starts) in [
        ("", "", false),
        ("local = true", "", false),
        ("local = true\ntoken = \"t\"", "", false),
        ("local = true", rule, false),
        ("public_url = \"https://tools.example\"", "", false),
        ("token = \"t\"", "", true),
        // Named tokens, be there any yet or not: whoever has none is not let in.
        ("local = false", "", true),
        ("", rule, true),
        ("public_url = \"https://tools.example\"", issuer, true),
        ("", issuer, false),
    ] {
        let text = format!("{rest}[http]\nlisten = \"0.0.0.0:7420\"\n{http}\n");
        let said = toml(&text);
        assert_eq!(said.is_empty(), starts, "{text}\n{said}");
        let here = toml(&text.replace("0.0.0.0", "127.0.0.1"));
        assert!(
            here.is_empty() || http.contains("public_url"),
            "on this machine it is one's own business: {text}\n{here}"
        );
    }
}

#[test]
fn listening() {
    assert_snapshot!(toml("[http]\nlisten = \"7420\""), @r#"
    toolfold.toml:2:1: http.listen: "7420" is not an address to listen on
      hint: write an address and a port: "127.0.0.1:7420"
    "#);
    assert_snapshot!(toml("[http]\nlisten = \"0.0.0.0:7420\""), @r#"
    toolfold.toml:2:1: http.listen: 0.0.0.0:7420 can be reached from other machines, and nobody has to show who they are
      hint: set `token` under `[http]`, name `[[issuers]]`, or write `local = false` and give out tokens with `toolfold token add`, or listen on 127.0.0.1
    "#);
    assert_snapshot!(toml("[http]\nlisten = \"[::]:7420\"\ntoken = \"${EMPTY}\""), @r#"
    toolfold.toml:3:1: http.token: cannot be used as a token
      hint: a token is one or more visible ASCII characters, without spaces
    "#);
    assert_snapshot!(toml("[http]\nlisten = \"0.0.0.0:7420\"\ntoken = \"${TOKEN}\""), @"");
    assert_snapshot!(toml("[http]\nlisten = \"[::1]:0\""), @"");
}
