//! A request as it comes in: its parameters are read here, once, and whoever works on it gets them as an [`Object`].

use toolfold_gateway::Request;
use toolfold_wire::{Id, LONGEST_ID, LONGEST_METHOD, Object, Raw, RpcError, code, meta};

pub(crate) struct Asking {
    pub(crate) id: Id,
    pub(crate) method: String,
    pub(crate) params: Object,
    /// `_meta` of the parameters.
    pub(crate) about: Object,
    /// The `traceparent` of what carried it.
    pub(crate) carrier: Option<String>,
}

impl Asking {
    /// Reads a request's parameters, or says what is wrong; an id that is too long to be repeated is left out.
    pub(crate) fn read(id: Id, method: String, params: Option<&Raw>) -> Result<Self, (Option<Id>, RpcError)> {
        let invalid = |message: &str| RpcError::new(code::INVALID_REQUEST, message);
        if id.as_json().len() > LONGEST_ID {
            return Err((None, invalid("Invalid request: the id is too long")));
        }
        if method.len() > LONGEST_METHOD {
            return Err((Some(id), invalid("Invalid request: the method is too long")));
        }
        match Request::params_of(&method, params) {
            Ok(params) => {
                let about = params.object("_meta").unwrap_or_default();
                Ok(Asking { id, method, params, about, carrier: None })
            }
            Err(error) => Err((Some(id), error)),
        }
    }

    /// Whether it is of the stateless era, which says so in every request; whatever does not is of the old one.
    pub(crate) fn is_stateless(&self) -> bool {
        self.method == "server/discover" || self.method == "subscriptions/listen" || self.about.contains(meta::VERSION)
    }
}

/// Whether this may be sent without an id. A request without one is never worked on: nobody would hear its answer, and
/// what a request has to pass before it reaches a server is not asked of a notification.
pub(crate) fn is_notification(method: &str) -> bool {
    method.starts_with("notifications/") && method.len() <= LONGEST_METHOD
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(id: &str, method: &str, params: &str) -> Result<Asking, (Option<Id>, RpcError)> {
        let raw = |text: &str| toolfold_wire::raw_of(text).unwrap();
        Asking::read(Id::from_raw(&raw(id)).unwrap(), method.to_owned(), Some(&raw(params)))
    }

    #[test]
    fn a_request_says_which_era_it_is_of() {
        let version = r#"{"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}"#;
        assert!(read("1", "tools/list", version).is_ok_and(|asking| asking.is_stateless()));
        assert!(read("1", "server/discover", "{}").is_ok_and(|asking| asking.is_stateless()));
        assert!(
            read("1", "tools/list", r#"{"_meta": {"progressToken": 1}}"#).is_ok_and(|asking| !asking.is_stateless())
        );
        assert!(read("1", "tools/list", r#"{"_meta": 7}"#).is_ok_and(|asking| !asking.is_stateless()));
    }

    #[test]
    fn what_is_repeated_has_a_length() {
        let long = "x".repeat(20_000);
        assert!(read(&format!("\"{long}\""), "ping", "{}").is_err_and(|(id, _)| id.is_none()));
        assert!(read("1", &long, "{}").is_err_and(|(id, _)| id.is_some()));
        assert!(read("1", "ping", "[]").is_err_and(|(_, error)| error.code == code::INVALID_PARAMS));
    }

    #[test]
    fn a_request_is_no_notification() {
        assert!(is_notification("notifications/cancelled"));
        assert!(!is_notification("tools/call"));
        assert!(!is_notification(&format!("notifications/{}", "x".repeat(300))));
    }
}
