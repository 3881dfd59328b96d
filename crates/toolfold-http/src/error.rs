//! How a request can fail before there is an answer. What a server answers, a 500 included, is no error here.

use std::sync::Arc;

use crate::credentials::NoCredentials;

#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// No connection came about: nobody can have seen the request.
    #[error("{}", cause(&**.0))]
    Unreachable(Box<dyn std::error::Error + Send + Sync>),
    /// The connection broke; what the server did with the request is unknown.
    #[error("{}", cause(.0))]
    Broken(hyper::Error),
    /// The answer broke off.
    #[error("{}", cause(.0))]
    Cut(#[from] hyper::Error),
    /// The answer is larger than somebody wanted to read.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
    #[error("{0}")]
    Credentials(#[from] NoCredentials),
}

impl SendError {
    /// Whether there was nobody to connect to: the machine is there, and says that nothing listens.
    pub fn is_refused(&self) -> bool {
        let SendError::Unreachable(error) = self else { return false };
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&**error);
        while let Some(error) = cause {
            if let Some(error) = error.downcast_ref::<std::io::Error>()
                && error.kind() == std::io::ErrorKind::ConnectionRefused
            {
                return true;
            }
            cause = error.source();
        }
        false
    }
}

/// An address that cannot be one.
#[derive(Debug, thiserror::Error)]
pub enum BadTarget {
    #[error("{0}")]
    Url(#[from] url::ParseError),
    #[error("{0}")]
    Uri(#[from] hyper::http::uri::InvalidUri),
    #[error("{0}")]
    Host(#[from] hyper::http::header::InvalidHeaderValue),
}

/// There is no TLS to be had on this machine.
#[derive(Debug, Clone, thiserror::Error)]
#[error("no HTTP client could be set up: {0}")]
pub struct NoClient(Arc<rustls::Error>);

impl From<rustls::Error> for NoClient {
    fn from(error: rustls::Error) -> Self {
        NoClient(Arc::new(error))
    }
}

/// The innermost cause: the outer ones only say what was being done.
fn cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
