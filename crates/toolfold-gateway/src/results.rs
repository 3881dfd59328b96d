//! Results that are too long to be read at once: kept here, read in parts by whoever they were for. And results of which
//! only some fields are wanted.
//!
//! What a reader would get wrong: a result below the bound is never touched, and one that cannot be kept is passed on as it
//! came. Nothing is kept for callers inside the program, who can cope with any length, nor in place of what a *listed* tool
//! promised with an `outputSchema`: its client would hold the answer against that.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::json;
use toolfold_config::Config;
use toolfold_core::{Code, Entry, Fuel, Principal, Refusal, Stop};
use toolfold_disclosure::Checker;
use toolfold_results::{
    Fields, Handle, KeptResult, NotKept, Notation, Room, Shelf, Shelved, Slot, Spooled, Surveyed, body_of, read,
    read_kept, summary,
};
use toolfold_wire::{BoxFuture, Message, Object, Raw, raw};
use tracing::warn;

use crate::check::check;
use crate::gate::MOST_MARKED;
use crate::narrowed::narrowed;
use crate::reader::{ADDRESS, READ, READER, asked, wrong_arguments};
use crate::request::{ClientKind, Request};
use crate::threads::{Seat, Threads};

/// Bytes of the texts of a long result that are left in it, where nobody looks at them.
const SHOWN: usize = 16 * 1024;
/// What one reading may do, in steps of [`Fuel`]: a query makes at most so many values.
const WORK: u64 = 3_000_000;
/// Characters that a token has, at the least, in what is mostly JSON.
const CHARACTERS: usize = 3;

static THREADS: Threads = Threads::for_large(2, Duration::from_secs(10));

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

    /// Where a result goes while it comes in, if it is so long that it will be kept.
    pub(crate) fn slot(&self, of: &Delivery<'_>) -> Option<Arc<Slot>> {
        // What is cut to some fields is read as a whole.
        let over = of.keep_over().filter(|_| of.fields.is_empty() && !of.is_promised())?;
        let shown = if of.config.mark_results { MOST_MARKED } else { SHOWN };
        Some(Slot::new(self.shelf(of.config)?, room(of.config), over, shown))
    }

    /// A result on its way to a client: cut to the fields that are wanted, and kept where it is too long.
    pub(crate) async fn finish(&self, of: Delivery<'_>, result: Raw, slot: Option<Arc<Slot>>) -> Raw {
        if let Some(spooled) = slot.and_then(|slot| slot.filled()) {
            return self.kept_of(&of, spooled, result).await;
        }
        let result = match Fields::parse(of.fields.iter().map(String::as_str)) {
            None => result,
            Some(fields) => narrowed(&THREADS, result, fields).await,
        };
        match of.keep_over().filter(|over| result.get().len() > *over) {
            Some(over) if !of.is_promised() => self.kept(&of, over, result).await,
            _ => result,
        }
    }

    async fn kept(&self, of: &Delivery<'_>, over: usize, result: Raw) -> Raw {
        let Some(shelf) = self.shelf(of.config) else { return result };
        let (keeping, whole) = (Keeping::of(of), result.clone());
        let kept = THREADS.run(move |_| {
            let body = body_of(whole.get(), over)?;
            let kept = shelf.put(keeping.whose(), &body.text, keeping.room, keeping.characters);
            keeping.said(&whole, &body.others, kept)
        });
        kept.await.ok().flatten().unwrap_or(result)
    }

    /// The same of a result that was put away while it came in, and of which only the beginning is here.
    async fn kept_of(&self, of: &Delivery<'_>, spooled: Arc<Spooled>, short: Raw) -> Raw {
        if let Some(shelf) = self.shelf(of.config) {
            let (keeping, spooled, short) = (Keeping::of(of), spooled.clone(), short.clone());
            let kept = THREADS.run(move |_| {
                let body = body_of(short.get(), 0);
                let kept = spooled.shelve(&shelf, keeping.whose(), keeping.room, keeping.characters);
                keeping.said(&short, &body.map(|body| body.others).unwrap_or_default(), kept)
            });
            if let Some(kept) = kept.await.ok().flatten() {
                return kept;
            }
        }
        unspooled(spooled, &short).await.unwrap_or_else(|| {
            let text = "The call was made. Its result was too long to be passed on, and could not be kept.";
            raw(&json!({"content": [{"type": "text", "text": text}], "isError": true}))
        })
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
        let (owner, tool, text) = (owner.clone(), tool.to_owned(), text.to_owned());
        let kept = THREADS.run(move |_| {
            let (handle, surveyed) = shelf.put((&owner, &tool), &text, room, characters).ok()?;
            Some(summary(&surveyed, &handle, &format!("{READ} through call_tool")))
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
        let turn = THREADS.turn().await.map_err(|_| busy())?;
        let characters = config.budget * CHARACTERS;
        let fuel = |stop: &Stop| Fuel::stoppable(WORK, stop.clone());
        let text = match self.elsewhere(&handle) {
            Some((others, replica)) => {
                let kept = others.fetch(replica, owner, &handle.to_string()).await.ok_or_else(|| unknown(config))?;
                let work = move |stop: &Stop| Some(read(kept.format, &kept.text, &reading, characters, &fuel(stop)));
                turn.run(work).await
            }
            None => {
                let kept = self.find(config, owner, &handle).ok_or_else(|| unknown(config))?;
                turn.run(move |stop: &Stop| read_kept(&kept, &reading, characters, (&fuel(stop), stop))).await
            }
        };
        let (_, text) = text.map_err(|_| busy())?;
        let text = text.ok_or_else(|| unknown(config))?.map_err(|wrong| wrong_arguments(wrong.to_string()))?;
        Ok(raw(&json!({"content": [{"type": "text", "text": text}]})))
    }

    /// Answers `resources/read` of a kept result's address.
    pub(crate) async fn resource(&self, config: &Config, owner: &Principal, uri: &str) -> Option<Raw> {
        let handle = Handle::spelled(uri.strip_prefix(ADDRESS)?);
        // It may be long, so whoever wants it has their turn already.
        let (turn, kept) = self.take_down(THREADS.turn().await.ok()?, config, owner, &handle).await?;
        let uri = uri.to_owned();
        let written = turn.run(move |_| {
            let contents = json!([{"uri": uri, "mimeType": mime(kept.format), "text": kept.text}]);
            raw(&json!({"contents": contents}))
        });
        written.await.ok().map(|(_, written)| written)
    }

    /// The text of a kept result, or how long it is where that is more than `most` bytes.
    pub(crate) async fn text(
        &self,
        config: &Config,
        owner: &Principal,
        handle: &Handle,
        most: usize,
    ) -> Option<Result<String, u64>> {
        let here = if self.elsewhere(handle).is_some() { None } else { Some(self.find(config, owner, handle)?) };
        if let Some(long) = here.map(|kept| kept.bytes()).filter(|bytes| *bytes > most as u64) {
            return Some(Err(long));
        }
        let (_, kept) = self.take_down(THREADS.turn().await.ok()?, config, owner, handle).await?;
        Some(Ok(kept.text))
    }

    async fn take_down(
        &self,
        turn: Seat,
        config: &Config,
        owner: &Principal,
        handle: &Handle,
    ) -> Option<(Seat, Shelved)> {
        let (turn, kept) = match self.elsewhere(handle) {
            Some((others, replica)) => (turn, others.fetch(replica, owner, &handle.to_string()).await),
            None => {
                let kept = self.find(config, owner, handle)?;
                turn.run(move |_| kept.take_down()).await.ok()?
            }
        };
        Some((turn, kept?))
    }

    /// Which other replica has it, and who asks that.
    fn elsewhere<'a>(&'a self, handle: &'a Handle) -> Option<(&'a Arc<dyn OtherShelves>, &'a str)> {
        let replica = handle.mark().filter(|replica| *replica != self.replica)?;
        Some((self.others.get()?, replica))
    }

    fn find(&self, config: &Config, owner: &Principal, handle: &Handle) -> Option<Arc<KeptResult>> {
        self.shelf.get()?.as_ref()?.find(owner, handle, room(config))
    }

    pub(crate) async fn get_here(&self, config: &Config, owner: &Principal, handle: &Handle) -> Option<Shelved> {
        let kept = self.find(config, owner, handle)?;
        THREADS.run(move |_| kept.take_down()).await.ok().flatten()
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
    fn keep_over(&self) -> Option<usize> {
        let over = self.config.results.keep_over(self.tool)?;
        (self.request.client.kind != ClientKind::Inside).then_some(over)
    }

    /// Whether its client holds it against what the tool promised.
    fn is_promised(&self) -> bool {
        self.through.is_none() && self.entry.is_none_or(|entry| entry.promises_output)
    }

    /// How the one who asked reads on.
    fn reader(&self) -> String {
        self.through.map_or_else(|| READ.to_owned(), |meta| format!("{READ} through {meta}"))
    }
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

/// What is kept for whom.
struct Keeping {
    owner: Principal,
    tool: String,
    room: Room,
    /// What may be shown of it.
    characters: usize,
    /// How the one who asked reads on.
    reader: String,
}

impl Keeping {
    fn of(of: &Delivery<'_>) -> Self {
        let (owner, tool, characters) =
            (of.request.client.principal(), of.tool.to_owned(), of.config.budget * CHARACTERS);
        Keeping { owner, tool, room: room(of.config), characters, reader: of.reader() }
    }

    fn whose(&self) -> (&Principal, &str) {
        (&self.owner, &self.tool)
    }

    /// What a client gets in the place of a result that is kept: what it is, a link to the whole, and what of it was no text.
    fn said(&self, result: &Raw, others: &[&str], kept: Result<(Handle, Surveyed), NotKept>) -> Option<Raw> {
        let tool = &self.tool;
        let (handle, surveyed) = match kept {
            Ok(kept) => kept,
            Err(error) => {
                warn!(%tool, %error, "a long result could not be kept and is passed on whole");
                return None;
            }
        };
        let link = json!({
            "type": "resource_link",
            "uri": format!("{ADDRESS}{handle}"),
            "name": format!("result of {tool}"),
            "mimeType": mime(surveyed.format),
            "size": surveyed.bytes,
        });
        let mut content = vec![json!({"type": "text", "text": summary(&surveyed, &handle, &self.reader)}), link];
        content.extend(others.iter().filter_map(|item| serde_json::from_str(item).ok()));
        let mut object = Object::parse(result)?;
        object.remove("structuredContent");
        object.set("content", &content);
        Some(object.to_raw())
    }
}

/// A result as it came, of which only the beginning is here; `None` where it cannot be read any more.
pub(crate) async fn unspooled(spooled: Arc<Spooled>, short: &Raw) -> Option<Raw> {
    let whole = tokio::task::spawn_blocking(move || match Message::parse(spooled.whole()?).ok()? {
        Message::Response { outcome, .. } => outcome.ok(),
        _ => None,
    });
    let whole = whole.await.ok().flatten()?;
    // What was found out about it on the way.
    match Object::parse(short).and_then(|short| short.get("_meta").cloned()) {
        None => Some(whole),
        Some(meta) => {
            let mut object = Object::parse(&whole)?;
            object.set_raw("_meta", meta.detached());
            Some(object.to_raw())
        }
    }
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
