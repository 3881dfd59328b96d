//! A server as several people see it, each with a login of their own: further ways to the same server, made when they are
//! first needed. And how a person comes to a login: a command, or a client that can be asked to open an address.
//!
//! What a reader would get wrong: what a server offers is what it says to whoever runs the program. The others call the
//! same tools as themselves; their connections say nothing of states and lists.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::mpsc;
use toolfold_config::{Server, Start};
use toolfold_core::Principal;
use toolfold_wire::{Object, Raw, raw};

use crate::call::{Call, CallError};
use crate::house::House;
use crate::oauth::{Account, Need, NoVisitor, Unvisited, Visit};
use crate::question::put_question;
use crate::shared::lock;
use crate::upstream::{Report, Upstream};

/// People with a connection of their own to one server. Whoever has not used theirs for the longest goes first.
const MOST: usize = 256;
/// How long somebody may take, once they have said that they will log in.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// The ways to a server that other people have.
#[derive(Clone)]
pub(crate) struct Others {
    reports: mpsc::UnboundedSender<Report>,
    house: House,
    ways: Arc<Mutex<HashMap<Principal, (Upstream, Instant)>>>,
}

impl Others {
    pub(crate) fn new(reports: mpsc::UnboundedSender<Report>, house: &House) -> Self {
        Others { reports, house: house.clone(), ways: Arc::default() }
    }

    /// All of them, for who ends them.
    pub(crate) fn take(&self) -> Vec<Upstream> {
        lock(&self.ways).drain().map(|(_, (upstream, _))| upstream).collect()
    }
}

impl Upstream {
    /// The way of this principal to the server: their own, where logins are each one's own.
    pub async fn of(&self, principal: &Principal) -> Upstream {
        let Some(account) = &self.shared.account else { return self.clone() };
        if principal.is_owner() || !account.is_personal().await {
            return self.clone();
        }
        let mut ways = lock(&self.others.ways);
        if let Some((upstream, used)) = ways.get_mut(principal) {
            *used = Instant::now();
            return upstream.clone();
        }
        if ways.len() >= MOST
            && let Some(oldest) = ways.iter().min_by_key(|(_, (_, used))| *used).map(|(who, _)| who.clone())
        {
            ways.remove(&oldest);
        }
        let config = Arc::new(Server { start: Start::Lazy, ..(*self.shared.config).clone() });
        let Others { reports, house, .. } = &self.others;
        let none = Others::new(reports.clone(), house);
        // What is listed is known: a way that nothing is known of would be tried before anybody wants it.
        let whose = (principal, Some(self.instance()));
        let upstream = Upstream::spawn_for(whose, config, self.manifest(), (reports.clone(), house), none);
        ways.insert(principal.clone(), (upstream.clone(), Instant::now()));
        upstream
    }

    /// What a person has to do before the server can be used, as far as is known.
    pub fn need(&self) -> Option<Need> {
        self.shared.account.as_ref()?.need()
    }

    /// Whether the server has wanted a login, or more of one, that nobody has made yet.
    pub async fn login_wanted(&self) -> bool {
        match &self.shared.account {
            Some(account) => account.is_wanted().await,
            None => false,
        }
    }

    /// Begins a login of a person.
    pub async fn log_in(&self) -> Result<Visit, Unvisited> {
        self.account()?.visit().await
    }

    /// Ends a login: whether there was one.
    pub async fn log_out(&self) -> Result<bool, Unvisited> {
        self.account()?.log_out().await.map_err(|error| Unvisited::Failed(error.to_string()))
    }

    /// Looks whether somebody has logged in or out in another process.
    pub async fn look_for_login(&self) {
        let others: Vec<Upstream> = lock(&self.others.ways).values().map(|(upstream, _)| upstream.clone()).collect();
        for upstream in others.iter().chain([self]) {
            if let Some(account) = &upstream.shared.account {
                account.look_again().await;
            }
        }
    }

    fn account(&self) -> Result<&Arc<Account>, Unvisited> {
        let name = self.name();
        let no = |why: String| Unvisited::NotForPeople(why);
        let account = self.shared.account.as_ref().ok_or_else(|| {
            no(format!("{name} takes no login: it is a program, has an Authorization header, or says auth = \"none\""))
        })?;
        match account.needs_person() {
            true => Ok(account),
            false => Err(no(format!("Toolfold logs in to {name} by itself: nobody has to"))),
        }
    }

    /// Whether whoever calls can be asked to log in: the person at this machine, by a client that can open an address.
    pub(crate) fn can_ask(&self, call: &Call) -> bool {
        let opens = |capabilities: &Raw| {
            Object::parse(capabilities)?.object("elicitation").filter(|elicitation| elicitation.contains("url"))
        };
        let person = self.shared.account.as_ref().is_some_and(|account| account.needs_person());
        person && call.principal == Principal::local() && call.client_capabilities.as_ref().and_then(opens).is_some()
    }

    /// Asks the client to have its person log in, and waits until they have.
    pub(crate) async fn ask_to_log_in(&self, call: &Call, need: Need) -> Result<(), CallError> {
        let refused = || CallError::Login(need.clone());
        let mut visit = self.log_in().await.map_err(|error| {
            tracing::warn!(server = %self.name(), "no login can be offered: {error}");
            refused()
        })?;
        let id = format!("toolfold-login-{}-{}", self.name(), self.instance());
        let question = json!({
            "mode": "url",
            "elicitationId": id,
            "url": visit.url,
            "message": format!("{} needs a login before this can be done. Toolfold keeps it; the model does not see it.", self.name()),
        });
        let answer = put_question(&*call.peer, "elicitation/create", Some(raw(&question))).await;
        let answer = answer.map_err(|_| refused())?;
        let agreed = Object::parse(&answer).and_then(|answer| answer.string("action")).as_deref() == Some("accept");
        if !agreed {
            return Err(refused());
        }
        let late = |_| Err(NoVisitor::Late { minutes: LONGEST.as_secs() / 60 });
        let done = tokio::time::timeout(LONGEST, visit.done()).await.unwrap_or_else(late);
        call.peer.notify("notifications/elicitation/complete", Some(raw(&json!({ "elicitationId": id }))));
        done.map_err(|why| {
            tracing::warn!(server = %self.name(), "the login did not work: {why}");
            refused()
        })
    }
}
