//! What somebody meets who has just installed it: a first run on a terminal, what tools cost, what one takes.

use std::process::Output;

use serde_json::{Value, json};
use toolfold_test::FakeServer;

use crate::fakes::world;
use crate::terminal::Terminal;
use crate::world::World;

fn run(world: &World, arguments: &[&str]) -> Output {
    world.toolfold(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn serve_on_a_terminal(world: &World) -> Terminal {
    Terminal::start(world.toolfold(&["serve", "--listen", ":0"]), 100)
}

#[test]
fn a_first_run_names_the_clients_that_were_seen_and_how_to_go_on() {
    let world = World::without_config();
    for (folder, file) in [(".cursor", "mcp.json"), (".codex", "config.toml")] {
        std::fs::create_dir_all(world.path("home").join(folder)).unwrap();
        // Nothing of it is read before somebody asks for that.
        std::fs::write(world.path("home").join(folder).join(file), "\u{0} not even text").unwrap();
    }
    let mut terminal = serve_on_a_terminal(&world);
    let seen = terminal.until("v1/status").to_owned();
    assert!(seen.contains("Cursor") && seen.contains("Codex"), "{seen}");
    assert!(seen.contains("toolfold import") && seen.contains("toolfold install "), "{seen}");
    assert!(seen.contains("servers  toolbox"), "{seen}");
    assert!(seen.contains("MCP      http://127.0.0.1:"), "{seen}");
}

#[test]
fn a_first_run_without_clients_shows_a_configuration() {
    let world = World::without_config();
    let mut command = world.toolfold(&["serve", "--listen", "localhost:0"]);
    command.env_remove("HOME").env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME").env_remove("TOOLFOLD_STORE");
    let mut terminal = Terminal::start(command, 100);
    let seen = terminal.until("v1/status");
    assert!(seen.contains("[servers.files]"), "{seen}");
    assert!(seen.contains("there is no HOME, so nothing is remembered"), "{seen}");
}

#[test]
fn an_empty_configuration_says_that_the_toolbox_is_served() {
    let world = World::with_config("");
    assert!(text(&run(&world, &["check"])).contains("names no server: the built-in toolbox is served"));
    let mut terminal = serve_on_a_terminal(&world);
    assert!(terminal.until("v1/status").contains("toolbox, which is built in"));
}

#[test]
fn where_every_server_is_broken_each_is_told_of_in_a_line() {
    let world = World::with_config(
        "[servers.gone]\ncommand = \"no-such-program-here\"\n[servers.dies]\ncommand = \"sh\"\nargs = [\"-c\", \"echo I need a key >&2; exit 3\"]\n",
    );
    for arguments in [&["ls", "--wait"][..], &["search", "clock", "--wait"]] {
        let output = run(&world, arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned() + &text(&output);
        let of = |server: &str| said.lines().filter(|line| line.contains(&format!("{server} is configured"))).count();
        assert_eq!((output.status.code(), of("gone"), of("dies")), (Some(1), 1, 1), "{said}");
        assert!(said.lines().all(|line| !(line.contains("gone is") && line.contains("dies is"))), "{said}");
    }
    let cost = text(&run(&world, &["tokens", "--wait"]));
    assert!(cost.contains("No tool could be counted: `toolfold doctor`") && !cost.contains("direct:"), "{cost}");
}

#[test]
fn stdio_on_a_terminal_says_what_it_waits_for() {
    let world = World::without_config();
    let mut terminal = Terminal::start(world.toolfold(&["serve", "--stdio"]), 100);
    terminal.until("waits for an MCP client on stdin");
    terminal.press(b"\x04");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
}

#[test]
fn slow_servers_are_named_while_they_are_waited_for() {
    let silent = FakeServer::script(json!({"silent": ["server/discover", "initialize"]}));
    let well = FakeServer::script(json!({"tools": ["one"]}));
    let world = world("", &[("slow-one", &silent), ("well", &well)]);
    let mut terminal = serve_on_a_terminal(&world);
    let seen = terminal.until("1 of 2 servers have answered, waiting for slow-one");
    assert!(seen.contains("MCP      http://127.0.0.1:"), "{seen}");
}

#[test]
fn a_wrong_address_to_listen_on_says_how_to_write_one() {
    let output = run(&World::without_config(), &["serve", "--listen", "7421"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("localhost:7420 or :7420"), "{output:?}");
}

#[test]
fn a_place_where_nobody_could_come_in_is_refused_before_it_is_announced() {
    let world = World::with_config("[http]\nlocal = false\n");
    let output = run(&world, &["serve", "--listen", "0.0.0.0:0"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: 0.0.0.0:0 can be reached from other machines"), "{said}");
}

#[test]
fn what_tools_cost_is_exact_for_one_vocabulary_and_a_range_for_others() {
    let tool = |name: &str, words: usize| json!({"name": name, "description": "word ".repeat(words), "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}});
    let dear = FakeServer::script(
        json!({"tools": (0..40).map(|number| tool(&format!("dear{number}"), 100)).collect::<Vec<_>>()}),
    );
    let cheap = FakeServer::script(json!({"tools": [tool("cheap", 3)]}));
    let broken = FakeServer::script(json!({"exit_at_start": 1}));
    let world = world("", &[("dear", &dear), ("cheap", &cheap), ("broken", &broken)]);
    let bill: Value = serde_json::from_slice(&run(&world, &["tokens", "--json"]).stdout).unwrap();
    let number = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{value} in {bill:#}"));
    let direct = number(&bill["direct"]["tokens"]);
    assert_eq!(bill["servers"][0]["server"], "dear", "{bill:#}");
    assert_eq!(number(&bill["servers"][0]["tokens"]) + number(&bill["servers"][1]["tokens"]), direct);
    // What no model is shown is not counted: the output schema.
    let shown = |words: usize| {
        format!(r#"{{"name":"cheap","description":"{}","inputSchema":{{"type":"object"}}}}"#, "word ".repeat(words))
    };
    assert_eq!(number(&bill["servers"][1]["tokens"]), toolfold_disclosure::tokens::count(&shown(3)) as u64);
    assert_eq!(bill["missing"][0]["server"], "broken");
    let through = number(&bill["toolfold"]["tokens"]);
    assert!(through < 400 && direct > 4_000, "{bill:#}");
    let (mean, high) = (number(&bill["search"]["mean"]), number(&bill["search"]["high"]));
    assert_eq!(bill["pays_for_searches"], json!([(direct - through) / high, (direct - through) / mean]));
    for family in bill["families"].as_array().unwrap() {
        let (low, high) = (number(&family["direct"][0]), number(&family["direct"][1]));
        let is_exact = family["how"] == "exact";
        assert_eq!(low == high, is_exact, "{family}");
        assert!(!family["models"].as_str().unwrap().starts_with("Claude") || (low > direct && low < high));
    }

    let told = text(&run(&world, &["tokens"]));
    assert!(told.contains("not counted: broken"), "{told}");
    assert!(!told.contains('█') && !told.contains('\u{1b}'), "{told}");
    let tools = text(&run(&world, &["tokens", "dear", "-n", "2"]));
    assert!(tools.contains("dear.dear0") && tools.contains("and 38 more with"), "{tools}");
    let wrong = run(&world, &["tokens", "deer"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("did you mean \"dear\"?"));

    for (columns, colours) in [(60, true), (100, false)] {
        let mut command = world.toolfold(&["tokens"]);
        if !colours {
            command.env("NO_COLOR", "1");
        }
        let (seen, code) = Terminal::start(command, columns).end();
        assert_eq!(code, Some(0), "{seen}");
        assert!(seen.contains('█'), "{seen}");
        assert_eq!(seen.contains("\u{1b}[34m"), colours, "{seen}");
        let bars = seen.lines().filter(|line| line.contains('█')).map(plain_width).max().unwrap();
        assert!(bars <= usize::from(columns) && bars > usize::from(columns) - 20, "{bars} of {columns}: {seen}");
    }
}

/// Columns of a line, colours aside.
fn plain_width(line: &str) -> usize {
    let pieces = line.trim_end().split('\u{1b}').enumerate();
    pieces
        .map(|(place, piece)| {
            if place == 0 { piece } else { piece.split_once('m').map_or("", |(_, rest)| rest) }.chars().count()
        })
        .sum()
}

#[test]
fn a_tool_is_shown_with_types_descriptions_and_a_command_that_works() {
    let world = World::without_config();
    let told = text(&run(&world, &["show", "time_convert"]));
    insta::assert_snapshot!(told, @"
    toolbox.time_convert  only reads
      Convert a time from one time zone to another.

      time  string, required
          A time: 2025-03-30T10:00:00+02:00, 2025-03-30 10:00, 2025-03-30, or Unix seconds
      to  string, required
          An IANA time zone such as Europe/Berlin, or UTC
      from  string
          The zone of a time that does not name one; UTC if left out

      gives
        {time: string, zone: string, weekday: string, unix: int}

      call it
        toolfold call toolbox.time_convert time=… to=… from=…
    ");
    let command = told.lines().find(|line| line.trim_start().starts_with("toolfold call ")).unwrap().trim();
    assert!(command.contains("toolbox.time_convert"), "{command}");
    let schema: Value = serde_json::from_slice(&run(&world, &["show", "time_convert", "--schema"]).stdout).unwrap();
    assert_eq!(schema["inputSchema"]["type"], "object");
    let level = text(&run(&world, &["show", "time_convert", "--detail", "details"]));
    assert!(level.contains("estimated tokens"), "{level}");
}

#[test]
fn what_a_measurement_got_wrong_is_listed() {
    let world = World::without_config();
    let queries = [
        r#"{"query": "compute a hash", "relevant": ["toolbox.hash_digest"]}"#,
        r#"{"query": "compute a checksum of text", "relevant": ["toolbox.time_now"]}"#,
        r#"{"query": "hash of a file", "relevant": ["toolbox.csv_to_json"]}"#,
    ];
    std::fs::write(world.path("queries.jsonl"), queries.join("\n")).unwrap();
    let told = text(&run(&world, &["eval", "--queries", "queries.jsonl", "--failures", "1"]));
    assert!(told.contains("not first: 2 of 3 queries, the worst 1 of them (--failures 2 lists all)"), "{told}");
    let all = run(&world, &["eval", "--queries", "queries.jsonl", "--json"]);
    let all: Value = serde_json::from_slice(&all.stdout).unwrap();
    assert_eq!((&all["failed"], all["failures"].as_array().unwrap().len()), (&json!(2), 2));
    assert_eq!(all["failures"][0]["first"], "toolbox.hash_digest", "{all:#}");
}
