//! The end of a replica: it says so, hands over the sessions nobody uses, and the others when their calls are done.

use std::time::Duration;

use toolfold_store::cluster::Claim;
use tracing::info;

use super::super::App;
use super::Replicas;

/// After the signal to stop, for balancers and replicas to hear of it: nobody new comes then.
pub(crate) const NOTICE: Duration = Duration::from_secs(3);

impl Replicas {
    /// Says that this replica ends and gives up what nobody uses at the moment. `/readyz` says so from now on.
    pub(crate) async fn begin_handover(&self, app: &App) {
        app.gateway.relay().hand_over();
        self.members.drain().await;
        let mut given = 0;
        for (id, fence) in app.sessions.idle_rows() {
            // To nobody: whoever is asked next takes it.
            if let Ok(Claim::Ours(_)) = self.rows.claim_session(&id, fence, "").await {
                app.sessions.drop_lost(&id);
                given += 1;
            }
        }
        info!(sessions = given, "handed over");
    }

    /// Gives up all the rest and leaves.
    pub(crate) async fn end(&self) {
        let _ = self.rows.release_sessions(&self.standing.id.to_string()).await;
        self.members.leave().await;
    }
}
