//! Loading tools. A session keeps what it has loaded and its list shows it; a client without one gets a handle to a set
//! that is kept in the store.
//!
//! What a reader would get wrong: a set is never changed. Adding to one makes another, so that two requests that hold the
//! same handle see the same, and one that is sent twice does no harm. A set belongs to whoever loaded it.

use serde::{Deserialize, Serialize};
use toolfold_core::{Code, Next, Principal, Refusal, ToolId};
use toolfold_disclosure::{Load, active, loaded};
use toolfold_wire::{Raw, raw};
use tracing::warn;

use crate::change::TOOLS_CHANGED;
use crate::kept::Kept;
use crate::request::{MOST_LOADED, Request};
use crate::snapshot::Snapshot;

pub(crate) struct Toolsets(Kept);

/// A set as it is kept.
#[derive(Serialize, Deserialize)]
struct Set {
    owner: String,
    tools: Vec<String>,
}

impl Toolsets {
    pub(crate) fn new(store: Kept) -> Self {
        Toolsets(store)
    }

    pub(crate) async fn load(&self, snapshot: &Snapshot, request: &Request, load: Load) -> Result<Raw, Refusal> {
        let tools: Vec<ToolId> = load.tools.iter().map(|&at| snapshot.catalog.entry(at).id.clone()).collect();
        if request.client.has_session() {
            return load_into_session(snapshot, request, load, &tools);
        }
        if let Some(answer) = load.answered(&snapshot.view(false, &[])) {
            return answer;
        }
        let owner = &request.client.principal();
        let before = match &load.toolset {
            Some(handle) => self.find(handle, owner).await?,
            None => Vec::new(),
        };
        let new = tools.into_iter().filter(|tool| !before.contains(tool));
        let all: Vec<ToolId> = before.iter().cloned().chain(new).collect();
        let handle = match load.toolset.clone().filter(|_| all.len() == before.len()) {
            Some(same) => same,
            None => self.keep(&all, owner).await?,
        };
        Ok(loaded(&snapshot.view(false, &[]), &load, Some(&handle)))
    }

    pub(crate) async fn active(
        &self,
        snapshot: &Snapshot,
        request: &Request,
        toolset: Option<String>,
    ) -> Result<Raw, Refusal> {
        let mut tools = request.client.loaded();
        if let Some(handle) = toolset {
            let kept = self.find(&handle, &request.client.principal()).await?;
            tools.extend(kept.into_iter().filter(|tool| !request.client.loaded().contains(tool)));
        }
        let positions = snapshot.positions(&tools);
        Ok(active(&snapshot.view(request.client.has_session(), &positions)))
    }

    async fn keep(&self, tools: &[ToolId], owner: &Principal) -> Result<String, Refusal> {
        if tools.len() > MOST_LOADED {
            return Err(too_many());
        }
        let unavailable = |cause: String| {
            Refusal::new(Code::ServerUnavailable, "The tools could not be kept as a set: call them without loading.")
                .cause(cause)
        };
        let mut bytes = [0u8; 16];
        getrandom::fill(&mut bytes).map_err(|error| unavailable(error.to_string()))?;
        let handle = format!("{:032x}", u128::from_be_bytes(bytes));
        let set = Set { owner: owner.key(), tools: tools.iter().map(ToolId::to_string).collect() };
        let store = self.0.get().ok_or_else(|| unavailable("there is no store".to_owned()))?;
        let saved = store.save_toolset(&handle, raw(&set).get().to_owned()).await;
        saved.map_err(|error| unavailable(error.to_string()))?;
        Ok(handle)
    }

    async fn find(&self, handle: &str, owner: &Principal) -> Result<Vec<ToolId>, Refusal> {
        let found = match self.0.get() {
            Some(store) => store.load_toolset(handle).await.unwrap_or_else(|why| {
                warn!("a set of tools could not be read: {why}");
                None
            }),
            None => None,
        };
        let set = found.and_then(|json| serde_json::from_str::<Set>(&json).ok());
        // Another's is as good as none.
        let set = set.filter(|set| set.owner == owner.key()).ok_or_else(|| {
            Refusal::new(Code::InvalidRequest, "There is no such toolset, or it has expired. Load the tools again.")
                .next(Next::Overview)
        })?;
        Ok(set.tools.iter().filter_map(|name| ToolId::parse(name)).collect())
    }
}

fn load_into_session(snapshot: &Snapshot, request: &Request, load: Load, tools: &[ToolId]) -> Result<Raw, Refusal> {
    let new = request.client.load(tools);
    if new.is_some_and(|new| new > 0) {
        request.peer.notify(TOOLS_CHANGED, None);
    }
    if let Some(answer) = load.answered(&snapshot.view(true, &[])) {
        return answer;
    }
    new.ok_or_else(too_many)?;
    let positions = snapshot.positions(&request.client.loaded());
    Ok(loaded(&snapshot.view(true, &positions), &load, None))
}

fn too_many() -> Refusal {
    let message = format!("At most {MOST_LOADED} tools can be loaded. Nothing was: call what you need by its name.");
    Refusal::new(Code::TooLarge, message)
}
