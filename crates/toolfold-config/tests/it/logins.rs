//! What may be said about logins at servers, and what cannot work.

use insta::assert_snapshot;
use toolfold_config::{AuthMode, KeptIn, LoginAs};
use toolfold_core::Secret;

use crate::{load_as, toml};

#[test]
fn everything_said() {
    let config = load_as(
        "toolfold.toml",
        r#"
[oauth]
client_metadata = "https://tools.example/client.json"
callback_port = 4711
private_hosts = ["id.internal"]
[servers.a]
url = "https://a.example/mcp"
auth = "oauth"
scopes = ["read", "write"]
client_id = "me"
client_secret = "${TOKEN}"
issuer = "https://login.example"
shared = true
[servers.b]
url = "https://b.example/mcp"
login = "workload"
client_id = "me"
assertion_file = "/run/token"
[servers.c]
url = "https://c.example/mcp"
"#,
    )
    .unwrap()
    .config;
    assert_eq!(config.oauth.client_metadata.as_deref(), Some("https://tools.example/client.json"));
    assert_eq!((config.oauth.callback_port, &config.oauth.private_hosts[..]), (4711, &["id.internal".to_owned()][..]));
    let servers: Vec<_> = config.servers.values().map(|server| &server.auth).collect();
    let [a, b, c] = servers[..] else { panic!("{servers:?}") };
    assert_eq!((a.mode, a.who, a.shared), (AuthMode::OAuth, LoginAs::Person, true));
    assert_eq!(a.client_secret, Some(Secret::new("hunter2")));
    assert_eq!(a.scopes, ["read", "write"]);
    assert_eq!((b.mode, b.who), (AuthMode::Auto, LoginAs::Workload));
    assert_eq!(b.assertion, Some(KeptIn::File("/run/token".into())));
    assert_eq!(*c, toolfold_config::Auth::default());
}

/// Whoever has a public address serves a document about themselves there, unless another one is named, or none.
#[test]
fn the_document_about_this_client_is_our_own() {
    let named = |http: &str, oauth: &str| {
        let text = format!("{oauth}\n[http]\ntoken = \"t\"\n{http}\n[servers.c]\nurl = \"https://c.example/mcp\"\n");
        load_as("toolfold.toml", &text).unwrap().config.oauth.client_metadata
    };
    let public = "public_url = \"https://tools.example/here/\"";
    assert_eq!(named(public, "").as_deref(), Some("https://tools.example/here/oauth-client.json"));
    assert_eq!(named("", ""), None);
    assert_eq!(named("public_url = \"http://127.0.0.1:7420\"", ""), None, "nobody else could read it");
    let other = "[oauth]\nclient_metadata = \"https://elsewhere.example/me.json\"";
    assert_eq!(named(public, other).as_deref(), Some("https://elsewhere.example/me.json"));
    assert_eq!(named(public, "[oauth]\nclient_metadata = \"none\""), None);
}

#[test]
fn what_cannot_work() {
    assert_snapshot!(toml(r#"
[oauth]
client_metadata = "http://tools.example/client.json"
callback_port = 70000
[servers.a]
command = "a"
client_id = "me"
[servers.b]
url = "https://b.example/mcp"
auth = "basic"
scopes = ["read write"]
issuer = "login.example"
[servers.c]
url = "https://c.example/mcp"
login = "enterprise"
private_key = "x"
private_key_file = "y"
[servers.d]
url = "https://d.example/mcp"
login = "client"
"#), @r#"
    toolfold.toml:3:1: oauth.client_metadata: "http://tools.example/client.json" cannot be the name of a client
      hint: a document about a client is at an https address with a path
    toolfold.toml:4:1: oauth.callback_port: must be between 0 and 65535
    toolfold.toml:7:1: servers.a.client_id: does not go with `command`
      hint: a program that is started is given what it needs in `env`; logins are for servers with a `url`
    toolfold.toml:10:1: servers.b.auth: "basic" is not a choice here
      hint: choose from: oauth, none
    toolfold.toml:11:1: servers.b.scopes: has a scope with a space in it
      hint: write each scope as a text of its own: scopes = ["read", "write"]
    toolfold.toml:12:1: servers.b.issuer: "login.example" is not an address
      hint: write it whole: "https://login.example.com"
    toolfold.toml:15:1: servers.c.login: needs client_id, assertion or assertion_file, identity_provider, identity_client_id beside it
    toolfold.toml:17:1: servers.c.private_key_file: is said twice
      hint: keep the text or the file
    toolfold.toml:20:1: servers.d.login: needs client_id, client_secret or private_key beside it
    "#);
}
