//! New tokens for old ones, and logins that need no person.
//!
//! What a reader would get wrong: this runs as a task of its own. Whoever waits for it may give up at any moment (a
//! deadline, a client that hangs up), and a refresh that was sent and not heard is a login lost: the old token is used up,
//! and the new one is nobody's.

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolfold_http::NoCredentials;
use toolfold_oauth::{Demand, Flow, Plan, Refreshed};

use super::account::Account;
use super::failed::{NoLogin, NotAcquired, NotRenewed};
use super::fetch::{Fetcher, Halt};
use super::need::Need;
use super::plan::{own_key, plan};
use super::vault::{Leased, NotKept, Record};
use crate::clock::seconds_now;
use crate::shared::lock;

/// How long another process is waited for that renews the same login. More than it can take.
const PATIENCE: Duration = Duration::from_secs(45);
const LOOK: Duration = Duration::from_millis(20);
const LONGEST_LOOK: Duration = Duration::from_millis(250);

impl Account {
    /// Before a request: a token that will soon be over is renewed, and where that fails used while it lasts.
    pub(super) async fn renew_if_stale(self: &Arc<Self>) -> Result<(), NoCredentials> {
        let (stale, dead) = {
            let state = lock(&self.now);
            let login = state.kept.as_ref().and_then(|kept| kept.record.login.as_ref());
            let login = login.filter(|login| login.can_refresh());
            (
                login.is_some_and(|login| login.is_stale(seconds_now())),
                login.is_some_and(|login| login.is_dead(seconds_now())),
            )
        };
        if !stale {
            return Ok(());
        }
        match self.renew().await {
            Err(why) if dead => Err(NoCredentials(format!("its login could not be renewed: {why}"))),
            Err(why) => {
                tracing::warn!(server = %self.whose.server, "the login could not be renewed yet: {why}");
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Renews the login that is known now. Afterwards there is a newer one, or none.
    pub(super) async fn renew(self: &Arc<Self>) -> Result<(), NotRenewed> {
        let Some(known) = self.version() else { return Ok(()) };
        let account = self.clone();
        let renewing = self.tasks.spawn(async move { account.renew_from(known).await });
        renewing.await.unwrap_or(Err(NotRenewed::Interrupted))
    }

    async fn renew_from(&self, known: i64) -> Result<(), NotRenewed> {
        let _one = self.one.lock().await;
        if self.version() != Some(known) {
            return Ok(());
        }
        if !self.lease(known).await? {
            return Ok(());
        }
        let outcome = self.refresh().await;
        match outcome {
            Ok(Some(record)) => {
                let renewed = record.login.clone();
                if self.replace(Some(known), record).await {
                    self.complete();
                } else {
                    // Somebody has logged out meanwhile, or in anew: nobody wants these any more.
                    self.give_back(renewed).await;
                    self.go_by_kept();
                }
                Ok(())
            }
            Ok(None) => {
                tracing::warn!(server = %self.whose.server, "the login is over: its login server says so");
                self.replace(Some(known), self.record().ended()).await;
                self.go_by_kept();
                Ok(())
            }
            Err(error) => {
                self.vault.release(&self.whose).await;
                Err(error.into())
            }
        }
    }

    /// What is missing follows from what is kept now.
    fn go_by_kept(&self) {
        let mut now = lock(&self.now);
        let is_there = now.kept.as_ref().is_some_and(|kept| kept.record.login.is_some());
        now.need = if is_there { None } else { Some(Need::login(self.logged_out())) };
    }

    /// Whether it is ours to renew; not where somebody else has done it while we waited.
    pub(super) async fn lease(&self, known: i64) -> Result<bool, NotKept> {
        let (begun, mut pause) = (Instant::now(), LOOK);
        loop {
            match self.vault.lease(&self.whose, known).await? {
                Leased::Ours => return Ok(true),
                Leased::Changed(kept) => {
                    let mut now = lock(&self.now);
                    if kept.as_ref().is_none_or(|kept| kept.record.login.is_none()) && self.needs_person() {
                        now.need = Some(Need::login(self.logged_out()));
                    }
                    now.kept = kept.map(|kept| *kept);
                    return Ok(false);
                }
                Leased::Taken if begun.elapsed() > PATIENCE => {
                    return Err(NotKept("another process has been renewing it for too long".to_owned()));
                }
                Leased::Taken => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_LOOK);
                }
            }
        }
    }

    /// The new login; `None` where it is over.
    async fn refresh(&self) -> Result<Option<Record>, NoLogin> {
        let record = self.record();
        let Some(login) = &record.login else { return Ok(None) };
        let fetcher = Fetcher::new(&self.url, &self.settings.private_hosts)?;
        let own = own_key(&self.server.auth)?;
        let answer = fetcher.ask(&login.refresh(own.as_ref(), None, seconds_now())?).await?;
        let mut refreshed = login.refreshed(&answer, seconds_now())?;
        if let Refreshed::WithNonce(nonce) = &refreshed {
            let answer = fetcher.ask(&login.refresh(own.as_ref(), Some(nonce), seconds_now())?).await?;
            refreshed = login.refreshed(&answer, seconds_now())?;
        }
        match refreshed {
            Refreshed::Login(login) => Ok(Some(Record { login: Some(*login), ..record })),
            Refreshed::Over => Ok(None),
            Refreshed::WithNonce(_) => {
                Err(NoLogin::Unreachable("the login server wants one proof after another".into()))
            }
        }
    }

    /// Logs in without a person.
    pub(super) async fn acquire(self: &Arc<Self>, demand: Demand) -> Result<(), NoCredentials> {
        let (account, before) = (self.clone(), self.version());
        let acquiring = self.tasks.spawn(async move { account.acquire_from(before, demand).await });
        let acquired = acquiring.await.unwrap_or(Err(NotAcquired::Interrupted));
        acquired.map_err(|why| NoCredentials(why.to_string()))
    }

    async fn acquire_from(&self, before: Option<i64>, demand: Demand) -> Result<(), NotAcquired> {
        let _one = self.one.lock().await;
        if self.version() != before {
            return Ok(());
        }
        let outcome = self.log_in(demand.clone()).await;
        match outcome {
            Ok(record) => {
                self.keep(record).await;
                Ok(())
            }
            Err(error) => {
                let may_pass = error.may_pass();
                let refused = NotAcquired::Refused { server: self.whose.server.clone(), why: error };
                if !may_pass {
                    // Who said no will not say yes a moment later.
                    let mut now = lock(&self.now);
                    now.refused = Some((Instant::now(), refused.to_string()));
                    now.need = Some(Need::login(refused.to_string()));
                }
                Err(refused)
            }
        }
    }

    async fn log_in(&self, demand: Demand) -> Result<Record, NoLogin> {
        let Record { login, used, .. } = self.record();
        let plan = Plan { used, ..plan(&self.server.auth, &self.settings, &self.url, String::new())? };
        let mut flow = Flow::new(plan, demand.clone(), login)?;
        let fetcher = Fetcher::new(&self.url, &self.settings.private_hosts)?;
        match fetcher.drive(&mut flow).await? {
            Halt::Done(login) => Ok(Record { login: Some(*login), demand: Some(demand), used: None }),
            Halt::Visit(_) => Err(NoLogin::Unreachable("it takes a person after all".to_owned())),
        }
    }
}
