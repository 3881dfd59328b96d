//! What a client says it can read. It is looked at before anything is done: a call that was made cannot be taken back.

use hyper::StatusCode;
use hyper::header::{ACCEPT, HeaderMap};
use toolfold_wire::{RpcError, code};

use super::reply::{Reply, error_response};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Accepts {
    pub(crate) json: bool,
    pub(crate) events: bool,
}

impl Accepts {
    /// Who says nothing takes both.
    pub(crate) fn read(headers: &HeaderMap) -> Self {
        let mut accepts = Accepts { json: false, events: false };
        let mut said = false;
        for value in headers.get_all(ACCEPT) {
            said = true;
            let kinds = value.to_str().unwrap_or_default().split(',');
            for kind in kinds.map(|kind| kind.split(';').next().unwrap_or_default().trim()) {
                let any = kind == "*/*";
                accepts.json |=
                    any || ["application/json", "application/*"].iter().any(|k| kind.eq_ignore_ascii_case(k));
                accepts.events |= any || ["text/event-stream", "text/*"].iter().any(|k| kind.eq_ignore_ascii_case(k));
            }
        }
        if said { accepts } else { Accepts { json: true, events: true } }
    }

    pub(crate) fn nothing(self) -> bool {
        !self.json && !self.events
    }

    pub(crate) fn refusal(self) -> Reply {
        let message = "Accept application/json and text/event-stream: an answer is one or the other.";
        error_response(StatusCode::NOT_ACCEPTABLE, None, RpcError::new(code::INVALID_REQUEST, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(accept: &[&str]) -> (bool, bool) {
        let headers = accept.iter().map(|value| (ACCEPT, value.parse().unwrap())).collect();
        let Accepts { json, events } = Accepts::read(&headers);
        (json, events)
    }

    #[test]
    fn what_is_listed_is_accepted_and_nothing_else() {
        assert_eq!(read(&[]), (true, true));
        assert_eq!(read(&["*/*"]), (true, true));
        assert_eq!(read(&["application/json, text/event-stream"]), (true, true));
        assert_eq!(read(&["application/json", "text/event-stream;q=0.5"]), (true, true));
        assert_eq!(read(&["application/json"]), (true, false));
        assert_eq!(read(&["Text/Event-Stream"]), (false, true));
        assert_eq!(read(&["image/png"]), (false, false));
    }
}
