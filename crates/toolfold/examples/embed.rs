//! A program that finds, reads, loads and calls its own tools, without any server: `cargo run --example embed`.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use serde_json::json;
use toolfold::{Output, Registry, Toolfold};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut text = Registry::new("text");
    text.register(
        "shout",
        "Turn a text into capital letters.",
        json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}),
        |arguments| Output::Text(arguments["text"].as_str().unwrap_or_default().to_uppercase()),
    );

    // What is expensive to set up is set up by the first call, and kept.
    let mut weather = Registry::new("weather");
    weather.register_async(
        "forecast",
        "Tell the weather of tomorrow in a city.",
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}),
        || {
            println!("(connecting to the weather service)");
            |arguments| Box::pin(async move { Output::Json(json!({"city": arguments["city"], "sky": "clear"})) })
        },
    );

    let tools = Toolfold::start([text, weather]).await?;
    println!("{} tools", tools.count());

    for found in tools.find("will it rain tomorrow", 3) {
        println!("{:.2} {} — {}", found.score, found.name, found.description);
    }
    println!("{}", tools.describe("forecast")?.input_schema);

    tools.load(&["forecast"])?;
    let active: Vec<String> = tools.active().into_iter().map(|tool| tool.name).collect();
    println!("active: {}", active.join(", "));

    for city in ["Oslo", "Lima"] {
        println!("{}", tools.call("forecast", json!({"city": city})).await?["structuredContent"]);
    }

    // Mistakes come back as sentences to act on.
    if let Err(refusal) = tools.load(&["forecasts"]) {
        println!("{refusal} {:?}", refusal.hints);
    }
    Ok(())
}
