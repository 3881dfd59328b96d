//! A login that a person makes: an address for them to visit, and what came of it.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use toolfold_oauth::{Flow, Login, Plan, Problem};

use super::account::Account;
use super::callback::{self, PATH};
use super::failed::{NoLogin, NoVisitor};
use super::fetch::{Fetcher, Halt};
use super::plan::{own_key, plan};
use super::vault::{NotKept, Record};
use crate::clock::seconds_now;

/// How long somebody may take to log in.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// Somebody may log in there now.
#[derive(Clone)]
pub struct Visit {
    pub url: String,
    done: watch::Receiver<Option<Result<(), NoVisitor>>>,
}

/// Why nobody can log in.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Unvisited {
    /// There is no login for a person here.
    #[error("{0}")]
    NotForPeople(String),
    #[error("{0}")]
    Failed(String),
}

impl Visit {
    /// Returns when somebody is logged in, or why nobody is.
    pub async fn done(&mut self) -> Result<(), NoVisitor> {
        match self.done.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().unwrap_or(Ok(())),
            Err(_) => Err(NoVisitor::GivenUp),
        }
    }

    fn is_open(&self) -> bool {
        self.done.borrow().is_none() && self.done.has_changed().is_ok()
    }
}

impl Account {
    /// Begins a login, or joins the one that waits for somebody already.
    pub(crate) async fn visit(self: &Arc<Self>) -> Result<Visit, Unvisited> {
        let mut slot = self.visit.lock().await;
        if let Some(open) = slot.as_ref().filter(|visit| visit.is_open()) {
            return Ok(open.clone());
        }
        let failed = Unvisited::Failed;
        self.load(true).await.map_err(|error| failed(error.to_string()))?;
        let listener = TcpListener::bind(("127.0.0.1", self.settings.callback_port)).await;
        let listener = listener
            .map_err(|error| failed(format!("no place on this machine for the way back (callback_port): {error}")))?;
        let port = listener.local_addr().map_err(|error| failed(error.to_string()))?.port();
        let (flow, fetcher, url) =
            self.begin(format!("http://127.0.0.1:{port}{PATH}")).await.map_err(|error| failed(error.to_string()))?;
        let (tell, done) = watch::channel(None);
        let visit = Visit { url, done };
        *slot = Some(visit.clone());
        let account = self.clone();
        tokio::spawn(async move {
            let waiting = account.wait_for(flow, fetcher, listener);
            let late = |_| Err(NoVisitor::Late { minutes: LONGEST.as_secs() / 60 });
            let outcome = tokio::time::timeout(LONGEST, waiting).await.unwrap_or_else(late);
            tell.send_replace(Some(outcome));
        });
        Ok(visit)
    }

    async fn begin(&self, redirect: String) -> Result<(Flow, Fetcher, String), NoLogin> {
        let Record { login, demand, used } = self.record();
        let plan = Plan { used, ..plan(&self.server.auth, &self.settings, &self.url, redirect)? };
        let mut flow = Flow::new(plan, demand.unwrap_or_default(), login)?;
        let fetcher = Fetcher::new(&self.url, &self.settings.private_hosts)?;
        match fetcher.drive(&mut flow).await? {
            Halt::Visit(url) => Ok((flow, fetcher, url)),
            Halt::Done(_) => Err(NoLogin::Unreachable("it takes no person".to_owned())),
        }
    }

    async fn wait_for(&self, mut flow: Flow, fetcher: Fetcher, listener: TcpListener) -> Result<(), NoVisitor> {
        loop {
            let returned = callback::next(&listener).await.map_err(|error| NoVisitor::WayBack(error.to_string()))?;
            if !flow.is_ours(&returned.query) {
                // Any page on this machine can send a browser here; that ends nothing.
                returned.tell(false, "This does not belong to a login that Toolfold waits for.").await;
                continue;
            }
            let outcome = self.finish(&mut flow, &fetcher, &returned.query).await;
            match &outcome {
                Ok(()) => {
                    let words = format!("Logged in to {}. You can close this window.", self.whose.server);
                    returned.tell(true, &words).await;
                }
                // Why is told where the login was begun: what is shown here may have been written by anybody.
                Err(_) => returned.tell(false, "The login did not work. Toolfold says why where it was begun.").await,
            }
            return outcome.map_err(NoVisitor::from);
        }
    }

    async fn finish(&self, flow: &mut Flow, fetcher: &Fetcher, query: &str) -> Result<(), NoLogin> {
        flow.returned(query)?;
        match fetcher.drive(flow).await? {
            Halt::Done(login) => {
                let _one = self.one.lock().await;
                self.keep(Record { login: Some(*login), demand: None, used: None }).await;
                tracing::info!(server = %self.whose.server, "somebody has logged in");
                Ok(())
            }
            Halt::Visit(_) => Err(NoLogin::Problem(Problem::WrongState)),
        }
    }

    /// Ends the login: here, and at the login server where it wants to know. Whether there was one.
    pub(crate) async fn log_out(&self) -> Result<bool, NotKept> {
        let _one = self.one.lock().await;
        self.load(true).await?;
        let (login, was) = (self.record().login, self.has_login());
        // First here: whoever is renewing it finds that it has ended, and keeps nothing.
        self.vault.forget(&self.whose).await?;
        self.give_back(login).await;
        self.look_again().await;
        Ok(was)
    }

    /// Tells the login server that nobody needs these tokens any more, where it wants to know.
    pub(super) async fn give_back(&self, login: Option<Login>) {
        if let Some(login) = login
            && let Ok(own) = own_key(&self.server.auth)
            && let Some(ask) = login.revoke(own.as_ref(), seconds_now())
            && let Ok(fetcher) = Fetcher::new(&self.url, &self.settings.private_hosts)
            && let Err(error) = fetcher.ask(&ask).await
        {
            tracing::warn!(server = %self.whose.server, "the login server was not told: {error}");
        }
    }
}
