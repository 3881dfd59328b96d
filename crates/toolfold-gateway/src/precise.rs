//! The precise tier: a thread of low priority has every entry of the catalog encoded, remembers the vectors by text and
//! encoder, and says when all are there.
//!
//! What a reader would get wrong: there is nothing in between. Half of the vectors would rank entries that have one
//! against entries that have none, differently every second; until all are there, search does without.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::watch;
use toolfold_catalog::Catalog;
use toolfold_config::{Config, PreciseTier};
use toolfold_core::Fingerprint;
use toolfold_encoder::{Encoder, EncoderError};
use toolfold_index::{is_packed, packed, text_of};
use tracing::{debug, info, warn};

use crate::kept::Kept;

/// An hour of work for one core. Whoever has more has the fast tier.
const MOST: usize = 50_000;
/// How many vectors are written to the store at once: as much as may be lost when the process is killed.
const BATCH: usize = 32;

/// What the gateway holds of the tier.
#[derive(Default)]
pub(crate) struct Tier {
    shared: Arc<Shared>,
    /// Room for one: a thread that is told twice looks once.
    wake: OnceLock<SyncSender<()>>,
}

struct Shared {
    /// The number of the newest catalog that there is nothing left to do for.
    done: watch::Sender<u64>,
    /// The newest catalog, until the thread takes it.
    newest: Mutex<Option<Wanted>>,
    /// How many entries are encoded of how many, while that is being done.
    under_way: Mutex<Option<(usize, usize)>>,
    stopped: AtomicBool,
}

impl Default for Shared {
    fn default() -> Self {
        let (newest, under_way) = (Mutex::default(), Mutex::default());
        Shared { done: watch::Sender::new(0), newest, under_way, stopped: AtomicBool::new(false) }
    }
}

/// A catalog to be encoded. No snapshot: that would keep servers alive that are long gone.
struct Wanted {
    catalog: Arc<Catalog>,
    precise: PreciseTier,
}

/// The vectors of a catalog, for the writer to publish; `None` where it has none.
pub(crate) struct Vectors {
    pub(crate) catalog: u64,
    pub(crate) precise: Option<Arc<toolfold_index::Precise>>,
}

/// Where vectors are handed over; `false` where nobody takes them any more.
pub(crate) type HandOver = Box<dyn Fn(Vectors) -> bool + Send>;

impl Tier {
    /// There is a new catalog or another configuration.
    pub(crate) fn look(
        &self,
        catalog: &Arc<Catalog>,
        config: &Config,
        store: &Kept,
        hand_over: impl FnOnce() -> HandOver,
    ) {
        if config.precise == PreciseTier::Off && self.wake.get().is_none() {
            return;
        }
        let wanted = Wanted { catalog: catalog.clone(), precise: config.precise.clone() };
        *self.shared.newest.lock().unwrap_or_else(PoisonError::into_inner) = Some(wanted);
        let start = || start(self.shared.clone(), store.clone(), hand_over());
        let _ = self.wake.get_or_init(start).try_send(());
    }

    /// Returns when there is nothing left to do for this catalog.
    pub(crate) async fn done_with(&self, catalog: u64, config: &Config) {
        if config.precise != PreciseTier::Off {
            // The sender is next to it and lives as long.
            let _ = self.shared.done.subscribe().wait_for(|done| *done >= catalog).await;
        }
    }

    /// How many entries are encoded of how many that have to be, where that is under way.
    pub(crate) fn under_way(&self) -> Option<(usize, usize)> {
        *self.shared.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The vectors of this catalog are published, or it has none.
    pub(crate) fn finish(&self, catalog: u64) {
        self.shared.finish(catalog);
    }

    pub(crate) fn stop(&self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        if let Some(wake) = self.wake.get() {
            let _ = wake.try_send(());
        }
        self.shared.finish(u64::MAX);
    }
}

impl Shared {
    fn is_at(&self, place: Option<(usize, usize)>) {
        *self.under_way.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }

    fn finish(&self, catalog: u64) {
        self.done.send_modify(|done| *done = catalog.max(*done));
    }
}

fn start(shared: Arc<Shared>, store: Kept, hand_over: HandOver) -> SyncSender<()> {
    let (wake, woken) = sync_channel(1);
    let runtime = Handle::current();
    let worker = Worker { shared, store, hand_over, woken, runtime, encoder: None, known: HashMap::new() };
    if let Err(error) = std::thread::Builder::new().name("precise".to_owned()).spawn(|| worker.run()) {
        warn!("search is not as precise as it could be, there is no thread for it: {error}");
    }
    wake
}

struct Worker {
    shared: Arc<Shared>,
    store: Kept,
    hand_over: HandOver,
    woken: Receiver<()>,
    /// Where the store's answers are waited for.
    runtime: Handle,
    /// What was opened last, and what came of it.
    encoder: Option<(PathBuf, Option<Arc<Encoder>>)>,
    /// Vectors of the current catalog, by fingerprint of the text.
    known: HashMap<Fingerprint, Vec<u8>>,
}

/// However it ends, nobody waits for it any longer.
impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.finish(u64::MAX);
    }
}

/// Everything that one round needs.
struct Job {
    encoder: Arc<Encoder>,
    /// Of each entry's text.
    wanted: Vec<Fingerprint>,
    missing: Vec<(Fingerprint, String)>,
}

impl Worker {
    /// Until the gateway is stopped or gone.
    fn run(mut self) {
        // Of this thread, on Linux; elsewhere the system's own fairness must do.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::nice(19);
        while self.woken.recv().is_ok() && !self.is_stopped() {
            let newest = self.shared.newest.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some(Wanted { catalog, precise }) = newest else { continue };
            let number = catalog.number();
            let precise = match self.job(&catalog, &precise) {
                Some(job) => {
                    drop(catalog);
                    let (entries, fresh) = (job.wanted.len(), job.missing.len());
                    let encoded = self.encode(job);
                    self.shared.is_at(None);
                    let Some(precise) = encoded else { continue };
                    if fresh > 0 {
                        info!(entries, encoded = fresh, "search is precise now");
                    }
                    Some(Arc::new(precise))
                }
                None => None,
            };
            if !(self.hand_over)(Vectors { catalog: number, precise }) {
                return;
            }
        }
    }

    /// What there is to do for a catalog, if anything.
    fn job(&mut self, catalog: &Catalog, precise: &PreciseTier) -> Option<Job> {
        let few = catalog.len() <= MOST;
        if !few {
            info!(entries = catalog.len(), most = MOST, "too many entries for precise search");
        }
        let Some(encoder) = self.open(precise).filter(|_| few) else {
            self.known.clear();
            return None;
        };
        let (mut wanted, mut missing) = (Vec::with_capacity(catalog.len()), Vec::new());
        for entry in catalog.entries() {
            let text = text_of(entry);
            let fingerprint = Fingerprint::of_text(&text);
            wanted.push(fingerprint);
            if !self.known.contains_key(&fingerprint) {
                missing.push((fingerprint, text));
            }
        }
        let mut job = Job { encoder, wanted, missing };
        self.recall(&mut job);
        Some(job)
    }

    fn open(&mut self, precise: &PreciseTier) -> Option<Arc<Encoder>> {
        let path = match precise {
            PreciseTier::Off => None,
            PreciseTier::Auto(files) => files.iter().find(|file| file.is_file()),
            PreciseTier::File(file) => Some(file),
        };
        let Some(path) = path else {
            self.encoder = None;
            return None;
        };
        if self.encoder.as_ref().is_none_or(|(opened, _)| opened != path) {
            // Vectors of another encoder are of no use.
            self.known.clear();
            self.encoder = Some((path.clone(), opened(path)));
        }
        self.encoder.as_ref().and_then(|(_, encoder)| encoder.clone())
    }

    /// Takes from the store what was encoded before.
    fn recall(&mut self, job: &mut Job) {
        let Some(store) = self.store.get() else { return };
        let texts: Vec<Fingerprint> = job.missing.iter().map(|(fingerprint, _)| *fingerprint).collect();
        let loaded = self.runtime.block_on(store.load_vectors(&job.encoder.identity(), texts.clone()));
        let loaded = loaded.unwrap_or_else(|error| {
            warn!("vectors are not remembered: {error}. {}", error.hint());
            Vec::new()
        });
        let (dims, piece_dims) = (job.encoder.dims(), job.encoder.piece_dims());
        for (fingerprint, vector) in texts.into_iter().zip(loaded) {
            if let Some(vector) = vector.filter(|vector| is_packed(vector, dims, piece_dims)) {
                self.known.insert(fingerprint, vector);
            }
        }
        job.missing.retain(|(fingerprint, _)| !self.known.contains_key(fingerprint));
    }

    /// Encodes what is missing; nothing where something else is to be done first. What was done until then is kept.
    fn encode(&mut self, job: Job) -> Option<toolfold_index::Precise> {
        debug!(entries = job.wanted.len(), missing = job.missing.len(), "precise search");
        for (number, batch) in job.missing.chunks(BATCH).enumerate() {
            self.shared.is_at(Some((number * BATCH, job.missing.len())));
            let mut fresh = Vec::new();
            let mut interrupted = false;
            for (fingerprint, text) in batch {
                interrupted = self.is_overtaken();
                if interrupted {
                    break;
                }
                fresh.push((*fingerprint, packed(&job.encoder.encode(text))));
            }
            self.remember(&job, fresh);
            if interrupted {
                return None;
            }
        }
        let current: HashSet<&Fingerprint> = job.wanted.iter().collect();
        self.known.retain(|fingerprint, _| current.contains(fingerprint));
        let mut precise = asking(job.encoder);
        job.wanted.iter().filter_map(|fingerprint| self.known.get(fingerprint)).for_each(|row| precise.push(row));
        Some(precise)
    }

    fn remember(&mut self, job: &Job, fresh: Vec<(Fingerprint, Vec<u8>)>) {
        if let Some(store) = self.store.get().filter(|_| !fresh.is_empty())
            && let Err(error) = self.runtime.block_on(store.save_vectors(&job.encoder.identity(), fresh.clone()))
        {
            debug!("vectors are not remembered: {error}. {}", error.hint());
        }
        self.known.extend(fresh);
    }

    /// Whether there is something newer to do.
    fn is_overtaken(&self) -> bool {
        self.is_stopped() || self.shared.newest.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn is_stopped(&self) -> bool {
        self.shared.stopped.load(Ordering::SeqCst)
    }
}

/// No vectors yet, and this encoder to compare queries with them.
fn asking(encoder: Arc<Encoder>) -> toolfold_index::Precise {
    toolfold_index::Precise::new(Arc::new(move |text| encoder.encode(text)))
}

/// Encodes a whole catalog at once, for those who wait for it; `each` hears how many entries are done.
pub fn encode_all(
    file: &Path,
    catalog: &Catalog,
    mut each: impl FnMut(usize),
) -> Result<toolfold_index::Precise, EncoderError> {
    let encoder = Arc::new(Encoder::open(file)?);
    let mut precise = asking(encoder.clone());
    for (done, entry) in catalog.entries().iter().enumerate() {
        each(done + 1);
        precise.push(&packed(&encoder.encode(&text_of(entry))));
    }
    Ok(precise)
}

fn opened(path: &Path) -> Option<Arc<Encoder>> {
    match Encoder::open(path) {
        Ok(encoder) => Some(Arc::new(encoder)),
        Err(error) => {
            warn!("search is not as precise as it could be: {error}. {}", error.hint());
            None
        }
    }
}
