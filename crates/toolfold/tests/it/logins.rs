//! Logins at servers as somebody meets them: what is said before, how one is made, what it survives, and where its secrets
//! are not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use toolfold_test::plain_http;
use toolfold_test::provider::{Provider, Vice};

use crate::world::{Served, World};

struct Scene {
    runtime: tokio::runtime::Runtime,
    provider: Provider,
    world: World,
}

impl Scene {
    fn new(vice: Vice, life: u64) -> Scene {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let provider = runtime.block_on(Provider::start(vice, life)).unwrap();
        let world = World::with_config(&format!("surface = \"direct\"\n[servers.notes]\nurl = {:?}\n", provider.url));
        Scene { runtime, provider, world }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = self.world.toolfold(arguments);
        command.env("BROWSER", "curl -sL").stdin(Stdio::null()).output().expect("toolfold can be started")
    }

    fn log_in(&self) {
        let output = self.run(&["login", "notes"]);
        assert!(output.status.success(), "{}", text(&output));
    }

    fn call(&self, served: &Served) -> Value {
        self.runtime.block_on(call(served.url.clone()))
    }
}

async fn call(url: String) -> Value {
    let url = url.replace("/mcp", "/v1/call_tool");
    let body = json!({"tool_id": "notes.whoami", "arguments": {}}).to_string();
    let request = plain_http().post(url).header("content-type", "application/json").body(body);
    let answer = request.send().await.unwrap().text().await.unwrap();
    serde_json::from_str(&answer).unwrap_or_else(|_| panic!("no JSON: {answer}"))
}

fn text(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn is_good(answer: &Value) -> bool {
    answer.to_string().contains("somebody")
}

#[test]
fn a_server_that_needs_a_login_says_so_everywhere_and_opens_nothing() {
    let scene = Scene::new(Vice::None, 3600);
    let served = scene.world.serve();
    let is_starting = |status: &Output| String::from_utf8_lossy(&status.stdout).contains("\"starting\"");
    let asked = (0..200).map(|_| scene.run(&["status", "--json"]));
    let status = asked.into_iter().find(|status| !is_starting(status)).expect("it starts");
    assert_eq!(status.status.code(), Some(3), "{}", text(&status));
    let told: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(told[0]["state"], "needs login", "{told}");
    assert_eq!(told[0]["why"], "the server notes needs a login: run `toolfold login notes`");
    let refused = scene.call(&served).to_string();
    assert!(refused.contains("toolfold login notes"), "{refused}");
    let doctor = text(&scene.run(&["doctor", "notes"]));
    assert!(doctor.contains("nobody is logged in") && doctor.contains("toolfold login notes"), "{doctor}");
    assert!(scene.provider.asked().iter().all(|asked| asked.ends_with(" /mcp")), "{:?}", scene.provider.asked());
}

#[test]
fn a_login_is_used_at_once_is_kept_and_ends() {
    let scene = Scene::new(Vice::None, 3600);
    let served = scene.world.serve();
    assert!(!is_good(&scene.call(&served)));
    let output = scene.run(&["login", "notes"]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("http://127.0.0.1:"), "{}", text(&output));
    until_good(&scene, &served);
    let again = scene.run(&["login", "notes"]);
    assert_eq!(again.status.code(), Some(1), "{}", text(&again));
    drop(served);
    let served = scene.world.serve();
    until_good(&scene, &served);
    // Taken back by the server: renewed, and nobody notices.
    scene.provider.expire();
    assert!(is_good(&scene.call(&served)));
    assert_eq!(scene.provider.counts().refreshes, 1);
    let out = scene.run(&["logout", "notes"]);
    assert!(out.status.success(), "{}", text(&out));
    assert!(!is_good(&scene.call(&served)));
    assert_eq!(scene.run(&["logout", "notes"]).status.code(), Some(1));
}

/// Its tools are listed after the login, which takes a moment.
fn until_good(scene: &Scene, served: &Served) {
    for _ in 0..20_000 {
        if is_good(&scene.call(served)) {
            return;
        }
        std::thread::yield_now();
    }
    panic!("no call works: {}", scene.call(served));
}

#[test]
fn a_login_that_is_over_is_needed_again_and_a_provider_that_fails_ends_none() {
    let scene = Scene::new(Vice::None, 3600);
    scene.log_in();
    let served = scene.world.serve();
    until_good(&scene, &served);
    scene.provider.revoke();
    let refused = scene.call(&served).to_string();
    assert!(refused.contains("toolfold login notes"), "{refused}");
    scene.log_in();
    until_good(&scene, &served);

    let broken = Scene::new(Vice::Broken, 3600);
    broken.log_in();
    let served = broken.world.serve();
    until_good(&broken, &served);
    broken.provider.expire();
    let refused = broken.call(&served).to_string();
    assert!(!refused.contains("toolfold login"), "a server error is no reason to log in again: {refused}");
}

#[test]
fn hostile_providers_get_nowhere() {
    for (vice, words) in [
        (Vice::Huge, "larger than"),
        (Vice::Endless, "larger than"),
        (Vice::Redirects, ""),
        (Vice::LinkLocal, "must begin with https://"),
        (Vice::Script, "it begins with javascript:"),
        (Vice::Nonsense, "cannot be used"),
    ] {
        let scene = Scene::new(vice, 3600);
        let output = scene.run(&["login", "notes"]);
        if vice == Vice::Redirects {
            // What it points at is not looked at; without a document the server is its own login server.
            assert!(output.status.success(), "{}", text(&output));
            continue;
        }
        assert_eq!(output.status.code(), Some(3), "{vice:?}: {}", text(&output));
        assert!(text(&output).contains(words), "{vice:?}: {}", text(&output));
    }
    // Within the time that anybody has for an answer.
    let silent = Scene::new(Vice::Silent, 3600);
    let output = silent.run(&["login", "notes"]);
    assert!(text(&output).contains("no answer within 15s"), "{}", text(&output));
    let swaps = Scene::new(Vice::Swaps, 3600);
    swaps.log_in();
    swaps.provider.revoke();
    let output = swaps.run(&["login", "notes"]);
    assert!(text(&output).contains("describes itself as"), "{}", text(&output));
}

/// Every token is over as soon as it is given out, so every call wants a new one; each refresh token is good once.
#[test]
fn two_processes_renew_one_login_and_never_lose_it() {
    let scene = Scene::new(Vice::None, 0);
    scene.log_in();
    let instances = [scene.world.serve(), scene.world.serve()];
    instances.iter().for_each(|served| until_good(&scene, served));
    let bad = std::sync::Mutex::new(Vec::new());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for served in instances.iter().flat_map(|served| [served; 4]) {
            let (scene, bad, done) = (&scene, &bad, &done);
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let answer = scene.call(served);
                    if !is_good(&answer) {
                        bad.lock().unwrap().push(answer);
                        done.store(true, Ordering::Relaxed);
                    }
                    if scene.provider.counts().refreshes >= 200 {
                        done.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let counts = scene.provider.counts();
    println!("{counts:?}");
    assert!(bad.lock().unwrap().is_empty(), "{:?}, {counts:?}", bad.lock().unwrap());
    assert!(counts.refreshes >= 200 && counts.reused == 0, "{counts:?}");
}

#[test]
fn secrets_are_nowhere_to_be_read() {
    let scene = Scene::new(Vice::None, 3600);
    let key = "planted-key-for-logins-0123456789abcdef";
    let run = |arguments: &[&str]| -> Output {
        let mut command = scene.world.toolfold(arguments);
        command.env("BROWSER", "curl -sL").env("TOOLFOLD_KEY", key).env("TOOLFOLD_LOG", "trace");
        command.stdin(Stdio::null()).output().expect("toolfold can be started")
    };
    let mut seen = text(&run(&["login", "notes", "-vv"]));
    seen += &text(&run(&["call", "notes.whoami", "-vv"]));
    scene.provider.expire();
    seen += &text(&run(&["call", "notes.whoami", "--json", "-vv"]));
    seen += &text(&run(&["doctor", "notes", "-vv"]));
    seen += &text(&run(&["status", "--json", "-vv"]));
    scene.provider.revoke();
    seen += &text(&run(&["call", "notes.whoami", "-vv"]));
    seen += &text(&run(&["logs", "notes"]));
    assert!(scene.provider.counts().calls >= 2, "{seen}");
    let mut secrets = scene.provider.secrets();
    secrets.extend([key.to_owned(), "fake-code".to_owned()]);
    for secret in &secrets {
        assert!(!seen.contains(secret.as_str()), "{secret} is printed");
    }
    let mut files = Vec::new();
    walk(&scene.world.path(""), &mut files);
    assert!(files.iter().any(|file| file.extension().is_some_and(|kind| kind == "db")), "{files:?}");
    for file in files {
        let bytes = fs::read(&file).unwrap_or_default();
        for secret in &secrets {
            let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{secret} is in {}", file.display());
        }
    }
}

/// Tokens that clients show, right ones and wrong ones, at every level of the log, in every answer and in every file.
#[test]
fn tokens_of_clients_are_nowhere_to_be_read() {
    let house = "planted-token-of-the-house-0123456789";
    let world = World::with_config(&format!(
        "toolbox = true\n[http]\ntoken = {house:?}\n[[rules]]\nwho = [\"token\", \"alice\"]\neffect = \"call\"\n"
    ));
    let given = world.toolfold(&["token", "add", "alice"]).output().unwrap();
    assert!(given.status.success(), "{}", text(&given));
    let alice = String::from_utf8_lossy(&given.stdout).trim().to_owned();
    let secrets = [house, alice.as_str(), "planted-token-of-a-stranger-9876543210"];
    for level in ["error", "warn", "info", "debug", "trace"] {
        let log = world.path("said");
        let mut command = world.toolfold(&["serve", "--listen", "127.0.0.1:0"]);
        command.env("TOOLFOLD_LOG", level).stdin(Stdio::null()).stdout(fs::File::create(&log).unwrap());
        let served = Served::start(&mut command);
        let origin = served.url.trim_end_matches("/mcp").to_owned();
        let mut seen = String::new();
        for token in secrets {
            for path in ["/v1/status", "/v1/servers", "/v1/calls", "/v1/tools?limit=1", "/metrics", "/mcp", "/nothing"]
            {
                let bearer = format!("authorization: Bearer {token}");
                let mut curl = Command::new("curl");
                curl.args(["-s", "-i", "-H", &bearer, &format!("{origin}{path}?access_token={token}")]);
                // What was asked is not repeated either.
                seen += &String::from_utf8_lossy(&curl.output().unwrap().stdout);
            }
            let call = r#"{"tool_id": "toolbox.text_count", "arguments": {"text": "x", "wrong": 1}}"#;
            let mut curl = Command::new("curl");
            curl.args(["-s", "-i", "-H", "content-type: application/json", "-d", call]);
            curl.args(["-H", &format!("authorization: Bearer {token}"), &format!("{origin}/v1/call_tool")]);
            seen += &String::from_utf8_lossy(&curl.output().unwrap().stdout);
        }
        for secret in secrets {
            assert!(!seen.contains(secret), "{level}: {secret} is in an answer");
            assert!(
                !served.announcement.contains(secret) && !served.has_said(secret),
                "{level}: {secret} is in the log"
            );
        }
        served.stop();
    }
    let mut files = Vec::new();
    walk(&world.path(""), &mut files);
    // The configuration has what somebody wrote there.
    for file in files.iter().filter(|file| file.extension().is_none_or(|kind| kind != "toml")) {
        let bytes = fs::read(file).unwrap_or_default();
        for secret in secrets {
            let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{secret} is in {}", file.display());
        }
    }
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&entry.path(), files),
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}

#[test]
fn a_key_that_others_can_read_is_refused_and_another_key_opens_nothing() {
    let scene = Scene::new(Vice::None, 3600);
    scene.log_in();
    let key = scene.world.path("store.key");
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let output = scene.run(&["call", "notes.whoami", "-v"]);
    assert!(!output.status.success() && text(&output).contains("chmod 600"), "{}", text(&output));
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    // Its failure is remembered, and it is named: it is tried again.
    let output = scene.run(&["call", "notes.whoami"]);
    assert!(output.status.success(), "{}", text(&output));
    let mut command: Command = scene.world.toolfold(&["call", "notes.whoami", "-v"]);
    let output = command.env("TOOLFOLD_KEY", "another-key-that-is-long-enough-0123456789").output().unwrap();
    assert!(!output.status.success() && text(&output).contains("does not open"), "{}", text(&output));
}

#[test]
fn what_takes_no_login_says_so() {
    let world = World::with_config(
        "[servers.program]\ncommand = \"true\"\n[servers.fixed]\nurl = \"http://127.0.0.1:9/\"\nauth = \"none\"\n",
    );
    for (server, words) in [("program", "takes no login"), ("fixed", "takes no login"), ("progam", "did you mean")] {
        let output = world.toolfold(&["login", server]).stdin(Stdio::null()).output().unwrap();
        assert!(!output.status.success() && text(&output).contains(words), "{server}: {}", text(&output));
    }
}
