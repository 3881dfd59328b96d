//! How a connection ends and a request fails on it: in words for a person, and with the two things that others decide by:
//! whether it was anybody's fault, and whether the server can have seen the request.

use crate::call::CallError;

/// Why a connection ended.
#[derive(Debug, Clone)]
pub(crate) struct Closing {
    /// Completes the sentence "the server …".
    pub(crate) what: String,
    /// The last thing it said on stderr.
    pub(crate) words: Option<String>,
    /// Nobody's fault: the server can be asked again at once (a session it forgot, a restart of ours).
    pub(crate) harmless: bool,
    /// Somebody has to log in: the whole sentence.
    pub(crate) login: Option<String>,
}

impl Closing {
    pub(crate) fn because(what: impl Into<String>) -> Self {
        Closing { what: what.into(), words: None, harmless: false, login: None }
    }

    pub(crate) fn harmless(what: impl Into<String>) -> Self {
        Closing { harmless: true, ..Closing::because(what) }
    }

    pub(crate) fn login(why: impl Into<String>) -> Self {
        Closing { login: Some(why.into()), ..Closing::harmless("needs a login") }
    }

    pub(crate) fn why(&self) -> String {
        match &self.words {
            Some(words) => format!("the server {}; it said: {words}", self.what),
            None => format!("the server {}", self.what),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Failure {
    Call(CallError),
    /// The server cannot have seen the request, so that sending it over another connection is no second time.
    NotSent(String),
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Failure::Call(error)
    }
}

impl Failure {
    pub(crate) fn into_call_error(self) -> CallError {
        match self {
            Failure::Call(error) => error,
            Failure::NotSent(why) => CallError::unavailable(why),
        }
    }
}
