//! What a good file becomes.

use std::path::Path;
use std::time::Duration;

use toolfold_config::{Changes, Config, EraChoice, Run, Start, Transport, changed};
use toolfold_core::{Doors, Format, Groups, ServerName, Surface, SurfaceSettings};

use crate::load_as;

fn config(text: &str) -> Config {
    load_as("toolfold.toml", text).unwrap().config
}

fn names(names: &[&str]) -> Vec<ServerName> {
    names.iter().map(|name| ServerName::new(*name).unwrap()).collect()
}

#[test]
fn everything_said() {
    let config = config(
        r#"
surface = "direct"
groups = "split"
format = "xml"
pin = ["a.x", "y"]
prefer = ["b", "a"]
doors = ["b", "off", "b"]
budget = 50
toolbox = true
[http]
listen = "0.0.0.0:80"
hosts = ["h"]
origins = ["https://o"]
token = "${TOKEN}"
[agents]
paths = ["agents", "~/agents/one.md"]
[skills]
paths = ["~", "/skills/${NONE:-all}"]
[servers.a]
command = "./bin/a"
args = ["${NONE:-x}", "$$HOME"]
env = { A = "${TOKEN}" }
cwd = "sub"
start = "eager"
run = "one"
era = "modern"
prefix = false
timeout = 1.5
connect_timeout = "2m"
idle_timeout = "1h"
stop_timeout = "500ms"
max_message = "1MB"
[servers.b]
url = "http://127.0.0.1:1/mcp"
start = "lazy"
[servers.off]
command = "x"
enabled = false
"#,
    );
    assert_eq!(config.surface, Surface::Direct);
    assert_eq!(config.settings, SurfaceSettings { groups: Groups::Split, format: Format::Xml });
    assert_eq!((config.pin, config.budget, config.toolbox), (vec!["a.x".to_owned(), "y".to_owned()], 50, true));
    assert_eq!(config.prefer, names(&["b", "a"]));
    assert_eq!(config.doors, Doors { by_risk: false, servers: names(&["b"]) });
    assert_eq!(config.http.token.unwrap().expose(), "hunter2");
    let base = config.files[0].parent().unwrap();
    assert_eq!(config.agents, [base.join("agents"), "/home/ada/agents/one.md".into()]);
    assert_eq!(config.skills, [Path::new("/home/ada"), Path::new("/skills/all")]);
    let a = &config.servers[&names(&["a"])[0]];
    assert_eq!((a.start, a.era, a.prefix, a.max_message), (Start::Eager, EraChoice::Modern, false, 1_000_000));
    assert_eq!((a.run, config.servers[&names(&["b"])[0]].run), (Run::One, Run::Each));
    let seconds = [a.timeouts.call, a.timeouts.connect, a.timeouts.idle, a.timeouts.stop].map(|d| d.as_secs_f64());
    assert_eq!(seconds, [1.5, 120.0, 3600.0, 0.5]);
    let Transport::Stdio { command, args, env, cwd } = &a.transport else { panic!("not stdio") };
    assert_eq!(*command, base.join("bin/a").display().to_string());
    assert_eq!(args, &["x", "$HOME"]);
    assert_eq!(env["A"].expose(), "hunter2");
    assert_eq!(cwd.as_deref(), Some(base.join("sub").as_path()));
    assert_eq!(config.servers[&names(&["b"])[0]].start, Start::Lazy);
}

#[test]
fn nothing_said() {
    let config = config(
        "[servers.a]\ncommand = \"a\"\n[servers.b]\nurl = \"https://example.com\"\n[servers.c]\ncommand = \"c\"\nenabled = false",
    );
    assert!(!config.toolbox, "on only where no server is configured");
    assert_eq!(config.servers.keys().cloned().collect::<Vec<_>>(), names(&["a", "b"]));
    let [a, b] = config.servers.values().collect::<Vec<_>>()[..] else { panic!("not two") };
    assert_eq!((a.start, b.start), (Start::Lazy, Start::Eager));
    assert_eq!(a.timeouts.call, Duration::from_secs(60));
    assert_eq!(*a, toolfold_config::Server::new(a.name.clone(), a.transport.clone()));
}

#[test]
fn no_agents_and_no_skills_unless_they_are_asked_for() {
    let config = config("[agents]\n[skills]\npaths = []");
    assert_eq!((config.agents.len(), config.skills.len()), (0, 0));
}

#[test]
fn a_file_without_servers_keeps_the_toolbox() {
    assert!(config("budget = 900").toolbox);
    assert!(!config("toolbox = false").toolbox);
}

#[test]
fn secrets_are_not_shown() {
    let text = "[http]\ntoken = \"${TOKEN}\"\n[servers.a]\ncommand = \"a\"\nenv = { A = \"${TOKEN}\" }";
    assert!(!format!("{:?}", config(text)).contains("hunter2"));
}

#[test]
fn a_reload_touches_only_what_changed() {
    let server = |name: &str, rest: &str| format!("[servers.{name}]\ncommand = \"{name}\"\n{rest}\n");
    let old = config(&[server("a", ""), server("b", ""), server("c", "")].concat());
    let new = config(&[server("b", ""), server("c", "timeout = 5"), server("d", "")].concat());
    let (added, removed, parts) = (names(&["d"]), names(&["a"]), Vec::new());
    let expected = Changes { added, removed, changed: names(&["c"]), parts };
    assert_eq!(changed(&old, &new), expected);
    assert!(changed(&old, &old).is_empty());
}

#[test]
fn what_else_changed_is_told_by_name_and_never_by_value() {
    let old = config("surface = \"levels\"\n[servers.a]\ncommand = \"a\"\n");
    let new = config(
        "surface = \"levels\"\npin = [\"a.secret\"]\nlearn = \"off\"\n[limits]\ncalls = \"5/s\"\n[audit]\nrecord = \"queries\"\n\
         [[rules]]\nwho = \"bob\"\nservers = [\"a\"]\neffect = \"call\"\n[servers.a]\ncommand = \"a\"\n[servers.b]\ncommand = \"b\"\n",
    );
    assert_eq!(changed(&old, &new).told(), "servers added: b; changed: pin learn rules limits audit");
    assert_eq!(changed(&old, &old).told(), "nothing differs");
}

#[test]
fn tools_are_pinned_by_name_by_use_or_both() {
    let pins = |text: &str| {
        let config = config(text);
        (config.pin, config.pin_used)
    };
    assert_eq!(pins("pin = \"auto\""), (Vec::new(), true));
    assert_eq!(pins("pin = [\"auto\", \"a.b\"]"), (vec!["a.b".to_owned()], true));
    assert_eq!(pins("pin = [\"a.b\"]"), (vec!["a.b".to_owned()], false));
}
