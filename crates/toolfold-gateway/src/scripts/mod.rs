//! Scripts: programs of clients (`run_code`) and programs in files, which are tools. Each runs in a process of its own;
//! what it asks for is done here, the way everything else is done.
//!
//! What a reader would get wrong: a script is a server to whoever runs it and a client to everybody it calls. Towards its
//! caller it passes the gate like any call, so it is counted, written down, cancelled and, where somebody is asked something,
//! parked; and each of its calls passes the gate again, on behalf of that caller.

mod answer;
mod host;
mod peer;
mod rights;
mod stored;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use toolfold_config::CodeSettings;
use toolfold_core::{Code, Entry, Pattern, Principal, Refusal, ServerName};
use toolfold_disclosure::RUN;
use toolfold_script::{LONGEST_SOURCE, Program, Script, ScriptLimits};
use toolfold_telemetry::Context;
use toolfold_upstream::Call;
use toolfold_wire::{Object, Raw, RpcError};

use crate::gate::{Failed, Source};
use crate::gateway::Inner;
use crate::request::{Client, Request};
use host::Within;
use peer::ScriptPeer;

pub(crate) use stored::{BadScript, Stored, StoredScripts};

/// Characters of a token, where what is kept is told of.
const CHARACTERS: usize = 3;

/// What programs run in, and how many of them.
pub(crate) struct Runner {
    program: OnceLock<Program>,
    /// How many of whom.
    running: Mutex<HashMap<Principal, usize>>,
    inner: Weak<Inner>,
}

/// Where scripts are called: those that are stored, or whatever the caller wrote.
#[derive(Clone)]
pub(crate) struct Scripts {
    runner: Arc<Runner>,
    /// `None`: the caller brings the program.
    stored: Option<Arc<StoredScripts>>,
}

/// On whose behalf a script runs.
pub(crate) struct Caller {
    client: Arc<Client>,
    id: Option<String>,
    context: Option<Context>,
}

impl Caller {
    pub(crate) fn of(request: &Request) -> Caller {
        Caller { client: request.client.clone(), id: request.id.clone(), context: request.context }
    }
}

impl Runner {
    pub(crate) fn new(inner: Weak<Inner>) -> Runner {
        Runner { program: OnceLock::new(), running: Mutex::default(), inner }
    }

    pub(crate) fn run_in(&self, program: Program) {
        // The first one counts.
        let _ = self.program.set(program);
    }

    /// What a program of a client's is asked of.
    pub(crate) fn for_clients(self: &Arc<Self>) -> Source {
        Source::Scripts(Scripts { runner: self.clone(), stored: None })
    }

    /// What programs in files are asked of.
    pub(crate) fn for_files(self: &Arc<Self>, stored: StoredScripts) -> Source {
        Source::Scripts(Scripts { runner: self.clone(), stored: Some(Arc::new(stored)) })
    }

    /// A place among those that run. A script that waits for an answer of its client has one too, for as long as that takes:
    /// nobody has all of them.
    fn place(&self, most: usize, whose: &Principal) -> Result<Place<'_>, Refusal> {
        let mut running = lock(&self.running);
        let (all, own) = (running.values().sum::<usize>(), running.get(whose).copied().unwrap_or_default());
        let refused =
            |message: String| Err(Refusal::new(Code::RateLimited, message).hint("Try again in a few seconds."));
        if all >= most {
            return refused(format!("{most} scripts run already, which is as many as may run at once."));
        }
        if own >= share(most) {
            return refused(format!("{own} of your scripts run already, and the other places are for others."));
        }
        *running.entry(whose.clone()).or_default() += 1;
        Ok(Place { running: &self.running, whose: whose.clone() })
    }
}

/// How many of the places may be one principal's: all but a quarter.
fn share(most: usize) -> usize {
    most - most / 4
}

/// A poisoned lock means that a thread panicked between two assignments of plain values: they are still plain values.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The server that programs of clients are counted and written down as.
pub(crate) fn server() -> Option<ServerName> {
    ServerName::new(RUN).ok()
}

/// The call of a client's program, as it passes the gate.
pub(crate) fn params(request: &Request, code: &str, input: Option<&Raw>) -> Object {
    let mut arguments = Object::new().with("code", code);
    if let Some(input) = input {
        arguments.set_raw("input", input.clone());
    }
    let mut params = request.params.clone();
    params.set("name", RUN).set("arguments", &arguments);
    params
}

struct Place<'a> {
    running: &'a Mutex<HashMap<Principal, usize>>,
    whose: Principal,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut running = lock(self.running);
        if let Some(own) = running.get_mut(&self.whose) {
            *own -= 1;
            if *own == 0 {
                running.remove(&self.whose);
            }
        }
    }
}

/// A program, and what it may do.
struct Job {
    script: Script,
    /// What it may call beside what only reads.
    allowed: Vec<Pattern>,
}

impl Scripts {
    /// Whether the file of a stored script still holds what was accepted.
    pub(crate) fn admits(&self, entry: &Entry) -> Result<(), Refusal> {
        let script = self.stored.as_ref().and_then(|stored| stored.get(entry.name()));
        match script {
            Some(script) if !script.is_of(entry) => {
                let message =
                    format!("The script {} has changed since it was accepted, and waits for approval.", entry.id);
                Err(Refusal::new(Code::Quarantined, message)
                    .hint("Whoever runs Toolfold can look at the change and approve it: `toolfold approve`."))
            }
            _ => Ok(()),
        }
    }

    pub(crate) async fn request(&self, caller: Caller, call: Call) -> Result<Raw, Failed> {
        if call.method != "tools/call" {
            return Err(Failed::Answered(RpcError::method_not_found(&call.method)));
        }
        let gone = || Failed::Refused(Refusal::new(Code::ServerUnavailable, "Toolfold is being stopped."));
        let inner = self.runner.inner.upgrade().ok_or_else(gone)?;
        let config = inner.snapshot.load().config.clone();
        let settings = config.code.clone();
        let job = self.job(&call, &settings)?;
        let program = self.runner.program.get().ok_or_else(|| Failed::Refused(unavailable()))?;
        let _place = self.runner.place(settings.at_once, &caller.client.principal()).map_err(Failed::Refused)?;
        let peer = Arc::new(ScriptPeer::new(call.peer.clone(), &call.params));
        let host = Within::new(inner.clone(), &caller, peer, &call.params, job.allowed);
        let ended = toolfold_script::run(program, job.script, limits(&settings), &host).await;
        let instead = match answer::too_long(&ended, settings.answer) {
            Some(text) => {
                let (owner, tool) = (caller.client.principal(), call.params.string("name").unwrap_or_default());
                inner.results.keep_answer(&config, &owner, &tool, &text, settings.answer * CHARACTERS).await
            }
            None => None,
        };
        answer::answer(ended, &settings, instead)
    }

    fn job(&self, call: &Call, settings: &CodeSettings) -> Result<Job, Failed> {
        let arguments = call.params.object("arguments").unwrap_or_default();
        let Some(stored) = &self.stored else {
            let code = arguments.string("code").unwrap_or_default();
            if code.len() > LONGEST_SOURCE {
                let message = format!("The program has {} bytes, and at most {LONGEST_SOURCE} are taken.", code.len());
                let refusal = Refusal::new(Code::TooLarge, message);
                return Err(Failed::Refused(
                    refusal.hint("Put data into `input`, and do the rest in another program."),
                ));
            }
            let input = arguments.get("input").cloned().unwrap_or_else(Raw::null);
            return Ok(Job { script: Script { code, input }, allowed: settings.allow.clone() });
        };
        let name = call.params.string("name").unwrap_or_default();
        let Some(script) = stored.get(&name) else {
            return Err(Failed::Answered(RpcError::invalid_params(format!("Unknown tool: {name}"))));
        };
        let Stored { code, tools, .. } = script.clone();
        Ok(Job { script: Script { code, input: arguments.to_raw() }, allowed: tools })
    }
}

fn limits(settings: &CodeSettings) -> ScriptLimits {
    ScriptLimits { cpu: settings.cpu, memory: settings.memory, calls: settings.calls, time: settings.time }
}

fn unavailable() -> Refusal {
    Refusal::new(Code::ServerUnavailable, "Programs cannot be run here: whoever embeds Toolfold has not said what in.")
        .hint("Call the tools one by one instead.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_has_all_places() {
        let runner = Runner::new(Weak::new());
        let (one, other) = (Principal::local(), Principal::token());
        let mut places: Vec<Place<'_>> = (0..6).map(|_| runner.place(8, &one).unwrap()).collect();
        let refused = runner.place(8, &one).err().unwrap();
        assert_eq!(refused.message, "6 of your scripts run already, and the other places are for others.");
        let others: Vec<Place<'_>> = (0..2).map(|_| runner.place(8, &other).unwrap()).collect();
        assert_eq!(
            runner.place(8, &other).err().unwrap().message,
            "8 scripts run already, which is as many as may run at once."
        );
        places.pop();
        drop(others);
        assert!(runner.place(8, &one).is_ok());
        drop(places);
        assert!(runner.running.lock().unwrap().is_empty(), "nothing is left of those that are done");
        assert!(runner.place(1, &one).is_ok(), "where there is one place, anybody may have it");
    }
}
