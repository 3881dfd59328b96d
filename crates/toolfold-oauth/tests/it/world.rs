//! A server and its login servers as a table of answers, and somebody who goes through a login with them.

use std::collections::HashMap;

use serde_json::{Value, json};
use toolfold_core::Secret;
use toolfold_oauth::{Answer, Ask, Body, Demand, Flow, Login, LoginKind, Plan, Problem, Step};
use url::Url;

pub(crate) const SERVER: &str = "https://mcp.example/mcp";
pub(crate) const ISSUER: &str = "https://login.example";
pub(crate) const NOW: u64 = 1_800_000_000;

pub(crate) struct World {
    pub(crate) documents: HashMap<String, Value>,
    /// What token endpoints answer, one after another; the last again and again.
    pub(crate) tokens: Vec<Answer>,
    pub(crate) registration: Answer,
    /// What was asked, in order.
    pub(crate) asked: Vec<Ask>,
}

pub(crate) fn answer(status: u16, body: &Value) -> Answer {
    Answer { status, nonce: None, body: body.to_string().into_bytes() }
}

pub(crate) fn metadata(issuer: &str) -> Value {
    json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "registration_endpoint": format!("{issuer}/register"),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
    })
}

impl World {
    /// Everything as the specification wants it.
    pub(crate) fn new() -> World {
        let resource = json!({"resource": SERVER, "authorization_servers": [ISSUER]});
        let documents = HashMap::from([
            ("https://mcp.example/.well-known/oauth-protected-resource/mcp".to_owned(), resource),
            (format!("{ISSUER}/.well-known/oauth-authorization-server"), metadata(ISSUER)),
        ]);
        let token =
            json!({"access_token": "at-1", "token_type": "Bearer", "expires_in": 3600, "refresh_token": "rt-1"});
        World {
            documents,
            tokens: vec![answer(200, &token)],
            registration: answer(201, &json!({"client_id": "client-1"})),
            asked: Vec::new(),
        }
    }

    /// Changes a member of a document; `null` takes it away.
    pub(crate) fn with(mut self, url: &str, member: &str, value: Value) -> World {
        let document = self.documents.get_mut(url).expect("a document").as_object_mut().expect("an object");
        match value {
            Value::Null => drop(document.remove(member)),
            value => drop(document.insert(member.to_owned(), value)),
        }
        self
    }

    pub(crate) fn issuer(self, member: &str, value: Value) -> World {
        self.with(&format!("{ISSUER}/.well-known/oauth-authorization-server"), member, value)
    }

    pub(crate) fn resource(self, member: &str, value: Value) -> World {
        self.with("https://mcp.example/.well-known/oauth-protected-resource/mcp", member, value)
    }

    pub(crate) fn reply(&mut self, ask: Ask) -> Answer {
        let answer = if ask.url.ends_with("/token") {
            if self.tokens.len() > 1 { self.tokens.remove(0) } else { self.tokens[0].clone() }
        } else if ask.url.ends_with("/register") {
            self.registration.clone()
        } else {
            match self.documents.get(&ask.url) {
                Some(document) => answer(200, document),
                None => Answer { status: 404, ..Answer::default() },
            }
        };
        self.asked.push(ask);
        answer
    }

    /// Up to the page that a person is to visit, or the end.
    pub(crate) fn drive(&mut self, flow: &mut Flow) -> Result<Stop, Problem> {
        for _ in 0..20 {
            match flow.step(NOW)? {
                Step::Fetch(ask) => flow.heard(&self.reply(ask), NOW)?,
                Step::Visit(url) => return Ok(Stop::Visit(Url::parse(&url).unwrap())),
                Step::Done(login) => return Ok(Stop::Done(login)),
            }
        }
        panic!("the login does not end")
    }

    /// The whole way of a person who says yes.
    pub(crate) fn log_in(
        &mut self,
        plan: Plan,
        demand: Demand,
        before: Option<Login>,
    ) -> Result<(Url, Login), Problem> {
        let mut flow = Flow::new(plan, demand, before)?;
        let Stop::Visit(url) = self.drive(&mut flow)? else { panic!("nobody was asked") };
        let issuer = self.asked.iter().rev().find(|ask| matches!(ask.body, Body::Nothing)).unwrap().url.clone();
        let issuer = issuer.split("/.well-known").next().unwrap().to_owned();
        flow.returned(&format!("code=c-1&state={}&iss={issuer}", query(&url, "state").unwrap()))?;
        match self.drive(&mut flow)? {
            Stop::Done(login) => Ok((url, *login)),
            Stop::Visit(_) => panic!("asked twice"),
        }
    }

    pub(crate) fn urls(&self) -> Vec<&str> {
        self.asked.iter().map(|ask| ask.url.as_str()).collect()
    }
}

#[derive(Debug)]
pub(crate) enum Stop {
    Visit(Url),
    Done(Box<Login>),
}

pub(crate) fn plan() -> Plan {
    Plan {
        server: Url::parse(SERVER).unwrap(),
        kind: LoginKind::Person,
        client: None,
        used: None,
        scopes: Vec::new(),
        issuer: None,
        document: None,
        redirect: "http://127.0.0.1:4000/callback".to_owned(),
    }
}

pub(crate) fn query(url: &Url, name: &str) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

pub(crate) fn demand(header: &str) -> Demand {
    Demand::read([header])
}

pub(crate) fn secret(text: &str) -> Secret {
    Secret::new(text)
}
