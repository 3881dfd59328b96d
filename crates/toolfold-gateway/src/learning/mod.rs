//! Learning from use: a search, what it showed, and the call that followed become a habit, and what is a habit is a little
//! higher in the next search like it.
//!
//! What a reader would get wrong: nothing here is in anybody's way. A search is answered from what was learned when it
//! began, by those who see the same as whoever asks; remembering happens beside the answer, and where it fails, nothing was learned. Several processes may learn in
//! one store: each looks there again from time to time, which is also how it hears that something was forgotten.

mod habit;
mod recent;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use toolfold_config::{Config, Learn};
use toolfold_core::{Entry, Fingerprint};
use toolfold_index::{Habit, Learned, Mark};
use toolfold_store::{StoreError, StoredChoice};
use toolfold_wire::Raw;
use tracing::debug;

use crate::kept::Kept;
use crate::recording::is_error;
use crate::request::Client;
use crate::snapshot::Snapshot;
pub(crate) use habit::Learners;
use recent::{Recent, Searched};

/// After this long a search is a reason to see what other processes learned.
const FRESH: Duration = Duration::from_secs(60);
/// Of a request that is kept as a text.
const LONGEST_TEXT: usize = 400;

pub(crate) struct Learning {
    store: Kept,
    mode: AtomicU8,
    /// Which catalog is learned about: that of this configuration.
    catalog: Fingerprint,
    learned: ArcSwap<HashMap<Option<Learners>, Arc<Learned>>>,
    recent: Mutex<Recent>,
    read_at: Mutex<Option<Instant>>,
    /// Who reads what was learned, one after the other: the last one has read everything.
    turn: tokio::sync::Mutex<()>,
}

/// A request that was made and what it ended in, for who wants to measure search by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedRequest {
    pub text: String,
    /// Ids, the most called first, and on how many occasions each was called.
    pub tools: Vec<(String, u32)>,
}

impl Learning {
    pub(crate) fn new(store: Kept, config: &Config) -> Self {
        // A file that is somewhere else has other servers behind the same names.
        let file = config.files.first().map(|file| file.display().to_string()).unwrap_or_default();
        Learning {
            store,
            mode: AtomicU8::new(config.learn as u8),
            catalog: Fingerprint::of_text(&file),
            learned: ArcSwap::default(),
            recent: Mutex::default(),
            read_at: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    /// Takes in how much is to be learned from now on.
    pub(crate) async fn configure(&self, learn: Learn) {
        self.mode.store(learn as u8, Ordering::Relaxed);
        self.read().await;
    }

    /// What was learned from those who see the same.
    pub(crate) fn learned(&self, snapshot: &Snapshot) -> Arc<Learned> {
        let all = self.learned.load();
        // Nothing to look for where nothing was learned.
        let known = if all.is_empty() { None } else { all.get(&snapshot.learners()) };
        known.cloned().unwrap_or_default()
    }

    /// What a search was answered with.
    pub(crate) fn searched(self: &Arc<Self>, client: &Client, query: &str, answer: &Raw) {
        if !self.learns() {
            return;
        }
        self.recent().add(Searched::new(client, query, answer));
        if self.is_stale() {
            let learning = self.clone();
            tokio::spawn(async move { learning.read().await });
        }
    }

    /// A call that ended. It counts for the latest search of the same client that showed the tool, if it did any good.
    pub(crate) fn called(self: &Arc<Self>, client: &Client, snapshot: &Snapshot, entry: &Entry, result: &Raw) {
        if !self.learns() {
            return;
        }
        let exposed = snapshot.catalog.position(&entry.id).map(|place| snapshot.catalog.exposed(place));
        let Some(query) = self.recent().chosen(client, entry, exposed) else { return };
        if is_error(result) {
            return;
        }
        let marks = Mark::all(&snapshot.index, &query);
        let (Some(store), false) = (self.store.get().cloned(), marks.is_empty()) else { return };
        let text = (self.mode() == Learn::Queries).then(|| query.chars().take(LONGEST_TEXT).collect());
        let choice = StoredChoice {
            catalog: self.catalog.as_bytes().to_vec(),
            request: habit::request(&marks, snapshot.learners()),
            tool: entry.id.to_string(),
            marks: habit::packed(&marks),
            text,
            occasion: recent::occasion(client),
        };
        // Asked for now: a process that ends at once still writes it.
        let remembered = store.remember_choice(choice);
        let learning = self.clone();
        tokio::spawn(async move {
            match remembered.await {
                Ok(Some(_)) => learning.read().await,
                Ok(None) => {}
                Err(error) => debug!("what was called is not remembered: {error}"),
            }
        });
    }

    /// Forgets what was learned of one tool or of all; in every catalog of this store, if that is wanted. How much it was.
    pub(crate) async fn forget(&self, tool: Option<&str>, everywhere: bool) -> Result<usize, StoreError> {
        let Some(store) = self.store.get() else { return Ok(0) };
        let catalog = (!everywhere).then(|| self.catalog.as_bytes().as_slice());
        let forgotten = store.forget_habits(catalog, tool).await?;
        self.recent().clear();
        self.read().await;
        Ok(forgotten)
    }

    /// The requests whose texts were kept.
    pub(crate) async fn requests(&self) -> Result<Vec<UsedRequest>, StoreError> {
        let Some(store) = self.store.get() else { return Ok(Vec::new()) };
        let habits = store.habits(self.catalog.as_bytes(), self.mode() == Learn::Queries).await?;
        let mut requests: Vec<UsedRequest> = Vec::new();
        // Those of one request are together.
        for same in habits.chunk_by(|one, other| one.request == other.request) {
            let Some(text) = same.iter().find_map(|habit| habit.text.clone()) else { continue };
            let mut tools: Vec<(String, u32)> = same.iter().map(|habit| (habit.tool.clone(), habit.times)).collect();
            tools.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            requests.push(UsedRequest { text, tools });
        }
        Ok(requests)
    }

    /// Reads what is in the store.
    async fn read(&self) {
        let _turn = self.turn.lock().await;
        let learned = match (self.store.get(), self.mode()) {
            (None, _) | (_, Learn::Off) => Ok(Vec::new()),
            (Some(store), mode) => store.habits(self.catalog.as_bytes(), mode == Learn::Queries).await,
        };
        match learned {
            Ok(habits) => {
                let mut by_learners: HashMap<Option<Learners>, Vec<Habit>> = HashMap::new();
                for stored in &habits {
                    let learners = habit::learners(&stored.request);
                    by_learners.entry(learners).or_default().extend(habit::unpacked(stored));
                }
                let learned = by_learners.into_iter().map(|(who, habits)| (who, Arc::new(Learned::new(habits))));
                self.learned.store(Arc::new(learned.collect()));
            }
            Err(error) => debug!("what was learned cannot be read: {error}"),
        }
        *self.read_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn learns(&self) -> bool {
        self.mode() != Learn::Off
    }

    fn mode(&self) -> Learn {
        let mode = self.mode.load(Ordering::Relaxed);
        [Learn::Off, Learn::Names, Learn::Queries].into_iter().find(|known| *known as u8 == mode).unwrap_or_default()
    }

    fn is_stale(&self) -> bool {
        let read_at = *self.read_at.lock().unwrap_or_else(PoisonError::into_inner);
        read_at.is_none_or(|at| at.elapsed() > FRESH)
    }

    fn recent(&self) -> std::sync::MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
