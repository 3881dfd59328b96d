//! What went wrong, as a status of HTTP and as an error of JSON-RPC. Nowhere else in this crate is one made into the other.

use std::time::Duration;

use hyper::header::{self, HeaderValue};
use hyper::{Method, StatusCode};
use serde_json::json;
use toolfold_core::{Code, Refusal};
use toolfold_wire::{RpcError, code};

use super::body::NoBody;
use super::reply::{Reply, error_response, json_response, text_response};
use super::sessions::NoSession;
use crate::too_often::TooOften;

/// A request that was not let in, and why.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    message: String,
    /// They come too often, and may try the same again later.
    too_often: Option<TooOften>,
    /// What it takes to be let in, for programs.
    challenge: Option<String>,
}

impl Refused {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Refused { status, message: message.into(), too_often: None, challenge: None }
    }

    /// It is not known who this is, or they may do more with another token: what to show, in the words of
    /// `WWW-Authenticate`.
    pub(crate) fn challenged(status: StatusCode, message: impl Into<String>, challenge: String) -> Self {
        Refused { challenge: Some(challenge), ..Refused::new(status, message) }
    }

    /// More requests than are allowed.
    pub(crate) fn too_often(wait: Duration) -> Self {
        let too_often = TooOften::new(wait);
        let refused = Refused::new(StatusCode::TOO_MANY_REQUESTS, too_often.message());
        Refused { too_often: Some(too_often), ..refused }
    }

    /// A sentence for whoever speaks MCP, whose client shows it; JSON where the HTTP API has promised it, and where a program is
    /// to come back by itself.
    pub(crate) fn reply(self, method: &Method, path: &str) -> Reply {
        let is_mcp = path == "/mcp" || path.starts_with("/mcp/");
        let code = match self.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Code::NotAuthorized,
            _ => Code::InvalidRequest,
        };
        let mut reply = match self.too_often {
            // Its id is in a body that nobody has read.
            Some(often) if is_mcp && *method == Method::POST => error_response(self.status, None, often.rpc_error()),
            Some(often) if is_mcp || path.starts_with("/v1/") => refused(&often.refusal()),
            None if path.starts_with("/v1/") => {
                json_response(self.status, Refusal::new(code, self.message).to_json().to_string())
            }
            _ => text_response(self.status, self.message + "\n"),
        };
        if self.status == StatusCode::UNAUTHORIZED || self.challenge.is_some() {
            let challenge = self.challenge.and_then(|text| HeaderValue::from_str(&text).ok());
            let challenge = challenge.unwrap_or(HeaderValue::from_static("Bearer"));
            reply.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        come_back(&mut reply, self.too_often.map(|often| often.seconds));
        reply
    }
}

/// The status of an error in the stateless era, which has some of its own.
pub(crate) fn status_of(error: &RpcError) -> StatusCode {
    match error.code {
        code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        code::UNSUPPORTED_VERSION | code::HEADER_MISMATCH | code::MISSING_CAPABILITY => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// The status of a body that never came, and what its sender is told.
pub(crate) fn without_body(why: NoBody) -> (StatusCode, RpcError) {
    (body_status(why), RpcError::new(code::INVALID_REQUEST, why.to_string()))
}

fn body_status(why: NoBody) -> StatusCode {
    match why {
        NoBody::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        NoBody::Broken => StatusCode::BAD_REQUEST,
        NoBody::Late => StatusCode::REQUEST_TIMEOUT,
        NoBody::NoMemory | NoBody::Stopping => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// The status of a session that could not be begun.
pub(crate) fn session_status(why: &NoSession) -> StatusCode {
    match why {
        NoSession::Full => StatusCode::SERVICE_UNAVAILABLE,
        NoSession::NoRandomness => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The same for the HTTP API.
pub(crate) fn refused_body(why: NoBody) -> Reply {
    let code = match why {
        NoBody::TooLarge => Code::TooLarge,
        NoBody::Broken | NoBody::Late => Code::InvalidRequest,
        NoBody::NoMemory | NoBody::Stopping => Code::RateLimited,
    };
    json_response(body_status(why), Refusal::new(code, why.to_string()).to_json().to_string())
}

/// A refusal over the HTTP API.
pub(crate) fn refused(refusal: &Refusal) -> Reply {
    let mut reply = json_response(status_of_code(refusal.code), refusal.to_json().to_string());
    let wait = refusal.details.as_ref().and_then(|details| details["retry_after_seconds"].as_u64());
    come_back(&mut reply, wait.or((refusal.code == Code::RateLimited).then_some(1)));
    reply
}

/// Says after how many seconds the same may be tried again.
fn come_back(reply: &mut Reply, seconds: Option<u64>) {
    if let Some(seconds) = seconds {
        reply.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
}

/// The status of a refusal over the HTTP API, for documents.
pub fn http_status(code: Code) -> u16 {
    status_of_code(code).as_u16()
}

fn status_of_code(code: Code) -> StatusCode {
    match code {
        Code::NoMatchInCategory | Code::UnknownPath | Code::ToolNotFound => StatusCode::NOT_FOUND,
        Code::NotAuthorized | Code::Quarantined => StatusCode::FORBIDDEN,
        Code::InvalidArguments | Code::InvalidRequest | Code::InvalidCursor => StatusCode::BAD_REQUEST,
        Code::ServerUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::ServerTimeout => StatusCode::GATEWAY_TIMEOUT,
        Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
    }
}

/// The server's own JSON-RPC error. What is wrong with the arguments is the caller's business, the rest the server's.
pub(crate) fn failed(error: &RpcError) -> Reply {
    let (status, code) = match error.code {
        code::INVALID_PARAMS => (StatusCode::BAD_REQUEST, Code::InvalidArguments),
        _ => (StatusCode::BAD_GATEWAY, Code::ServerUnavailable),
    };
    let refusal = Refusal::new(code, error.message.clone()).details(json!({"rpc_code": error.code}));
    json_response(status, refusal.to_json().to_string())
}
