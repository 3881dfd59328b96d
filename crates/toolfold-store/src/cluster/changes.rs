//! Hints of what others have changed, over a link of its own: one of the pool would be given to somebody else.

use std::future::poll_fn;
use std::time::Duration;

use tokio::sync::{broadcast, mpsc};
use tokio_postgres::AsyncMessage;
use tracing::debug;

use super::Cluster;
use crate::error::StoreError;
use crate::postgres::{Address, CHANNEL, settings};

/// Hints that wait for whoever listens; who is slower has missed some, hears so, and looks at everything.
const MOST_WAITING: usize = 256;
/// Between one try to connect and the next.
const AGAIN: Duration = Duration::from_secs(1);
/// How often it is looked whether there is still a store.
const LOOK: Duration = Duration::from_secs(10);

/// What is worth looking at again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topic {
    Replicas,
    Leases,
    Manifests,
    Pins,
    Tokens,
    Logins,
    /// Hints may have been lost: everything.
    Everything,
}

impl Topic {
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Topic::Replicas => "replicas",
            Topic::Leases => "leases",
            Topic::Manifests => "manifests",
            Topic::Pins => "pins",
            Topic::Tokens => "tokens",
            Topic::Logins => "logins",
            Topic::Everything => "everything",
        }
    }

    /// What a newer replica says that we do not know may be anything.
    fn parse(text: &str) -> Topic {
        let all = [Topic::Replicas, Topic::Leases, Topic::Manifests, Topic::Pins, Topic::Tokens, Topic::Logins];
        all.into_iter().find(|change| change.as_str() == text).unwrap_or(Topic::Everything)
    }
}

impl Cluster {
    /// Hints from now on. The first is [`Topic::Everything`], and so is the first after the link was lost. To be called
    /// within a runtime.
    pub fn changes(&self) -> broadcast::Receiver<Topic> {
        let mut changes = self.postgres.changes();
        if let Some(sender) = changes.as_ref() {
            return sender.subscribe();
        }
        let (sender, receiver) = broadcast::channel(MOST_WAITING);
        tokio::spawn(keep_listening(self.postgres.address().clone(), sender.downgrade()));
        *changes = Some(sender);
        receiver
    }
}

/// Until the store is closed.
async fn keep_listening(address: Address, changes: broadcast::WeakSender<Topic>) {
    while changes.upgrade().is_some() {
        if let Err(error) = listen(&address, &changes).await {
            debug!("nobody says what other replicas change: {error}");
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn listen(address: &Address, changes: &broadcast::WeakSender<Topic>) -> Result<(), StoreError> {
    let (client, mut connection) = address.connect().await?;
    let (hint, mut hints) = mpsc::channel(MOST_WAITING);
    let reading = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notice) = message {
                let _ = hint.send(Topic::parse(notice.payload())).await;
            }
        }
    });
    let failed = |error| StoreError::database(&address.shown, &error);
    let begin = format!("{} LISTEN {CHANNEL}", settings());
    client.batch_execute(&begin).await.map_err(failed)?;
    let tell = |change| {
        if let Some(changes) = changes.upgrade() {
            // Nobody listening is fine.
            let _ = changes.send(change);
        }
    };
    tell(Topic::Everything);
    let mut look = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            hint = hints.recv() => match hint {
                Some(change) => tell(change),
                None => break,
            },
            _ = look.tick() => if changes.upgrade().is_none() { break },
        }
    }
    reading.abort();
    Ok(())
}
