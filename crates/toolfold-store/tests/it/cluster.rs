//! What replicas know of each other, with two of them on one PostgreSQL.

use std::time::Duration;

use toolfold_core::StorePlace;
use toolfold_store::Store;
use toolfold_store::cluster::{Claim, Cluster, NewSession, Topic};
use toolfold_test::Postgres;

use crate::{Home, save};

const LONG: Duration = Duration::from_secs(60);

struct Two {
    server: Postgres,
    stores: [Store; 2],
}

impl Two {
    async fn new() -> Two {
        let server = Postgres::start();
        let home = Home::database(&server.url("cluster"));
        let stores = [home.open().await, home.open().await];
        Two { server, stores }
    }

    fn clusters(&self) -> [Cluster; 2] {
        [self.stores[0].cluster().unwrap(), self.stores[1].cluster().unwrap()]
    }
}

fn session(id: &str, owner: &str) -> NewSession {
    NewSession {
        id: id.to_owned(),
        owner: owner.to_owned(),
        principal: "named ada\u{0}".to_owned(),
        initialize: "{\"a\":1}".to_owned(),
        surface: "compact".to_owned(),
        loaded: "[]".to_owned(),
    }
}

#[tokio::test]
async fn a_file_is_no_cluster() {
    let home = Home::file();
    assert!(matches!(home.place, StorePlace::File(_)) && home.open().await.cluster().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_register_beat_and_leave() {
    let two = Two::new().await;
    let [one, other] = two.clusters();
    let epoch = one.register("a", "http://10.0.0.1:7421").await.unwrap();
    other.register("b", "http://10.0.0.2:7421").await.unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let told = one.beat("a", epoch).await.unwrap().unwrap();
    assert!(told.abs_diff(now) < 60, "it is {told} in the database and {now} here");
    one.set_draining("a").await.unwrap();
    let seen = other.replicas().await.unwrap();
    let short: Vec<_> = seen.iter().map(|replica| (replica.id.as_str(), replica.draining)).collect();
    assert_eq!(short, [("a", true), ("b", false)]);
    assert!(seen.iter().all(|replica| replica.silent < LONG) && seen[0].address == "http://10.0.0.1:7421");

    // Started again under its id, the one before is told so.
    let again = one.register("a", "http://10.0.0.3:7421").await.unwrap();
    assert!(
        again > epoch && one.beat("a", epoch).await.unwrap().is_none() && one.beat("a", again).await.unwrap().is_some()
    );
    assert!(!other.replicas().await.unwrap()[0].draining);
    two.server
        .sql("cluster", "UPDATE toolfold.replicas SET beat_at = beat_at - interval '1 hour' WHERE id = 'b'")
        .unwrap();
    assert!(one.replicas().await.unwrap()[1].silent > LONG);
    assert_eq!(one.forget_silent(LONG).await.unwrap(), 1);
    one.leave("a").await.unwrap();
    assert!(one.replicas().await.unwrap().is_empty() && one.beat("a", again).await.unwrap().is_none());
}

/// Of twenty who want a dead owner's session one gets it, and the owner before can change nothing any more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_has_one_owner() {
    let two = Two::new().await;
    let [one, other] = two.clusters();
    let fence = one.put_session(session("s", "dead")).await.unwrap();
    assert!(one.put_session(session("s", "copy")).await.is_err(), "an id is used once");
    assert!(one.update_session("s", fence, "classic", "[\"x.y\"]").await.unwrap());
    let seen = other.get_session("s").await.unwrap().unwrap();
    assert_eq!((seen.fence, seen.surface.as_str(), seen.loaded.as_str()), (fence, "classic", "[\"x.y\"]"));
    assert_eq!((seen.principal.as_str(), seen.initialize.as_str()), ("named ada\u{0}", "{\"a\":1}"));

    let claims: Vec<_> = (0..20).map(|i| [&one, &other][i % 2].claim_session("s", fence, &format!("r{i}"))).collect();
    let (mut winner, mut lost) = (None, Vec::new());
    for claim in claims {
        match claim.await.unwrap() {
            Claim::Ours(session) => assert!(winner.replace(session).is_none(), "two have it"),
            Claim::Lost(session) => lost.push(session),
            Claim::Gone => panic!("it was there"),
        }
    }
    let winner = winner.unwrap();
    assert_eq!((winner.fence, lost.len()), (fence + 1, 19));
    assert!(lost.iter().all(|seen| seen.owner == winner.owner && seen.fence == winner.fence));
    assert!(!one.update_session("s", fence, "direct", "[]").await.unwrap(), "it was fenced out");
    assert_eq!(one.touch_sessions("dead", vec!["s".to_owned()]).await.unwrap(), 0);
    assert_eq!(one.touch_sessions(&winner.owner, vec!["s".to_owned(), "none".to_owned()]).await.unwrap(), 1);

    assert_eq!(one.release_sessions(&winner.owner).await.unwrap(), 1);
    let free = other.get_session("s").await.unwrap().unwrap();
    assert_eq!((free.owner.as_str(), free.fence), ("", winner.fence + 1));
    assert!(matches!(other.claim_session("s", free.fence, "b").await.unwrap(), Claim::Ours(_)));
    assert_eq!(other.sessions_of("b").await.unwrap().len(), 1);
    assert_eq!(other.expire_sessions(LONG).await.unwrap(), 0);
    two.server.sql("cluster", "UPDATE toolfold.sessions SET used_at = used_at - interval '1 hour'").unwrap();
    assert_eq!(other.expire_sessions(LONG).await.unwrap(), 1);
    assert!(!other.remove_session("s").await.unwrap());
    assert_eq!(other.claim_session("s", 1, "b").await.unwrap(), Claim::Gone);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_has_one_holder_and_a_fence_that_grows() {
    let two = Two::new().await;
    let [one, other] = two.clusters();
    let first = one.try_lease("run/git", "a", LONG).await.unwrap();
    assert_eq!((first.holder.as_str(), first.fence), ("a", 1));
    let refused = other.try_lease("run/git", "b", LONG).await.unwrap();
    assert_eq!((refused.holder.as_str(), refused.fence), ("a", 1));
    assert!(refused.left > Duration::from_secs(30) && refused.left <= LONG);
    assert_eq!(one.try_lease("run/git", "a", LONG).await.unwrap().fence, 1, "it was theirs already");
    assert!(!other.renew_lease("run/git", "b", 1, LONG).await.unwrap());
    assert!(one.renew_lease("run/git", "a", 1, Duration::ZERO).await.unwrap());
    assert_eq!(
        other.lease("run/git").await.unwrap().map(|held| (held.holder, held.left)),
        Some(("a".to_owned(), Duration::ZERO))
    );
    assert!(one.renew_lease("run/git", "a", 1, LONG).await.unwrap(), "it was over, and nobody had taken it");
    assert!(one.renew_lease("run/git", "a", 1, Duration::ZERO).await.unwrap());
    let taken = other.try_lease("run/git", "b", LONG).await.unwrap();
    assert_eq!((taken.holder.as_str(), taken.fence), ("b", 2));
    assert!(!one.renew_lease("run/git", "a", 1, LONG).await.unwrap(), "it is another's");
    one.release_lease("run/git", "a", 1).await.unwrap();
    assert_eq!(one.try_lease("run/git", "a", LONG).await.unwrap().holder, "b", "what is over cannot be given back");
    other.release_lease("run/git", "b", 2).await.unwrap();
    assert_eq!(one.lease("run/git").await.unwrap().map(|held| (held.holder, held.fence)), Some((String::new(), 2)));
    assert_eq!(one.lease("run/nothing").await.unwrap(), None);
    assert_eq!(one.try_lease("run/git", "a", LONG).await.unwrap().fence, 3);
}

/// However many ask at once, a bucket gives no more than it holds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_is_shared() {
    let two = Two::new().await;
    let [one, other] = two.clusters();
    let asked: Vec<_> = (0..60).map(|i| [&one, &other][i % 2].reserve("calls/ada", 7, 0.0, 100.0)).collect();
    let mut granted = 0;
    for answer in asked {
        granted += answer.await.unwrap();
    }
    assert_eq!(granted, 100);
    assert_eq!(one.reserve("calls/ada", 1, 0.0, 100.0).await.unwrap(), 0);
    assert_eq!(one.reserve("calls/bob", 1_000, 0.0, 100.0).await.unwrap(), 100, "each has their own");
    two.server.sql("cluster", "UPDATE toolfold.buckets SET filled_at = filled_at - interval '3 seconds'").unwrap();
    let filled = other.reserve("calls/ada", 1_000, 10.0, 100.0).await.unwrap();
    assert!((30..=100).contains(&filled), "{filled}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_changes_others_hear_of_and_after_a_break_they_look_at_everything() {
    let mut two = Two::new().await;
    let [one, other] = two.clusters();
    let mut heard = other.changes();
    assert_eq!(heard.recv().await.unwrap(), Topic::Everything);
    save(&two.stores[0], "a", "1", "{}").await.unwrap();
    assert_eq!(heard.recv().await.unwrap(), Topic::Manifests);
    one.register("a", "http://10.0.0.1:7421").await.unwrap();
    assert_eq!(heard.recv().await.unwrap(), Topic::Replicas);
    two.server.stop();
    two.server.go_on();
    assert_eq!(heard.recv().await.unwrap(), Topic::Everything);
    assert!(two.stores[0].revoke_token("nobody").await.is_ok_and(|gone| !gone));
    assert_eq!(heard.recv().await.unwrap(), Topic::Tokens);
}
