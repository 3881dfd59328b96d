//! Links out of results: a tool's result may point at a resource that its server lists nowhere. Whoever was given the
//! link may read it, from the server whose result held it and from nobody else.
//!
//! What a reader would get wrong: this is no cache of resources. It knows who said an address, bounded, for as long as
//! there is room. An address that two servers gave belongs to neither alone: it is asked for with a server's name before it. And
//! who gives out many pushes out their own: others have room of theirs.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use toolfold_core::{Principal, ServerName};
use toolfold_wire::{Object, Raw};

/// Links that are remembered, of one server for one client among them, and how long one may be.
const MOST: usize = 4096;
const MOST_OF_ONE: usize = 512;
const LONGEST: usize = 2048;
/// Links that are taken out of one result, and parts and bytes of one that is looked into.
const A_RESULT: usize = 64;
const LOOKED_AT: usize = 1024;
const LARGEST: usize = 1024 * 1024;

#[derive(Default)]
pub(crate) struct Links(Mutex<Known>);

#[derive(Default)]
struct Known {
    shares: HashMap<Principal, BTreeMap<ServerName, Share>>,
    all: usize,
}

/// What one server gave out to one client.
#[derive(Default)]
struct Share {
    oldest: VecDeque<String>,
    has: HashSet<String>,
}

impl Links {
    /// Looks through a result. Looking for the word first keeps ordinary results unparsed.
    pub(crate) fn learn(&self, principal: &Principal, server: &ServerName, result: &Raw) {
        if result.get().len() > LARGEST || !result.get().contains("\"resource_link\"") {
            return;
        }
        let items = Object::parse(result).map(|result| result.items("content", LOOKED_AT)).unwrap_or_default();
        let items: Vec<Object> = items.iter().filter_map(Object::parse).collect();
        let links = items.iter().filter(|item| item.string("type").as_deref() == Some("resource_link"));
        for uri in links.filter_map(|link| link.string("uri")).filter(|uri| uri.len() <= LONGEST).take(A_RESULT) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).add(principal, server, uri);
        }
    }

    pub(crate) fn servers_of(&self, principal: &Principal, uri: &str) -> Vec<ServerName> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shares = known.shares.get(principal).into_iter().flatten();
        shares.filter(|(_, share)| share.has.contains(uri)).map(|(server, _)| server.clone()).collect()
    }
}

impl Known {
    fn add(&mut self, principal: &Principal, server: &ServerName, uri: String) {
        let share = self.shares.entry(principal.clone()).or_default().entry(server.clone()).or_default();
        if share.has.contains(&uri) {
            return;
        }
        share.oldest.push_back(uri.clone());
        share.has.insert(uri);
        self.all += 1;
        if share.oldest.len() > MOST_OF_ONE {
            share.forget_one();
            self.all -= 1;
        }
        while self.all > MOST {
            self.forget_one();
        }
    }

    /// Whoever has most gives.
    fn forget_one(&mut self) {
        let shares = self.shares.values_mut().flat_map(BTreeMap::values_mut);
        if let Some(largest) = shares.max_by_key(|share| share.oldest.len()) {
            largest.forget_one();
        }
        self.all -= 1;
        self.shares.retain(|_, servers| {
            servers.retain(|_, share| !share.oldest.is_empty());
            !servers.is_empty()
        });
    }
}

impl Share {
    fn forget_one(&mut self) {
        if let Some(oldest) = self.oldest.pop_front() {
            self.has.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolfold_wire::raw;

    fn result(uri: &str) -> Raw {
        raw(&json!({"content": [{"type": "text", "text": "x"}, {"type": "resource_link", "uri": uri, "name": "n"}]}))
    }

    #[test]
    fn a_link_belongs_to_the_server_whose_result_held_it_and_to_whoever_got_it() {
        let (links, one) = (Links::default(), ServerName::new("one").unwrap());
        links.learn(&Principal::local(), &one, &result("x://a"));
        assert_eq!(links.servers_of(&Principal::local(), "x://a"), [one]);
        assert_eq!(links.servers_of(&Principal::token(), "x://a"), []);
        assert_eq!(links.servers_of(&Principal::local(), "x://b"), []);
    }

    #[test]
    fn a_link_that_two_servers_gave_belongs_to_neither_alone() {
        let (links, me) = (Links::default(), Principal::local());
        let (one, two) = (ServerName::new("one").unwrap(), ServerName::new("two").unwrap());
        links.learn(&me, &one, &result("x://a"));
        links.learn(&me, &two, &result("x://a"));
        links.learn(&me, &one, &result("x://a"));
        assert_eq!(links.servers_of(&me, "x://a"), [one, two]);
    }

    #[test]
    fn who_gives_out_many_pushes_out_their_own() {
        let (links, me, one) = (Links::default(), Principal::local(), ServerName::new("one").unwrap());
        for number in 0..MOST_OF_ONE + 1 {
            links.learn(&me, &one, &result(&format!("x://{number}")));
        }
        assert_eq!(links.servers_of(&me, "x://0"), []);
        assert_eq!(links.servers_of(&me, &format!("x://{MOST_OF_ONE}")), std::slice::from_ref(&one));
        links.learn(&me, &one, &result(&"x".repeat(LONGEST + 1)));
        assert_eq!(links.0.lock().unwrap().all, MOST_OF_ONE);
        let others = || (0..2 * MOST / MOST_OF_ONE).map(|number| ServerName::new(format!("other-{number}")).unwrap());
        links.learn(&me, &ServerName::new("two").unwrap(), &result("y://1"));
        for (other, number) in others().flat_map(|other| (0..MOST_OF_ONE).map(move |number| (other.clone(), number))) {
            links.learn(&me, &other, &result(&format!("z://{number}")));
        }
        assert_eq!(links.servers_of(&me, "y://1").len(), 1, "who has one keeps it");
        let known = links.0.lock().unwrap();
        let counted: usize = known.shares.values().flat_map(BTreeMap::values).map(|share| share.has.len()).sum();
        assert_eq!((known.all, counted), (MOST, MOST));
    }
}
