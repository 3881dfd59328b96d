//! Every kind of mistake in a `toolfold.toml`, as it is shown. The text of a message is the contract here.

use insta::assert_snapshot;

use crate::toml;

#[test]
fn all_at_once() {
    assert_snapshot!(toml(r#"
surfase = "compact"
budget = "many"

[servers.github]
  comand = "npx"
  env = { GITHUB_TOKEN = "${GITHUB_TOKEN}" }

[servers.linear]
url = "mcp.linear.app"
timeout = "soon"
"#), @r#"
    toolfold.toml:2:1: surfase: unknown key
      hint: did you mean `surface`?
    toolfold.toml:3:1: budget: expected an integer, found a string
    toolfold.toml:6:3: servers.github.comand: unknown key
      hint: did you mean `command`?
    toolfold.toml:10:1: servers.linear.url: is not a URL: relative URL without a base
      hint: write it whole: "https://example.com/mcp"
    toolfold.toml:11:1: servers.linear.timeout: "soon" is not a usable duration
      hint: write seconds as a number, or "500ms", "90s", "5m", "1h"
    "#);
}

#[test]
fn unknown_keys() {
    assert_snapshot!(toml(r#"
mcpServers = {}
[http]
lissen = "127.0.0.1:1"
[servers.a]
command = "a"
disabled = true
zzz = 1
"strange key" = 1
"#), @r#"
    toolfold.toml:2:1: mcpServers: unknown key
      hint: did you mean `servers`?
    toolfold.toml:4:1: http.lissen: unknown key
      hint: did you mean `listen`?
    toolfold.toml:7:1: servers.a.disabled: unknown key
      hint: did you mean `enabled`?
    toolfold.toml:8:1: servers.a.zzz: unknown key
      hint: known keys: command, args, env, cwd, url, start, run, era, idle_timeout, stop_timeout, openapi, base_url, include, exclude, tools, headers, prefix, trust, forbid, aliases, enabled, timeout, connect_timeout, max_message, auth, login, scopes, client_id, client_secret, private_key, private_key_file, issuer, assertion, assertion_file, identity_provider, identity_client_id, identity_client_secret, shared
    toolfold.toml:9:1: servers.a."strange key": unknown key
      hint: known keys: command, args, env, cwd, url, start, run, era, idle_timeout, stop_timeout, openapi, base_url, include, exclude, tools, headers, prefix, trust, forbid, aliases, enabled, timeout, connect_timeout, max_message, auth, login, scopes, client_id, client_secret, private_key, private_key_file, issuer, assertion, assertion_file, identity_provider, identity_client_id, identity_client_secret, shared
    "#);
}

#[test]
fn agents_and_skills() {
    assert_snapshot!(toml(r#"
[agents]
path = ["agents"]
[skills]
paths = ["", "ok", 7]
"#), @r#"
    toolfold.toml:3:1: agents.path: unknown key
      hint: did you mean `paths`?
    toolfold.toml:5:20: skills.paths[2]: expected a string, found an integer
      hint: put it in quotes
    "#);
    assert_snapshot!(toml(r#"
agents = ["here"]
[skills]
paths = ["", "${NOT_SET}/skills", "here"]
[servers.skills]
command = "a"
"#), @r#"
    toolfold.toml:2:1: agents: expected a table, found a list
    toolfold.toml:4:10: skills.paths[0]: is empty
      hint: write a file or a folder
    toolfold.toml:4:14: skills.paths[1]: the variable `NOT_SET` is not set
      hint: set it, or give a default: `${NOT_SET:-…}`
    toolfold.toml:5:10: servers.skills: `[skills]` has this name already
      hint: rename the server
    "#);
}

#[test]
fn wrong_types() {
    assert_snapshot!(toml(r#"
surface = 1
pin = "a.b"
budget = 7.5
toolbox = "yes"
store = 2026-01-01
[servers.a]
command = ["npx", "-y"]
[servers.b]
command = "b"
args = ["ok", 3, true]
env = { PORT = 3000 }
prefix = 1
timeout = []
[servers.c]
url = "https://example.com"
headers = "Authorization: x"
"#), @r#"
    toolfold.toml:2:1: surface: expected a string, found an integer
      hint: put it in quotes
    toolfold.toml:3:1: pin: expected a list of strings, found a string
      hint: write it as `["…", "…"]`
    toolfold.toml:4:1: budget: expected an integer, found a number with a fraction
    toolfold.toml:5:1: toolbox: expected true or false, found a string
    toolfold.toml:6:1: store: expected a string, found a date
    toolfold.toml:8:1: servers.a.command: expected a string, found a list
    toolfold.toml:11:15: servers.b.args[1]: expected a string, found an integer
      hint: put it in quotes
    toolfold.toml:11:18: servers.b.args[2]: expected a string, found a boolean
      hint: put it in quotes
    toolfold.toml:12:9: servers.b.env.PORT: expected a string, found an integer
      hint: put it in quotes
    toolfold.toml:13:1: servers.b.prefix: expected true or false, found an integer
    toolfold.toml:14:1: servers.b.timeout: expected a number or a string, found a list
    toolfold.toml:17:1: servers.c.headers: expected a table, found a string
    "#);
}

#[test]
fn wrong_tables() {
    assert_snapshot!(toml("http = 1\nservers = []"), @r#"
    toolfold.toml:1:1: http: expected a table, found an integer
    toolfold.toml:2:1: servers: expected a table, found a list
    "#);
    assert_snapshot!(toml("[servers]\na = \"npx\"\nb = 1"), @r#"
    toolfold.toml:2:1: servers.a: expected a table, found a string
      hint: write a table: `[servers.a]`, then `command = "…"` or `url = "…"` below it
    toolfold.toml:3:1: servers.b: expected a table, found an integer
    "#);
}

#[test]
fn command_and_url() {
    assert_snapshot!(toml(r#"
[servers.neither]
[servers.both]
command = "a"
url = "https://example.com"
[servers.mixed]
url = "https://example.com"
args = []
cwd = "."
env = {}
[servers.other]
command = "a"
headers = {}
[servers.empty]
command = "${EMPTY}"
[servers.spaces]
command = "npx -y server"
"#), @r#"
    toolfold.toml:2:10: servers.neither: has neither `command` nor `url`
      hint: `command` names a program to start, `url` a server that runs elsewhere
    toolfold.toml:3:10: servers.both: has both `command` and `url`
      hint: keep `command` to start a program, or `url` to reach one that runs elsewhere
    toolfold.toml:8:1: servers.mixed.args: does not go with `url`
      hint: there is no program to start: a server with a `url` takes `headers`
    toolfold.toml:9:1: servers.mixed.cwd: does not go with `url`
      hint: there is no program to start: a server with a `url` takes `headers`
    toolfold.toml:10:1: servers.mixed.env: does not go with `url`
      hint: there is no program to start: a server with a `url` takes `headers`
    toolfold.toml:13:1: servers.other.headers: does not go with `command`
      hint: headers need a `url`; a program is given secrets in `env`
    toolfold.toml:15:1: servers.empty.command: is empty
      hint: name the program to start
    toolfold.toml:17:1: warning: servers.spaces.command: is taken as the name of one program, spaces included
      hint: no shell reads this: put the arguments into `args`
    "#);
}

#[test]
fn urls_and_headers() {
    assert_snapshot!(toml(r#"
[servers.a]
url = "${TOKEN}:3000/mcp"
[servers.b]
url = "https://"
[servers.c]
url = "https://ada:${TOKEN}@example.com/mcp"
[servers.d]
url = "https://exa mple.com/${TOKEN}"
[servers.e]
url = "https://example.com"
headers = { "X Y" = "1", "" = "2", Authorization = "Bearer ${BROKEN}" }
[servers.f]
command = "f"
env = { "A=B" = "1" }
"#), @r#"
    toolfold.toml:3:1: servers.a.url: begins with neither http:// nor https://
      hint: write it whole: "https://example.com/mcp"
    toolfold.toml:5:1: servers.b.url: is not a URL: empty host
      hint: write it whole: "https://example.com/mcp"
    toolfold.toml:7:1: servers.c.url: has a user name or password in it
      hint: send them as a header: headers = { Authorization = "Basic ${…}" }
    toolfold.toml:9:1: servers.d.url: is not a URL: invalid international domain name
      hint: write it whole: "https://example.com/mcp"
    toolfold.toml:12:13: servers.e.headers."X Y": cannot be the name of an HTTP header
    toolfold.toml:12:26: servers.e.headers."": cannot be the name of an HTTP header
    toolfold.toml:12:36: servers.e.headers.Authorization: has a value that HTTP does not allow
      hint: a line break at the end of a variable is a common cause
    toolfold.toml:15:9: servers.f.env."A=B": cannot be the name of a variable
    "#);
}

#[test]
fn which_replicas_run_it() {
    assert_snapshot!(toml(r#"
[servers.a]
command = "a"
run = "once"
[servers.b]
url = "https://example.com/mcp"
run = "one"
"#), @r#"
    toolfold.toml:4:1: servers.a.run: "once" is not a choice here
      hint: did you mean "one"?
    toolfold.toml:7:1: servers.b.run: goes with `command`
      hint: it says which replicas start the program of `command`: there is none here, so take it out
    "#);
}

#[test]
fn durations_and_sizes() {
    assert_snapshot!(toml(r#"
[servers.a]
command = "a"
timeout = "90 seconds"
connect_timeout = 0
idle_timeout = -1
stop_timeout = "8761h"
max_message = "32 apples"
[servers.b]
command = "b"
max_message = 3
timeout = inf
"#), @r#"
    toolfold.toml:4:1: servers.a.timeout: "90 seconds" is not a usable duration
      hint: write seconds as a number, or "500ms", "90s", "5m", "1h"
    toolfold.toml:5:1: servers.a.connect_timeout: 0 is not a usable duration
      hint: it must be more than nothing and at most seven days
    toolfold.toml:6:1: servers.a.idle_timeout: -1 is not a usable duration
      hint: it must be more than nothing and at most seven days
    toolfold.toml:7:1: servers.a.stop_timeout: "8761h" is not a usable duration
      hint: it must be more than nothing and at most seven days
    toolfold.toml:8:1: servers.a.max_message: "32 apples" is not a usable size
      hint: write bytes as a number, or "512KB", "32MB", "32MiB"
    toolfold.toml:11:1: servers.b.max_message: 3 is not a usable size
      hint: it must be at least 1 KiB and at most 1 GiB
    toolfold.toml:12:1: servers.b.timeout: inf is not a usable duration
      hint: it must be more than nothing and at most seven days
    "#);
}

#[test]
fn choices() {
    assert_snapshot!(toml(r#"
surface = "compct"
[servers.a]
command = "a"
start = "lasy"
era = "2025-11-25"
"#), @r#"
    toolfold.toml:2:1: surface: there is no surface "compct"
      hint: did you mean `compact`?
    toolfold.toml:5:1: servers.a.start: "lasy" is not a choice here
      hint: did you mean "lazy"?
    toolfold.toml:6:1: servers.a.era: "2025-11-25" is not a choice here
      hint: choose from: auto, legacy, modern
    "#);
    assert_snapshot!(toml("groups = \"spilt\"\nformat = \"yaml\""), @r#"
    toolfold.toml:1:1: groups: "spilt" is not a choice here
      hint: did you mean "split"?
    toolfold.toml:2:1: format: "yaml" is not a choice here
      hint: choose from: json, xml
    "#);
    assert_snapshot!(toml("surface = \"everything\""), @r#"
    toolfold.toml:1:1: surface: there is no surface "everything"
      hint: surfaces: compact, hybrid, two-phase, single, lifecycle, levels, ontology, gateway, code, direct
    "#);
    assert_snapshot!(toml("budget = 49"), @r#"
    toolfold.toml:1:1: budget: must be between 50 and 1000000
      hint: an answer needs at least 50 tokens to say anything, and a million is more than a model reads
    "#);
    assert_snapshot!(toml("store = \"\""), @r#"
    toolfold.toml:1:1: store: is empty
      hint: write a path, or "memory"
    "#);
}

#[test]
fn a_preferred_server_is_one_of_the_file() {
    assert_snapshot!(toml(r#"
prefer = ["gitlab", "gitlub", "zzzzzz", "toolbox"]
[servers.gitlab]
command = "x"
"#), @r#"
    toolfold.toml:2:21: prefer[1]: there is no server "gitlub"
      hint: did you mean `gitlab`?
    toolfold.toml:2:31: prefer[2]: there is no server "zzzzzz"
    "#);
}

#[test]
fn variables() {
    assert_snapshot!(toml(r#"
pin = ["${A}"]
surface = "${TOKEN}"
[servers.a]
command = "${A}${B}"
args = ["${", "${not a name}", "${C:-${D}}", "a\u0000b"]
env = { X = "${E:-fine}", Y = "$$${TOKEN}" }
timeout = "${TOKEN}"
"#), @r#"
    toolfold.toml:2:8: pin[0]: the variable `A` is not set
      hint: set it, or give a default: `${A:-…}`
    toolfold.toml:3:1: surface: there is no surface "${TOKEN}"
      hint: surfaces: compact, hybrid, two-phase, single, lifecycle, levels, ontology, gateway, code, direct
    toolfold.toml:5:1: servers.a.command: the variable `A` is not set
      hint: set it, or give a default: `${A:-…}`
    toolfold.toml:5:1: servers.a.command: the variable `B` is not set
      hint: set it, or give a default: `${B:-…}`
    toolfold.toml:6:9: servers.a.args[0]: `${` is never closed
      hint: write `$$` where a dollar sign is meant
    toolfold.toml:6:15: servers.a.args[1]: "not a name" is not the name of a variable
      hint: write `$$` where a dollar sign is meant
    toolfold.toml:6:32: servers.a.args[2]: the variable `D` is not set
      hint: set it, or give a default: `${D:-…}`
    toolfold.toml:6:46: servers.a.args[3]: holds a zero byte
    toolfold.toml:8:1: servers.a.timeout: "${TOKEN}" is not a usable duration
      hint: write seconds as a number, or "500ms", "90s", "5m", "1h"
    "#);
}

#[test]
fn a_server_that_is_switched_off_needs_no_variables() {
    assert_snapshot!(toml("[servers.a]\ncommand = \"${A}\"\nenabled = false"), @"");
}

/// On an address that other machines reach, somebody has to show who they are, or nothing is served at all.
#[test]
fn server_names() {
    let long = "x".repeat(65);
    let text = format!(
        "[servers.\"my server\"]\ncommand = \"a\"\n[servers.\"\"]\ncommand = \"a\"\n[servers.{long}]\ncommand = \"a\""
    );
    assert_snapshot!(toml(&text), @r#"
    toolfold.toml:1:10: servers."my server": a server's name is 1 to 64 letters, digits, `_` or `-`
      hint: call it `my_server`
    toolfold.toml:3:10: servers."": a server's name is 1 to 64 letters, digits, `_` or `-`
    toolfold.toml:5:10: servers.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: a server's name is 1 to 64 letters, digits, `_` or `-`
    "#);
}

#[test]
fn syntax() {
    assert_snapshot!(toml("surface = compact\n[servers.a\ncommand = \"a\n"), @r#"
    toolfold.toml:1:11: string values must be quoted, expected literal string
    toolfold.toml:2:11: unclosed table, expected `]`
    "#);
    assert_snapshot!(toml("a = 1\na = 2"), @"toolfold.toml:2:1: duplicate key");
    assert_snapshot!(toml("[servers.a]\ncommand = \"a\"\n[servers.a]\ncommand = \"b\""), @r#"
    toolfold.toml:3:10: duplicate key
    toolfold.toml:4:1: duplicate key
    "#);
}

#[test]
fn places_count_characters() {
    assert_snapshot!(toml("servers.a = { command = \"ärger\", x = 1 }"), @r#"
    toolfold.toml:1:34: servers.a.x: unknown key
      hint: known keys: command, args, env, cwd, url, start, run, era, idle_timeout, stop_timeout, openapi, base_url, include, exclude, tools, headers, prefix, trust, forbid, aliases, enabled, timeout, connect_timeout, max_message, auth, login, scopes, client_id, client_secret, private_key, private_key_file, issuer, assertion, assertion_file, identity_provider, identity_client_id, identity_client_secret, shared
    "#);
}
