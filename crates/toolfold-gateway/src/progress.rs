//! How far the start has come: what there is to wait for, and how long that makes sense.
//!
//! What a reader would get wrong: nobody waits for a server that the request does not need, nor for one that failed the
//! last time, unless it is named: whoever has mended it is not told what was. A search waits while servers keep coming in, and
//! stops when nothing has come for a while: one silent server does not hold it up for longer than that.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use toolfold_core::ServerName;

/// How long after the start a request may wait for servers that nothing is known of yet.
const LONGEST: Duration = Duration::from_secs(10);
/// How long after the last one came in.
const QUIET: Duration = Duration::from_secs(4);

/// How long a call may for the server that it names, whenever it comes: that server's own deadlines end the wait earlier
/// where it fails, and clients give a call about a minute.
const NAMED: Duration = Duration::from_secs(45);

/// How long after the start a request that names a server may wait for one that failed the last time and is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// How long a tool list may: long enough for a server that starts at once, short enough to be "at once".
const LIST: Duration = Duration::from_secs(2);

#[derive(Debug, Clone)]
pub(crate) struct Progress {
    /// There is a snapshot of everything that is remembered.
    pub(crate) published: bool,
    /// Servers that have not said what they offer and may soon.
    pub(crate) pending: BTreeSet<ServerName>,
    /// Those, and the ones that failed last time and have not been heard of since.
    pub(crate) untried: BTreeSet<ServerName>,
    /// When there was a first snapshot, and when each server came in since: whoever waits hears only of those that exist for them.
    began: Instant,
    came: BTreeMap<ServerName, Instant>,
}

impl Progress {
    pub(crate) fn starting() -> Self {
        Progress {
            published: false,
            pending: BTreeSet::new(),
            untried: BTreeSet::new(),
            began: Instant::now(),
            came: BTreeMap::new(),
        }
    }

    /// Takes over how things are now; whether that is another state.
    pub(crate) fn follow(&mut self, pending: BTreeSet<ServerName>, untried: BTreeSet<ServerName>) -> bool {
        if self.published && self.pending == pending && self.untried == untried {
            return false;
        }
        let now = Instant::now();
        if !self.published {
            (self.published, self.began) = (true, now);
        }
        let came = self.pending.difference(&pending).chain(self.untried.difference(&untried));
        self.came.extend(came.map(|server| (server.clone(), now)));
        (self.pending, self.untried) = (pending, untried);
        true
    }

    /// When one of these last came in.
    fn last_of(&self, exists: &(dyn Fn(&ServerName) -> bool + Sync)) -> Instant {
        let came = self.came.iter().filter(|(server, _)| exists(server)).map(|(_, at)| *at);
        came.fold(self.began, Instant::max)
    }
}

/// What a request waits for.
pub(crate) struct Waiting {
    progress: watch::Receiver<Progress>,
    started: Instant,
}

impl Waiting {
    pub(crate) fn new(progress: watch::Receiver<Progress>) -> Self {
        Waiting { progress, started: Instant::now() }
    }

    /// Until there is a first snapshot.
    pub(crate) async fn published(&self) {
        if !self.progress.borrow().published {
            // The writer publishes or is gone, and then there is nothing to wait for.
            let _ = self.progress.clone().wait_for(|now| now.published).await;
        }
    }

    /// Until every server that may soon say what it offers has done so, or nothing has come for a while.
    pub(crate) async fn settled(&self) {
        self.settled_of(&|_| true).await;
    }

    /// The same of some servers: nobody waits for one that does not exist for them.
    pub(crate) async fn settled_of(&self, exists: &(dyn Fn(&ServerName) -> bool + Sync)) {
        self.settled_within(LONGEST, exists).await;
    }

    /// As [`Waiting::settled_of`], for a tool list, which is answered at once.
    pub(crate) async fn settled_for_list(&self, exists: &(dyn Fn(&ServerName) -> bool + Sync)) {
        self.settled_within(LIST, exists).await;
    }

    async fn settled_within(&self, longest: Duration, exists: &(dyn Fn(&ServerName) -> bool + Sync)) {
        self.published().await;
        let mut progress = self.progress.clone();
        loop {
            let until = {
                let now = progress.borrow_and_update();
                if !now.pending.iter().any(exists) {
                    return;
                }
                (self.started + longest).min(now.last_of(exists) + QUIET)
            };
            if !matches!(timeout_at(until, progress.changed()).await, Ok(Ok(()))) {
                return;
            }
        }
    }

    /// Until these servers have said what they offer or failed.
    pub(crate) async fn heard_of(&self, servers: &BTreeSet<ServerName>) {
        self.published().await;
        let until = Instant::now() + NAMED;
        let pending = |now: &Progress| !now.pending.is_disjoint(servers);
        let _ = timeout_at(until, self.progress.clone().wait_for(|now| !pending(now))).await;
        self.tried_again(&|server| servers.contains(server)).await;
    }

    /// Until the one that is named has said what it offers, or failed, or nothing more comes: also where it failed the last time.
    pub(crate) async fn settled_of_one(&self, named: &(dyn Fn(&ServerName) -> bool + Sync)) {
        self.settled_of(named).await;
        self.tried_again(named).await;
    }

    async fn tried_again(&self, named: &(dyn Fn(&ServerName) -> bool + Sync)) {
        let untried = |now: &Progress| now.untried.iter().any(named);
        let _ = timeout_at(self.started + AGAIN, self.progress.clone().wait_for(|now| !untried(now))).await;
    }

    /// Until every server has said what it offers or failed, however long that takes: for a person who sees what for.
    pub(crate) async fn complete(&self) {
        self.published().await;
        let _ = self.progress.clone().wait_for(|now| now.untried.is_empty()).await;
    }

    /// Servers that nothing is known of yet; with `all` those too that failed the last time and were not heard of since.
    pub(crate) fn open(&self, all: bool) -> Vec<ServerName> {
        let now = self.progress.borrow();
        if all { now.untried.iter().cloned().collect() } else { now.pending.iter().cloned().collect() }
    }

    pub(crate) fn is_published(&self) -> bool {
        self.progress.borrow().published
    }

    /// Whether there is nothing to wait for, whatever is asked.
    pub(crate) fn is_settled(&self) -> bool {
        let now = self.progress.borrow();
        now.published && self.of_named(&now).is_empty()
    }

    /// The servers that whoever names them waits for.
    fn of_named<'a>(&self, now: &'a Progress) -> &'a BTreeSet<ServerName> {
        if self.started.elapsed() < AGAIN { &now.untried } else { &now.pending }
    }

    /// A server that may soon say what it offers and that a spelling of a tool begins with.
    pub(crate) fn pending_of(&self, spelling: &str) -> Option<ServerName> {
        self.pending_before(spelling, &[".", "/", ":", "+", "__"])
    }

    /// The same with one of these behind its name. Of an address only what is there when a server is meant: servers are called
    /// as the schemes of other servers' addresses are.
    pub(crate) fn pending_before(&self, spelling: &str, behind: &[&str]) -> Option<ServerName> {
        let now = self.progress.borrow();
        let fits = |name: &&ServerName| {
            let rest = spelling.strip_prefix(name.as_str());
            rest.is_some_and(|rest| behind.iter().any(|mark| rest.starts_with(mark)))
        };
        self.of_named(&now).iter().filter(fits).max_by_key(|name| name.as_str().len()).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> BTreeSet<ServerName> {
        names.iter().filter_map(|name| ServerName::new(*name).ok()).collect()
    }

    /// Its program may have been installed since, or its variable be there.
    #[tokio::test(start_paused = true)]
    async fn who_names_a_server_that_failed_the_last_time_waits_for_its_next_try() {
        let (tell, progress) = watch::channel(Progress::starting());
        let waiting = Waiting::new(progress);
        tell.send_if_modified(|now| now.follow(names(&[]), names(&["post", "postbox"])));
        assert!(!waiting.is_settled());
        assert_eq!(waiting.pending_of("post.send").as_ref().map(ServerName::as_str), Some("post"));
        let before = |address| waiting.pending_before(address, &["+"]);
        assert_eq!(
            (before("post://7"), before("post+x://7").map(|name| name.to_string())),
            (None, Some("post".to_owned()))
        );
        let begun = Instant::now();
        let mended = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            tell.send_if_modified(|now| now.follow(names(&[]), names(&["postbox"])));
        };
        let post = names(&["post"]);
        tokio::join!(mended, waiting.heard_of(&post));
        assert_eq!(begun.elapsed(), Duration::from_secs(1));
        // The other one stays silent: only so long, and for nobody who comes later.
        waiting.settled_of_one(&|server| server.as_str() == "postbox").await;
        assert_eq!(begun.elapsed(), AGAIN);
        assert!(waiting.is_settled() && waiting.pending_of("postbox.send").is_none());
        waiting.heard_of(&names(&["postbox"])).await;
        waiting.settled().await;
        assert_eq!(begun.elapsed(), AGAIN);
    }

    /// How long somebody waits tells nothing of what does not exist for them.
    #[tokio::test(start_paused = true)]
    async fn who_does_not_know_a_server_does_not_wait_longer_when_it_comes() {
        let waited = async |exists: fn(&ServerName) -> bool| {
            let (tell, progress) = watch::channel(Progress::starting());
            let waiting = Waiting::new(progress);
            tell.send_if_modified(|now| now.follow(names(&["hidden", "post"]), names(&["hidden", "post"])));
            let coming = async {
                tokio::time::sleep(QUIET - Duration::from_secs(1)).await;
                tell.send_if_modified(|now| now.follow(names(&["post"]), names(&["post"])));
                std::future::pending::<()>().await;
            };
            let begun = Instant::now();
            tokio::select! {
                () = coming => {}
                () = waiting.settled_of(&exists) => {}
            }
            begun.elapsed()
        };
        assert_eq!(waited(|server| server.as_str() != "hidden").await, QUIET);
        assert_eq!(waited(|_| true).await, QUIET * 2 - Duration::from_secs(1));
    }
}
