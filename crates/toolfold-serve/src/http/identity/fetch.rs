//! Asking an issuer: small documents, within a time.

use std::time::Duration;

use bytes::Bytes;
use hyper::Method;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use toolfold_http::{FixedHeaders, HttpClient, Outgoing, Target, chunk};

/// Of a document. A set of keys has a few kilobytes.
const LARGEST: usize = 256 * 1024;
const LONGEST: Duration = Duration::from_secs(10);

/// Why there is no document. For the log.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoDocument {
    #[error("{0}")]
    Unreachable(String),
    #[error("it answered with status {0}")]
    Status(u16),
    #[error("it did not answer within {} s", LONGEST.as_secs())]
    Late,
    #[error("its answer is larger than {LARGEST} bytes")]
    TooLarge,
}

pub(super) async fn get(url: &str) -> Result<Vec<u8>, NoDocument> {
    ask(url, Method::GET, HeaderMap::new(), Bytes::new()).await
}

/// Sends a form, as somebody.
pub(super) async fn post(url: &str, authorization: HeaderValue, form: String) -> Result<Vec<u8>, NoDocument> {
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, authorization);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    ask(url, Method::POST, headers, form.into()).await
}

async fn ask(url: &str, method: Method, mut headers: HeaderMap, body: Bytes) -> Result<Vec<u8>, NoDocument> {
    let unreachable = |why: String| NoDocument::Unreachable(why);
    let target = Target::parse(url).map_err(|error| unreachable(error.to_string()))?;
    let client = HttpClient::shared().map_err(|error| unreachable(error.to_string()))?;
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(HOST, target.host().map_err(|error| unreachable(error.to_string()))?);
    let nobody = FixedHeaders::default();
    let asked = async {
        let request = Outgoing { method, headers, body, credentials: &nobody };
        let mut response =
            client.send(&target, request).await.map_err(|error| NoDocument::Unreachable(error.to_string()))?;
        if !response.status().is_success() {
            return Err(NoDocument::Status(response.status().as_u16()));
        }
        let mut document = Vec::new();
        let cut = |error: toolfold_http::SendError| NoDocument::Unreachable(error.to_string());
        while let Some(piece) = chunk(&mut response).await.map_err(cut)? {
            if document.len() + piece.len() > LARGEST {
                return Err(NoDocument::TooLarge);
            }
            document.extend_from_slice(&piece);
        }
        Ok(document)
    };
    tokio::time::timeout(LONGEST, asked).await.unwrap_or(Err(NoDocument::Late))
}
