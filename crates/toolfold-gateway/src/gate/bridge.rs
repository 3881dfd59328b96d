//! Between the eras: questions that a server has while it works.
//!
//! An old server asks in the middle of a call; a stateless client can only be asked by ending its request and
//! waiting for the next. So the call is parked, the client gets `input_required`, and its retry picks the call up
//! where it stood: it is never sent to the server again. The other way round, a stateless server ends its request and
//! an old client is asked in the middle of its own; there the call is repeated, as the protocol wants it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};
use toolfold_access::{Handle, ReplicaId, Standing};
use toolfold_core::{Code, Kind, Principal, Refusal, ServerName};
use toolfold_upstream::{Call, LONGEST_THOUGHT, MOST_QUESTIONS, put_question};
use toolfold_wire::{BoxFuture, Object, Peer, Raw, RpcError, Spool, code};

use tracing::Instrument;

use super::source::{Failed, Source};
use super::{Counted, Outcome, Parking, Slot};
use crate::request::{Client, ClientKind, Request};
use crate::results::unspooled;

/// How often a stateless server may come back with a question during one call of an old client.
const ROUNDS: usize = 16;
/// How many calls may wait for their clients, and how long.
const PARKED: usize = 1024;
/// Of one principal: whoever leaves calls waiting takes no other's place.
const PARKED_OF_ONE: usize = PARKED - PARKED / 4;
const PARKED_FOR: Duration = Duration::from_secs(600);
const QUESTIONS: usize = 16;
/// Marks our own `requestState` among those of servers, which are passed through.
const OURS: &str = "toolfold.";

/// A request to one server on behalf of a client, bridged where the two are of different eras.
pub(crate) async fn exchange(
    parked: &Parked,
    (server, source): (&ServerName, &Source),
    counted: Counted,
    request: &Request,
    params: Object,
) -> Result<Outcome, Failed> {
    match request.client.kind {
        ClientKind::Session | ClientKind::Inside => {
            ask_in_the_middle(server, source, (request, counted.slot), params).await.map(Outcome::Done)
        }
        ClientKind::Request => {
            let exchange = Exchange::begin(server.clone(), source.clone(), counted, request, params);
            exchange.go_on(parked).await
        }
    }
}

/// Goes on with a parked call, now that its client has come back.
pub(crate) async fn resume(
    parked: &Parked,
    mut exchange: Exchange,
    request: &Request,
    answers: &Object,
) -> Result<Outcome, Failed> {
    exchange.answer(answers);
    *exchange.ear.client_peer.write().unwrap_or_else(PoisonError::into_inner) = request.peer.clone();
    exchange.go_on(parked).await
}

/// An old client: it can be asked at any time, so a stateless server's questions are put to it at once.
async fn ask_in_the_middle(
    server: &ServerName,
    source: &Source,
    (request, slot): (&Request, Option<Arc<Slot>>),
    mut params: Object,
) -> Result<Raw, Failed> {
    let peer: Arc<dyn Peer> = Arc::new(Able { client: request.client.clone(), peer: request.peer.clone() });
    let refused = |why: String| Failed::Refused(Refusal::new(Code::ServerUnavailable, why));
    let mut thought = Duration::ZERO;
    for _ in 0..ROUNDS {
        let sent = call(request, &params, peer.clone(), slot.clone());
        // In a box: whatever is around it would be as large, and each of a dozen layers copies what it awaits.
        let result = Box::pin(source.request(server, source.caller(request), sent)).await?;
        let Some(wanted) = input_required(&result) else { return Ok(result) };
        let questions = wanted.object("inputRequests").unwrap_or_default();
        if questions.iter().count() > MOST_QUESTIONS {
            return Err(refused(format!("The server {server} asked more than {MOST_QUESTIONS} questions at once.")));
        }
        let begun = Instant::now();
        let answers = answers(&*peer, &questions);
        let Ok(responses) = timeout_at(begun + (LONGEST_THOUGHT - thought), answers).await else {
            return Err(refused(format!("The questions of the server {server} were not answered in time.")));
        };
        let responses = responses?;
        thought = (thought + begun.elapsed()).min(LONGEST_THOUGHT);
        params.set("inputResponses", &responses);
        match wanted.get("requestState") {
            Some(state) => params.set_raw("requestState", state.to_owned()),
            None => &mut params,
        };
    }
    Err(refused(format!("The server {server} asked more than {ROUNDS} times during one call.")))
}

/// What a client says to these questions, one after the other.
async fn answers(peer: &dyn Peer, questions: &Object) -> Result<Object, Failed> {
    let mut responses = Object::new();
    for (key, question) in questions.iter() {
        let question = Object::parse(question).unwrap_or_default();
        let method = question.string("method").unwrap_or_default();
        let answer = put_question(peer, &method, question.get("params").map(ToOwned::to_owned)).await;
        responses.set_raw(key, answer.map_err(Failed::Answered)?);
    }
    Ok(responses)
}

fn call(request: &Request, params: &Object, peer: Arc<dyn Peer>, slot: Option<Arc<Slot>>) -> Call {
    Call {
        method: request.method.clone(),
        params: params.clone(),
        peer,
        principal: request.client.principal(),
        client: request.client.id,
        client_capabilities: request.client.capabilities.clone(),
        timeout: None,
        here: request.relayed,
        spool: slot.map(|slot| slot as Arc<dyn Spool>),
    }
}

/// The result as an object, if it is a question. Looking for the word first keeps ordinary results unparsed.
pub(super) fn input_required(result: &Raw) -> Option<Object> {
    if !result.get().contains("input_required") {
        return None;
    }
    Object::parse(result).filter(|object| object.string("resultType").as_deref() == Some("input_required"))
}

/// A peer that is only asked what its client said it can answer.
struct Able {
    client: Arc<Client>,
    peer: Arc<dyn Peer>,
}

impl Peer for Able {
    fn notify(&self, method: &str, params: Option<Raw>) {
        self.peer.notify(method, params);
    }

    fn ask<'a>(&'a self, method: &'a str, params: Option<Raw>) -> BoxFuture<'a, Result<Raw, RpcError>> {
        if let Err(error) = able(&self.client, method) {
            return Box::pin(std::future::ready(Err(error)));
        }
        self.peer.ask(method, params)
    }

    fn is_there(&self) -> bool {
        self.peer.is_there()
    }
}

fn able(client: &Client, method: &str) -> Result<(), RpcError> {
    let capability = method.split('/').next().unwrap_or_default();
    let needed = matches!(capability, "elicitation" | "sampling" | "roots");
    if needed && !client.can(capability) {
        let message =
            format!("The client that made this call does not support {capability}, so it cannot answer {method}.");
        return Err(RpcError::new(code::METHOD_NOT_FOUND, message));
    }
    Ok(())
}

/// A call of a stateless client: under way, or parked until the client comes back with answers. Dropped, it is cancelled.
pub(crate) struct Exchange {
    pub(crate) server: ServerName,
    /// The id of the tool that is called, where one is.
    pub(crate) tool: Option<String>,
    /// The number of its last part in the record.
    pub(crate) call: u64,
    pub(crate) what: Parking,
    /// What its server was asked.
    method: String,
    work: Work,
    questions: mpsc::Receiver<Question>,
    open: Vec<Question>,
    ear: Arc<Ear>,
    /// Where a long result goes, for as long as its first request waits for it.
    slot: Option<Arc<Slot>>,
}

struct Question {
    method: String,
    params: Option<Raw>,
    reply: oneshot::Sender<Raw>,
}

/// What the server talks to while a stateless client's call runs.
struct Ear {
    client: Arc<Client>,
    /// The stream of the client's newest request.
    client_peer: RwLock<Arc<dyn Peer>>,
    questions: mpsc::Sender<Question>,
}

impl Peer for Ear {
    fn notify(&self, method: &str, params: Option<Raw>) {
        self.client_peer.read().unwrap_or_else(PoisonError::into_inner).notify(method, params);
    }

    fn ask<'a>(&'a self, method: &'a str, params: Option<Raw>) -> BoxFuture<'a, Result<Raw, RpcError>> {
        Box::pin(async move {
            able(&self.client, method)?;
            let (reply, answer) = oneshot::channel();
            let question = Question { method: method.to_owned(), params, reply };
            let gone = || RpcError::internal("The client that made this call is gone.");
            self.questions.send(question).await.map_err(|_| gone())?;
            answer.await.map_err(|_| gone())
        })
    }
}

impl Exchange {
    fn begin(server: ServerName, source: Source, counted: Counted, request: &Request, params: Object) -> Self {
        let (questions, asked) = mpsc::channel(QUESTIONS);
        let ear =
            Arc::new(Ear { client: request.client.clone(), client_peer: RwLock::new(request.peer.clone()), questions });
        let Counted { tool, call: number, what, slot } = counted;
        let sent = call(request, &params, ear.clone(), slot.clone());
        let name = server.clone();
        let caller = source.caller(request);
        let work = Work::Here(Box::pin(async move { source.request(&name, caller, sent).await }));
        let (method, open) = (request.method.clone(), Vec::new());
        Exchange { server, tool, call: number, what, method, work, questions: asked, open, ear, slot }
    }

    /// Waits for the result or for a question; dropped with the request, it cancels the call.
    async fn go_on(mut self, parked: &Parked) -> Result<Outcome, Failed> {
        if self.open.is_empty() {
            tokio::select! {
                biased;
                done = self.work.done() => {
                    // Whoever gave the slot does not look into it once the call was parked.
                    let slot = self.slot.take().filter(|_| matches!(self.work, Work::Apart(_)));
                    return whole(slot, done?).await.map(Outcome::Done);
                }
                Some(question) = self.questions.recv() => self.open.push(question),
            }
        }
        while let Ok(question) = self.questions.try_recv() {
            self.open.push(question);
        }
        let wanted = requests(&self.open);
        let state = parked.park(self.on_its_own())?;
        let mut asked = Object::new().with("resultType", "input_required");
        asked.set_raw("inputRequests", wanted).set("requestState", &state);
        Ok(Outcome::Parked(asked.to_raw()))
    }

    /// Nobody waits for it while it is parked, and its deadlines must run all the same: it goes on as a task. Before that
    /// it was part of its request, because most calls are never parked and a task costs as much as a small call.
    fn on_its_own(mut self) -> Self {
        if let Some(slot) = &self.slot {
            slot.close();
        }
        // One that is parked again is a task already.
        if let Work::Here(work) = self.work {
            self.work = Work::Apart(Task(tokio::spawn(work.in_current_span())));
        }
        self
    }

    /// What it is of that is called like a tool and is none.
    pub(crate) fn offered(&self) -> Option<Kind> {
        let kind = if self.method == "prompts/get" { Kind::Prompt } else { Kind::Resource };
        matches!(self.what, Parking::Offered(..)).then_some(kind)
    }

    fn owner(&self) -> Principal {
        self.ear.client.principal()
    }

    /// Hands out the answers; a question without one stays open and is asked again.
    fn answer(&mut self, responses: &Object) {
        for (place, question) in std::mem::take(&mut self.open).into_iter().enumerate() {
            match responses.get(&place.to_string()) {
                // A server that stopped waiting does not mind.
                Some(answer) => drop(question.reply.send(answer.to_owned())),
                None => self.open.push(question),
            }
        }
    }
}

/// Questions for a stateless client. Written as they came: made into a tree, one could be sixteen times as large.
fn requests(open: &[Question]) -> Raw {
    let mut wanted = Object::new();
    for (place, question) in open.iter().enumerate() {
        let mut one = Object::new().with("method", &question.method);
        one.set_raw("params", question.params.clone().unwrap_or_else(Raw::null));
        wanted.set_raw(&place.to_string(), one.to_raw());
    }
    wanted.to_raw()
}

/// The result as it came, where the beginning of it is here and the whole in a slot.
pub(super) async fn whole(slot: Option<Arc<Slot>>, result: Raw) -> Result<Raw, Failed> {
    let Some(spooled) = slot.and_then(|slot| slot.filled()) else { return Ok(result) };
    let lost = || Failed::Answered(RpcError::internal("The result could not be kept while it came in."));
    unspooled(spooled, &result).await.ok_or_else(lost)
}

/// The call of an exchange, and where it is worked on.
enum Work {
    Here(BoxFuture<'static, Result<Raw, Failed>>),
    Apart(Task),
}

impl Work {
    async fn done(&mut self) -> Result<Raw, Failed> {
        let crashed = |_| Err(Failed::Answered(RpcError::internal("The call crashed.")));
        match self {
            Work::Here(work) => work.await,
            Work::Apart(task) => (&mut task.0).await.unwrap_or_else(crashed),
        }
    }
}

/// A task that ends with whoever waits for it.
struct Task(tokio::task::JoinHandle<Result<Raw, Failed>>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The calls that wait for their clients. Each belongs to whoever made it: in the hands of another its state is unknown.
#[derive(Default, Clone)]
pub(crate) struct Parked {
    table: Arc<Mutex<HashMap<String, Place>>>,
    /// Where this is one of several replicas: what a call is named by says which.
    standing: Option<Arc<Standing>>,
}

/// A parked call, and what gives it up when its time is over.
struct Place {
    exchange: Exchange,
    timer: tokio::task::JoinHandle<()>,
}

impl Parked {
    pub(crate) fn new(standing: Option<Arc<Standing>>) -> Self {
        Parked { standing, ..Parked::default() }
    }

    pub(crate) fn is_ours(state: &str) -> bool {
        state.starts_with(OURS)
    }

    /// Which replica has a call of this principal's.
    pub(crate) fn owner(&self, principal: &Principal, state: &str) -> Option<ReplicaId> {
        self.standing.as_ref()?.owner(Handle::Parked, principal, state.strip_prefix(OURS)?)
    }

    fn park(&self, exchange: Exchange) -> Result<String, Failed> {
        let mut bytes = [0u8; 16];
        let random = getrandom::fill(&mut bytes);
        let mut parked = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = exchange.owner();
        let theirs = || parked.values().filter(|place| place.exchange.owner() == owner).count();
        if random.is_err() || parked.len() >= PARKED || (parked.len() >= PARKED_OF_ONE && theirs() >= PARKED_OF_ONE) {
            let refusal = Refusal::new(Code::RateLimited, "Too many calls wait for an answer of their client.");
            return Err(Failed::Refused(refusal.hint("Try again in a while.")));
        }
        let name = match &self.standing {
            Some(standing) => standing.name(Handle::Parked, &owner, bytes),
            None => format!("{:032x}", u128::from_be_bytes(bytes)),
        };
        let state = format!("{OURS}{name}");
        let (table, key) = (self.clone(), state.clone());
        let timer = tokio::spawn(async move {
            tokio::time::sleep(PARKED_FOR).await;
            table.table.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
        });
        parked.insert(state.clone(), Place { exchange, timer });
        Ok(state)
    }

    /// Where it is theirs, and they come back the way they came.
    pub(crate) fn take(&self, state: &str, owner: &Principal, method: &str) -> Option<Box<Exchange>> {
        let mut parked = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let exchange = &parked.get(state)?.exchange;
        if exchange.owner() != *owner || exchange.what.comes_back_by(&exchange.method) != method {
            return None;
        }
        let Place { exchange, timer } = parked.remove(state)?;
        // One that is resumed a thousand times would leave a thousand timers behind.
        timer.abort();
        Some(Box::new(exchange))
    }
}

#[cfg(test)]
mod tests {
    use toolfold_core::Surface;
    use toolfold_wire::Silent;

    use super::*;

    /// A call of a stateless client that could be parked.
    fn waiting(principal: Principal) -> Exchange {
        let client = Arc::new(Client::request(principal, Surface::Compact, None));
        let request = Request::new(client, Arc::new(Silent), "tools/call", Object::new());
        let counted = Counted { what: Parking::Program, ..Counted::default() };
        Exchange::begin(ServerName::new("a").unwrap(), Source::Documents, counted, &request, Object::new())
    }

    #[tokio::test(start_paused = true)]
    async fn one_principal_leaves_places_for_calls_of_others_that_wait() {
        let (me, other) = (Principal::local(), Principal::token());
        let parked = Parked::default();
        let states: Vec<String> = (0..PARKED_OF_ONE).map(|_| parked.park(waiting(me.clone())).ok().unwrap()).collect();
        assert!(parked.park(waiting(me.clone())).is_err());
        let of_other = parked.park(waiting(other.clone())).ok().unwrap();
        for (state, owner, method) in
            [(&of_other, &me, "tools/call"), (&states[0], &other, "tools/call"), (&states[0], &me, "prompts/get")]
        {
            assert!(parked.take(state, owner, method).is_none());
        }
        assert!(parked.take(&states[0], &me, "tools/call").is_some());
        let last = parked.park(waiting(me.clone())).ok().unwrap();
        tokio::time::sleep(PARKED_FOR + Duration::from_secs(1)).await;
        assert!(parked.take(&last, &me, "tools/call").is_none(), "nobody came back for it");
    }

    #[test]
    fn questions_reach_a_stateless_client_as_they_came() {
        let odd = r#"{"n":12345678901234567890123,"x":[1.0, 1e400],"x":2}"#;
        let question = |params| Question { method: "roots/list".into(), params, reply: oneshot::channel().0 };
        let open = [question(toolfold_wire::raw_of(odd).ok()), question(None)];
        let asked =
            format!(r#"{{"0":{{"method":"roots/list","params":{odd}}},"1":{{"method":"roots/list","params":null}}}}"#);
        assert_eq!(requests(&open).get(), asked);
    }
}
