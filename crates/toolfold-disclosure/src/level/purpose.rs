//! What a call is for, as far as the name of its tool says: whoever sends something sends it to somebody, and whoever plans
//! something plans when it begins and when it ends. No schema says that a call is little without it.

use std::collections::HashSet;

use toolfold_core::words;

use crate::schema::{Parameter, types};

/// Words of the name of a tool that brings something to somebody, and of one that gives something a time. To whom a reply goes
/// is known.
const SENDS: [&str; 7] = ["send", "share", "forward", "invite", "notify", "draft", "email"];
const PLANS: [&str; 8] = ["create", "schedule", "book", "plan", "add", "insert", "reserve", "new"];
/// Words of a name that make it something else: what was sent is looked at, or taken back.
const ELSE: [&str; 19] = [
    "cancel", "check", "count", "delete", "edit", "fetch", "find", "get", "link", "links", "list", "read", "remove",
    "reply", "search", "show", "unshare", "update", "view",
];
/// Somebody, and what stands for somebody where nobody is named.
const SOMEBODY: [&str; 8] =
    ["addressee", "addressees", "attendee", "attendees", "invitee", "invitees", "recipient", "recipients"];
const STANDS_FOR: [&str; 7] = ["channel", "chat", "conversation", "phone", "email", "emails", "mobile"];
const OF_IT: [&str; 6] = ["id", "ids", "name", "number", "address", "addresses"];
/// Words beside them that make it somebody else, or none.
const BESIDE: [&str; 12] =
    ["cc", "bcc", "from", "sender", "exclude", "optional", "count", "date", "time", "reply", "type", "max"];
const BEGINS: [&str; 3] = ["start", "starts", "begin"];
const ENDS: [&str; 2] = ["end", "ends"];
/// What is beside "start" and "end" where they are times.
const TIMES: [&str; 6] = ["time", "at", "on", "datetime", "date", "timestamp"];

/// Parameters whose names are read.
const MOST_READ: usize = 1_000;

/// What the call of a tool needs whatever its schema says, in one list of parameters.
#[derive(Debug, Default)]
pub(super) struct Purpose {
    sends: bool,
    /// No parameter is somebody, so that what stands for somebody will do.
    nobody: bool,
    /// The words beside "start" and "end", where both are there.
    when: Option<Vec<String>>,
    /// There is a parameter `to`.
    to: bool,
}

impl Purpose {
    /// `about` are the words of the tool's name.
    pub(super) fn of(about: &[String], list: &[Parameter<'_>]) -> Purpose {
        let list = &list[..list.len().min(MOST_READ)];
        let has = |some: &[&str]| about.iter().any(|word| some.contains(&word.as_str()));
        let names = || list.iter().map(|parameter| words::split(parameter.name));
        let sends = has(&SENDS) && !has(&ELSE);
        let plans = has(&PLANS) && !has(&ELSE);
        let when = plans.then(|| {
            let ends: HashSet<Vec<String>> = names().filter_map(|name| beside(&name, &ENDS)).collect();
            let is_time = |begin: &Vec<String>| begin.iter().all(|word| TIMES.contains(&word.as_str()));
            let mut begins = names().filter_map(|name| beside(&name, &BEGINS));
            begins.find(|begin| is_time(begin) && ends.contains(begin))
        });
        Purpose {
            sends,
            nobody: sends && !names().any(|name| is_somebody(&name)),
            when: when.flatten(),
            to: list.iter().any(|parameter| parameter.name.eq_ignore_ascii_case("to")),
        }
    }

    /// The same of an object among the arguments: nothing in it stands for somebody, and nobody is named twice.
    pub(super) fn inside(self, addressed: bool) -> Purpose {
        Purpose { sends: self.sends && !addressed, nobody: false, ..self }
    }

    /// How much a parameter is needed that the call is little without, as `order` counts it.
    pub(super) fn needs(&self, name: &[String]) -> Option<u8> {
        if self.sends && (is_somebody(name) || self.nobody && stands_for(name)) {
            return Some(1);
        }
        self.when.as_ref().is_some_and(|when| is_when(name, when)).then_some(2)
    }

    /// Whether it says whom something is from, and is no plain text: whoever calls is known, and seldom somebody else.
    pub(super) fn is_sender(&self, parameter: &Parameter<'_>) -> bool {
        let plain = ["string", "integer", "number"];
        let sender = ["from", "sender"].iter().any(|name| parameter.name.eq_ignore_ascii_case(name));
        sender && !self.to && !types(parameter.schema).iter().any(|name| plain.contains(name))
    }
}

fn is_somebody(name: &[String]) -> bool {
    let is = |some: &[&str], word: &String| some.contains(&word.as_str());
    let to = name.first().is_some_and(|first| first == "to") && name.len() <= 2;
    let named = name.len() <= 3 && name.iter().any(|word| is(&SOMEBODY, word));
    (to || named) && !name.iter().any(|word| is(&BESIDE, word))
}

/// `channel`, `phone_number`: where something goes that goes to nobody by name.
fn stands_for(name: &[String]) -> bool {
    match name {
        [only] => STANDS_FOR.contains(&only.as_str()),
        [first, second] => STANDS_FOR.contains(&first.as_str()) && OF_IT.contains(&second.as_str()),
        _ => false,
    }
}

fn is_when(name: &[String], when: &[String]) -> bool {
    [beside(name, &BEGINS), beside(name, &ENDS)].iter().flatten().any(|words| words == when)
}

/// The other words of a name that has one of these.
fn beside(name: &[String], some: &[&str]) -> Option<Vec<String>> {
    let place = name.iter().position(|word| some.contains(&word.as_str()))?;
    Some(name.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, word)| word.clone()).collect())
}
