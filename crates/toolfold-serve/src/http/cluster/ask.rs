//! Asking the others how they are. Once when they are new, so that an address or a secret that is wrong is said by somebody before it is
//! missed; and where this one could write nothing down, whether they could.
//!
//! What a reader would get wrong: a replica that cannot write what must be written is not ready, and yet it is where nobody else could
//! either. A balancer that had nobody to ask would answer nothing at all, also where nothing has to be written.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use hyper::{Method, StatusCode};
use toolfold_access::{BodyHash, Passed, ReplicaId};
use toolfold_core::Principal;
use toolfold_gateway::seconds_now;
use toolfold_http::{Target, header_lines};
use tracing::error;

use super::super::App;
use super::super::reply::{Reply, empty_response};
use super::Replicas;

/// Where replicas ask each other.
pub(crate) const STATE: &str = "/toolfold/state";
/// Between two rounds of greeting.
const ROUND: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(5);
/// Somebody who starts or ends does not answer at once.
const TRIES: u32 = 5;
/// How long what the others said of themselves is believed, and how long it may take them.
const FRESH: Duration = Duration::from_secs(1);
const SOON: Duration = Duration::from_secs(1);

/// What the others said when they were last asked whether they could write, and when that was.
pub(super) type LastSaid = tokio::sync::Mutex<Option<(Instant, bool)>>;

/// Why nobody knows how another replica is.
#[derive(Debug, thiserror::Error)]
enum Unreached {
    #[error(transparent)]
    Address(#[from] toolfold_http::BadTarget),
    #[error(transparent)]
    Line(#[from] toolfold_http::SendError),
    #[error(transparent)]
    Status(#[from] hyper::http::status::InvalidStatusCode),
    #[error("nobody answers within {} s", .0.as_secs())]
    Silent(Duration),
}

impl Replicas {
    /// Whether another replica could write down what this one cannot.
    pub(crate) async fn others_can(&self) -> bool {
        let mut asked = self.asked.lock().await;
        if let Some((_, can)) = asked.filter(|(at, _)| at.elapsed() < FRESH) {
            return can;
        }
        let others = self.members.others();
        let told = join_all(others.iter().map(|(id, address)| self.state_of(*id, address, SOON))).await;
        let can = told.iter().any(|told| matches!(told, Ok(StatusCode::OK)));
        *asked = Some((Instant::now(), can));
        can
    }

    /// Greets everybody who is new, for ever.
    pub(super) async fn greet(&self) {
        // How many tries are left for each.
        let mut left: HashMap<ReplicaId, u32> = HashMap::new();
        loop {
            tokio::time::sleep(ROUND).await;
            let others = self.members.others();
            left.retain(|known, _| others.iter().any(|(id, _)| id == known));
            for (id, address) in others {
                let tries = left.entry(id).or_insert(TRIES);
                if *tries == 0 {
                    continue;
                }
                *tries -= 1;
                let why = match self.state_of(id, &address, PATIENCE).await {
                    Ok(StatusCode::FORBIDDEN) => "whoever is there does not believe this one".to_owned(),
                    Ok(_) => {
                        *tries = 0;
                        continue;
                    }
                    Err(why) => why.to_string(),
                };
                if *tries == 0 && !self.is_draining() {
                    error!(
                        replica = %id, address,
                        "what clients want of this replica cannot be sent on to it: {why}. Look at `advertise` there, and whether `secret` is the same"
                    );
                }
            }
        }
    }

    async fn state_of(&self, id: ReplicaId, address: &str, patience: Duration) -> Result<StatusCode, Unreached> {
        let target = Target::parse(&format!("{address}{STATE}"))?;
        let passed = Passed { to: id, method: "POST", path: STATE, body: &BodyHash::of(b"") };
        let word = self.standing.headers(passed, &Principal::local(), "0.0.0.0", seconds_now());
        let asked = self.client.fetch(&target, Method::POST, header_lines(word).collect(), Vec::new(), 64 * 1024);
        let answer = tokio::time::timeout(patience, asked).await.map_err(|_| Unreached::Silent(patience))??;
        Ok(StatusCode::from_u16(answer.status)?)
    }
}

/// Says to another replica whether this one could write what must be written.
pub(crate) async fn answer(app: &Arc<App>) -> Reply {
    let can = app.gateway.is_ready().await;
    empty_response(if can { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE })
}
