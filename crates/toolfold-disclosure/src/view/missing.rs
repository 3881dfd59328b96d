//! What is configured and not there, as a view says it.

use toolfold_catalog::SERVERS;
use toolfold_core::{Absence, Absent, words};

use super::{View, begins_with};

/// Servers that are not there and are named one by one.
const FEW_ABSENT: usize = 3;

impl<'a> View<'a> {
    /// Every missing server.
    pub fn absent(&self) -> &'a [Absent] {
        self.absent
    }

    /// The missing server that a name begins with, or is.
    pub fn absent_of(&self, spelling: &str) -> Option<&Absent> {
        let spelling = spelling.trim();
        let fits = |absent: &&Absent| {
            spelling.eq_ignore_ascii_case(absent.server.as_str()) || begins_with(spelling, &absent.server)
        };
        // The longest: of `a` and `a__b` both may fit.
        self.absent.iter().filter(fits).max_by_key(|absent| absent.server.as_str().len())
    }

    /// Whether a name begins with that of a server that is there: what is missing has nothing to do with it.
    pub fn is_of_present(&self, name: &str) -> bool {
        self.servers().any(|server| begins_with(name, server))
    }

    /// The missing server whose node a path leads to.
    pub fn absent_at(&self, path: &[String]) -> Option<&Absent> {
        let name = match path {
            [servers, name, ..] if servers.eq_ignore_ascii_case(SERVERS) => name,
            [name, ..] => name,
            [] => return None,
        };
        self.absent_of(name)
    }

    /// What is missing and why, in one line; nothing where nothing is.
    pub fn what_is_missing(&self) -> Option<String> {
        let said = self.missing_lines();
        (!said.is_empty()).then(|| said.join(" "))
    }

    /// The same, a sentence each: people read lines.
    pub fn missing_lines(&self) -> Vec<String> {
        let (starting, mut failing): (Vec<&Absent>, Vec<&Absent>) =
            self.absent.iter().partition(|absent| absent.state == Absence::Starting);
        // Only a few have room for their reason: the one that is asked for is among them.
        let asked = words::split(self.about);
        let is_named = |absent: &&Absent| words::split(absent.server.as_str()).iter().any(|word| asked.contains(word));
        failing.sort_by_cached_key(|absent| !is_named(absent));
        let mut said: Vec<String> = failing.iter().take(FEW_ABSENT).map(|absent| absent.said()).collect();
        if failing.len() > FEW_ABSENT {
            let others: Vec<&str> =
                failing.iter().skip(FEW_ABSENT).take(2 * FEW_ABSENT).map(|absent| absent.server.as_str()).collect();
            let more = if failing.len() > 3 * FEW_ABSENT { ", …" } else { "" };
            let left = failing.len() - FEW_ABSENT;
            let are = if left == 1 { "is" } else { "are" };
            said.push(format!("{left} more {are} not running: {}{more}", others.join(", ")));
        }
        match starting.as_slice() {
            [] => {}
            [only] => said.push(only.said()),
            several => {
                let all = self.absent.len() + self.tools_by_server().count();
                said.push(format!("{} of {all} servers are still starting", several.len()));
            }
        }
        let ended = |said: String| if said.ends_with(['…', '?', '!']) { said } else { format!("{said}.") };
        said.into_iter().map(ended).collect()
    }
}
