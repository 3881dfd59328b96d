//! The process of a script: what it says of each end, its limits, and its walls.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use toolfold_script::protocol::HostAnswer;
use toolfold_script::{Ask, End, Host, InnerCall, InnerOutcome, Over, Script, ScriptLimits};
use toolfold_wire::{BoxFuture, Raw, raw};

use super::{Fake, program, run, sections, small};

async fn said(code: &str) -> String {
    match run(code, ScriptLimits::default()).await.end {
        End::Returned(value) => value.map_or("nothing".to_owned(), |value| value.get().to_owned()),
        End::Threw(uncaught) => {
            let place = format!("{:?}:{:?}", uncaught.line, uncaught.column);
            format!(
                "{} {}: {} {:?} at {place}",
                uncaught.code.as_deref().unwrap_or("-"),
                uncaught.name,
                uncaught.message,
                uncaught.hints
            )
        }
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn an_exception_says_what_and_where() {
    assert!(said("const a = 1;\nnull.x").await.starts_with("- TypeError: "));
    assert!(
        said("const a = 1;\nthrow new Error('no')").await.ends_with("at Some(2):Some(11)"),
        "{}",
        said("const a = 1;\nthrow new Error('no')").await
    );
    assert!(said("const x: number = 1; return x").await.starts_with("- SyntaxError: "));
    assert!(said("await tools.fail.now({})").await.starts_with("TOOL_ERROR ToolError: It failed. []"));
    let refused = said("await call('no.such_tool', {})").await;
    assert!(refused.starts_with("TOOL_NOT_FOUND ToolError: There is none. [\"math.add\"]"), "{refused}");
    assert_eq!(said("throw 'text'").await, "- Error: text [] at None:None");
    assert!(said("await call(1)").await.contains("TypeError: call(id, arguments)"));
    assert!(said("await call('math.add', [1])").await.contains("must be an object"));
}

#[tokio::test]
async fn what_models_put_around_a_program_is_taken_off() {
    assert_eq!(said("```js\nreturn 1\n```").await, "1");
    assert_eq!(said("```javascript\nconst x = 2;\nreturn x;\n```").await, "2");
    assert_eq!(said("export default async () => 3").await, "3");
    assert_eq!(said("(async () => { return 4 })()").await, "4");
    assert_eq!(said("\u{feff}return 5").await, "5");
    assert_eq!(said("({a: 6})").await, "{\"a\":6}");
    assert_eq!(said("return 7 // done").await, "7");
    assert_eq!(
        said("return {map: new Map([['a', 1]]), set: new Set([1]), big: 2n}").await,
        "{\"map\":{\"a\":1},\"set\":[1],\"big\":\"2\"}"
    );
}

#[tokio::test]
async fn what_is_printed_and_shown_comes_beside_the_answer() {
    let code = "print('a', {b: 1}); console.log([2]); show({type: 'image', data: 'aGk=', mimeType: 'image/png'}); \
                show(await call('data.picture', {})); show('text'); return 1";
    let ended = run(code, ScriptLimits::default()).await;
    assert_eq!(ended.printed, "a {\"b\":1}\n[2]\n");
    let shown: Vec<&str> = ended.shown.iter().map(Raw::get).collect();
    assert_eq!(shown.len(), 4);
    assert_eq!(shown[0], r#"{"type":"image","data":"aGk=","mimeType":"image/png"}"#);
    assert_eq!(shown[3], r#"{"type":"text","text":"text"}"#);
    let much = run("for (let n = 0; n < 1000; n++) print('x'.repeat(100)); return 1", ScriptLimits::default()).await;
    assert!(
        much.printed.len() < 17 * 1024 && much.printed.ends_with("(no more is printed)\n"),
        "{}",
        much.printed.len()
    );
}

#[tokio::test]
async fn every_limit_has_its_own_end() {
    let over = async |code: &str, limits: ScriptLimits| match run(code, limits).await.end {
        End::Over(over) => Some(over),
        _ => None,
    };
    assert_eq!(over("for (;;) {}", small()).await, Some(Over::Cpu));
    // What the engine does not look up from is stopped from outside.
    assert_eq!(over("Array.prototype.join.call({length: 2 ** 53 - 1})", small()).await, Some(Over::Cpu));
    assert_eq!(over("const a = []; for (;;) a.push(new Array(1000).fill(1))", small()).await, Some(Over::Memory));
    assert_eq!(over("await new Promise(() => {})", small()).await, Some(Over::Stuck));
    assert_eq!(over("return 'x'.repeat(9e6)", ScriptLimits::default()).await, Some(Over::Size));
    let brief = ScriptLimits { time: Duration::from_millis(300), ..ScriptLimits::default() };
    let script = || Script { code: "await call('a.b', {})".to_owned(), input: Raw::null() };
    let ended = toolfold_script::run(&program(), script(), brief, &Silent).await;
    assert!(matches!(ended.end, End::Over(Over::Time)), "{ended:?}");
    assert_eq!(ended.calls, [InnerCall { tool: "a.b".to_owned(), outcome: InnerOutcome::Open }]);
}

#[tokio::test]
async fn calls_are_counted_and_so_are_those_at_once() {
    let limits = ScriptLimits { calls: 10, ..ScriptLimits::default() };
    let code = "const all = await Promise.allSettled(Array.from({length: 30}, (_, n) => tools.math.add({a: n, b: 0})));\
                return [all.filter(x => x.status === 'fulfilled').length, all[29].reason.code]";
    let script = Script { code: code.to_owned(), input: Raw::null() };
    let host = Counting::default();
    let ended = toolfold_script::run(&program(), script, limits, &host).await;
    let End::Returned(Some(value)) = ended.end else { panic!("{ended:?}") };
    assert_eq!(value.get(), "[10,\"TOO_LARGE\"]");
    assert_eq!(ended.calls.len(), 10);
    let (_, most) = *host.open.lock().unwrap();
    assert!((2..=8).contains(&most), "{most} at once");
}

#[tokio::test]
async fn a_result_that_is_too_large_is_thrown() {
    struct Large;
    impl Host for Large {
        fn answer(&self, _: Ask) -> BoxFuture<'_, HostAnswer> {
            Box::pin(async {
                HostAnswer::Result(raw(&json!({"content": [{"type": "text", "text": "x".repeat(9 << 20)}]})))
            })
        }
    }
    let script =
        Script { code: "try { await call('a.b', {}) } catch (e) { return e.code }".to_owned(), input: Raw::null() };
    let ended = toolfold_script::run(&program(), script, ScriptLimits::default(), &Large).await;
    assert!(matches!(&ended.end, End::Returned(Some(value)) if value.get() == "\"TOO_LARGE\""), "{ended:?}");
}

/// The clock of a script stands still while it waits: many waits that are each longer than its computing time are fine.
#[tokio::test]
async fn waiting_costs_no_computing_time() {
    struct Slow;
    impl Host for Slow {
        fn answer(&self, _: Ask) -> BoxFuture<'_, HostAnswer> {
            Box::pin(async {
                tokio::time::sleep(Duration::from_millis(400)).await;
                HostAnswer::Value(raw(&1))
            })
        }
    }
    let limits = ScriptLimits { cpu: Duration::from_millis(150), ..ScriptLimits::default() };
    let script = Script {
        code: "let n = 0; for (let i = 0; i < 3; i++) n += await call('a.b', {}); return n".to_owned(),
        input: Raw::null(),
    };
    let ended = toolfold_script::run(&program(), script, limits, &Slow).await;
    assert!(matches!(&ended.end, End::Returned(Some(value)) if value.get() == "3"), "{ended:?}");
}

/// What the system itself says of the process, while a script of it waits.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_process_is_behind_its_walls() {
    let asked = Asked::default();
    let script = Script { code: "await call('a.b', {})".to_owned(), input: Raw::null() };
    let program = program();
    let running = toolfold_script::run(&program, script, ScriptLimits::default(), &asked);
    let look = async {
        asked.0.notified().await;
        let own = std::process::id().to_string();
        let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children")).unwrap_or_default();
        let all = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let is_ours = |pid: &String| {
            let line = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let parent =
                line.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().nth(1).map(str::to_owned));
            parent.as_deref() == Some(own.as_str())
        };
        let pids: Vec<String> = all.filter(|name| name.parse::<u32>().is_ok()).filter(is_ours).collect();
        let [pid] = pids.as_slice() else { panic!("{pids:?} {children}") };
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let of =
            |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default().trim().to_owned();
        assert_eq!((of("NoNewPrivs:"), of("Seccomp:"), of("Threads:")), ("1".into(), "2".into(), "1".into()));
        assert_eq!(fs::read(format!("/proc/{pid}/environ")).unwrap_or_default(), b"");
        let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
        let soft = |key: &str| {
            let line = limits.lines().find(|line| line.starts_with(key)).unwrap();
            line[key.len()..].split_ascii_whitespace().next().unwrap().to_owned()
        };
        assert_eq!(
            (soft("Max cpu time"), soft("Max core file size"), soft("Max file size")),
            ("4".into(), "0".into(), "0".into())
        );
        assert_eq!(soft("Max open files"), "0");
        assert_ne!(soft("Max address space"), "unlimited");
    };
    tokio::select! {
        ended = running => panic!("{ended:?}"),
        () = look => {}
    }
}

/// What the process asks of the system once its walls are up, as strace sees it where there is one.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_opened_behind_the_walls() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("calls");
    let traces = Command::new("strace").arg("-o").arg(&log).arg("true").output();
    if !traces.is_ok_and(|traced| traced.status.success()) {
        println!("not checked: strace is not there, or may not trace; the filter itself is looked at beside this");
        return;
    }
    let of_interest = ["files", "the system", "the environment", "the network", "a worker", "a date far away"];
    let scripts = sections("attacks.js").into_iter();
    let scripts = scripts.filter(|(head, _)| of_interest.iter().any(|beginning| head.starts_with(beginning)));
    let mut tried = 0;
    for (head, code) in scripts {
        let mut command = Command::new("strace");
        command.arg("-f").arg("-o").arg(&log).arg(program().path).args(program().arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let begin = json!({"code": code, "input": null, "limits": serde_json::to_value(small()).unwrap()});
        child.stdin.take().unwrap().write_all(format!("{begin}\n").as_bytes()).unwrap();
        child.wait().unwrap();
        let calls = fs::read_to_string(&log).unwrap();
        let (_, behind) = calls.rsplit_once("seccomp(SECCOMP_SET_MODE_FILTER").expect("a filter");
        let reaches = |line: &&str| {
            ["open", "connect(", "socket(", "exec", "clone", "fork"].iter().any(|call| line.contains(call))
        };
        let wrong: Vec<&str> = behind.lines().skip(1).filter(reaches).filter(|line| !line.contains("EPERM")).collect();
        assert!(wrong.is_empty(), "{head}: {wrong:?}");
        tried += 1;
    }
    assert!(tried >= 10, "{tried}");
}

/// Whoever drops a run has ended the process.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_run_that_is_dropped_leaves_no_process() {
    let asked = Asked::default();
    let script = Script { code: "await call('a.b', {}); for (;;) {}".to_owned(), input: Raw::null() };
    let program = program();
    tokio::select! {
        ended = toolfold_script::run(&program, script, ScriptLimits::default(), &asked) => panic!("{ended:?}"),
        () = asked.0.notified() => {}
    }
    // It is killed at once, and reaped by whoever waits for children next.
    let again = run("return 1", ScriptLimits::default()).await;
    assert!(matches!(again.end, End::Returned(Some(_))));
}

#[tokio::test]
async fn a_program_that_is_no_such_process_is_said_to_be_none() {
    let script = || Script { code: "return 1".to_owned(), input: Raw::null() };
    for path in ["/nowhere/at/all", "/bin/false", "/bin/echo"] {
        let odd = toolfold_script::Program { path: path.into(), arguments: vec!["hello".into()] };
        let ended = toolfold_script::run(&odd, script(), ScriptLimits::default(), &Fake).await;
        assert!(matches!(ended.end, End::Crashed(_)), "{path}: {ended:?}");
    }
}

/// Never answers.
struct Silent;

impl Host for Silent {
    fn answer(&self, _: Ask) -> BoxFuture<'_, HostAnswer> {
        Box::pin(std::future::pending())
    }
}

/// Never answers, and says when it is asked.
#[derive(Default)]
struct Asked(Notify);

impl Host for Asked {
    fn answer(&self, _: Ask) -> BoxFuture<'_, HostAnswer> {
        self.0.notify_one();
        Box::pin(std::future::pending())
    }
}

/// Counts what is open at once: now, and at the most.
#[derive(Default)]
struct Counting {
    open: Mutex<(usize, usize)>,
}

impl Host for Counting {
    fn answer(&self, ask: Ask) -> BoxFuture<'_, HostAnswer> {
        Box::pin(async move {
            {
                let mut open = self.open.lock().unwrap();
                open.0 += 1;
                open.1 = open.1.max(open.0);
            }
            // Nobody is answered before a second one has asked: two at once are seen however slow the script's process is.
            while self.open.lock().unwrap().1 < 2 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            let answer = Fake.answer(ask).await;
            self.open.lock().unwrap().0 -= 1;
            answer
        })
    }
}
