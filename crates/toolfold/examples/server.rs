//! A small MCP server with tools of its own: notes that are kept for as long as it runs. It speaks on stdin and stdout,
//! so a client starts it as `cargo run --example server`; `cargo run --example server -- lifecycle` shows another
//! surface.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use toolfold::{Output, Registry, Surface, Toolfold};

type Notes = Arc<Mutex<Vec<String>>>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let surface = std::env::args().nth(1).and_then(|name| Surface::parse(&name)).unwrap_or_default();
    let tools = Toolfold::start([notes()]).await?;
    tools.serve_stdio(surface).await?;
    Ok(())
}

fn notes() -> Registry {
    let kept = Notes::default();
    let mut registry = Registry::new("notes");
    let notes = kept.clone();
    let text = json!({"type": "string", "description": "What to remember"});
    registry.register("add_note", "Keep a note.", takes("text", text), move |arguments| {
        let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push(arguments["text"].as_str().unwrap_or_default().to_owned());
        Output::Text(format!("Note {} is kept.", notes.len()))
    });
    let notes = kept.clone();
    registry.register("list_notes", "List all notes.", json!({"type": "object"}), move |_| {
        let notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
        Output::Json(json!({"notes": *notes}))
    });
    let number = json!({"type": "integer", "minimum": 1});
    registry.register("read_note", "Read one note by its number.", takes("number", number), move |arguments| {
        let notes = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let place = arguments["number"].as_u64().unwrap_or_default() as usize;
        match place.checked_sub(1).and_then(|place| notes.get(place)) {
            Some(note) => Output::Text(note.clone()),
            None => Output::Failure(format!("There is no note {place}. list_notes shows them all.")),
        }
    });
    registry
}

fn takes(name: &str, schema: Value) -> Value {
    json!({"type": "object", "properties": {name: schema}, "required": [name]})
}
