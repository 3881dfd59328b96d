//! The far side of a passage: what another replica has let through its gate, for a server that runs here.
//!
//! What a reader would get wrong: rights, limits, the audit and counting have stood at the first gate, and are not asked again.
//! So this is for those alone who have shown that they are a replica, and for servers that one of all replicas runs.

use serde_json::{Value, json};
use toolfold_core::{Code, Refusal, ServerName};
use toolfold_wire::{Raw, RpcError, code};

use super::bridge;
use super::rights::unknown_state;
use super::source::{Failed, Source};
use super::subscriptions::Watch;
use super::{Counted, Gate, Outcome, gone};
use crate::request::Request;
use crate::snapshot::Snapshot;

/// Where an error has what this replica refused, for the other one to refuse.
const REFUSAL: &str = "toolfold/refusal";

impl Gate {
    /// Asks a server on behalf of another replica.
    pub(crate) async fn relay(
        &self,
        snapshot: &Snapshot,
        server: &ServerName,
        request: &Request,
    ) -> Result<Raw, Failed> {
        let source = only_one(snapshot, server)?;
        let outcome = match self.parked(request) {
            Some(found) => {
                let exchange = found?;
                if exchange.server != *server {
                    return Err(unknown_state());
                }
                let answers = request.params.object("inputResponses").unwrap_or_default();
                bridge::resume(&self.parked, *exchange, request, &answers).await?
            }
            None => {
                let (params, counted) = (request.params.clone(), Counted::default());
                bridge::exchange(&self.parked, (server, source), counted, request, params).await?
            }
        };
        match outcome {
            Outcome::Done(result) | Outcome::Parked(result) => Ok(result),
            Outcome::Watching(_) | Outcome::Told => Ok(Raw::null()),
        }
    }

    /// Tells a server something on behalf of another replica.
    pub(crate) async fn relay_word(&self, snapshot: &Snapshot, server: &ServerName, method: &str, params: Option<Raw>) {
        if let Some(upstream) = only_one(snapshot, server).ok().and_then(Source::upstream) {
            upstream.notify(method, params);
        }
    }

    /// Watches a resource on behalf of another replica.
    pub(crate) async fn relay_watch(
        &self,
        snapshot: &Snapshot,
        server: &ServerName,
        uri: &str,
        request: &Request,
    ) -> Result<Watch, Failed> {
        let source = only_one(snapshot, server)?;
        self.watch((server, source), &request.client.principal(), uri.to_owned()).await
    }

    /// What a server is asked to say in its log messages, by whoever asked last.
    pub(crate) fn relay_log_level(&self, snapshot: &Snapshot, server: &ServerName, level: &str) {
        if let Some(upstream) = only_one(snapshot, server).ok().and_then(Source::upstream)
            && upstream.log_level().as_deref() != Some(level)
        {
            upstream.set_log_level(level);
        }
    }
}

/// A server that one of all replicas runs. Any other has its own way everywhere.
fn only_one<'a>(snapshot: &'a Snapshot, server: &ServerName) -> Result<&'a Source, Failed> {
    let source = snapshot.source(server).filter(|source| source.is_only_one());
    source.ok_or_else(|| Failed::Refused(gone(server)))
}

/// What went wrong, on its way to the replica that asked.
pub(crate) fn sent_back(failed: Failed) -> RpcError {
    match failed {
        // What only a replica says no server may.
        Failed::Answered(error) if refused_there(&error).is_some() => RpcError::new(error.code, error.message),
        Failed::Answered(error) => error,
        Failed::Refused(refusal) => {
            let Refusal { code, message, hints, details, cause, .. } = refusal;
            let told = json!({"code": code, "message": message, "hints": hints, "details": details, "cause": cause});
            RpcError::new(code::INTERNAL_ERROR, message).with_data(&json!({ REFUSAL: told }))
        }
    }
}

/// The refusal of the replica that runs a server, where an error is one.
pub(super) fn refused_there(error: &RpcError) -> Option<Refusal> {
    let data: Value = serde_json::from_str(error.data.as_ref()?.get()).ok()?;
    let told = data.get(REFUSAL)?;
    let code = Code::ALL.into_iter().find(|code| told["code"] == code.as_str())?;
    let hints = told["hints"].as_array().into_iter().flatten().filter_map(|hint| hint.as_str().map(str::to_owned));
    let refusal = Refusal::new(code, told["message"].as_str()?).hints(hints);
    let details = Some(told["details"].clone()).filter(|details| !details.is_null());
    let cause = told["cause"].as_str().map(str::to_owned);
    Some(Refusal { details, cause, ..refusal })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_arrives_as_it_was_and_none_can_be_made_up_by_a_server() {
        let refusal = Refusal::new(Code::ServerTimeout, "It did not answer.").hint("Look first.").cause("why");
        let sent = sent_back(Failed::Refused(refusal.details(json!({"a": 1}))));
        let told = refused_there(&sent).unwrap();
        assert_eq!((told.code, told.message.as_str()), (Code::ServerTimeout, "It did not answer."));
        assert_eq!((told.hints, told.cause), (vec!["Look first.".to_owned()], Some("why".to_owned())));
        assert_eq!(told.details, Some(json!({"a": 1})));
        // A server that answers with the same words.
        let passed = sent_back(Failed::Answered(sent));
        assert!(refused_there(&passed).is_none());
        let own = RpcError::new(-32_000, "mine").with_data(&json!({"x": 1}));
        assert_eq!(sent_back(Failed::Answered(own)).data.unwrap().get(), r#"{"x":1}"#);
    }
}
