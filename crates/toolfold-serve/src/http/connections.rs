//! Every open connection: how many there may be, who has to go, and how they end when the program does.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::place::{Deadlines, Place};

/// Connections at the most, however many descriptors there are.
const MOST: usize = 8_192;
/// How often those are looked for that are past their time.
const SWEEP: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Connections {
    most: usize,
    /// Whether everybody may have the same address, as behind a balancer.
    one_address: bool,
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
    pub(crate) fn new(one_address: bool) -> Self {
        let descriptors = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let most = descriptors.map_or(MOST, |descriptors| (descriptors / 4 * 3) as usize).clamp(16, MOST);
        Connections { one_address, ..Connections::of(most) }
    }

    fn of(most: usize) -> Self {
        Connections { most, one_address: false, open: Mutex::default() }
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
            let open = self.lock();
            open.places.values().filter(|place| place.is_overdue(now, &deadlines)).for_each(|place| place.cut());
        }
    }

    /// Ends all that are left.
    pub(crate) fn cut_all(&self) {
        self.lock().places.values().for_each(|place| place.cut());
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
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

    #[tokio::test]
    async fn the_longest_quiet_goes_and_whoever_is_answered_stays() {
        let connections = Arc::new(Connections::of(3));
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
        let connections = Arc::new(Connections::of(8));
        let taken: Vec<_> = (0..5).filter_map(|_| connections.admit(peer("10.0.0.1"))).collect();
        assert_eq!(taken.len(), 4);
        assert!(connections.admit(peer("10.0.0.2")).is_some());
        let behind_a_balancer = Arc::new(Connections { one_address: true, ..Connections::of(8) });
        let taken: Vec<_> = (0..8).filter_map(|_| behind_a_balancer.admit(peer("10.0.0.1"))).collect();
        assert_eq!(taken.len(), 8);
    }
}
