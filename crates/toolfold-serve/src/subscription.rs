//! `subscriptions/listen`: the one request of the stateless era that stays open, and the only place where changes that
//! belong to no request are told.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use toolfold_core::Surface;
use toolfold_gateway::{
    Change, Client, LONGEST_WATCHED, PROMPTS_CHANGED, RESOURCE_UPDATED, RESOURCES_CHANGED, Request, TOOLS_CHANGED,
    Watch, updated,
};
use toolfold_wire::{Id, Message, Object, Raw, RpcError, Silent, code, meta};

use crate::outbox::Outbox;
use crate::stateless::Asker;
use crate::tidings::Tidings;

/// Resources that one subscription may name.
const MOST_RESOURCES: usize = 100;
/// How long their servers may take, all at once: who else is listened to does not wait for one that is silent.
const PATIENCE: Duration = Duration::from_secs(15);

/// What a client wants to hear of, and what it is told that it will.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Filter {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    tools_list_changed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    prompts_list_changed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    resources_list_changed: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    resource_subscriptions: Vec<String>,
}

impl Filter {
    fn read(params: &Object) -> Result<Self, RpcError> {
        let filter = params.read::<Filter>("notifications");
        let filter = filter.ok_or_else(|| RpcError::invalid_params("`notifications`, an object, is required."))?;
        let uris = &filter.resource_subscriptions;
        if uris.len() > MOST_RESOURCES || uris.iter().any(|uri| uri.len() > LONGEST_WATCHED) {
            let message = format!(
                "A subscription names at most {MOST_RESOURCES} resources of at most {LONGEST_WATCHED} bytes each."
            );
            return Err(RpcError::invalid_params(message));
        }
        Ok(filter)
    }
}

pub(crate) struct Subscription {
    asker: Asker,
    id: Id,
    filter: Filter,
    out: Outbox,
    /// Each under the address that the client knows.
    watches: Vec<(String, Watch)>,
    _place: OwnedSemaphorePermit,
}

impl Subscription {
    /// Checks the request and watches what it names; resources that nobody has, or whose server says nothing, are left out of
    /// the acknowledgement.
    pub(crate) async fn begin(
        asker: Asker,
        id: Id,
        params: &Object,
        places: &Arc<Semaphore>,
        out: Outbox,
    ) -> Result<Self, RpcError> {
        let mut filter = Filter::read(params)?;
        let place = places.clone().try_acquire_owned().map_err(|_| {
            RpcError::new(
                code::INVALID_REQUEST,
                "Too many subscriptions are open. End some of them, or come back later.",
            )
        })?;
        let client = Arc::new(Client::request(asker.principal.clone(), asker.surface, None));
        let request = Request::new(client, Arc::new(Silent), "subscriptions/listen", Object::new());
        let watch = async |uri: String| {
            let watched = async {
                match &asker.relayed {
                    Some(server) => asker.gateway.relay().watch(server, &uri, &request).await,
                    None => asker.gateway.watch(&uri, &request).await,
                }
            };
            let watched = tokio::time::timeout(PATIENCE, watched).await.ok()?.ok()?;
            Some((uri, watched))
        };
        let uris = std::mem::take(&mut filter.resource_subscriptions);
        let watches: Vec<_> = join_all(uris.into_iter().map(watch)).await.into_iter().flatten().collect();
        filter.resource_subscriptions = watches.iter().map(|(uri, _)| uri.clone()).collect();
        Ok(Subscription { asker, id, filter, out, watches, _place: place })
    }

    /// Tells changes until cancelled (`None`) or until there will be no more (the final answer).
    pub(crate) async fn run(self, stop: CancellationToken) -> Option<Raw> {
        let mut changes = Tidings::of(&self.asker.gateway);
        self.tell("notifications/subscriptions/acknowledged", Object::new().with("notifications", &self.filter));
        loop {
            let changed = tokio::select! {
                () = stop.cancelled() => break,
                () = self.out.closed() => return None,
                changed = changes.next() => changed,
            };
            let Some(changed) = changed else { break };
            for change in changed {
                let mine = match &self.asker.relayed {
                    // Whether its clients may hear of it the other replica knows.
                    Some(_) => vec![change],
                    None => self.asker.gateway.access().concerning(&change, &self.asker.principal),
                };
                mine.iter().for_each(|change| self.change(change));
            }
        }
        let result = Object::new().with("_meta", &self.about());
        Some(self.asker.complete(None, result.to_raw()))
    }

    fn change(&self, change: &Change) {
        let filter = &self.filter;
        let every_tool = self.asker.surface == Surface::Direct;
        match change {
            Change::Tools { pinned } if filter.tools_list_changed && (*pinned || every_tool) => {
                self.tell(TOOLS_CHANGED, Object::new());
            }
            Change::Prompts if filter.prompts_list_changed => self.tell(PROMPTS_CHANGED, Object::new()),
            Change::Resources if filter.resources_list_changed => self.tell(RESOURCES_CHANGED, Object::new()),
            Change::Resource { server, whose, uri } => {
                for (known, _) in self.watches.iter().filter(|(_, watch)| watch.is_of(server, whose, uri)) {
                    self.tell(RESOURCE_UPDATED, Object::parse(&updated(known)).unwrap_or_default());
                }
            }
            _ => {}
        }
    }

    /// What a client that does not read cannot be told is lost: it will ask for the lists again anyway.
    fn tell(&self, method: &str, params: Object) {
        let params = params.with("_meta", &self.about());
        self.out.tell(Message::notification(method, Some(params.to_raw())).to_line());
    }

    fn about(&self) -> Object {
        let mut about = Object::new();
        about.set_raw(meta::SUBSCRIPTION_ID, self.id.to_raw());
        about
    }
}
