//! Somebody's account at a server: the login there is, and what is missing for one. Signs every request, hears when the
//! server would not have it, and decides whether there is something better to say.
//!
//! What a reader would get wrong: nothing of this is asked of the disk while a token is good. Where there is none, the
//! vault is looked at with every request, and the server is not: a login that another process made is seen at once.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hyper::http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;
use toolfold_config::{AuthMode, LoginAs, OAuthSettings, Server};
use toolfold_core::Principal;
use toolfold_http::{Asked, Challenge, NoCredentials, Reaction};
use toolfold_oauth::{Demand, Login, Proofs, union};
use url::Url;

use super::failed::Unsigned;
use super::need::Need;
use super::plan::place_of;
use super::vault::{KeptLogin, LoginOwner, NotKept, Record, Vault};
use super::visit::Visit;
use crate::clock::seconds_now;
use crate::shared::{lock, login_of};

/// After a login that needs no person was refused, it is not tried again for so long.
const REFUSED_FOR: Duration = Duration::from_secs(60);
/// Of writing down what a server wants, while others change what is kept. It is a convenience.
const MOST_TRIES: usize = 3;

pub(crate) struct Account {
    pub(super) server: Arc<Server>,
    pub(super) url: Url,
    pub(super) whose: LoginOwner,
    pub(super) vault: Arc<dyn Vault>,
    pub(super) settings: Arc<OAuthSettings>,
    pub(super) now: Mutex<Now>,
    /// Held by whoever changes the login: one at a time.
    pub(super) one: tokio::sync::Mutex<()>,
    pub(super) visit: tokio::sync::Mutex<Option<Visit>>,
    /// What must be heard to its end, whoever waits for it.
    pub(super) tasks: TaskTracker,
    changed: Notify,
}

#[derive(Default)]
pub(super) struct Now {
    pub(super) kept: Option<KeptLogin>,
    loaded: bool,
    pub(super) need: Option<Need>,
    nonce: Option<String>,
    /// The login that the server will not have any more.
    over: Option<i64>,
    /// When a login without a person was refused, and why.
    pub(super) refused: Option<(Instant, String)>,
}

impl Now {
    fn login(&self) -> Option<&Login> {
        self.kept.as_ref()?.record.login.as_ref()
    }
}

impl Account {
    /// `None` where there is nothing to log in to: a program, a server with a header that speaks for us, one that the
    /// configuration says takes no login.
    pub(crate) fn of(
        server: &Arc<Server>,
        principal: &str,
        vault: &Arc<dyn Vault>,
        settings: &Arc<OAuthSettings>,
    ) -> Option<Arc<Account>> {
        let (url, headers) = place_of(server)?;
        let spoken_for = headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        match server.auth.mode {
            AuthMode::None => return None,
            AuthMode::Auto if spoken_for => return None,
            AuthMode::Auto | AuthMode::OAuth => {}
        }
        let parsed = Url::parse(url).ok()?;
        // What needs no person is nobody's own.
        let personal = server.auth.who == LoginAs::Person && !server.auth.shared;
        let principal = if personal { principal } else { "" };
        let whose = LoginOwner { server: server.name.clone(), url: url.clone(), principal: principal.to_owned() };
        Some(Arc::new(Account {
            server: server.clone(),
            url: parsed,
            whose,
            vault: vault.clone(),
            settings: settings.clone(),
            now: Mutex::default(),
            one: tokio::sync::Mutex::default(),
            visit: tokio::sync::Mutex::default(),
            tasks: TaskTracker::new(),
            changed: Notify::new(),
        }))
    }

    /// Whether each principal has to have a login of their own.
    pub(crate) async fn is_personal(&self) -> bool {
        if self.whose.principal.is_empty() {
            return false;
        }
        let _ = self.load(false).await;
        let now = lock(&self.now);
        self.server.auth.mode == AuthMode::OAuth || now.kept.is_some() || now.need.is_some()
    }

    /// Whether the server has wanted something that nobody has made yet: it is kept with the login.
    pub(crate) async fn is_wanted(&self) -> bool {
        let _ = self.load(true).await;
        self.record().demand.is_some()
    }

    /// Whether it is this principal's, or everybody's.
    pub(crate) fn is_of(&self, principal: &Principal) -> bool {
        self.whose.principal.is_empty() || self.whose.principal == login_of(principal)
    }

    pub(crate) fn needs_person(&self) -> bool {
        self.server.auth.who == LoginAs::Person
    }

    /// What a person has to do before this server can be used, as far as is known.
    pub(crate) fn need(&self) -> Option<Need> {
        lock(&self.now).need.clone()
    }

    pub(crate) fn has_login(&self) -> bool {
        self.version().is_some()
    }

    /// Whether there is a login that nobody has refused yet.
    pub(crate) fn is_logged_in(&self) -> bool {
        self.has_login() && self.need().is_none()
    }

    /// Returns when nothing is being renewed any more: a process that ends in the middle of it loses the login.
    pub(crate) async fn settled(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Returns when somebody has logged in or out.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Takes the tokens out of a text that is meant for a log or a person.
    pub(crate) fn blank(&self, text: String) -> String {
        let now = lock(&self.now);
        let Some(login) = now.login() else { return text };
        text.replace(login.tokens.access.expose(), "…")
    }

    /// Looks whether somebody has logged in or out elsewhere.
    pub(crate) async fn look_again(&self) {
        let before = self.version();
        let _ = self.load(true).await;
        let mut now = lock(&self.now);
        now.refused = None;
        if now.login().is_some() {
            now.need = None;
        } else if before.is_some() && self.needs_person() {
            now.need = Some(Need::login(self.logged_out()));
        }
        drop(now);
        self.changed.notify_one();
    }

    pub(super) fn version(&self) -> Option<i64> {
        lock(&self.now).kept.as_ref().filter(|kept| kept.record.login.is_some()).map(|kept| kept.version)
    }

    pub(super) fn record(&self) -> Record {
        lock(&self.now).kept.as_ref().map(|kept| kept.record.clone()).unwrap_or_default()
    }

    /// Reads what is kept, once, or anew.
    pub(super) async fn load(&self, anew: bool) -> Result<(), NotKept> {
        if !anew && lock(&self.now).loaded {
            return Ok(());
        }
        let kept = self.vault.load(&self.whose).await?;
        let mut now = lock(&self.now);
        now.loaded = true;
        now.kept = kept;
        Ok(())
    }

    /// Keeps a new login, in place of whatever there was: nothing is missing any more.
    pub(super) async fn keep(&self, record: Record) {
        let saved = self.vault.save(&self.whose, &record).await;
        self.use_from_now_on(record, saved);
        self.complete();
    }

    pub(super) fn complete(&self) {
        let mut now = lock(&self.now);
        (now.need, now.refused) = (None, None);
        drop(now);
        self.changed.notify_one();
    }

    /// Writes something down in place of what is known. Not where somebody has logged in or out since then: what is theirs
    /// stands, and is used from now on.
    pub(super) async fn replace(&self, known: Option<i64>, record: Record) -> bool {
        let saved = match self.vault.replace(&self.whose, known, &record).await {
            Ok(Some(version)) => Ok(version),
            Ok(None) => {
                let _ = self.load(true).await;
                return false;
            }
            Err(error) => Err(error),
        };
        self.use_from_now_on(record, saved);
        true
    }

    /// What cannot be kept is at least not wasted.
    fn use_from_now_on(&self, record: Record, saved: Result<i64, NotKept>) {
        let mut now = lock(&self.now);
        let version = saved.unwrap_or_else(|error| {
            let server = &self.whose.server;
            tracing::error!(%server, "the login cannot be kept, and will be lost with this process: {error}");
            now.kept.as_ref().map_or(0, |kept| kept.version)
        });
        now.kept = Some(KeptLogin { version, record });
    }

    /// Whether the header is the one that the present login would send.
    fn is_current(&self, sent: Option<&HeaderValue>) -> bool {
        let now = lock(&self.now);
        let token = now.login().map(|login| login.tokens.access.expose());
        let sent =
            sent.and_then(|sent| sent.to_str().ok()).and_then(|sent| sent.split_once(' ')).map(|(_, token)| token);
        sent == token
    }

    pub(super) async fn sign(self: &Arc<Self>, asked: Asked<'_>, headers: &mut HeaderMap) -> Result<(), NoCredentials> {
        let unkept = |error: NotKept| NoCredentials(error.to_string());
        let missing = matches!(self.need(), Some(Need::Login { .. }));
        self.load(missing).await.map_err(unkept)?;
        if missing && self.version().is_some() && self.version() != lock(&self.now).over {
            // Somebody else has made one.
            lock(&self.now).need = None;
        }
        if let Some(why) = self.refused() {
            return Err(NoCredentials(why));
        }
        self.renew_if_stale().await?;
        if !self.needs_person() && lock(&self.now).login().is_none_or(|login| login.is_dead(seconds_now())) {
            let known = lock(&self.now).kept.is_some();
            // Without having been refused nobody knows that a login is wanted, unless the configuration says so.
            if known || self.server.auth.mode == AuthMode::OAuth {
                self.acquire(self.record().demand.unwrap_or_default()).await?;
            }
        }
        let state = lock(&self.now);
        if let Some(need @ Need::Login { .. }) = &state.need {
            return Err(NoCredentials(need.why().to_owned()));
        }
        let Some(login) = state.login() else { return Ok(()) };
        write(login, state.nonce.as_deref(), asked, headers).map_err(|why| NoCredentials(why.to_string()))
    }

    pub(super) async fn hear(self: &Arc<Self>, challenge: &Challenge) -> Reaction {
        let demand = Demand::read(challenge.schemes.iter().map(String::as_str));
        if challenge.nonce.is_some() {
            lock(&self.now).nonce = challenge.nonce.clone();
            if demand.is_for_nonce() {
                return Reaction::Proven;
            }
        }
        if challenge.status == 403 && !demand.is_for_more() {
            return Reaction::GiveUp;
        }
        // Somebody may have logged in, or renewed the login, while this one was on its way.
        if self.is_current(challenge.sent.as_ref()) {
            let _ = self.load(true).await;
        }
        if self.version().is_some() && !self.is_current(challenge.sent.as_ref()) {
            return Reaction::Again;
        }
        match challenge.status {
            403 => self.wants_more(demand).await,
            _ => self.wants_other(demand).await,
        }
    }

    /// The token is not good any more, or there is none.
    async fn wants_other(self: &Arc<Self>, demand: Demand) -> Reaction {
        if lock(&self.now).login().is_some_and(Login::can_refresh) {
            match self.renew().await {
                Ok(()) if self.version().is_some() => return Reaction::Again,
                Ok(()) => {}
                Err(why) => {
                    tracing::warn!(server = %self.whose.server, "the login could not be renewed: {why}");
                    return Reaction::GiveUp;
                }
            }
        }
        if !self.needs_person() {
            return if self.acquire(demand).await.is_ok() { Reaction::Again } else { Reaction::GiveUp };
        }
        self.want(demand, Need::login(self.logged_out())).await;
        let version = self.version();
        lock(&self.now).over = version;
        Reaction::GiveUp
    }

    /// The token is good and not for this.
    async fn wants_more(self: &Arc<Self>, demand: Demand) -> Reaction {
        let requested = lock(&self.now).login().map(|login| login.requested.clone()).unwrap_or_default();
        if union(&requested, &demand.scopes) == requested {
            // Everything it wants was asked for already: to ask again changes nothing.
            return Reaction::GiveUp;
        }
        if !self.needs_person() {
            return if self.acquire(demand).await.is_ok() { Reaction::Again } else { Reaction::GiveUp };
        }
        let name = &self.whose.server;
        let why = format!(
            "the server {name} wants more rights for this ({}) than its login has: run `toolfold login {name}`",
            demand.scopes.join(", ")
        );
        self.want(demand, Need::More { why }).await;
        Reaction::GiveUp
    }

    /// Remembers what the server wants, for whoever makes the next login, in this process or another.
    async fn want(&self, demand: Demand, need: Need) {
        let _one = self.one.lock().await;
        for _ in 0..MOST_TRIES {
            let Record { login, demand: known, used } = self.record();
            let before = known.clone().unwrap_or_default();
            let scopes = union(&before.scopes, &demand.scopes);
            let wanted = Demand { scopes, dpop: before.dpop || demand.dpop, ..demand.clone() };
            if known.as_ref() == Some(&wanted) {
                break;
            }
            // Under the lease, as whatever changes what is kept: another process may be renewing the login right now.
            let version = lock(&self.now).kept.as_ref().map(|kept| kept.version);
            let ours = match version {
                Some(version) => self.lease(version).await.unwrap_or(false),
                None => true,
            };
            if ours && self.replace(version, Record { login, demand: Some(wanted), used }).await {
                break;
            }
        }
        lock(&self.now).need = Some(need);
    }

    pub(super) fn logged_out(&self) -> String {
        let name = &self.whose.server;
        let who = match self.whose.principal.as_str() {
            "" | "local" => String::new(),
            other => format!(" --as {:?}", other.strip_prefix("named ").unwrap_or(other)),
        };
        format!("the server {name} needs a login: run `toolfold login {name}{who}`")
    }

    /// Why no login without a person is tried right now.
    fn refused(&self) -> Option<String> {
        let now = lock(&self.now);
        now.refused.as_ref().filter(|(at, _)| at.elapsed() < REFUSED_FOR).map(|(_, why)| why.clone())
    }
}

fn write(login: &Login, nonce: Option<&str>, asked: Asked<'_>, headers: &mut HeaderMap) -> Result<(), Unsigned> {
    let (token, key) = (&login.tokens.access, login.key());
    let scheme = if key.is_some() { "DPoP" } else { "Bearer" };
    if let Some(key) = key {
        let url = asked.uri.to_string();
        let proof = Proofs { key: &key, nonce }.of(asked.method.as_str(), &url, Some(token), seconds_now())?;
        headers.insert("dpop", sensitive(&proof)?);
    }
    headers.insert(AUTHORIZATION, sensitive(&format!("{scheme} {}", token.expose()))?);
    Ok(())
}

fn sensitive(text: &str) -> Result<HeaderValue, Unsigned> {
    let mut value = HeaderValue::from_str(text).map_err(|_| Unsigned::Header)?;
    value.set_sensitive(true);
    Ok(value)
}
