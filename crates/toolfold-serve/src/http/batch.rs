//! Several messages in one body, as protocol 2025-03-26 has it.

use std::sync::Arc;

use hyper::{HeaderMap, StatusCode};
use toolfold_core::Code;
use toolfold_wire::{BadMessage, Id, Message, RpcError, SESSION_HEADER};

use super::App;
use super::body::LARGEST_BODY;
use super::post::{Caller, carrier, keep, session_of, text};
use super::reply::{Reply, empty_response, error_response, json_response};
use super::session::{Said, Session};
use crate::asking::{Asking, is_notification};
use crate::too_often::TooOften;

/// Answers them in one body, in order.
pub(super) async fn answer(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    messages: Vec<Result<Message, BadMessage>>,
) -> Reply {
    let session = match session_of(app, caller, headers) {
        Ok(session) => session,
        Err((status, error)) => return error_response(status, None, error),
    };
    let mut answers: Vec<String> = Vec::new();
    let (mut size, mut asked) = (0, 0);
    for message in messages {
        let answer = match message {
            Ok(Message::Request { id, method, params }) if size < LARGEST_BODY => {
                asked += 1;
                // The first was counted when the body came in.
                match if asked > 1 { knock(app, caller) } else { Ok(()) } {
                    Err(error) => Some(failed(Some(id), error)),
                    Ok(()) => {
                        let asking = Asking::read(id, method, params.as_ref());
                        batched(&session, asking.map(|asking| Asking { carrier: carrier(headers), ..asking })).await
                    }
                }
            }
            Ok(Message::Request { id, .. }) => {
                Some(failed(Some(id), RpcError::internal("The answers of this batch are too large.")))
            }
            Ok(Message::Notification { method, params }) => {
                if is_notification(&method) {
                    session.conversation.notification(&method, params).await;
                }
                None
            }
            Ok(Message::Response { id, outcome }) => {
                session.conversation.answered(&id, outcome);
                None
            }
            Err(bad) => Some(bad.to_line()),
        };
        size += answer.as_ref().map_or(0, String::len);
        answers.extend(answer);
    }
    if let Some(id) = text(headers, SESSION_HEADER) {
        keep(app, id, &session).await;
    }
    if answers.is_empty() {
        return empty_response(StatusCode::ACCEPTED);
    }
    match app.budget.answer(format!("[{}]", answers.join(","))) {
        Some(whole) => json_response(StatusCode::OK, whole),
        None => error_response(StatusCode::SERVICE_UNAVAILABLE, None, RpcError::internal("Too many large answers.")),
    }
}

/// Counts one more request of whoever sent the batch.
fn knock(app: &App, caller: &Caller) -> Result<(), RpcError> {
    app.gateway.knock(Some(&caller.principal)).map_err(|wait| {
        app.gateway.turned_away(Some(&caller.principal), Code::RateLimited);
        TooOften::new(wait).rpc_error()
    })
}

async fn batched(session: &Arc<Session>, asking: Result<Asking, (Option<Id>, RpcError)>) -> Option<String> {
    let admitted = asking.and_then(|asking| match session.conversation.admit(&asking) {
        Ok(running) => Ok((asking, running)),
        Err(error) => Err((Some(asking.id), error)),
    });
    match admitted {
        Ok((asking, running)) => {
            let said = Said { session: session.clone(), log: session.common.clone() };
            session.conversation.request(asking, running, said).await.map(|answer| answer.to_line())
        }
        Err((id, error)) => Some(failed(id, error)),
    }
}

fn failed(id: Option<Id>, error: RpcError) -> String {
    BadMessage { id, error }.to_line()
}
