//! Whose an address is. It belongs to the server that had it first; one that comes later with the same is known by its
//! own name before the address. Where two came at once nobody can say who was first, so neither has it alone.
//!
//! What a reader would get wrong: "at once" is a second of the start. Servers come up in any order, and a race must not
//! decide who speaks for whom. What a later one could not have is remembered with its list, so that the next start knows.

use std::collections::{BTreeMap, BTreeSet};

use toolfold_core::ServerName;

#[derive(Debug, Default, Clone)]
pub(crate) struct Claims {
    held: BTreeMap<String, Claim>,
}

#[derive(Debug, Clone)]
struct Claim {
    /// `None` where several came at once.
    owner: Option<ServerName>,
    /// The wave that it came with.
    since: u64,
}

/// A server, the addresses it says it has, and those it said before that were another's already.
pub(crate) struct Claimant<'a> {
    pub(crate) server: &'a ServerName,
    pub(crate) addresses: Vec<String>,
    pub(crate) second: &'a BTreeSet<String>,
}

impl Claims {
    /// Takes in what every server says it has; which of it belonged to another before. What is new came at once with
    /// everything else of its `wave`; waves are numbered in the order of time.
    pub(crate) fn update(&mut self, claimants: &[Claimant<'_>], wave: u64) -> Vec<(ServerName, String)> {
        let mut wanted: BTreeMap<&str, Vec<&Claimant<'_>>> = BTreeMap::new();
        for claimant in claimants {
            for address in &claimant.addresses {
                let all = wanted.entry(address).or_default();
                if !all.iter().any(|known| known.server == claimant.server) {
                    all.push(claimant);
                }
            }
        }
        self.held.retain(|address, _| wanted.contains_key(address.as_str()));
        let mut second = Vec::new();
        for (address, all) in wanted {
            let claim = self.settle(address, &all, wave);
            if let Some(owner) = &claim.owner {
                let late = all.iter().filter(|claimant| claimant.server != owner && !claimant.second.contains(address));
                second.extend(late.map(|claimant| (claimant.server.clone(), address.to_owned())));
            }
        }
        second
    }

    fn settle(&mut self, address: &str, all: &[&Claimant<'_>], wave: u64) -> &Claim {
        // Who had to stand back before stands back again.
        let first: Vec<&ServerName> =
            all.iter().filter(|claimant| !claimant.second.contains(address)).map(|claimant| claimant.server).collect();
        let only = match first.as_slice() {
            [only] => Some((*only).clone()),
            _ => None,
        };
        let claim = self.held.entry(address.to_owned()).or_insert_with(|| Claim { owner: only.clone(), since: wave });
        let gone = claim.owner.as_ref().is_some_and(|owner| !all.iter().any(|claimant| claimant.server == owner));
        let at_once = claim.since == wave && first.len() > 1;
        if gone || at_once {
            *claim = Claim { owner: only, since: wave };
        }
        claim
    }

    /// The same where only some servers exist, each with its addresses: what belonged to one that does not is anybody's who
    /// alone has it.
    pub(crate) fn among<'a>(&self, servers: impl Iterator<Item = (&'a ServerName, Vec<String>)>) -> Claims {
        let mut wanted: BTreeMap<String, BTreeSet<&ServerName>> = BTreeMap::new();
        for (server, addresses) in servers {
            for address in addresses {
                wanted.entry(address).or_default().insert(server);
            }
        }
        let claim = |(address, servers): (String, BTreeSet<&ServerName>)| {
            let whole = self.held.get(&address);
            let only = || servers.first().filter(|_| servers.len() == 1).map(|server| (*server).clone());
            let owner = whole.and_then(|claim| claim.owner.clone()).filter(|owner| servers.contains(owner));
            let since = whole.map_or(u64::MAX, |claim| claim.since);
            (address, Claim { owner: owner.or_else(only), since })
        };
        Claims { held: wanted.into_iter().map(claim).collect() }
    }

    /// Whether this server has the address, and not only one of the same spelling.
    pub(crate) fn is_of(&self, address: &str, server: &ServerName) -> bool {
        self.held.get(address).is_some_and(|claim| claim.owner.as_ref() == Some(server))
    }

    /// When it came, for comparing two that are not spelled alike.
    pub(crate) fn since(&self, address: &str) -> u64 {
        self.held.get(address).map_or(u64::MAX, |claim| claim.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World {
        claims: Claims,
        second: BTreeMap<ServerName, BTreeSet<String>>,
    }

    impl World {
        fn new() -> Self {
            World { claims: Claims::default(), second: BTreeMap::new() }
        }

        /// Who has the address after these servers have said that they do.
        fn say(&mut self, servers: &[&str], wave: u64) -> Option<String> {
            let names: Vec<ServerName> = servers.iter().map(|name| ServerName::new(*name).unwrap()).collect();
            let none = BTreeSet::new();
            let claimants: Vec<Claimant<'_>> = names
                .iter()
                .map(|server| Claimant {
                    server,
                    addresses: vec!["x://a".to_owned()],
                    second: self.second.get(server).unwrap_or(&none),
                })
                .collect();
            let late = self.claims.update(&claimants, wave);
            let owner = names.iter().find(|name| self.claims.is_of("x://a", name)).map(ToString::to_string);
            for (server, address) in late {
                self.second.entry(server).or_default().insert(address);
            }
            owner
        }
    }

    #[test]
    fn the_first_has_it_whatever_they_are_called() {
        let mut world = World::new();
        assert_eq!(world.say(&["zulu"], 1).as_deref(), Some("zulu"));
        assert_eq!(world.say(&["alpha", "zulu"], 2).as_deref(), Some("zulu"));
        assert_eq!(world.say(&["alpha", "zulu"], 3).as_deref(), Some("zulu"));
    }

    #[test]
    fn two_that_come_at_once_both_go_without() {
        let mut world = World::new();
        assert_eq!(world.say(&["alpha"], 1).as_deref(), Some("alpha"));
        assert_eq!(world.say(&["alpha", "zulu"], 1), None);
        assert_eq!(world.say(&["alpha", "zulu"], 2), None);
    }

    #[test]
    fn the_next_start_knows_who_came_second() {
        let mut world = World::new();
        world.say(&["zulu"], 1);
        world.say(&["alpha", "zulu"], 2);
        let mut next = World { second: world.second, ..World::new() };
        assert_eq!(next.say(&["alpha", "zulu"], 1).as_deref(), Some("zulu"));
    }

    #[test]
    fn what_nobody_has_any_more_can_be_had_by_another() {
        let mut world = World::new();
        world.say(&["zulu"], 1);
        assert_eq!(world.say(&["alpha"], 2).as_deref(), Some("alpha"));
    }
}
