//! `requestState` of servers: what they give to a client that has no session, to have it back with its answers.
//!
//! What a reader would get wrong: it is not passed on as it came. A server cannot know who is on the other side of us, so
//! that in the hands of another client its state would be as good as in those of the one it was meant for. What a client
//! holds is sealed for that client, that server and that request, and for a while.

use std::sync::{Arc, OnceLock};

use toolfold_access::{SEALED, Seal, Standing};
use toolfold_core::ServerName;
use toolfold_upstream::seconds_now;
use toolfold_wire::{Object, Raw, RpcError};

use super::bridge::input_required;
use super::source::Failed;
use crate::request::{ClientKind, Request};

/// How long a person may take to answer, in seconds.
const GOOD_FOR: u64 = 60 * 60;

pub(super) struct States {
    seal: OnceLock<Option<Seal>>,
    standing: Option<Arc<Standing>>,
    /// Which process this is, among those that can open what it seals.
    process: u64,
}

impl States {
    /// Sealed so that every replica can open it, where there are several.
    pub(super) fn shared(standing: Option<Arc<Standing>>) -> Self {
        let seal = OnceLock::new();
        if let Some(standing) = &standing {
            let _ = seal.set(Some(Seal::new(standing.state_key())));
        }
        let mut process = [0; 8];
        // Without randomness there is no seal either.
        let _ = getrandom::fill(&mut process);
        States { seal, standing, process: u64::from_be_bytes(process) }
    }

    /// Puts the server's own state back into a request; refuses one that was not given to whoever sends it. Which call it
    /// goes on with, where that was one of this process.
    pub(super) fn open(
        &self,
        request: &Request,
        server: &ServerName,
        params: &mut Object,
    ) -> Result<Option<u64>, Failed> {
        if request.client.kind != ClientKind::Request || !params.contains("requestState") {
            return Ok(None);
        }
        let sealed = params.string("requestState").filter(|state| state.starts_with(SEALED));
        let opened = sealed.and_then(|state| self.seal()?.open(&whose(request, server), self.now(), &state));
        let read = |text: String| {
            let (call, state) = text.split_once(' ')?;
            Some((self.call_of(call), Raw::parse(state.to_owned().into_bytes()).ok()?))
        };
        let Some((call, state)) = opened.and_then(read) else {
            let message = "This requestState is unknown, changed, expired, or was given to somebody else. Begin again without it.";
            return Err(Failed::Answered(RpcError::invalid_params(message)));
        };
        params.set_raw("requestState", state);
        Ok(call)
    }

    /// Whether a stateless client is asked something in place of a result.
    pub(super) fn is_question(request: &Request, result: &Raw) -> bool {
        request.client.kind == ClientKind::Request && input_required(result).is_some()
    }

    /// Seals the state in a server's question, and with it which call it is of.
    pub(super) fn close(&self, request: &Request, server: &ServerName, call: u64, result: Raw) -> Raw {
        let Some(mut question) = input_required(&result) else { return result };
        let Some(state) = question.get("requestState").map(|state| state.get().to_owned()) else { return result };
        match self.seal() {
            Some(seal) => {
                let state = format!("{:x}.{call} {state}", self.process);
                let sealed = seal.close(&whose(request, server), self.now() + GOOD_FOR, &state);
                question.set("requestState", &sealed);
            }
            None => drop(question.remove("requestState")),
        }
        question.to_raw()
    }

    /// Numbers of calls are a process's own: those of another replica's say nothing here.
    fn call_of(&self, text: &str) -> Option<u64> {
        let (process, call) = text.split_once('.')?;
        if u64::from_str_radix(process, 16).ok()? == self.process { call.parse().ok() } else { None }
    }

    /// By the clock of all replicas, where there are several.
    fn now(&self) -> u64 {
        self.standing.as_ref().map_or_else(seconds_now, |standing| standing.shared_time(seconds_now()))
    }

    /// The key of this process. Without randomness nothing is sealed, and so nothing is opened.
    fn seal(&self) -> Option<&Seal> {
        let made = || {
            let mut key = [0; 32];
            getrandom::fill(&mut key).ok().map(|()| Seal::new(key))
        };
        self.seal.get_or_init(made).as_ref()
    }
}

fn whose(request: &Request, server: &ServerName) -> String {
    format!("{}\n{server}\n{}", request.client.principal().key(), request.method)
}
