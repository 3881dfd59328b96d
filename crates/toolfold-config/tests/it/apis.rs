//! Servers that are no MCP servers.

use serde_json::json;
use toolfold_config::{DocumentPlace, HandWay, Start, Transport};
use toolfold_core::ServerName;

use crate::{load_as, toml};

#[test]
fn an_api_a_command_and_an_agent() {
    let text = r#"
[servers.pets]
openapi = "pets.yaml"
base_url = "https://pets.example/v1?key=${TOKEN}"
headers = { X-Key = "${TOKEN}" }
include = ["tag:pets"]
exclude = ["DELETE /*"]
[servers.web]
openapi = "https://web.example/openapi.json"
[servers.mine]
base_url = "https://weather.example"
cwd = "sub"
[[servers.mine.tools]]
name = "forecast"
description = "Weather"
path = "/f/{city}"
[[servers.mine.tools]]
name = "log"
description = "Commits"
command = ["git", "log", "{branch}", "--"]
[servers.mine.tools.input]
properties.branch = { type = "string", items = { deep = { deeper = { deepest = [1, 2.5, true] } } } }
[agents]
paths = ["agents"]
[agents.planner]
card = "https://a.example/.well-known/agent-card.json"
timeout = "5m"
"#;
    let config = load_as("toolfold.toml", text).unwrap().config;
    let of = |name: &str| &config.servers[&ServerName::new(name).unwrap()];
    let Transport::Api(pets) = &of("pets").transport else { panic!("no API") };
    assert!(
        matches!(&pets.document, Some(DocumentPlace::File(path)) if path.ends_with("pets.yaml") && path.is_absolute())
    );
    assert_eq!((pets.include[0].as_str(), pets.exclude[0].as_str()), ("tag:pets", "DELETE /*"));
    assert!(!pets.shown().contains("hunter2") && !format!("{pets:?}").contains("Key: \"hunter2"), "{pets:?}");
    let Transport::Api(web) = &of("web").transport else { panic!("no API") };
    assert_eq!(web.document, Some(DocumentPlace::Url("https://web.example/openapi.json".to_owned())));
    let Transport::Api(mine) = &of("mine").transport else { panic!("no API") };
    assert_eq!(mine.tools[0].way, HandWay::Endpoint { method: "GET".to_owned(), path: "/f/{city}".to_owned() });
    assert_eq!(
        mine.tools[0].input,
        json!({"required": ["city"], "properties": {"city": {"type": "string"}}, "additionalProperties": false, "type": "object"})
    );
    assert_eq!(
        mine.tools[1].input["properties"]["branch"]["items"]["deep"]["deeper"]["deepest"],
        json!([1, 2.5, true])
    );
    let planner = of("planner");
    assert!(matches!(&planner.transport, Transport::Agent { card, .. } if card.contains("a.example")));
    assert_eq!((planner.start, planner.timeouts.call.as_secs()), (Start::Eager, 300));
    assert!(config.agents[0].ends_with("agents"));
}

#[test]
fn what_makes_no_sense() {
    insta::assert_snapshot!(toml(
        r#"
[servers.a]
openapi = "x.yaml"
url = "https://h/mcp"
env = { A = "b" }
[servers.b]
openapi = "ftp://h/x"
base_url = "https://me:pw@h"
[servers.c]
base_url = "https://h"
command = "x"
[servers.d]
[[servers.d.tools]]
name = "no base"
description = "x"
path = "/x"
[[servers.d.tools]]
name = "y"
path = "/y"
command = ["x"]
[[servers.d.tools]]
name = "z"
description = "x"
command = ["{what}"]
input = { properties = { what = { type = "string" } } }
[[servers.d.tools]]
name = "w"
description = "x"
path = "/w"
[[servers.d.tools]]
name = "v"
description = "x"
command = ["git", "{ref}"]
input = { properties = { rev = {} }, at = 2026-01-01 }
[agents.e]
url = "https://h"
[agents]
path = ["x"]
"#
    ), @r##"
    toolfold.toml:4:1: servers.a.url: does not go with `openapi` or `tools`
      hint: `url` is for an MCP server; where an API is, is said by `base_url`
    toolfold.toml:5:1: servers.a.env: does not go with an API
      hint: `env` is for commands, and no tool of this server is one
    toolfold.toml:7:1: servers.b.openapi: is neither a file nor an address
      hint: write a path, or "https://example.com/openapi.json"
    toolfold.toml:8:1: servers.b.base_url: has a user name or a password in it: send them as a header
      hint: write it whole: "https://api.example.com/v1"
    toolfold.toml:10:1: servers.c.base_url: goes with `openapi` or `tools`
      hint: it is for an API: `openapi` names its document, `[[servers.….tools]]` describe it by hand
    toolfold.toml:14:1: servers.d.tools[0].name: a tool's name is 1 to 64 letters, digits, `_` or `-`
    toolfold.toml:17:1: servers.d.tools[1]: has no `description`
      hint: a model finds and chooses a tool by its description: say in a sentence what it does
    toolfold.toml:17:1: servers.d.tools[1]: needs `path` or `command`, and not both
      hint: a tool is an endpoint, with `method` and `path`, or a program, with `command`
    toolfold.toml:21:1: servers.d.tools[2]: the program of `command` is an argument: that would run anything
    toolfold.toml:26:1: servers.d.tools[3]: is an endpoint, and the server has no `base_url`
    toolfold.toml:30:1: servers.d.tools[4]: `command` names {ref}, which `input` does not have among its properties
    toolfold.toml:34:38: servers.d.tools[4].input.at: a schema has no date
    toolfold.toml:35:9: agents.e: has no `card`
      hint: the address of its card: "https://…/.well-known/agent-card.json"; files of agents are in `paths`
    toolfold.toml:36:1: agents.e.url: unknown key
      hint: known keys: card, headers, prefix, trust, forbid, aliases, enabled, timeout, connect_timeout, max_message, auth, login, scopes, client_id, client_secret, private_key, private_key_file, issuer, assertion, assertion_file, identity_provider, identity_client_id, identity_client_secret, shared
    toolfold.toml:38:1: agents.path: unknown key
      hint: did you mean `paths`?
    "##);
}

#[test]
fn one_name_is_one_server() {
    insta::assert_snapshot!(toml("[servers.x]\nurl = \"https://h/mcp\"\n[agents.x]\ncard = \"https://h/card\"\n"), @r"
    toolfold.toml:1:10: servers.x: is called `x`, and so is x
      hint: rename one of the two
    ");
}
