//! Every open connection: how many there may be, who has to go, and how they end when the program does.
//!
//! What a reader would get wrong: where clients that are waited for have too much lying here together, no newcomer is refused. The
//! one that has been waited for the longest goes, so that who sends slowly, or reads nothing, harms themselves. A call that takes its
//! time waits for us, however long its head was: it goes when there is nobody else.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolfold_wire::Memory;
use tracing::warn;

use super::LARGEST_BUFFER;
use super::place::{Deadlines, Part, Place};
use crate::budget::SMALL;

/// Connections at the most, however many descriptors there are.
const MOST: usize = 8_192;
/// How often those are looked for that are past their time.
const SWEEP: Duration = Duration::from_secs(1);
/// An answer that nothing was taken of for this long is counted.
const STALLED: Duration = Duration::from_secs(1);
/// The most that is counted of one: as much as lies here of what is small. What is large is counted on its own.
const MOST_UNSENT: usize = LARGEST_BUFFER + SMALL;
/// When memory is used up, one over this of it is made free at once: looking for who has to go takes time.
const FREED: usize = 16;

#[derive(Debug)]
pub(crate) struct Connections {
    most: usize,
    /// Whether everybody may have the same address, as behind a balancer.
    one_address: bool,
    /// For what lies here of clients that are waited for.
    waiting: Memory,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    places: HashMap<u64, Arc<Place>>,
    /// Whether it was said that there is no room; said again when there was room in between.
    full: bool,
}

/// One connection among the others, until this is dropped.
#[derive(Debug)]
pub(crate) struct Admitted {
    connections: Arc<Connections>,
    number: u64,
    pub(crate) place: Arc<Place>,
}

impl Connections {
    /// Room for as many as this process has descriptors for, less a quarter: servers and files need some too.
    pub(crate) fn new(one_address: bool, waiting: Memory) -> Self {
        let descriptors = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let most = descriptors.map_or(MOST, |descriptors| (descriptors / 4 * 3) as usize).clamp(16, MOST);
        Connections { one_address, ..Connections::of(most, waiting) }
    }

    fn of(most: usize, waiting: Memory) -> Self {
        Connections { most, one_address: false, waiting, open: Mutex::default() }
    }

    /// Takes a newcomer in. Where there is no room, whoever has been quiet the longest goes; where nobody is quiet, or
    /// one address has half of all places already, the newcomer is not taken.
    pub(crate) fn admit(self: &Arc<Self>, peer: SocketAddr) -> Option<Admitted> {
        let mut open = self.lock();
        let (all, most) = (open.places.len(), self.most);
        // Everybody on this machine has the same address.
        let of_peer = |open: &Open| open.places.values().filter(|place| place.peer == peer.ip()).count();
        let is_one = !peer.ip().is_loopback() && !self.one_address;
        if all >= most / 2 && is_one && of_peer(&open) >= most / 2 {
            return None;
        }
        if all >= most {
            if !std::mem::replace(&mut open.full, true) {
                warn!(
                    connections = all,
                    "no room for another connection: the one that was quiet the longest is closed"
                );
            }
            let quiet = open.places.iter().filter(|(_, place)| place.is_quiet());
            let longest = quiet.min_by_key(|(_, place)| place.since()).map(|(number, _)| *number)?;
            if let Some(place) = open.places.remove(&longest) {
                place.cut();
            }
        }
        let number = open.next;
        let place = Arc::new(Place::new(peer.ip()));
        open.next += 1;
        open.places.insert(number, place.clone());
        Some(Admitted { connections: self.clone(), number, place })
    }

    /// Gives up the one that was quiet the longest, because descriptors ran out; whether there was one.
    pub(crate) fn give_up_one(&self) -> bool {
        let mut open = self.lock();
        let quiet = open.places.iter().filter(|(_, place)| place.is_quiet());
        let longest = quiet.min_by_key(|(_, place)| place.since()).map(|(number, _)| *number);
        let given_up = longest.and_then(|number| open.places.remove(&number));
        given_up.inspect(|place| place.cut()).is_some()
    }

    /// Ends connections that are past their time, until told to stop.
    pub(crate) async fn sweep(self: Arc<Self>, deadlines: Deadlines, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(SWEEP.min(deadlines.head / 4)) => {}
            }
            let now = Instant::now();
            let stalled = {
                let open = self.lock();
                open.places.values().filter(|place| place.is_overdue(now, &deadlines)).for_each(|place| place.cut());
                let stalled = |place: &Arc<Place>| Some((place.clone(), place.stalled_with(now, STALLED)?));
                open.places.values().filter_map(stalled).collect::<Vec<_>>()
            };
            for (place, unsent) in stalled {
                self.hold(&place, Part::Unsent, unsent.min(MOST_UNSENT).min(self.waiting.most()));
                place.let_go_of_what_is_sent();
            }
        }
    }

    /// Counts what lies here of a client that is waited for. Where there is no memory for that, others make room who have been waited
    /// for longer.
    fn hold(&self, place: &Place, part: Part, bytes: usize) {
        // What there is no room for at all is nobody else's loss.
        if bytes > self.waiting.most() {
            return place.cut();
        }
        while !place.is_cut() && !place.hold(part, bytes, &self.waiting) {
            if self.give_up_slowest() == 0 {
                return place.cut();
            }
        }
    }

    /// Ends those that have been waited for the longest, until some memory is free again: how much. Where one address has more than
    /// half of it, those are its own.
    fn give_up_slowest(&self) -> usize {
        let open = self.lock();
        let order = |place: &Place| (!place.keeps_us_waiting(), place.waits_since());
        let holding = open.places.values().map(|place| (order(place), place.holds(), place));
        let mut slow: Vec<_> = holding.filter(|(_, held, _)| *held > 0).collect();
        let mut of: HashMap<IpAddr, usize> = HashMap::new();
        slow.iter().for_each(|(_, held, place)| *of.entry(place.peer).or_default() += held);
        if let Some((peer, _)) = of.into_iter().find(|(_, held)| *held > self.waiting.most() / 2) {
            slow.retain(|(_, _, place)| place.peer == peer);
        }
        slow.sort_unstable_by_key(|(order, ..)| *order);
        let mut freed = 0;
        for (_, _, place) in slow {
            if freed > self.waiting.most() / FREED {
                break;
            }
            freed += place.give_up();
        }
        freed
    }

    /// Ends all that are left.
    pub(crate) fn cut_all(&self) {
        self.lock().places.values().for_each(|place| place.cut());
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Admitted {
    /// Counts so many bytes, for as long as its client is waited for.
    pub(crate) fn hold(&self, part: Part, bytes: usize) {
        self.connections.hold(&self.place, part, bytes);
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        open.places.remove(&self.number);
        if open.places.len() < self.connections.most / 4 * 3 {
            open.full = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::Busy;
    use super::*;

    fn peer(address: &str) -> SocketAddr {
        SocketAddr::new(address.parse().unwrap(), 1)
    }

    fn of(most: usize) -> Connections {
        Connections::of(most, Memory::new(16 * SMALL))
    }

    fn bytes_held(of: &[Admitted]) -> Vec<usize> {
        of.iter().map(|one| if one.place.is_cut() { 0 } else { one.place.holds() }).collect()
    }

    #[tokio::test]
    async fn who_has_been_waited_for_the_longest_makes_room_and_no_newcomer_is_refused() {
        let connections = Arc::new(of(100));
        let all: Vec<_> = (0..20).map(|_| pause_and(|| connections.admit(peer("127.0.0.1")).unwrap())).collect();
        all.iter().for_each(|one| one.hold(Part::Body, SMALL));
        let held = bytes_held(&all);
        assert_eq!(held.iter().sum::<usize>(), connections.waiting.used());
        assert_eq!(held[19], SMALL, "the newest stays");
        assert_eq!(held.iter().position(|held| *held > 0), Some(4), "the oldest went: {held:?}");
        assert!(held[4..].iter().all(|held| *held == SMALL), "{held:?}");
        // More than there is at all is nobody else's loss.
        let greedy = connections.admit(peer("127.0.0.1")).unwrap();
        greedy.hold(Part::Unsent, 17 * SMALL);
        assert!(greedy.place.is_cut() && bytes_held(&all) == held);
    }

    /// It has been under way for longer than anybody who came since, and nobody waits for its client.
    #[tokio::test]
    async fn a_call_under_way_outlives_those_that_are_waited_for() {
        let connections = Arc::new(of(100));
        let [calling, sending] = [(); 2].map(|()| pause_and(|| connections.admit(peer("127.0.0.1")).unwrap()));
        let _calls = [&calling, &sending].map(|one| {
            one.hold(Part::Head, SMALL);
            Busy::at(&one.place)
        });
        sending.hold(Part::Body, SMALL);
        let half: Vec<_> = (0..40).map(|_| pause_and(|| connections.admit(peer("127.0.0.1")).unwrap())).collect();
        half.iter().for_each(|one| one.hold(Part::Head, SMALL));
        assert!(!calling.place.is_cut() && calling.place.holds() == SMALL);
        assert!(sending.place.is_cut(), "whose body is still coming is waited for");
        assert!(half[0].place.is_cut() && !half[39].place.is_cut());
    }

    #[tokio::test]
    async fn one_address_that_has_more_than_half_makes_room_for_the_others() {
        let connections = Arc::new(of(100));
        let slow = pause_and(|| connections.admit(peer("10.0.0.2")).unwrap());
        slow.hold(Part::Body, SMALL);
        let many: Vec<_> = (0..40).map(|_| pause_and(|| connections.admit(peer("10.0.0.1")).unwrap())).collect();
        many.iter().for_each(|one| one.hold(Part::Body, SMALL));
        assert!(!slow.place.is_cut() && slow.place.holds() == SMALL);
        assert!(many[0].place.is_cut() && !many[39].place.is_cut());
    }

    /// Times are told apart by milliseconds.
    fn pause_and<T>(then: impl FnOnce() -> T) -> T {
        std::thread::sleep(Duration::from_millis(2));
        then()
    }

    #[tokio::test]
    async fn the_longest_quiet_goes_and_whoever_is_answered_stays() {
        let connections = Arc::new(of(3));
        let local = peer("127.0.0.1");
        let first = connections.admit(local).unwrap();
        let busy = Busy::at(&first.place);
        let second = connections.admit(local).unwrap();
        let third = connections.admit(local).unwrap();
        let others = [second, third];
        let fourth = connections.admit(local).unwrap();
        assert_eq!(others.iter().filter(|other| other.place.is_cut()).count(), 1);
        let _all_busy: Vec<_> = others.iter().chain([&fourth]).map(|admitted| Busy::at(&admitted.place)).collect();
        assert!(connections.admit(local).is_none());
        drop(others);
        assert!(connections.admit(local).is_some());
        assert!(!first.place.is_cut());
        drop(busy);
    }

    #[tokio::test]
    async fn one_address_gets_half_of_the_places() {
        let connections = Arc::new(of(8));
        let taken: Vec<_> = (0..5).filter_map(|_| connections.admit(peer("10.0.0.1"))).collect();
        assert_eq!(taken.len(), 4);
        assert!(connections.admit(peer("10.0.0.2")).is_some());
        let behind_a_balancer = Arc::new(Connections { one_address: true, ..of(8) });
        let taken: Vec<_> = (0..8).filter_map(|_| behind_a_balancer.admit(peer("10.0.0.1"))).collect();
        assert_eq!(taken.len(), 8);
    }
}
