//! Logins of several people at one server, and of somebody whose client can be asked to open an address.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolfold_config::{Auth, AuthMode, Server, Start, Transport};
use toolfold_core::Principal;
use toolfold_test::plain_http;
use toolfold_test::provider::{Provider, Vice};
use toolfold_upstream::{
    Call, CallError, House, KeptLogin, Leased, LoginOwner, MemoryVault, Need, NoVisitor, NotKept, Record, State, Vault,
};
use toolfold_wire::{BoxFuture, Object, Peer, Raw, RpcError, raw};

use crate::kit::{self, Subject, patiently};

fn server(provider: &Provider, auth: Auth) -> Server {
    let transport = Transport::Http { url: provider.url.clone(), headers: BTreeMap::new() };
    Server { auth, ..kit::config(transport, Start::Eager) }
}

fn call(principal: &Principal) -> Call {
    Call { principal: principal.clone(), ..kit::call("tools/call", json!({"name": "whoami", "arguments": {}})) }
}

/// Visits a login page as a browser does, up to the end.
async fn visit(url: &str) -> String {
    plain_http().get(url).send().await.unwrap().text().await.unwrap()
}

async fn log_in(subject: &Subject, principal: &Principal) {
    let mut begun = subject.upstream.of(principal).await.log_in().await.unwrap();
    let shown = visit(&begun.url).await;
    assert!(shown.starts_with("Logged in to fake"), "{shown}");
    begun.done().await.unwrap();
}

async fn ask(subject: &Subject, principal: &Principal) -> Result<Raw, CallError> {
    patiently("an answer", subject.upstream.of(principal).await.request(call(principal))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn each_ones_login_is_their_own() {
    let provider = Provider::start(Vice::None, 3600).await.unwrap();
    let mut subject = Subject::new(server(&provider, Auth::default()));
    let needs = subject.until(|state| matches!(state, State::NeedsLogin { .. })).await;
    assert!(matches!(needs, State::NeedsLogin { why } if why.contains("toolfold login fake")));
    let (me, alice) = (Principal::local(), Principal::named("alice", Vec::new()));
    log_in(&subject, &me).await;
    ask(&subject, &me).await.unwrap();
    let refused = ask(&subject, &alice).await.unwrap_err();
    assert!(
        matches!(&refused, CallError::Login(Need::Login { why }) if why.contains("--as \"alice\"")),
        "mine is not hers: {refused}"
    );
    log_in(&subject, &alice).await;
    ask(&subject, &alice).await.unwrap();
    ask(&subject, &me).await.unwrap();
    ask(&subject, &Principal::token()).await.unwrap();
    let callers = provider.callers();
    let [mine, hers, mine_again, by_token] = &callers[..] else { panic!("{callers:?}") };
    assert!(mine == mine_again && mine == by_token && mine != hers, "{callers:?}");
    assert!(subject.upstream.of(&alice).await.log_out().await.unwrap());
    assert!(matches!(ask(&subject, &alice).await, Err(CallError::Login(_))));
    ask(&subject, &me).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_login_is_everybodys_where_that_is_said() {
    let provider = Provider::start(Vice::None, 3600).await.unwrap();
    let auth = Auth { mode: AuthMode::OAuth, shared: true, ..Auth::default() };
    let mut subject = Subject::new(server(&provider, auth));
    subject.until(|state| matches!(state, State::NeedsLogin { .. })).await;
    log_in(&subject, &Principal::local()).await;
    ask(&subject, &Principal::named("alice", Vec::new())).await.unwrap();
    ask(&subject, &Principal::local()).await.unwrap();
    let callers = provider.callers();
    assert!(callers.len() == 2 && callers[0] == callers[1], "{callers:?}");
}

/// A client that opens every address it is asked to open, or none.
struct Browser {
    willing: bool,
    asked: AtomicUsize,
}

impl Peer for Browser {
    fn notify(&self, _: &str, _: Option<Raw>) {}

    fn ask<'a>(&'a self, method: &'a str, params: Option<Raw>) -> BoxFuture<'a, Result<Raw, RpcError>> {
        Box::pin(async move {
            assert_eq!(method, "elicitation/create");
            self.asked.fetch_add(1, Ordering::Relaxed);
            let params: Value = serde_json::from_str(params.unwrap().get()).unwrap();
            assert_eq!(params["mode"], "url");
            if self.willing {
                visit(params["url"].as_str().unwrap()).await;
            }
            Ok(raw(&json!({"action": if self.willing { "accept" } else { "decline" }})))
        })
    }
}

fn browser(willing: bool) -> Arc<Browser> {
    Arc::new(Browser { willing, asked: AtomicUsize::new(0) })
}

fn with(browser: &Arc<Browser>, principal: &Principal) -> Call {
    let can = raw(&json!({"elicitation": {"url": {}}}));
    Call { peer: browser.clone(), client_capabilities: Some(can), ..call(principal) }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_sits_here_is_asked_by_their_client_and_the_call_goes_on() {
    let provider = Provider::start(Vice::None, 3600).await.unwrap();
    let mut subject = Subject::new(server(&provider, Auth::default()));
    subject.until(|state| matches!(state, State::NeedsLogin { .. })).await;
    let no = browser(false);
    let refused = subject.upstream.request(with(&no, &Principal::local())).await;
    assert!(matches!(refused, Err(CallError::Login(_))), "{refused:?}");
    assert_eq!(no.asked.load(Ordering::Relaxed), 1);
    let yes = browser(true);
    // Somebody elsewhere is not asked to log in on this machine.
    let token = subject.upstream.request(with(&yes, &Principal::token())).await;
    assert!(matches!(token, Err(CallError::Login(_))), "{token:?}");
    assert_eq!(yes.asked.load(Ordering::Relaxed), 0);
    let answer = patiently("an answer", subject.upstream.request(with(&yes, &Principal::local()))).await.unwrap();
    assert!(Object::parse(&answer).is_some());
    assert_eq!((yes.asked.load(Ordering::Relaxed), provider.counts().calls), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_way_back_that_does_not_belong_to_a_login_ends_nothing() {
    let provider = Provider::start(Vice::None, 3600).await.unwrap();
    let mut subject = Subject::new(server(&provider, Auth::default()));
    subject.until(|state| matches!(state, State::NeedsLogin { .. })).await;
    let mut begun = subject.upstream.log_in().await.unwrap();
    let again = subject.upstream.log_in().await.unwrap();
    assert_eq!(begun.url, again.url, "who asks twice is sent to the same page");
    let page = url::Url::parse(&begun.url).unwrap();
    let back = page.query_pairs().find(|(name, _)| name == "redirect_uri").unwrap().1.into_owned();
    for forged in ["?code=stolen&state=guessed", "?error=access_denied", "?", "x?code=c", "/../callback"] {
        let answer = plain_http().get(format!("{back}{forged}")).send().await.unwrap();
        assert!(answer.status().is_client_error(), "{forged}: {}", answer.status());
        let text = answer.text().await.unwrap();
        assert!(!text.contains("stolen"), "{text}");
    }
    visit(&begun.url).await;
    begun.done().await.unwrap();
    ask(&subject, &Principal::local()).await.unwrap();
}

#[tokio::test]
async fn a_login_is_waited_for_ten_minutes_and_can_be_begun_anew() {
    let provider = Provider::start(Vice::None, 3600).await.unwrap();
    let mut subject = Subject::new(server(&provider, Auth::default()));
    subject.until(|state| matches!(state, State::NeedsLogin { .. })).await;
    let mut begun = subject.upstream.log_in().await.unwrap();
    tokio::time::pause();
    let since = tokio::time::Instant::now();
    let late = begun.done().await;
    let took = since.elapsed();
    tokio::time::resume();
    assert!(matches!(late, Err(NoVisitor::Late { minutes: 10 })), "{late:?}");
    assert!((590..=600).contains(&took.as_secs()), "{took:?}");
    let shown = plain_http().get(&begun.url).send().await;
    assert!(shown.is_err(), "nobody is at the way back any more: {shown:?}");
    log_in(&subject, &Principal::local()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_tried_while_nobody_is_logged_in() {
    let provider = Provider::start(Vice::None, 3600).await.unwrap();
    let mut subject = Subject::new(server(&provider, Auth::default()));
    subject.until(|state| matches!(state, State::NeedsLogin { .. })).await;
    let asked = provider.asked().len();
    for _ in 0..20 {
        assert!(matches!(ask(&subject, &Principal::local()).await, Err(CallError::Login(_))));
    }
    assert_eq!(provider.asked().len(), asked, "neither the server nor its login server");
}

/// What somebody does in another process while a login is being renewed in this one.
enum Deed {
    LogOut,
    LogIn(Box<Record>),
}

/// Where a deed is done as soon as somebody has the lease, once.
#[derive(Default)]
struct Meddled {
    inner: MemoryVault,
    next: Mutex<Option<Deed>>,
    whose: Mutex<Option<LoginOwner>>,
}

impl Meddled {
    async fn kept(&self) -> Option<Record> {
        let whose = self.whose.lock().unwrap().clone().unwrap();
        self.inner.load(&whose).await.unwrap().map(|kept| kept.record)
    }
}

impl Vault for Meddled {
    fn load<'a>(&'a self, whose: &'a LoginOwner) -> BoxFuture<'a, Result<Option<KeptLogin>, NotKept>> {
        *self.whose.lock().unwrap() = Some(whose.clone());
        self.inner.load(whose)
    }

    fn save<'a>(&'a self, whose: &'a LoginOwner, record: &'a Record) -> BoxFuture<'a, Result<i64, NotKept>> {
        self.inner.save(whose, record)
    }

    fn replace<'a>(
        &'a self,
        whose: &'a LoginOwner,
        known: Option<i64>,
        record: &'a Record,
    ) -> BoxFuture<'a, Result<Option<i64>, NotKept>> {
        self.inner.replace(whose, known, record)
    }

    fn lease<'a>(&'a self, whose: &'a LoginOwner, version: i64) -> BoxFuture<'a, Result<Leased, NotKept>> {
        Box::pin(async move {
            let leased = self.inner.lease(whose, version).await?;
            let deed = self.next.lock().unwrap().take();
            match deed {
                Some(Deed::LogOut) => drop(self.inner.forget(whose).await?),
                Some(Deed::LogIn(record)) => drop(self.inner.save(whose, &record).await?),
                None => {}
            }
            Ok(leased)
        })
    }

    fn release<'a>(&'a self, whose: &'a LoginOwner) -> BoxFuture<'a, ()> {
        self.inner.release(whose)
    }

    fn forget<'a>(&'a self, whose: &'a LoginOwner) -> BoxFuture<'a, Result<bool, NotKept>> {
        self.inner.forget(whose)
    }
}

async fn meddled(provider: &Provider) -> (Subject, Arc<Meddled>) {
    let vault = Arc::new(Meddled::default());
    let (sender, reports) = tokio::sync::mpsc::unbounded_channel();
    let house = House { vault: vault.clone(), ..kit::house() };
    let config = Arc::new(server(provider, Auth::default()));
    let upstream = toolfold_upstream::Upstream::spawn(config, None, sender, &house);
    let mut subject = Subject { upstream, reports };
    subject.until(|state| matches!(state, State::NeedsLogin { .. })).await;
    log_in(&subject, &Principal::local()).await;
    // What it asks by itself is over: nothing else renews a login while a test looks.
    subject.listed().await;
    (subject, vault)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_was_ended_while_it_was_renewed_stays_ended() {
    let provider = Provider::start(Vice::None, 3600).await.unwrap();
    let (subject, vault) = meddled(&provider).await;
    ask(&subject, &Principal::local()).await.unwrap();
    provider.expire();
    *vault.next.lock().unwrap() = Some(Deed::LogOut);
    let refused = ask(&subject, &Principal::local()).await;
    assert!(matches!(refused, Err(CallError::Login(Need::Login { .. }))), "{refused:?}");
    assert!(vault.kept().await.is_none_or(|record| record.login.is_none()), "nobody is logged in");
    assert_eq!(provider.counts().refreshes, 1, "it was renewed, and what came of it was not kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_was_made_while_an_older_one_was_renewed_is_not_lost() {
    let provider = Provider::start(Vice::None, 3600).await.unwrap();
    let (subject, vault) = meddled(&provider).await;
    let older = vault.kept().await.unwrap();
    provider.expire();
    log_in(&subject, &Principal::local()).await;
    let newer = vault.kept().await.unwrap();
    let whose = vault.whose.lock().unwrap().clone().unwrap();
    vault.inner.save(&whose, &older).await.unwrap();
    *vault.next.lock().unwrap() = Some(Deed::LogIn(Box::new(newer.clone())));
    subject.upstream.look_for_login().await;
    ask(&subject, &Principal::local()).await.unwrap();
    let kept = vault.kept().await.and_then(|record| record.login).unwrap();
    assert_eq!(kept.tokens.access.expose(), newer.login.unwrap().tokens.access.expose());
    assert_eq!(provider.callers(), ["planted-access-2"], "and it is what is used");
    assert_eq!(provider.counts().refreshes, 1, "the older one was renewed for nothing");
}

/// Two processes share a store: in the other one whoever runs Toolfold has logged in, and nobody has told this one. What
/// somebody else asks here is not asked with that login.
#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_asks_is_never_signed_with_the_login_of_another() {
    let provider = Provider::start(Vice::None, 3600).await.unwrap();
    let (first, vault) = meddled(&provider).await;
    ask(&first, &Principal::local()).await.unwrap();
    let mine = vault.kept().await.unwrap();
    let whose = vault.whose.lock().unwrap().clone().unwrap();
    // A server that lets everybody in until they call something.
    let (open, alice) = (Provider::start(Vice::Late, 3600).await.unwrap(), Principal::named("alice", Vec::new()));
    let vault = Arc::new(Meddled::default());
    let (sender, reports) = tokio::sync::mpsc::unbounded_channel();
    let house = House { vault: vault.clone(), ..kit::house() };
    let upstream = toolfold_upstream::Upstream::spawn(Arc::new(server(&open, Auth::default())), None, sender, &house);
    let mut subject = Subject { upstream, reports };
    subject.listed().await;
    let base = subject.upstream.of(&alice).await;
    // Whatever opens the door there: it is not hers.
    open.accept(mine.login.as_ref().unwrap().tokens.access.expose());
    vault.inner.save(&LoginOwner { url: open.url.clone(), ..whose }, &mine).await.unwrap();
    let refused = patiently("an answer", base.request(call(&alice))).await;
    assert!(refused.is_err(), "{refused:?}");
    let refused = ask(&subject, &alice).await.unwrap_err();
    assert!(matches!(&refused, CallError::Login(Need::Login { why }) if why.contains("alice")), "{refused}");
    assert_eq!(open.callers(), [""; 0], "nothing was called in anybody's name");
    ask(&subject, &Principal::local()).await.unwrap();
    assert_eq!(open.callers().len(), 1);
}
