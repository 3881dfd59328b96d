//! Loading tools. A session keeps what it has loaded and its list shows it; a client without one gets a handle to a set
//! that is kept in the store.
//!
//! What a reader would get wrong: a set is never changed. Adding to one makes another, so that two who hold the same
//! handle see the same, and a request that is sent twice does no harm.

use serde_json::json;
use toolfold_core::{Code, Next, Refusal, ToolId};
use toolfold_disclosure::{Load, active, loaded};
use toolfold_store::Store;
use toolfold_wire::Raw;
use tracing::warn;

use crate::change::TOOLS_CHANGED;
use crate::gateway::Gateway;
use crate::request::{MOST_LOADED, Request};
use crate::snapshot::Snapshot;

impl Gateway {
    pub(crate) async fn load(&self, snapshot: &Snapshot, request: &Request, load: Load) -> Result<Raw, Refusal> {
        let tools: Vec<ToolId> = load.tools.iter().map(|&at| snapshot.catalog.entry(at).id.clone()).collect();
        if request.client.has_session() {
            return load_into_session(snapshot, request, load, &tools);
        }
        if let Some(answer) = load.answered(&snapshot.view()) {
            return answer;
        }
        let before = match &load.toolset {
            Some(handle) => self.toolset(handle).await?,
            None => Vec::new(),
        };
        let new = tools.into_iter().filter(|tool| !before.contains(tool));
        let all: Vec<ToolId> = before.iter().cloned().chain(new).collect();
        let handle = match load.toolset.clone().filter(|_| all.len() == before.len()) {
            Some(same) => same,
            None => self.keep_toolset(&all).await?,
        };
        Ok(loaded(&snapshot.view_of(false, &[]), &load, Some(&handle)))
    }

    pub(crate) async fn active(
        &self,
        snapshot: &Snapshot,
        request: &Request,
        toolset: Option<String>,
    ) -> Result<Raw, Refusal> {
        let mut tools = request.client.loaded();
        if let Some(handle) = toolset {
            let kept = self.toolset(&handle).await?;
            tools.extend(kept.into_iter().filter(|tool| !request.client.loaded().contains(tool)));
        }
        let positions = snapshot.positions(&tools);
        Ok(active(&snapshot.view_of(request.client.has_session(), &positions)))
    }

    async fn keep_toolset(&self, tools: &[ToolId]) -> Result<String, Refusal> {
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
        let names = json!(tools.iter().map(ToolId::to_string).collect::<Vec<_>>()).to_string();
        let saved = self.store().map_err(unavailable)?.save_toolset(&handle, names).await;
        saved.map_err(|error| unavailable(error.to_string()))?;
        Ok(handle)
    }

    async fn toolset(&self, handle: &str) -> Result<Vec<ToolId>, Refusal> {
        let found = match self.store() {
            Ok(store) => store.load_toolset(handle).await.map_err(|error| error.to_string()),
            Err(why) => Err(why),
        };
        let found = found.unwrap_or_else(|why| {
            warn!("a set of tools could not be read: {why}");
            None
        });
        let names = found.and_then(|json| serde_json::from_str::<Vec<String>>(&json).ok()).ok_or_else(|| {
            Refusal::new(Code::InvalidRequest, "There is no such toolset, or it has expired. Load the tools again.")
                .next(Next::Overview)
        })?;
        Ok(names.iter().filter_map(|name| ToolId::parse(name)).collect())
    }

    fn store(&self) -> Result<&Store, String> {
        Ok(self.0.store.get().ok_or("there is no store")?)
    }
}

fn load_into_session(snapshot: &Snapshot, request: &Request, load: Load, tools: &[ToolId]) -> Result<Raw, Refusal> {
    let new = request.client.load(tools);
    if new.is_some_and(|new| new > 0) {
        request.peer.notify(TOOLS_CHANGED, None);
    }
    if let Some(answer) = load.answered(&snapshot.view()) {
        return answer;
    }
    new.ok_or_else(too_many)?;
    let positions = snapshot.positions(&request.client.loaded());
    Ok(loaded(&snapshot.view_of(true, &positions), &load, None))
}

fn too_many() -> Refusal {
    let message = format!("At most {MOST_LOADED} tools can be loaded. Nothing was: call what you need by its name.");
    Refusal::new(Code::TooLarge, message)
}
