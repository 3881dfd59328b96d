//! The end of a replica: it says so, hands over the sessions nobody uses, and the others when their calls are done.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tracing::{info, warn};

use super::super::App;
use super::Replicas;

/// After the signal to stop, for balancers and replicas to hear of it: nobody new comes then.
const NOTICE: Duration = Duration::from_secs(3);
/// How often it is looked meanwhile which calls are done.
const AGAIN: Duration = Duration::from_millis(200);
/// Sessions that are given up at once.
const TOGETHER: usize = 500;

impl Replicas {
    /// Says that this replica ends and gives up what nobody uses, for as long as others need to hear of it. `/readyz` says so from
    /// now on.
    pub(crate) async fn hand_over(&self, app: &App) {
        let over = Instant::now() + NOTICE;
        app.gateway.relay().hand_over();
        self.members.drain().await;
        let mut given = 0;
        loop {
            given += self.give_up_idle(app).await;
            if Instant::now() >= over {
                break;
            }
            sleep_until(over.min(Instant::now() + AGAIN)).await;
        }
        info!(sessions = given, "handed over");
    }

    /// To nobody: whoever is asked next takes it. One that a call has begun in since stays until that is done.
    async fn give_up_idle(&self, app: &App) -> usize {
        let (me, mut given) = (self.standing.id.to_string(), 0);
        for some in app.sessions.idle_rows().chunks(TOGETHER) {
            match self.rows.give_up_sessions(&me, app.sessions.still_idle(some)).await {
                Ok(ids) => given += app.sessions.drop_idle(&ids),
                Err(error) => warn!("sessions cannot be handed over: {error}"),
            }
        }
        given
    }

    /// Gives up all the rest and leaves.
    pub(crate) async fn end(&self) {
        let _ = self.rows.release_sessions(&self.standing.id.to_string()).await;
        self.members.leave().await;
    }
}
