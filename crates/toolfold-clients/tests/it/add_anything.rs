//! Whatever somebody's README, `server.json` or bundle says, it becomes a server that can be written down, or it is said in a
//! few words why not; and nothing of a bundle lands outside of its folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolfold_clients::{FileFormat, NewServer, from_target, from_text, write_server};

use crate::add::bundle;
use crate::home::Home;

fn word() -> impl Strategy<Value = String> {
    let likely = [
        "npx",
        "-y",
        "@acme/weather-mcp",
        "npm",
        "pypi",
        "oci",
        "stdio",
        "binary",
        "node",
        "uv",
        "https://a.example/mcp",
        "https://{token}.example/{a}",
        "https://me:pw@a.example",
        "ws://a.example",
        "{token}",
        "{",
        "}",
        "${HOME}/x",
        "${T:-x}",
        "${env:T}",
        "${",
        "$${T}",
        "$",
        "${__dirname}/../x",
        "${user_config.a}",
        "${user_config.b}${user_config.b}",
        "${user_config.}",
        "${DESKTOP}",
        "<your-key>",
        "YOUR_KEY",
        "Bearer ghp_0123456789abcdef0123456789abcdef0123",
        "--header",
        "../../x",
        "/etc/passwd",
        "a",
        "b",
        "",
        "é\u{202e}\u{1b}[2J\r\n",
    ];
    prop_oneof![
        8 => prop::sample::select(likely.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => ("[a${}.@/é\n]", 100_usize..5_000).prop_map(|(text, times)| text.repeat(times)),
    ]
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => word().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => Just(Value::Null),
    ]
}

/// Some of these members, with values of any kind.
fn members(keys: &'static [&'static str], value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let some = prop::collection::vec((prop::sample::select(keys.to_vec()), value), 0..keys.len());
    some.prop_map(|some| some.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into())
}

fn list(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec(value, 0..4).prop_map(Value::from)
}

fn named(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::vec((word(), value), 0..3).prop_map(|some| some.into_iter().collect::<Map<_, _>>().into())
}

/// An entry of somebody's file.
fn entry() -> impl Strategy<Value = Value> {
    let value = || prop_oneof![4 => leaf(), 2 => list(leaf()), 2 => named(leaf())].boxed();
    members(
        &[
            "command",
            "cmd",
            "args",
            "env",
            "url",
            "serverUrl",
            "headers",
            "type",
            "transport",
            "timeout",
            "disabled",
            "cwd",
        ],
        value(),
    )
}

fn client_file() -> impl Strategy<Value = Value> {
    let container = prop_oneof![3 => named(entry()), 1 => list(entry()), 1 => leaf(), 1 => entry()];
    (members(&["mcpServers", "servers", "mcp_servers", "mcp", "context_servers", "x"], container), any::<bool>())
        .prop_map(|(file, is_deep)| if is_deep { json!({"mcp": file}) } else { file })
}

fn server_json() -> impl Strategy<Value = Value> {
    const ITEM: &[&str] =
        &["name", "value", "default", "type", "isRequired", "isSecret", "description", "choices", "is_required"];
    let item = members(ITEM, prop_oneof![4 => leaf(), 1 => list(leaf())]).boxed();
    let filled = (item.clone(), named(item.clone())).prop_map(|(mut item, variables)| {
        item["variables"] = variables;
        item
    });
    const KEYS: &[&str] = &[
        "registryType",
        "identifier",
        "version",
        "runtimeHint",
        "runtimeArguments",
        "packageArguments",
        "environmentVariables",
        "url",
        "headers",
        "variables",
    ];
    let one = members(KEYS, prop_oneof![4 => leaf(), 3 => list(filled), 1 => named(item)]).boxed();
    (word(), members(&["packages", "remotes"], prop_oneof![6 => list(one), 1 => leaf()])).prop_map(
        |(name, mut said)| {
            said["name"] = name.into();
            said
        },
    )
}

/// What may be filled in a bundle's words.
fn filled() -> impl Strategy<Value = Value> {
    let options =
        ["${user_config.a}", "${user_config.b}${user_config.b}", "x${user_config.a}/${HOME}", "${__dirname}/x"];
    prop_oneof![2 => prop::sample::select(options.to_vec()).prop_map(Value::from), 1 => leaf()]
}

fn manifest() -> impl Strategy<Value = Value> {
    const OPTION: &[&str] = &["default", "required", "sensitive", "description", "title"];
    let option = members(OPTION, prop_oneof![4 => filled(), 1 => list(filled())]);
    let options = members(&["a", "b", ""], option);
    let config = prop_oneof![3 => filled(), 2 => list(filled()), 1 => named(filled())];
    let config = members(&["command", "args", "env"], config).boxed();
    let config = (config.clone(), members(&["linux", "darwin"], config)).prop_map(|(mut config, own)| {
        config["platform_overrides"] = own;
        config
    });
    let config = prop_oneof![1 => leaf(), 9 => config];
    let server = (members(&["type", "entry_point"], leaf()), config).prop_map(|(mut server, config)| {
        server["mcp_config"] = config;
        server
    });
    (word(), server, options, leaf()).prop_map(|(name, server, options, about)| {
        json!({"name": name, "server": server, "user_config": options, "description": about})
    })
}

/// Around what is meant, as in a README.
fn around(text: String, words: &str, fence: bool) -> String {
    if fence { format!("{words}\n```json\n{text}\n```\n{words}") } else { format!("{words}{text}{words}") }
}

fn is_server(server: &NewServer, length: usize) -> Result<(), TestCaseError> {
    let definition = &server.definition;
    prop_assert!(definition.command.is_some() || definition.url.is_some());
    let mut asked = BTreeSet::new();
    for missing in &server.missing {
        prop_assert!(asked.insert(&missing.name), "asked twice for {:?}", missing.name);
    }
    let value = definition.to_value();
    prop_assert!(value.to_string().len() <= 40 * length + 4_000, "{} of {length}", value.to_string().len());
    // What is written is what is read, whatever is in it.
    let written = write_server("", "it", definition).unwrap();
    let read = FileFormat::Toml.parse(&written).map_err(|why| TestCaseError::fail(format!("{why}: {written}")))?;
    prop_assert_eq!(&read["servers"]["it"], &value);
    Ok(())
}

fn is_refusal(why: &str) -> Result<(), TestCaseError> {
    prop_assert!(!why.is_empty() && why.chars().count() < 2_000, "{} characters", why.chars().count());
    prop_assert!(!why.chars().any(char::is_control), "{why:?}");
    Ok(())
}

fn pasted(home: &Home, text: &str) -> Result<(), TestCaseError> {
    match from_text(None, text, &home.environment) {
        Ok(servers) => servers.iter().try_for_each(|server| is_server(server, text.len())),
        Err(why) => is_refusal(&why.to_string()),
    }
}

/// Every file below a folder.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { BTreeSet::from([path]) }).collect()
}

proptest! {
    #[test]
    fn any_text_is_a_server_or_none(text in any::<String>(), words in prop::collection::vec(word(), 0..12)) {
        let home = Home::new();
        pasted(&home, &text)?;
        pasted(&home, &words.concat())?;
    }

    #[test]
    fn any_readme_is_a_server_or_none(
        file in prop_oneof![client_file(), entry(), server_json()], words in "[a-z{}\"`é\n]{0,12}", fence in any::<bool>(),
        cut in proptest::option::of(0_usize..200),
    ) {
        let home = Home::new();
        pasted(&home, &file.to_string())?;
        let text = around(file.to_string(), &words, fence);
        pasted(&home, &text)?;
        let short: String = text.chars().take(cut.unwrap_or_default()).collect();
        pasted(&home, &short)?;
        if let Ok(toml) = toml::to_string(&file) {
            pasted(&home, &toml)?;
        }
    }

    #[test]
    fn any_bundle_is_a_server_or_none_and_stays_in_its_folder(
        manifest in manifest(), inside in prop::collection::btree_map(entry_name(), "[ -~]{0,20}", 0..4),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3), is_damaged in any::<bool>(),
    ) {
        let home = Home::new();
        let manifest = manifest.to_string();
        let mut all = vec![("manifest.json", manifest.as_str())];
        all.extend(inside.iter().map(|(name, text)| (name.as_str(), text.as_str())));
        let mut bytes = bundle(&all);
        for (place, byte) in damage.iter().filter(|_| is_damaged) {
            let place = place.index(bytes.len());
            bytes[place] = *byte;
        }
        let file = home.path("project/it.mcpb");
        fs::write(&file, &bytes).unwrap();
        match from_target(None, "it.mcpb", &home.environment) {
            Ok(server) => is_server(&server, manifest.len() + home.path("state").as_os_str().len())?,
            Err(why) => is_refusal(&why.to_string())?,
        }
        let mut left = files(&home.path(""));
        prop_assert!(left.remove(&file));
        let folder = home.path("state/bundles");
        prop_assert!(left.iter().all(|path| path.starts_with(&folder)), "{left:?}");
    }

    #[test]
    fn any_bytes_are_a_bundle_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200), is_zip in any::<bool>()) {
        let home = Home::new();
        let start: &[u8] = if is_zip { b"PK\x03\x04" } else { b"" };
        fs::write(home.path("project/it.mcpb"), [start, &bytes].concat()).unwrap();
        fs::write(home.path("project/it.json"), &bytes).unwrap();
        for name in ["it.mcpb", "it.json"] {
            if let Err(why) = from_target(None, name, &home.environment) {
                is_refusal(&why.to_string().replace(&home.path("").display().to_string(), ""))?;
            }
        }
    }
}

fn entry_name() -> impl Strategy<Value = String> {
    let likely =
        ["server/index.js", "a/../b", "../x", "../../../x", "/etc/x", "a", "a/b", "", ".", "a/", "..", "C:\\x", "a\0b"];
    prop_oneof![4 => prop::sample::select(likely.to_vec()).prop_map(str::to_owned), 1 => "[a./é\\\\ -]{0,12}"]
}

#[test]
fn what_is_nested_deeper_than_anybody_writes_is_no_server() {
    let home = Home::new();
    for open in ["[", "{\"a\":", "a=[", "a={b=", "```\n["] {
        let text = format!("{{\"mcpServers\":{}", open.repeat(50_000));
        assert!(from_text(None, &text, &home.environment).is_err(), "{open}");
        assert!(from_text(None, &open.repeat(50_000), &home.environment).is_err(), "{open}");
    }
}

/// A default that names options, which have defaults that name options.
#[test]
fn a_bundle_s_options_are_not_filled_with_each_other() {
    let home = Home::new();
    let manifest = json!({
        "name": "loop", "server": {"type": "node", "mcp_config": {"command": "${user_config.a}", "args": ["${user_config.b}"]}},
        "user_config": {"a": {"default": "x${user_config.a}"}, "b": {"default": "${HOME}/${user_config.c}"}, "c": {"default": "c"}},
    });
    fs::write(home.path("project/loop.mcpb"), bundle(&[("manifest.json", &manifest.to_string())])).unwrap();
    let definition = from_target(None, "loop.mcpb", &home.environment).unwrap().definition;
    assert_eq!(definition.command.as_deref(), Some("x$${user_config.a}"));
    assert_eq!(definition.args, [format!("{}/$${{user_config.c}}", home.path("home").display())]);
}
