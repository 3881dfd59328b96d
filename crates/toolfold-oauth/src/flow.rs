//! One login, from "the server wants one" to tokens, as a machine: [`Flow::step`] says what to do, [`Flow::heard`] and
//! [`Flow::returned`] take in what came of it.
//!
//! What a reader would get wrong: everything that a stranger answered is checked where it is taken in, before anything
//! follows from it. And nothing of an earlier login is used at another login server than the one it is from.

mod grant;

use std::collections::VecDeque;

use serde_json::Value;
use toolfold_core::Secret;
use url::Url;

use crate::challenge::Demand;
use crate::client::{Client, Given, Used};
use crate::documents::{IssuerDocument, ResourceDocument};
use crate::key::Key;
use crate::login::Login;
use crate::place::{covers, is_local, issuer_documents, resource_documents, secure};
use crate::problem::{Problem, quoted};
use crate::scopes::union;
use crate::text::chance;
use crate::wire::{Answer, Ask};

const OFFLINE: &str = "offline_access";
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// What is to be logged in to, and as what.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The address of the server.
    pub server: Url,
    pub kind: LoginKind,
    /// A client that was registered by hand.
    pub client: Option<Given>,
    /// Where such a one was used before, also where nothing is left of that login.
    pub used: Option<Used>,
    /// Scopes that somebody wants in any case.
    pub scopes: Vec<String>,
    /// The only login server that will do, where somebody has said so.
    pub issuer: Option<String>,
    /// The address of a document about this client.
    pub document: Option<String>,
    /// Where the login server sends the person back to.
    pub redirect: String,
}

/// Who logs in.
#[derive(Debug, Clone)]
pub enum LoginKind {
    /// A person, in a browser.
    Person,
    /// Toolfold itself, as the client that it is.
    Client,
    /// The machine it runs on, with a token of its platform.
    Workload { token: Secret },
    /// A person whom their organisation knows, with what its identity provider gave them.
    Enterprise(Enterprise),
}

#[derive(Debug, Clone)]
pub struct Enterprise {
    /// The identity provider.
    pub provider: String,
    pub client: Given,
    pub id_token: Secret,
}

/// What to do next.
#[derive(Debug)]
pub enum Step {
    /// Ask this, and tell what was answered.
    Fetch(Ask),
    /// Have the person visit this address, and tell what they came back with.
    Visit(String),
    Done(Box<Login>),
}

pub struct Flow {
    plan: Plan,
    demand: Demand,
    /// The login before this one.
    before: Option<Login>,
    at: At,
    resource: Option<String>,
    /// What the server's own document says about scopes.
    usual_scopes: Vec<String>,
    issuer: String,
    server: IssuerDocument,
    client: Option<Client>,
    scopes: Vec<String>,
    verifier: String,
    state: String,
    bound_to: Option<(Key, Vec<u8>)>,
    nonce: Option<String>,
}

/// Where it stands.
enum At {
    /// Looking for the server's document.
    Resource {
        places: VecDeque<String>,
    },
    /// Looking for the login server's.
    Issuer {
        places: VecDeque<String>,
        supposed: bool,
    },
    /// Looking for the identity provider's.
    Provider {
        places: VecDeque<String>,
    },
    /// To be exchanged there for something that the login server takes.
    Assertion {
        provider: IssuerDocument,
    },
    Register,
    Visit,
    /// To be given for tokens.
    Redeem(Vec<(&'static str, String)>),
    Done(Box<Login>),
}

impl Flow {
    /// Begins with what the server said, if it said anything, and with what is left of an earlier login.
    pub fn new(plan: Plan, demand: Demand, before: Option<Login>) -> Result<Flow, Problem> {
        let local = is_local(&plan.server);
        secure(plan.server.as_str(), "the address of the server", local)?;
        let mut places: VecDeque<String> = resource_documents(&plan.server).into();
        if let Some(told) = &demand.metadata {
            secure(told, "where the server says it describes itself", local)?;
            places = VecDeque::from([told.clone()]);
        }
        let random = || chance().ok_or(Problem::Key("the system has no random numbers"));
        Ok(Flow {
            plan,
            demand,
            before,
            at: At::Resource { places },
            resource: None,
            usual_scopes: Vec::new(),
            issuer: String::new(),
            server: IssuerDocument::default(),
            client: None,
            scopes: Vec::new(),
            verifier: random()?,
            state: random()?,
            bound_to: None,
            nonce: None,
        })
    }

    pub fn step(&mut self, now: u64) -> Result<Step, Problem> {
        Ok(match &self.at {
            At::Resource { places } | At::Issuer { places, .. } | At::Provider { places } => {
                let next = places.front().ok_or_else(|| Problem::NoMetadata { issuer: quoted(&self.issuer) })?;
                Step::Fetch(Ask::get(next))
            }
            At::Register => {
                let url = self.server.registration.clone().ok_or(Problem::NoEndpoint("registration endpoint"))?;
                Step::Fetch(Client::registration(&url, &self.plan.redirect, &self.scopes, &self.server))
            }
            At::Visit => Step::Visit(self.address()?),
            At::Assertion { provider } => Step::Fetch(self.exchange(provider, now)?),
            At::Redeem(form) => Step::Fetch(self.redeem(form.clone(), now)?),
            At::Done(login) => Step::Done(login.clone()),
        })
    }

    /// Takes in what was answered to the last [`Step::Fetch`].
    pub fn heard(&mut self, answer: &Answer, now: u64) -> Result<(), Problem> {
        match &mut self.at {
            At::Resource { places } => {
                places.pop_front();
                let found = document(answer)?;
                let none_left = places.is_empty();
                match found {
                    Some(said) => self.found_resource(&ResourceDocument::read(&said)),
                    None if none_left => self.look_for_issuer(None),
                    None => Ok(()),
                }
            }
            At::Issuer { places, supposed } => {
                places.pop_front();
                let (none_left, supposed) = (places.is_empty(), *supposed);
                match document(answer)? {
                    Some(said) => self.found_issuer(IssuerDocument::read(&said)),
                    None if none_left && supposed => {
                        let server = IssuerDocument::supposed(&self.issuer);
                        self.found_issuer(server)
                    }
                    None if none_left => Err(Problem::NoMetadata { issuer: quoted(&self.issuer) }),
                    None => Ok(()),
                }
            }
            At::Provider { places } => {
                places.pop_front();
                let none_left = places.is_empty();
                match document(answer)? {
                    Some(said) => self.found_provider(IssuerDocument::read(&said)),
                    None if none_left => Err(Problem::NoMetadata { issuer: quoted(&self.issuer) }),
                    None => Ok(()),
                }
            }
            At::Assertion { .. } => {
                if !answer.is_success() {
                    return Err(answer.problem(Problem::Refused));
                }
                // Not a token to be used, but it is told like one.
                let token = answer.object().and_then(|said| Some(said.get("access_token")?.as_str()?.to_owned()));
                let token = token.ok_or_else(|| Problem::BadAnswer("it names no assertion".to_owned()))?;
                self.redeem_with(vec![("grant_type", JWT_BEARER.to_owned()), ("assertion", token)]);
                Ok(())
            }
            At::Register => {
                self.client = Some(Client::registered(answer, &self.plan.redirect, &self.server)?);
                self.at = At::Visit;
                Ok(())
            }
            At::Redeem(_) => self.redeemed(answer, now),
            At::Visit | At::Done(_) => Ok(()),
        }
    }

    fn local(&self) -> bool {
        is_local(&self.plan.server)
    }

    fn found_resource(&mut self, said: &ResourceDocument) -> Result<(), Problem> {
        let resource = said.resource.clone().unwrap_or_default();
        if !covers(&resource, &self.plan.server) {
            return Err(Problem::OtherResource { found: quoted(&resource) });
        }
        // As it is written: what looks the same to a parser is another resource to a login server.
        self.resource = Some(resource);
        self.usual_scopes = said.scopes.clone();
        self.demand.dpop |= said.wants_dpop;
        let known = self.before.as_ref().map(|before| &before.issuer);
        let wanted = self.plan.issuer.as_ref().or(known).filter(|wanted| said.issuers.contains(wanted));
        self.look_for_issuer(wanted.or(said.issuers.first()).cloned())
    }

    /// `None`: the server names none, and then it is its own, as before there were documents about servers.
    fn look_for_issuer(&mut self, named: Option<String>) -> Result<(), Problem> {
        let supposed = named.is_none();
        let issuer = named.unwrap_or_else(|| self.plan.server.origin().ascii_serialization());
        let url = secure(&issuer, "the login server", self.local())?;
        self.plan.issuer.as_ref().map_or(Ok(()), |wanted| same_issuer(wanted, &issuer))?;
        let used = self.before.as_ref().and_then(Login::used).or_else(|| self.plan.used.clone());
        let is_mine = |used: &Used| self.plan.client.as_ref().is_some_and(|given| given.id == used.client);
        match used.filter(is_mine) {
            Some(used) if used.issuer != issuer && self.plan.issuer.is_none() => {
                return Err(Problem::IssuerChanged { known: used.issuer, found: quoted(&issuer) });
            }
            _ => {}
        }
        // Neither the client nor what another one granted is worth anything here.
        self.before = self.before.take().filter(|before| before.issuer == issuer);
        self.issuer = issuer;
        self.at = At::Issuer { places: issuer_documents(&url).into(), supposed };
        Ok(())
    }

    fn found_issuer(&mut self, server: IssuerDocument) -> Result<(), Problem> {
        let said = server.issuer.clone().unwrap_or_default();
        if said != self.issuer {
            return Err(Problem::OtherIssuer { asked: quoted(&self.issuer), found: quoted(&said) });
        }
        let local = self.local();
        let named = [
            (&server.token, "the token endpoint"),
            (&server.registration, "the registration endpoint"),
            (&server.revocation, "the revocation endpoint"),
            (&server.authorization, "the login page"),
        ];
        for (url, what) in named.into_iter().filter_map(|(url, what)| Some((url.as_ref()?, what))) {
            secure(url, what, local)?;
        }
        if server.token.is_none() {
            return Err(Problem::NoEndpoint("token endpoint"));
        }
        self.server = server;
        self.scopes = self.wanted_scopes();
        if self.demand.dpop && self.server.knows_dpop {
            self.bound_to = Some(Key::generate()?);
        }
        match &self.plan.kind {
            LoginKind::Person => self.choose_client(),
            LoginKind::Client => {
                self.take_given()?;
                self.redeem_with(vec![("grant_type", "client_credentials".to_owned())]);
                Ok(())
            }
            LoginKind::Workload { token } => {
                let form = vec![("grant_type", JWT_BEARER.to_owned()), ("assertion", token.expose().to_owned())];
                self.take_given()?;
                self.redeem_with(form);
                Ok(())
            }
            LoginKind::Enterprise(enterprise) => {
                let url = secure(&enterprise.provider, "the identity provider", local)?;
                self.at = At::Provider { places: issuer_documents(&url).into() };
                self.take_given()
            }
        }
    }

    fn found_provider(&mut self, provider: IssuerDocument) -> Result<(), Problem> {
        let LoginKind::Enterprise(enterprise) = &self.plan.kind else { return Ok(()) };
        same_issuer(&enterprise.provider, provider.issuer.as_deref().unwrap_or_default())?;
        let token = provider.token.as_deref().ok_or(Problem::NoEndpoint("token endpoint"))?;
        secure(token, "the token endpoint", self.local())?;
        self.at = At::Assertion { provider };
        Ok(())
    }

    /// What to ask for: what the server wants now, or else what it usually wants, and everything from before.
    fn wanted_scopes(&self) -> Vec<String> {
        let now = union(&self.plan.scopes, &self.demand.scopes);
        let now = if now.is_empty() { self.usual_scopes.clone() } else { now };
        let before = self.before.as_ref().map_or(&[][..], |before| &before.requested);
        let mut all = union(before, &now);
        if matches!(self.plan.kind, LoginKind::Person) && self.server.scopes.iter().any(|scope| scope == OFFLINE) {
            all = union(&all, &[OFFLINE.to_owned()]);
        }
        all
    }

    fn take_given(&mut self) -> Result<(), Problem> {
        let given = self.plan.client.as_ref().ok_or_else(|| Problem::NoClient { issuer: quoted(&self.issuer) })?;
        self.client = Some(Client::given(given, &self.server));
        Ok(())
    }

    /// One that was registered by hand, then one that a document describes, then one that registers itself.
    fn choose_client(&mut self) -> Result<(), Problem> {
        if !self.server.has_pkce {
            return Err(Problem::NoPkce { issuer: quoted(&self.issuer) });
        }
        if self.server.authorization.is_none() {
            return Err(Problem::NoEndpoint("login page"));
        }
        self.at = At::Visit;
        let registered = self.before.as_ref().map(|before| &before.client);
        let registered = registered.filter(|client| client.redirect.as_ref() == Some(&self.plan.redirect));
        match (&self.plan.document, registered) {
            _ if self.plan.client.is_some() => self.take_given()?,
            (Some(url), _) if self.server.knows_documents => self.client = Some(Client::document(url)),
            (_, Some(client)) => self.client = Some(client.clone()),
            _ if self.server.registration.is_some() => self.at = At::Register,
            _ => return Err(Problem::NoClient { issuer: quoted(&self.issuer) }),
        }
        Ok(())
    }
}

fn same_issuer(wanted: &str, found: &str) -> Result<(), Problem> {
    if wanted == found {
        return Ok(());
    }
    Err(Problem::OtherIssuer { asked: quoted(wanted), found: quoted(found) })
}

/// A document, if there is one: what is not JSON is some page that is shown for everything.
fn document(answer: &Answer) -> Result<Option<Value>, Problem> {
    match answer.status {
        500.. => Err(Problem::Failing(answer.status)),
        _ if answer.is_success() => Ok(answer.object()),
        _ => Ok(None),
    }
}
