//! Results that are too long to be read at once: kept here, read in parts by whoever they were for. And results of which
//! only some fields are wanted.
//!
//! What a reader would get wrong: a result below the bound is never touched, and one that cannot be kept is passed on as it
//! came. Nothing is kept for callers inside the program, who can cope with any length, nor in place of what a *listed* tool
//! promised with an `outputSchema`: its client would hold the answer against that.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use toolfold_config::Config;
use toolfold_core::{Code, Entry, Fuel, Principal, Refusal, ServerName};
use toolfold_disclosure::Checker;
use toolfold_results::{Body, Fields, Handle, Notation, Reading, Room, Shelf, Shelved, body_of, cut, read, summary};
use toolfold_wire::{BoxFuture, Object, Raw, raw};
use tracing::warn;

use crate::check::check;
use crate::request::{ClientKind, Request};
use crate::threads::Threads;

/// What reads a kept result; reached like any tool, listed nowhere.
const READ: &str = "results.read";
/// Before the handle in an address.
pub(crate) const ADDRESS: &str = "toolfold://results/";
/// Results above this many bytes are cut to fields on a thread.
const QUICK: usize = 64 * 1024;
/// What one reading may do, in steps of [`Fuel`]: a query makes at most so many values.
const WORK: u64 = 3_000_000;
/// Characters that a token has, at the least, in what is mostly JSON.
const CHARACTERS: usize = 3;

static THREADS: Threads = Threads::new(2, Duration::from_secs(10));

#[derive(Default)]
pub(crate) struct Results {
    /// `None` where there can be none.
    shelf: OnceLock<Option<Arc<Shelf>>>,
    /// Which replica this is: what it keeps says so. Empty where there is one.
    replica: String,
    /// What the other replicas keep.
    others: OnceLock<Arc<dyn OtherShelves>>,
}

/// Results that other replicas keep.
pub trait OtherShelves: Send + Sync {
    /// What a replica keeps for this principal under a handle; `None` also where it cannot be asked.
    fn fetch<'a>(&'a self, from: &'a str, principal: &'a Principal, handle: &'a str) -> BoxFuture<'a, Option<Shelved>>;
}

/// What a result is of.
pub(crate) struct Delivery<'a> {
    pub(crate) config: &'a Config,
    pub(crate) request: &'a Request,
    pub(crate) entry: Option<&'a Entry>,
    pub(crate) tool: &'a str,
    /// The meta-tool that it was called through.
    pub(crate) through: Option<&'a str>,
    pub(crate) fields: &'a [String],
}

impl Results {
    pub(crate) fn of(replica: String) -> Self {
        Results { replica, ..Results::default() }
    }

    /// Once: who asks the others.
    pub(crate) fn ask(&self, others: Arc<dyn OtherShelves>) {
        let _ = self.others.set(others);
    }

    /// A result on its way to a client: cut to the fields that are wanted, and kept where it is too long.
    pub(crate) async fn finish(&self, of: Delivery<'_>, result: Raw) -> Raw {
        let result = match Fields::parse(of.fields.iter().map(String::as_str)) {
            None => result,
            Some(fields) => narrowed(result, fields).await,
        };
        match of.keep_over(&result) {
            Some(over) => self.kept(&of, over, result).await,
            None => result,
        }
    }

    async fn kept(&self, of: &Delivery<'_>, over: usize, result: Raw) -> Raw {
        let Some(shelf) = self.shelf(of.config) else { return result };
        let (owner, tool, room) = (of.request.client.principal(), of.tool.to_owned(), room(of.config));
        let (characters, reader) = (of.config.budget * CHARACTERS, of.reader());
        let whole = result.clone();
        let kept = THREADS.run(move |_| {
            let body = body_of(whole.get(), over)?;
            match shelf.put(&owner, &tool, body.format, &body.text, room) {
                Ok(handle) => {
                    Some(instead(&whole, &body, &handle, &tool, &summary(&body, &handle, characters, &reader)))
                }
                Err(error) => {
                    warn!(%tool, %error, "a long result could not be kept and is passed on whole");
                    None
                }
            }
        });
        kept.await.ok().flatten().unwrap_or(result)
    }

    /// Keeps what a script answered, which is longer than its caller reads; what is said instead, in so many characters.
    pub(crate) async fn keep_answer(
        &self,
        config: &Config,
        owner: &Principal,
        tool: &str,
        text: &str,
        characters: usize,
    ) -> Option<String> {
        config.results.keep_over(tool)?;
        let (shelf, room) = (self.shelf(config)?, room(config));
        let (owner, tool) = (owner.clone(), tool.to_owned());
        let whole = raw(&json!({"content": [{"type": "text", "text": text}]}));
        let kept = THREADS.run(move |_| {
            let body = body_of(whole.get(), 0)?;
            let handle = shelf.put(&owner, &tool, body.format, &body.text, room).ok()?;
            Some(summary(&body, &handle, characters, &format!("{READ} through call_tool")))
        });
        kept.await.ok().flatten()
    }

    /// Answers a call of `results.read`.
    pub(crate) async fn read(
        &self,
        config: &Config,
        owner: &Principal,
        (checker, arguments): (&Arc<Checker>, Option<Raw>),
    ) -> Result<Raw, Refusal> {
        let arguments = match READER.as_ref() {
            // It is in no catalog, so its schema goes with what is wrong.
            Some(reader) => {
                let checked = check(checker, reader, arguments).await;
                checked.map_err(|refusal| wrong_arguments(refusal.message).hints(refusal.hints))?
            }
            None => arguments,
        };
        let (handle, reading) = asked(arguments.as_ref())?;
        let kept = self.get(config, owner, &handle).await.ok_or_else(|| unknown(config))?;
        let characters = config.budget * CHARACTERS;
        let work = move |stop: &toolfold_core::Stop| {
            read(kept.format, &kept.text, &reading, characters, &Fuel::stoppable(WORK, stop.clone()))
        };
        let text = THREADS.run(work).await.map_err(|_| busy())?;
        let text = text.map_err(|wrong| wrong_arguments(wrong.to_string()))?;
        Ok(raw(&json!({"content": [{"type": "text", "text": text}]})))
    }

    /// Answers `resources/read` of a kept result's address.
    pub(crate) async fn resource(&self, config: &Config, owner: &Principal, uri: &str) -> Option<Raw> {
        let handle = Handle::spelled(uri.strip_prefix(ADDRESS)?);
        let kept = self.get(config, owner, &handle).await?;
        let contents = json!([{"uri": uri, "mimeType": mime(kept.format), "text": kept.text}]);
        Some(raw(&json!({"contents": contents})))
    }

    /// What is kept, here or where its handle says.
    async fn get(&self, config: &Config, owner: &Principal, handle: &Handle) -> Option<Shelved> {
        let elsewhere = handle.mark().filter(|replica| *replica != self.replica);
        match (elsewhere, self.others.get()) {
            (Some(replica), Some(others)) => others.fetch(replica, owner, &handle.to_string()).await,
            _ => self.get_here(config, owner, handle).await,
        }
    }

    pub(crate) async fn get_here(&self, config: &Config, owner: &Principal, handle: &Handle) -> Option<Shelved> {
        let shelf = self.shelf.get()?.clone()?;
        let (owner, handle, room) = (owner.clone(), handle.clone(), room(config));
        THREADS.run(move |_| shelf.get(&owner, &handle, room)).await.ok().flatten()
    }

    fn shelf(&self, config: &Config) -> Option<Arc<Shelf>> {
        let made = self.shelf.get_or_init(|| {
            let shelf = Shelf::new(&folder(config), &self.replica);
            shelf.map_err(|error| warn!(%error, "long results cannot be kept")).ok().map(Arc::new)
        });
        made.clone()
    }
}

impl Delivery<'_> {
    /// From how many characters on this result is kept; `None` where it is not, whatever it is.
    fn keep_over(&self, result: &Raw) -> Option<usize> {
        let over = self.config.results.keep_over(self.tool)?;
        let promised = self.through.is_none() && self.entry.is_none_or(promises_output);
        (result.get().len() > over && self.request.client.kind != ClientKind::Inside && !promised).then_some(over)
    }

    /// How the one who asked reads on.
    fn reader(&self) -> String {
        self.through.map_or_else(|| READ.to_owned(), |meta| format!("{READ} through {meta}"))
    }
}

fn promises_output(entry: &Entry) -> bool {
    Object::parse(&entry.definition).is_some_and(|definition| definition.contains("outputSchema"))
}

/// Beside the store; without one, where temporary files are.
fn folder(config: &Config) -> PathBuf {
    let beside = config.store.as_ref().and_then(|store| store.file()?.parent());
    beside.map_or_else(std::env::temp_dir, |folder| folder.join("results"))
}

fn room(config: &Config) -> Room {
    Room { bytes: config.results.keep_bytes, age: config.results.keep_for }
}

fn mime(format: Notation) -> &'static str {
    if format == Notation::Json { "application/json" } else { "text/plain" }
}

/// What a client gets in the place of a result that is kept: what it is, a link to the whole, and what of it was no text.
fn instead(result: &Raw, body: &Body, handle: &Handle, tool: &str, said: &str) -> Raw {
    let link = json!({
        "type": "resource_link",
        "uri": format!("{ADDRESS}{handle}"),
        "name": format!("result of {tool}"),
        "mimeType": mime(body.format),
        "size": body.text.len(),
    });
    let mut content = vec![json!({"type": "text", "text": said}), link];
    content.extend(body.others.iter().filter_map(|item| serde_json::from_str(item).ok()));
    let mut object = Object::parse(result).unwrap_or_default();
    object.remove("structuredContent");
    object.set("content", &content);
    object.to_raw()
}

/// A result with the fields alone that are wanted. What is no JSON stays whole, and that is said beside it.
async fn narrowed(result: Raw, fields: Fields) -> Raw {
    if result.get().len() <= QUICK {
        return narrow(&result, &fields).unwrap_or(result);
    }
    let whole = result.clone();
    THREADS.run(move |_| narrow(&whole, &fields)).await.ok().flatten().unwrap_or(result)
}

fn narrow(result: &Raw, fields: &Fields) -> Option<Raw> {
    let mut object = Object::parse(result)?;
    if object.read("isError") == Some(Value::Bool(true)) {
        return None;
    }
    let mut is_cut = false;
    if let Some(structured) = object.get("structuredContent").and_then(|json| cut(json.get(), fields)) {
        object.set_raw("structuredContent", toolfold_wire::raw_of(&structured).ok()?);
        is_cut = true;
    }
    let mut content: Vec<Value> = object.read("content").unwrap_or_default();
    for item in content.iter_mut().filter(|item| item["type"] == "text") {
        if let Some(text) = item["text"].as_str().and_then(|text| cut(text, fields)) {
            item["text"] = Value::String(text);
            is_cut = true;
        }
    }
    if is_cut {
        object.set("content", &content);
    } else {
        let meta = object.object("_meta").unwrap_or_default();
        object.set_raw("_meta", meta.with("toolfold/fields", &"not applied: the result is no JSON").to_raw());
    }
    Some(object.to_raw())
}

/// What reads kept results, as any tool is defined: its arguments are checked as those of others are.
static READER: LazyLock<Option<Arc<Entry>>> = LazyLock::new(|| {
    let definition = json!({
        "name": "read",
        "description": "Read on in a result that was too long to be shown at once: a part of it, what a query finds in it, or the lines and items that a pattern is found in.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "result": {"type": "string", "description": "The name that the answer gave."},
                "query": {"type": "string", "description": "JMESPath, at most 1000 characters, over a result that is JSON."},
                "grep": {"type": "string", "description": "A regular expression: items or lines that it is found in."},
                // Some models write numbers as text.
                "offset": {"type": ["integer", "string"], "minimum": 0, "pattern": "^ *[0-9]+ *$", "description": "The first item or line, from 0."},
                "limit": {"type": ["integer", "string"], "minimum": 0, "pattern": "^ *[0-9]+ *$", "description": "How many."},
            },
            "required": ["result"],
            "additionalProperties": false,
        },
        "annotations": {"readOnlyHint": true},
    });
    let server = ServerName::new("results").ok()?;
    Entry::tool(&server, &raw(&definition)).ok().map(Arc::new)
});

/// The same, where any result is kept.
pub(crate) fn reader(config: &Config) -> Option<&'static Arc<Entry>> {
    READER.as_ref().filter(|_| config.results.keeps_any())
}

/// What is asked of which result, in arguments that were checked.
fn asked(arguments: Option<&Raw>) -> Result<(Handle, Reading), Refusal> {
    #[derive(Deserialize)]
    struct Asked {
        result: String,
        query: Option<String>,
        grep: Option<String>,
        offset: Option<Count>,
        limit: Option<Count>,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Count {
        Number(usize),
        Text(String),
    }
    let number = |count: Count| match count {
        Count::Number(number) => number,
        Count::Text(text) => text.trim().parse().unwrap_or(usize::MAX),
    };
    let given = arguments.and_then(|json| serde_json::from_str::<Asked>(json.get()).ok());
    let Asked { result, query, grep, offset, limit } =
        given.ok_or_else(|| wrong_arguments("These arguments cannot be read.".to_owned()))?;
    let handle = Handle::spelled(result.strip_prefix(ADDRESS).unwrap_or(&result));
    Ok((handle, Reading { query, grep, offset: offset.map_or(0, number), limit: limit.map(number) }))
}

fn wrong_arguments(message: String) -> Refusal {
    let schema = READER.as_ref().and_then(|reader| Object::parse(&reader.definition)?.get("inputSchema").cloned());
    Refusal::new(Code::InvalidArguments, message).details(json!({"tool": READ, "schema": schema}))
}

fn unknown(config: &Config) -> Refusal {
    let minutes = config.results.keep_for.as_secs().div_ceil(60);
    let message = "There is no such result any more, or it is not yours. Call the tool again for a new one.".to_owned();
    wrong_arguments(message)
        .hint(format!("Results are kept for {minutes} minutes, as long as there is room, and until Toolfold ends."))
}

fn busy() -> Refusal {
    Refusal::new(Code::RateLimited, "Too many results are being read at the moment.")
        .hint("Try again in a few seconds.")
}
