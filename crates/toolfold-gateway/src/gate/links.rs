//! Links out of results: a tool's result may point at a resource that its server lists nowhere. Whoever was given the
//! link may read it, from the server whose result held it and from nobody else.
//!
//! What a reader would get wrong: this is no cache of resources. It knows who said an address, bounded, for as long as
//! there is room; an address that two servers gave belongs to neither.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use toolfold_core::{Principal, ServerName};
use toolfold_wire::{Object, Raw};

/// Links that are remembered, and how long one may be.
const MOST: usize = 4096;
const LONGEST: usize = 2048;
/// Links that are taken out of one result, and parts and bytes of one that is looked into.
const A_RESULT: usize = 64;
const LOOKED_AT: usize = 1024;
const LARGEST: usize = 1024 * 1024;

type Key = (Principal, String);

#[derive(Default)]
pub(crate) struct Links(Mutex<Known>);

#[derive(Default)]
struct Known {
    /// `None` where two servers gave the same.
    servers: HashMap<Key, Option<ServerName>>,
    oldest: VecDeque<Key>,
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
            self.0.lock().unwrap_or_else(PoisonError::into_inner).add((principal.clone(), uri), server);
        }
    }

    pub(crate) fn server_of(&self, principal: &Principal, uri: &str) -> Option<ServerName> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.servers.get(&(principal.clone(), uri.to_owned())).cloned().flatten()
    }
}

impl Known {
    fn add(&mut self, key: Key, server: &ServerName) {
        match self.servers.get_mut(&key) {
            Some(known) if known.as_ref() == Some(server) => {}
            Some(known) => *known = None,
            None => {
                if self.oldest.len() == MOST
                    && let Some(oldest) = self.oldest.pop_front()
                {
                    self.servers.remove(&oldest);
                }
                self.oldest.push_back(key.clone());
                self.servers.insert(key, Some(server.clone()));
            }
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
        assert_eq!(links.server_of(&Principal::local(), "x://a"), Some(one));
        assert_eq!(links.server_of(&Principal::token(), "x://a"), None);
        assert_eq!(links.server_of(&Principal::local(), "x://b"), None);
    }

    #[test]
    fn a_link_that_two_servers_gave_belongs_to_neither() {
        let (links, me) = (Links::default(), Principal::local());
        let (one, two) = (ServerName::new("one").unwrap(), ServerName::new("two").unwrap());
        links.learn(&me, &one, &result("x://a"));
        links.learn(&me, &two, &result("x://a"));
        links.learn(&me, &one, &result("x://a"));
        assert_eq!(links.server_of(&me, "x://a"), None);
    }

    #[test]
    fn what_is_remembered_has_a_bound() {
        let (links, me, one) = (Links::default(), Principal::local(), ServerName::new("one").unwrap());
        for number in 0..MOST + 1 {
            links.learn(&me, &one, &result(&format!("x://{number}")));
        }
        assert_eq!(links.server_of(&me, "x://0"), None);
        assert_eq!(links.server_of(&me, &format!("x://{MOST}")), Some(one.clone()));
        links.learn(&me, &one, &result(&"x".repeat(LONGEST + 1)));
        assert_eq!(links.0.lock().unwrap().servers.len(), MOST);
    }
}
