//! Scripts that mean harm: each ends, none gets anything. How long they take beyond their limits is measured by
//! `cargo xtask bench scripts`; here the point is that they end, as what, and that what they say holds nothing of this machine.

use futures_util::StreamExt;
use toolfold_script::{End, Ended, Over};

use super::{run, sections, small};

const AT_ONCE: usize = 4;

#[tokio::test]
async fn none_of_them_goes_on_or_gets_anything() {
    let scripts = sections("attacks.js");
    assert!(scripts.len() >= 100, "{}", scripts.len());
    let runs = scripts.iter().map(|(head, code)| async move { (head, run(code, small()).await) });
    let ended: Vec<_> = futures_util::stream::iter(runs).buffer_unordered(AT_ONCE).collect().await;
    let wrong: Vec<String> = ended.iter().filter_map(|(head, ended)| wrong(head, ended)).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), ended.len(), wrong.join("\n"));
}

fn wrong(head: &str, ended: &Ended) -> Option<String> {
    let (name, expected) = head.rsplit_once(": ").expect("an expectation");
    let came = match &ended.end {
        End::Returned(_) => "returned",
        End::Threw(_) => "threw",
        End::Over(Over::Cpu) => "cpu",
        End::Over(Over::Memory) => "memory",
        End::Over(Over::Stuck) => "stuck",
        End::Over(Over::Size) => "size",
        End::Over(Over::Time) => "time",
        End::Crashed(_) => "crashed",
        End::Open => "open",
    };
    // The time of the whole is for scripts that wait; these compute, and whoever computes is stopped for that.
    let is_wrong = match expected {
        "any" => matches!(came, "time" | "open"),
        expected => came != expected,
    };
    let said = format!("{:?} {}", ended.end, ended.printed);
    let leaked = ["root:", "PATH=", "/home", "/usr/", "CARGO"].iter().find(|secret| said.contains(**secret));
    let forged = format!("{:?}", ended.end).contains("forged");
    let shown: String = said.chars().take(300).collect();
    (is_wrong || forged || leaked.is_some())
        .then(|| format!("{name}: expected {expected}, came {came} {leaked:?}: {shown}"))
}
