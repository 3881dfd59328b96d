//! Any file at all: what goes in comes out, and nothing else moves.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold_clients::{FileFormat, Shape, Slot, remove, set};

use crate::edit::slot;

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(json!(null)), any::<i32>().prop_map(Value::from), "[ -~é]{0,8}".prop_map(Value::from)];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// What may stand between two tokens.
fn gaps(eol: &'static str) -> impl Strategy<Value = Vec<String>> {
    let gap = prop_oneof![
        4 => Just(String::new()),
        3 => Just(" ".to_owned()),
        3 => Just(format!("{eol}  ")),
        2 => Just(format!("{eol}\t\t")),
        1 => Just(format!(" // \"}},{{ {eol}")),
        1 => Just(" /* \", [ */ ".to_owned()),
    ];
    prop::collection::vec(gap, 64)
}

/// JSON with the gaps between its tokens, and a comma behind the last member where `commas` says so.
fn written(value: &Value, gaps: &mut impl Iterator<Item = String>, commas: bool) -> String {
    let mut gap = |text: &str| format!("{}{text}", gaps.next().unwrap_or_default());
    let members: Vec<(Option<String>, &Value)> = match value {
        Value::Array(items) => items.iter().map(|item| (None, item)).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (Some(name.clone()), value)).collect(),
        plain => return gap(&plain.to_string()),
    };
    let (open, close) = if value.is_array() { ("[", "]") } else { ("{", "}") };
    let mut text = gap(open);
    let count = members.len();
    for (at, (name, value)) in members.into_iter().enumerate() {
        if let Some(name) = name {
            text += &gaps.next().unwrap_or_default();
            text += &Value::from(name).to_string();
            text += &format!("{}:", gaps.next().unwrap_or_default());
        }
        text += &written(value, gaps, commas);
        if at + 1 < count || commas {
            text += &format!("{},", gaps.next().unwrap_or_default());
        }
    }
    text + &gaps.next().unwrap_or_default() + close
}

fn json_file() -> impl Strategy<Value = String> {
    let servers = prop::collection::btree_map("[a-z]{1,5}", value(), 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect()));
    let rest = prop::collection::btree_map("[a-f]{1,3}", value(), 0..4);
    let eol = prop_oneof![Just("\n"), Just("\r\n")];
    (rest, prop::option::of(servers), any::<(bool, bool, bool)>(), eol).prop_flat_map(|(rest, servers, flags, eol)| {
        gaps(eol).prop_map(move |gaps| {
            let mut root: serde_json::Map<String, Value> = rest.clone().into_iter().collect();
            if let Some(servers) = &servers {
                root.insert("mcpServers".to_owned(), servers.clone());
            }
            let body = written(&Value::Object(root), &mut gaps.into_iter(), flags.0);
            format!("{}{body}{}", if flags.1 { "\u{feff}" } else { "" }, if flags.2 { eol } else { "" })
        })
    })
}

fn toml_file() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "",
        "# a comment",
        "  ",
        "key = \"[mcp_servers.toolfold]\"",
        "[mcp_servers]",
        "[mcp_servers.other]",
        "command = 'x' # y",
        "[mcp_servers.\"a b\".env]",
        "A = \"1\"",
        "[[list]]",
        "many = [\n  \"]\", # [\n]",
        "long = '''\n[no]\n''''",
        "[z.y]",
        "mcp_servers = {}",
        "mcp_servers.q.command = 'x'",
        "t = 1979-05-27",
    ]);
    let eol = prop_oneof![Just("\n"), Just("\r\n")];
    (prop::collection::vec(line, 0..12), eol, any::<bool>()).prop_map(|(lines, eol, last)| {
        // A key may be there once in a table: each line gets its number where it has a plain key.
        let numbered = lines.iter().enumerate().map(|(at, line)| match line.split_once(" = ") {
            Some((key, value)) if key.chars().all(char::is_alphabetic) => format!("{key}{at} = {value}"),
            _ => (*line).to_owned(),
        });
        let text = numbered.collect::<Vec<_>>().join("\n").replace('\n', eol);
        if last { text + eol } else { text }
    })
}

fn yaml_file() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "",
        "# a comment",
        "  # one step in",
        "extensions:",
        "  a:",
        "    type: builtin # x",
        "    text: |",
        "      # not a comment",
        "  b: {c: 1}",
        "other: 1",
        "list:",
        "- x",
        "  - y",
        "quoted: \"extensions:\"",
    ]);
    let eol = prop_oneof![Just("\n"), Just("\r\n")];
    (prop::collection::vec(line, 0..12), eol, any::<bool>()).prop_map(|(lines, eol, last)| {
        let text = lines.join(eol);
        if last { text + eol } else { text }
    })
}

/// Pieces in any order, as a file with its own line ends, a mark at its beginning or none, and a last line that ends or does not.
fn pieced(first: &'static [&'static str], then: &'static [&'static str]) -> impl Strategy<Value = String> {
    let some =
        |pieces: &'static [&'static str]| prop::sample::subsequence(pieces.to_vec(), 0..=pieces.len()).prop_shuffle();
    let eol = prop_oneof![Just("\n"), Just("\r\n")];
    (some(first), some(then), eol, any::<(bool, bool)>()).prop_map(|(first, then, eol, (marked, ended))| {
        let text = [first, then].concat().concat();
        let text = if ended { text.as_str() } else { text.trim_end_matches('\n') };
        format!("{}{}", if marked { "\u{feff}" } else { "" }, text.replace('\n', eol))
    })
}

/// TOML that people have: always right, and so always to be changed.
fn whole_toml() -> impl Strategy<Value = String> {
    pieced(
        &[
            "# mine\n",
            "\n",
            "model\t=\t\"[mcp_servers.toolfold]\"\t# a tab\n",
            "day = 1979-05-27\n",
            "many = [\n\t\"]\", # [\n]\n",
        ],
        &[
            "[mcp_servers.other]   # foreign\ncommand = 'x'\nargs = [\n\t\"a\",\t# b\n]\n",
            "[mcp_servers.\"a b\"]\n\tcommand = 'c'\n\n\t[mcp_servers.\"a b\".env]\n\tK = \"v\"\n",
            "\n\n# about the projects\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n",
            "[[list]]\nname = \"other\"\n\n[[list]]\nname = \"z\" # last\n",
            "[z.y]\nlong = '''\n[mcp_servers.toolfold]\n'''\n# the end\n",
            "\n",
        ],
    )
}

/// The same of YAML.
fn whole_yaml() -> impl Strategy<Value = String> {
    let rest: &[&str] = &[
        "# mine\n",
        "\n",
        "other: 1\t# a tab\n",
        "text: |\n  # no comment\n  extensions:\n",
        "quoted: \"extensions:\"\n",
        "deep:\n    deeper:\n        - x\n        - {y: 1}\n",
    ];
    let servers: &[&str] = &[
        "",
        "extensions:\n  a:\n    type: builtin # x\n    envs: {}\n  # between\n  b: {c: 1}\n",
        "extensions: # mine\n    a:\n        type: stdio\n        args:\n        - x\n",
    ];
    let listed: &[&str] =
        &["", "list:\n- name: x\n  command: y\n", "list:\n  # first\n  - name: x\n    command: y # z\n"];
    let pick = |all: &'static [&'static str]| prop::sample::select(all.to_vec());
    (pieced(rest, &[]), pick(servers), pick(listed), pieced(&["\n# behind\n", "last: true\n"], &[])).prop_map(
        |(before, servers, listed, after)| {
            // One kind of line end, and a mark only at the beginning.
            let eol = if before.contains("\r\n") { "\r\n" } else { "\n" };
            let after = after.trim_start_matches('\u{feff}').replace("\r\n", "\n");
            let middle = format!("{servers}{listed}{after}").replace('\n', eol);
            let gap = if before.trim_start_matches('\u{feff}').is_empty() || before.ends_with('\n') { "" } else { eol };
            format!("{before}{gap}{middle}")
        },
    )
}

/// Where the file can be changed at all: in and out is nothing, and a change touches the entry alone.
fn in_and_out(format: FileFormat, text: &str, slot: &Slot) -> Result<(), TestCaseError> {
    let (one, two) = match slot.shape {
        Shape::Map => {
            (json!({"command": "/opt/toolfold", "args": ["serve"]}), json!({"url": "http://127.0.0.1:7420/mcp"}))
        }
        _ => (json!({"name": "toolfold", "command": "/opt/toolfold"}), json!({"name": "toolfold", "url": "x"})),
    };
    let Ok(Some(added)) = set(format, text, slot, &one) else { return Ok(()) };
    // Nothing goes out on the way in, but white space between empty brackets.
    for splice in &added.splices {
        prop_assert!(splice.removed.trim().is_empty(), "{:?}", splice);
    }
    let removed = remove(format, &added.text, slot, &added.traces).unwrap().unwrap();
    let created_all = added.traces.created > slot.container.len();
    if !created_all && !text.trim_start_matches('\u{feff}').is_empty() {
        prop_assert_eq!(&removed.text, text, "from:\n{}", added.text);
    }
    let changed = set(format, &added.text, slot, &two).unwrap().unwrap();
    prop_assert_eq!(changed.splices.len(), 1);
    let splice = &changed.splices[0];
    let (before, after) = (&added.text[..splice.at], &added.text[splice.at + splice.removed.len()..]);
    prop_assert!(changed.text.starts_with(before) && changed.text.ends_with(after));
    prop_assert!(splice.removed.contains("/opt/toolfold"));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(400)))]

    #[test]
    fn json(text in json_file()) {
        prop_assert!(FileFormat::Jsonc.parse(&text).is_ok(), "{}", text);
        prop_assert!(set(FileFormat::Jsonc, &text, &slot(&["mcpServers"], Shape::Map), &json!({})).is_ok(), "{}", text);
        in_and_out(FileFormat::Jsonc, &text, &slot(&["mcpServers"], Shape::Map))?;
        in_and_out(FileFormat::Jsonc, &text, &slot(&["deep", "list"], Shape::List))?;
    }

    #[test]
    fn toml(text in toml_file()) {
        in_and_out(FileFormat::Toml, &text, &slot(&["mcp_servers"], Shape::Map))?;
        in_and_out(FileFormat::Toml, &text, &slot(&["list"], Shape::List))?;
    }

    #[test]
    fn yaml(text in yaml_file()) {
        in_and_out(FileFormat::Yaml, &text, &slot(&["extensions"], Shape::Map))?;
        in_and_out(FileFormat::Yaml, &text, &slot(&["list"], Shape::List))?;
    }

    #[test]
    fn whole_files_can_always_be_changed(toml in whole_toml(), yaml in whole_yaml()) {
        for (format, text, map, list) in [
            (FileFormat::Toml, &toml, "mcp_servers", "list"), (FileFormat::Yaml, &yaml, "extensions", "list"),
        ] {
            prop_assert!(format.parse(text).is_ok(), "{:?}", text);
            for slot in [slot(&[map], Shape::Map), slot(&[list], Shape::List)] {
                let value = json!({"name": "toolfold", "command": "/opt/toolfold"});
                prop_assert!(matches!(set(format, text, &slot, &value), Ok(Some(_))), "{:?}: {:?}", text, set(format, text, &slot, &value));
                in_and_out(format, text, &slot)?;
            }
        }
    }

    #[test]
    fn any_text_is_no_reason_to_panic(text in any::<String>()) {
        for format in [FileFormat::Json, FileFormat::Toml, FileFormat::Yaml] {
            in_and_out(format, &text, &slot(&["mcpServers"], Shape::Map))?;
        }
    }
}
