//! `subscriptions/listen`: the one request of the stateless era that stays open, and the only place where changes that
//! belong to no request are told.

use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolfold_core::{Principal, Surface};
use toolfold_gateway::{
    Change, Client, Gateway, PROMPTS_CHANGED, RESOURCE_UPDATED, RESOURCES_CHANGED, TOOLS_CHANGED, Watch, updated,
};
use toolfold_wire::{Id, Message, Object, Raw, RpcError, meta};

use crate::modern::complete;

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

pub(crate) struct Listening {
    gateway: Gateway,
    surface: Surface,
    id: Id,
    filter: Filter,
    out: mpsc::Sender<String>,
    _watches: Vec<Watch>,
}

impl Listening {
    /// Checks the request and watches what it names; resources that nobody has are left out of the acknowledgement.
    pub(crate) async fn begin(
        gateway: &Gateway,
        surface: Surface,
        id: Id,
        params: Option<&Raw>,
        out: mpsc::Sender<String>,
    ) -> Result<Self, RpcError> {
        let client = &Client::request(Principal::local(), surface, None);
        let params = params.and_then(Object::parse).unwrap_or_default();
        let filter = params.read::<Filter>("notifications");
        let mut filter = filter.ok_or_else(|| RpcError::invalid_params("`notifications`, an object, is required."))?;
        let mut watches = Vec::new();
        let mut watched = Vec::new();
        for uri in std::mem::take(&mut filter.resource_subscriptions) {
            if let Ok(watch) = gateway.watch(&uri, client).await {
                watches.push(watch);
                watched.push(uri);
            }
        }
        filter.resource_subscriptions = watched;
        Ok(Listening { gateway: gateway.clone(), surface, id, filter, out, _watches: watches })
    }

    /// Tells changes until cancelled (`None`) or until there will be no more (the final answer).
    pub(crate) async fn run(self, cancel: CancellationToken) -> Option<Raw> {
        let mut changes = self.gateway.changes();
        let accepted = Object::new().with("notifications", &self.filter);
        self.tell("notifications/subscriptions/acknowledged", accepted).await?;
        loop {
            let change = tokio::select! {
                () = cancel.cancelled() => return None,
                () = self.out.closed() => return None,
                change = changes.recv() => change,
            };
            match change {
                Ok(change) => self.change(&change).await?,
                // Too far behind to know what changed: everything may have.
                Err(RecvError::Lagged(_)) => {
                    for change in [Change::Tools { pinned: true }, Change::Prompts, Change::Resources] {
                        self.change(&change).await?;
                    }
                }
                Err(RecvError::Closed) => break,
            }
        }
        let result = Object::new().with("_meta", &self.subscription());
        Some(complete(&self.gateway, self.surface, "subscriptions/listen", result.to_raw()))
    }

    async fn change(&self, change: &Change) -> Option<()> {
        let filter = &self.filter;
        match change {
            Change::Tools { pinned } if filter.tools_list_changed && (*pinned || self.surface == Surface::Direct) => {
                self.tell(TOOLS_CHANGED, Object::new()).await?;
            }
            Change::Prompts if filter.prompts_list_changed => self.tell(PROMPTS_CHANGED, Object::new()).await?,
            Change::Resources if filter.resources_list_changed => self.tell(RESOURCES_CHANGED, Object::new()).await?,
            Change::Resource { uri } if filter.resource_subscriptions.contains(uri) => {
                self.tell(RESOURCE_UPDATED, Object::parse(&updated(uri)).unwrap_or_default()).await?;
            }
            _ => {}
        }
        Some(())
    }

    async fn tell(&self, method: &str, params: Object) -> Option<()> {
        let params = params.with("_meta", &self.subscription());
        self.out.send(Message::notification(method, Some(params.to_raw())).to_line()).await.ok()
    }

    fn subscription(&self) -> Object {
        let mut about = Object::new();
        about.set_raw(meta::SUBSCRIPTION_ID, self.id.to_raw());
        about
    }
}
