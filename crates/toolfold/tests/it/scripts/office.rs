//! A small company's servers, inside of this process: what they answer depends on nothing but the question.

use serde_json::{Value, json};
use toolfold::{LocalServer, LocalTool, Output, Registry};

const CUSTOMERS: u64 = 12;
const ORDERS: u64 = 30;

pub(super) fn servers() -> Vec<LocalServer> {
    let number = |name: &str| json!({"type": "object", "properties": {name: {"type": "integer"}}, "required": [name]});
    let text = |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    let nothing = json!({"type": "object", "properties": {}});
    let mut crm = Registry::new("crm");
    add(&mut crm, "list_customers", "List all customers of the company.", &nothing, |_| {
        Output::Text(json!((0..CUSTOMERS).map(customer).collect::<Vec<_>>()).to_string())
    });
    add(&mut crm, "find_customer", "Find a customer by name.", &text("name"), |given| {
        let found = (0..CUSTOMERS).map(customer).find(|customer| customer["name"] == given["name"]);
        Output::Text(found.unwrap_or_default().to_string())
    });
    add(&mut crm, "get_orders", "Get all orders of a customer, with their items.", &number("customer"), |given| {
        let customer = given["customer"].as_u64().unwrap_or_default();
        Output::Text(json!((0..ORDERS).map(|n| order(customer, n)).collect::<Vec<_>>()).to_string())
    });
    add(&mut crm, "last_order", "Get the last order of a customer.", &number("customer"), |given| {
        Output::Text(order(given["customer"].as_u64().unwrap_or_default(), 0).to_string())
    });
    let mut ops = Registry::new("ops");
    add(&mut ops, "read_log", "Read the log of a service of today.", &text("service"), |given| {
        Output::Text(log(given["service"].as_str().unwrap_or_default()))
    });
    add(&mut ops, "read_handbook", "Read the handbook of the company.", &nothing, |_| {
        let paragraph =
            |n| format!("Paragraph {n}. Whoever is on call answers within the hour and writes down what was done.\n");
        Output::Text((1..=20).map(paragraph).collect())
    });
    add(&mut ops, "status", "Tell the status of the machines.", &nothing, |_| {
        Output::Text(json!({"report": {"total": 17, "healthy": 16, "zones": {"a": 9, "b": 8}}}).to_string())
    });
    let mut tracker = Registry::new("tracker");
    add(&mut tracker, "list_issues", "List the issues of the repository, fifty a page.", &number("page"), |given| {
        let page = given["page"].as_u64().unwrap_or_default();
        let issues: Vec<Value> = (page * 50..page * 50 + 50).map(issue).collect();
        Output::Text(
            json!({"issues": issues, "next": if page < 5 { json!(page + 1) } else { Value::Null }}).to_string(),
        )
    });
    let mut weather = Registry::new("weather");
    add(&mut weather, "forecast", "Forecast the weather of a city for a day.", &text("city"), |given| {
        let city = given["city"].as_str().unwrap_or_default().to_owned();
        let number: u64 = city.trim_start_matches("city-").parse().unwrap_or_default();
        let hours: Vec<Value> = (0..24)
            .map(|hour| json!({"hour": hour, "temperature": (number * 7 + hour) % 23, "rain": hour % 5}))
            .collect();
        Output::Text(json!({"city": city, "high": (number * 13) % 31, "hours": hours}).to_string())
    });
    let mut mail = Registry::new("mail");
    let letter = json!({"type": "object", "properties": {"to": {"type": "string"}, "text": {"type": "string"}}, "required": ["to", "text"]});
    mail.register("send", "Send a mail.", letter, |_| Output::Text("sent".to_owned()));
    [crm, ops, tracker, weather, mail].map(Registry::into_server).into()
}

/// A tool that only reads.
fn add(
    to: &mut Registry,
    name: &str,
    about: &str,
    input: &Value,
    run: impl Fn(Value) -> Output + Send + Sync + 'static,
) {
    let definition =
        json!({"name": name, "description": about, "inputSchema": input, "annotations": {"readOnlyHint": true}});
    to.add(LocalTool::blocking(definition, run));
}

fn customer(n: u64) -> Value {
    json!({"id": n, "name": format!("Customer {n}"), "city": format!("city-{}", n % 10), "since": 2010 + n})
}

fn order(customer: u64, n: u64) -> Value {
    json!({
        "id": format!("order-{customer}-{n}"),
        "total": 100 + customer * 10 + n * 15,
        "items": (0..3).map(|item| json!({"sku": format!("sku-{}", (customer * 31 + n * 7 + item) % 97), "count": item + 1})).collect::<Vec<_>>(),
        "address": format!("{n} Main Street, city-{}", customer % 10),
    })
}

fn log(service: &str) -> String {
    let every = match service {
        "billing" => 10,
        "web" => 50,
        _ => 25,
    };
    let line = |n: usize| {
        let level = if n.is_multiple_of(every) { "ERROR" } else { "INFO" };
        format!(
            "2026-11-17T{:02}:{:02}:00Z {level} {service}: request {n} took {} ms\n",
            n / 60 % 24,
            n % 60,
            (n * 37) % 900
        )
    };
    (0..400).map(line).collect()
}

fn issue(n: u64) -> Value {
    let labels: Vec<&str> = if n.is_multiple_of(5) { vec!["bug"] } else { vec!["wish"] };
    let state = if n.is_multiple_of(5) && n % 8 < 5 || n.is_multiple_of(3) { "open" } else { "closed" };
    json!({
        "id": n, "title": format!("Issue {n}"), "state": state, "labels": labels,
        "body": format!("Customer {} says that the thing number {n} does not do what the page about it says it does.", n % 37),
    })
}
