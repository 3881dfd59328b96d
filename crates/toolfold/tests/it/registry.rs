//! The embeddable registry: what each call promises, and that the promises hold while a hundred tasks make them at once.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::task::JoinSet;
use toolfold::{Failed, MOST_ACTIVE, Output, Registry, Toolfold};

const TASKS: usize = 100;

fn schema() -> Value {
    json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]})
}

fn numbered(number: usize) -> String {
    format!("tool_{number}")
}

/// A registry with `tool_0` to `tool_99`, which answer with their own name and what they were given.
fn hundred() -> Registry {
    let mut registry = Registry::new("many");
    for number in 0..TASKS {
        add(&mut registry, &numbered(number));
    }
    registry
}

fn add(registry: &mut Registry, name: &str) {
    let own = name.to_owned();
    registry.register(name, &format!("Do the work called {name}."), schema(), move |arguments| {
        Output::Text(format!("{own} {}", arguments["text"].as_str().unwrap_or_default()))
    });
}

/// Runs a hundred tasks at once and gives what they returned, in their order.
async fn at_once<T, F>(tools: &Toolfold, task: impl Fn(usize, Toolfold) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let barrier = Arc::new(tokio::sync::Barrier::new(TASKS));
    let mut running = JoinSet::new();
    for number in 0..TASKS {
        let (work, barrier) = (task(number, tools.clone()), barrier.clone());
        running.spawn(async move {
            barrier.wait().await;
            (number, work.await)
        });
    }
    let mut done = running.join_all().await;
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, value)| value).collect()
}

fn active(tools: &Toolfold) -> Vec<String> {
    tools.active().into_iter().map(|tool| tool.name).collect()
}

fn has_duplicates(names: &[String]) -> bool {
    let different: std::collections::HashSet<&String> = names.iter().collect();
    different.len() != names.len()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn from_search_to_result() {
    let tools = Toolfold::start([hundred()]).await.unwrap();
    assert_eq!(tools.count(), 100);
    let found = tools.find("tool 42", 3);
    assert_eq!((found[0].name.as_str(), found[0].active), ("many.tool_42", false));
    assert!(found.len() <= 3 && found[0].score > 0.0 && found[0].score <= 1.0);
    tools.load(&["tool_42"]).unwrap();
    let described = tools.describe("tool_42").unwrap();
    assert_eq!(described.input_schema, schema());
    assert!(described.active && tools.is_active("many.tool_42") && tools.find("tool 42", 1)[0].active);
    assert_eq!(text(&tools.call("tool_42", json!({"text": "x"})).await.unwrap()), "tool_42 x");
}

#[tokio::test]
async fn loading_is_all_or_nothing_idempotent_and_bounded() {
    let tools = Toolfold::start([hundred()]).await.unwrap();
    let refused = tools.load(&["tool_1", "tool_one", "nothing"]).unwrap_err();
    insta::assert_snapshot!(refused, @r#"TOOL_NOT_FOUND: Nothing was loaded. There is no tool "tool_one". There is no tool "nothing"."#);
    assert_eq!(active(&tools).len(), 0);
    for _ in 0..2 {
        tools.load(&["tool_2", "many.tool_1", "tool_2"]).unwrap();
        assert_eq!(active(&tools), ["many.tool_2", "many.tool_1"]);
    }
    let mut more = Registry::new("more");
    (0..MOST_ACTIVE).for_each(|number| add(&mut more, &format!("extra_{number}")));
    tools.register(more).await.unwrap();
    let all: Vec<String> = (0..MOST_ACTIVE).map(|number| format!("extra_{number}")).collect();
    assert!(tools.load(&all).unwrap_err().to_string().starts_with("TOO_LARGE"));
    assert_eq!(active(&tools).len(), 2);
}

#[tokio::test]
async fn refusals_say_what_to_do() {
    let mut twin = Registry::new("twin");
    add(&mut twin, "tool_1");
    let tools = Toolfold::start([hundred(), twin]).await.unwrap();
    let ambiguous = tools.describe("tool_1").unwrap_err();
    assert_eq!(ambiguous.hints, ["many.tool_1", "twin.tool_1"]);
    let Err(Failed::Refused(refused)) = tools.call("tool_2", json!({"text": 7})).await else { panic!("not refused") };
    assert_eq!(refused.code.as_str(), "INVALID_ARGUMENTS");
    let mut bad = Registry::new("bad");
    bad.register("list", "Takes a list.", json!([1]), |_| Output::Text(String::new()));
    assert!(tools.register(bad).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_tasks_find() {
    let tools = Toolfold::start([hundred()]).await.unwrap();
    let best = at_once(&tools, |number, tools| async move { tools.find(&numbered(number), 5)[0].name.clone() }).await;
    assert!(best.iter().enumerate().all(|(number, name)| *name == format!("many.tool_{number}")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_tasks_describe_one_tool() {
    let tools = Toolfold::start([hundred()]).await.unwrap();
    let described = at_once(&tools, |_, tools| async move { tools.describe("tool_7").unwrap() }).await;
    assert!(described.iter().all(|tool| *tool == described[0]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_tasks_load_one_tool() {
    let tools = Toolfold::start([hundred()]).await.unwrap();
    at_once(&tools, |_, tools| async move { tools.load(&["tool_7"]).unwrap() }).await;
    assert_eq!(active(&tools), ["many.tool_7"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_tasks_load_a_tool_each() {
    let tools = Toolfold::start([hundred()]).await.unwrap();
    at_once(&tools, |number, tools| async move { tools.load(&[numbered(number)]).unwrap() }).await;
    assert_eq!(active(&tools).len(), TASKS);
    assert!((0..TASKS).all(|number| tools.is_active(&numbered(number))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_tasks_load_sets_that_overlap() {
    let tools = Toolfold::start([hundred()]).await.unwrap();
    at_once(&tools, |number, tools| async move {
        let set: Vec<String> = (number..number + 10).map(|number| numbered(number % TASKS)).collect();
        tools.load(&set).unwrap();
        assert!(set.iter().all(|name| tools.is_active(name)), "what was loaded is active at once");
    })
    .await;
    let names = active(&tools);
    assert_eq!(names.len(), TASKS);
    assert!(!has_duplicates(&names));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_tasks_load_and_half_of_them_name_nothing() {
    let tools = Toolfold::start([hundred()]).await.unwrap();
    let loaded = at_once(&tools, |number, tools| async move {
        let second = if number % 2 == 0 { numbered(number) } else { "no_such_thing".to_owned() };
        tools.load(&[numbered(number), second]).is_ok()
    })
    .await;
    assert!(loaded.iter().enumerate().all(|(number, ok)| *ok == (number % 2 == 0)));
    assert!((0..TASKS).all(|number| tools.is_active(&numbered(number)) == (number % 2 == 0)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_tasks_list_what_is_active_while_it_grows() {
    let tools = Toolfold::start([hundred()]).await.unwrap();
    at_once(&tools, |number, tools| async move {
        let before = active(&tools);
        tools.load(&[numbered(number)]).unwrap();
        let after = active(&tools);
        assert!(after.starts_with(&before), "load order never changes");
        assert!(!has_duplicates(&after) && after.contains(&format!("many.tool_{number}")));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_tasks_ask_whether_a_tool_is_active_while_it_is_loaded() {
    let tools = Toolfold::start([hundred()]).await.unwrap();
    at_once(&tools, |number, tools| async move {
        if number == 50 {
            tools.load(&["tool_3"]).unwrap();
        }
        let first = tools.is_active("tool_3");
        assert!(!first || tools.is_active("tool_3"), "what is active stays active");
    })
    .await;
    assert!(tools.is_active("tool_3"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_tasks_call_one_tool_and_its_handler_is_built_once() {
    let built = Arc::new(AtomicUsize::new(0));
    let mut registry = Registry::new("lazy");
    let count = built.clone();
    registry.register_async("echo", "Say it again.", schema(), move || {
        count.fetch_add(1, Ordering::SeqCst);
        |arguments: Value| {
            let answer: toolfold::BoxFuture<'static, Output> =
                Box::pin(async move { Output::Text(arguments["text"].as_str().unwrap_or_default().to_owned()) });
            answer
        }
    });
    let tools = Toolfold::start([registry]).await.unwrap();
    tools.load(&["echo"]).unwrap();
    assert_eq!(built.load(Ordering::SeqCst), 0, "finding and loading build nothing");
    let said = at_once(&tools, |number, tools| async move {
        let result = tools.call("echo", json!({"text": number.to_string()})).await.unwrap();
        text(&result).to_owned()
    })
    .await;
    assert!(said.iter().enumerate().all(|(number, said)| *said == number.to_string()));
    assert_eq!(built.load(Ordering::SeqCst), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_tasks_call_a_tool_each() {
    let tools = Toolfold::start([hundred()]).await.unwrap();
    let said = at_once(&tools, |number, tools| async move {
        let result = tools.call(&numbered(number), json!({"text": "on"})).await.unwrap();
        text(&result).to_owned()
    })
    .await;
    assert!(said.iter().enumerate().all(|(number, said)| *said == format!("tool_{number} on")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_tasks_register_a_tool_each() {
    let tools = Toolfold::start([Registry::new("grown")]).await.unwrap();
    at_once(&tools, |number, tools| async move {
        let mut one = Registry::new("grown");
        add(&mut one, &numbered(number));
        tools.register(one).await.unwrap();
        assert!(tools.describe(&numbered(number)).is_ok(), "what is registered is there at once");
    })
    .await;
    assert_eq!(tools.count(), TASKS);
    assert!((0..TASKS).all(|number| tools.find(&numbered(number), 1)[0].name == format!("grown.tool_{number}")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_tasks_register_the_same_tool() {
    let tools = Toolfold::start([hundred()]).await.unwrap();
    at_once(&tools, |_, tools| async move {
        let mut one = Registry::new("many");
        add(&mut one, "tool_5");
        tools.register(one).await.unwrap();
    })
    .await;
    assert_eq!(tools.count(), TASKS);
    assert_eq!(text(&tools.call("tool_5", json!({"text": "last"})).await.unwrap()), "tool_5 last");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_tasks_count_while_others_register() {
    let tools = Toolfold::start([Registry::new("grown")]).await.unwrap();
    at_once(&tools, |number, tools| async move {
        let before = tools.count();
        if number % 4 == 0 {
            let mut one = Registry::new("grown");
            add(&mut one, &numbered(number));
            tools.register(one).await.unwrap();
        }
        let after = tools.count();
        assert!(before <= after && after <= TASKS / 4);
    })
    .await;
    assert_eq!(tools.count(), TASKS / 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_tasks_call_a_tool_while_it_is_replaced() {
    let tools = Toolfold::start([hundred()]).await.unwrap();
    at_once(&tools, |number, tools| async move {
        if number % 10 == 0 {
            let mut newer = Registry::new("many");
            newer.register("tool_0", "Newer.", schema(), |_| Output::Text("newer".into()));
            tools.register(newer).await.unwrap();
        }
        let result = tools.call("tool_0", json!({"text": "x"})).await.unwrap();
        assert!(["tool_0 x", "newer"].contains(&text(&result)), "{result}");
    })
    .await;
    assert_eq!(text(&tools.call("tool_0", json!({"text": "x"})).await.unwrap()), "newer");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_tasks_do_everything_at_once() {
    let tools = Toolfold::start([hundred()]).await.unwrap();
    at_once(&tools, |number, tools| async move {
        let name = tools.find(&numbered(number), 1)[0].name.clone();
        let mut one = Registry::new("later");
        add(&mut one, &format!("later_{number}"));
        match number % 5 {
            0 => drop(tools.describe(&name).unwrap()),
            1 => tools.load(&[&name]).unwrap(),
            2 => drop(tools.call(&name, json!({"text": "x"})).await.unwrap()),
            3 => tools.register(one).await.unwrap(),
            _ => assert!(tools.active().len() <= TASKS && tools.count() >= TASKS),
        }
    })
    .await;
    assert_eq!((tools.count(), active(&tools).len()), (TASKS + TASKS / 5, TASKS / 5));
}
