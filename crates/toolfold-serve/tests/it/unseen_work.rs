//! What may not be seen costs whoever asks for it what nothing would: the same requests for what is hidden and for what is not
//! there, of two gateways that differ in nothing else, ask for the same memory, allocation by allocation.
//!
//! What a reader would get wrong: time is not measured, work is. That it is the same to the allocation says that the same steps
//! were taken over the same data; how long they take differs from run to run by more than anything that could be told here.
//! Whatever else goes on in the process only adds to a count, so the least of many is what a request itself asks for. The audit
//! is off: it looks up what was meant after all, in a thread of its own, for which nobody waits.

use std::alloc::System;
use std::sync::Arc;

use serde_json::{Value, json};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use toolfold_config::{Config, Learn};
use toolfold_core::{Principal, RuleEffect, Surface};
use toolfold_gateway::{Client, Gateway, Request};
use toolfold_test::FakeServer;
use toolfold_wire::{Object, Silent, raw};

use crate::access::{on, rule};
use crate::interference::tool;
use crate::support::{all_settled, config, start};

static COUNTED: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const TIMES: usize = 60;

async fn gateway(servers: &[(&str, &FakeServer)]) -> Gateway {
    let rules = vec![on("post", rule("alice", RuleEffect::Call)), on("store", rule("alice", RuleEffect::Call))];
    let gateway = start(Config { rules, learn: Learn::Off, ..config(Surface::Compact, servers) });
    all_settled(&gateway).await;
    gateway
}

/// Allocations and bytes that a request asks for, and what it is answered.
async fn work(gateway: &Gateway, surface: Surface, method: &str, params: &Value) -> ((usize, usize), String) {
    let (mut least, mut answer) = ((usize::MAX, usize::MAX), String::new());
    for _ in 0..TIMES {
        let client = Arc::new(Client::request(Principal::named("alice", Vec::new()), surface, None));
        let params = Object::parse(&raw(params)).unwrap();
        let request = Request::new(client, Arc::new(Silent), method, params);
        let region = Region::new(COUNTED);
        let answered = gateway.handle(request).await;
        let counted = region.change();
        least = (least.0.min(counted.allocations), least.1.min(counted.bytes_allocated));
        answer = match answered {
            Ok(result) => result.get().to_owned(),
            Err(error) => format!("{} {}", error.code, error.message),
        };
    }
    (least, answer)
}

#[tokio::test]
async fn what_is_hidden_takes_the_work_that_what_is_absent_takes() {
    let post = FakeServer::script(json!({
        "tools": [tool("send_letter", "Send a letter to a customer by post."), tool("list_letters", "List letters.")],
        "prompts": [{"name": "greet"}],
        "resources": [{"uri": "post://inbox", "name": "Inbox"}],
    }));
    let store = FakeServer::script(json!({"tools": [tool("read_file", "Read a file of the shared folder.")]}));
    let payroll = FakeServer::script(json!({
        "tools": [tool("read_salary", "Read the salary of an employee."), tool("send_letter", "Send a letter.")],
        "prompts": [{"name": "raise"}],
        "resources": [{"uri": "pay://2026", "name": "Payments"}],
    }));
    let hidden = gateway(&[("post", &post), ("store", &store), ("payroll", &payroll)]).await;
    let absent = gateway(&[("post", &post), ("store", &store)]).await;
    let mut asked: Vec<(Surface, &str, Value)> = Vec::new();
    for name in ["payroll.read_salary", "payroll__read_salary", "read_salary", "payroll.nothing"] {
        let arguments = json!({"text": "x"});
        asked.push((Surface::Compact, "tools/call", json!({"name": name, "arguments": arguments})));
        asked.push((Surface::Direct, "tools/call", json!({"name": name, "arguments": arguments})));
        let through = json!({"name": "call_tool", "arguments": {"tool": name, "arguments": arguments}});
        asked.push((Surface::Compact, "tools/call", through));
        let load = json!({"name": "tool_load", "arguments": {"names": [name]}});
        asked.push((Surface::Lifecycle, "tools/call", load));
        let describe = json!({"name": "tool_describe", "arguments": {"name": name}});
        asked.push((Surface::Lifecycle, "tools/call", describe));
    }
    for query in ["salary of an employee", "payroll", "send a letter"] {
        asked.push((Surface::Compact, "tools/call", json!({"name": "find_tools", "arguments": {"query": query}})));
    }
    asked.push((Surface::Compact, "prompts/get", json!({"name": "payroll__raise"})));
    for uri in ["pay://2026", "payroll+pay://2026"] {
        asked.push((Surface::Compact, "resources/read", json!({"uri": uri})));
    }
    let reference = json!({"type": "ref/prompt", "name": "payroll__raise"});
    let complete = json!({"ref": reference, "argument": {"name": "a", "value": ""}});
    asked.push((Surface::Compact, "completion/complete", complete));
    asked.push((Surface::Compact, "vendor/extension", json!({"server": "payroll"})));
    for method in ["tools/list", "prompts/list", "resources/list"] {
        asked.push((Surface::Direct, method, json!({})));
    }
    for (surface, method, params) in &asked {
        // What is made once, with the first of a kind.
        work(&hidden, *surface, method, params).await;
        work(&absent, *surface, method, params).await;
        let (there, hidden_answer) = work(&hidden, *surface, method, params).await;
        let (nowhere, absent_answer) = work(&absent, *surface, method, params).await;
        assert!(there.0 > 0, "something is counted");
        assert_eq!(there, nowhere, "{surface} {method} {params}\n{hidden_answer}\n{absent_answer}");
    }
    assert_eq!(payroll.received("tools/call").len(), 0);
}
