//! What is changed in a request's parameters on its way to a server: the progress token, because tokens of two
//! clients may be equal, and how the request introduces itself in `_meta`, which the stateless era demands and a server
//! of the old one may refuse. Everything else leaves as it came.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::json;
use toolfold_wire::{Era, Id, LONGEST_ID, MODERN, Message, Object, Raw, meta, raw};

use crate::connection::{Connection, Link};
use crate::http::{Repeated, repeated};

const META: &str = "_meta";
const TOKEN: &str = "progressToken";

/// Messages that nobody waits for and that a server has not taken yet (HTTP); further ones are lost.
pub(crate) const MOST_SOON: usize = 256;

/// How a request of the stateless era introduces itself. There may be other keys of the same prefix: those are passed on.
const INTRODUCTION: [&str; 4] = [meta::VERSION, meta::CLIENT_INFO, meta::CLIENT_CAPABILITIES, meta::LOG_LEVEL];

pub(crate) struct Prepared<'a> {
    pub(crate) params: Option<Cow<'a, Object>>,
    /// The caller's own progress token, to be put back.
    pub(crate) token: Option<Raw>,
}

/// What a request of the stateless era says about who asks.
#[derive(Default)]
pub(crate) struct Introduction<'a> {
    pub(crate) capabilities: Option<&'a Raw>,
    pub(crate) log_level: Option<String>,
}

impl Connection {
    /// Sends a message that nobody waits for. Where the server does not read, it is lost and not queued for ever.
    pub(crate) fn send_soon(self: &Arc<Self>, message: Message) {
        if let Link::Stdio { outbox, .. } = &self.link {
            let _ = outbox.send(None, message.to_line());
            return;
        }
        // Called from destructors, which may run when the runtime is already gone.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let Ok(place) = self.soon.clone().try_acquire_owned() else { return };
        let connection = self.clone();
        runtime.spawn(async move {
            let _ = connection.send(&message).await;
            drop(place);
        });
    }

    /// A request as it is sent: its line, and what of it is said again in headers.
    pub(crate) fn written(
        &self,
        id: u64,
        method: &str,
        params: Option<&Object>,
        introduction: &Introduction<'_>,
    ) -> (String, Repeated) {
        let prepared = prepare(self.era, id, params, introduction);
        if prepared.token.is_some() {
            self.keep_token(id, prepared.token);
        }
        let params = prepared.params.as_deref();
        let repeated = match &self.link {
            Link::Stdio { .. } | Link::Made(_) => Repeated::new(),
            Link::Http(_) => repeated(self, Some(method), params),
        };
        (Message::request_line(&Id::number(id), method, params), repeated)
    }
}

pub(crate) fn prepare<'a>(
    era: Era,
    id: u64,
    params: Option<&'a Object>,
    introduction: &Introduction<'_>,
) -> Prepared<'a> {
    if era == Era::Legacy && !params.is_some_and(|params| params.contains(META)) {
        return Prepared { params: params.map(Cow::Borrowed), token: None };
    }
    let mut object = params.cloned().unwrap_or_default();
    let mut own = object.object(META).unwrap_or_default();
    // Kept for as long as the call is open, which the rest of it is not, and repeated with every step: one too long for that
    // is left as it is, and what the server says of it is nobody's.
    let token = own.get(TOKEN).filter(|token| token.get().len() <= LONGEST_ID).map(Raw::detached);
    if token.is_some() {
        own.set(TOKEN, &id);
    }
    let introduced = match era {
        Era::Modern => introduce(&mut own, introduction),
        Era::Legacy => INTRODUCTION.into_iter().filter(|key| own.remove(key).is_some()).count() > 0,
    };
    if introduced && own.is_empty() {
        object.remove(META);
    } else if introduced || token.is_some() {
        object.set(META, &own);
    }
    Prepared { params: Some(Cow::Owned(object)), token }
}

/// Whether `_meta` has changed, which it has.
fn introduce(own: &mut Object, introduction: &Introduction<'_>) -> bool {
    own.set(meta::VERSION, MODERN);
    own.set_raw(meta::CLIENT_INFO, client_info());
    let nothing = || raw(&json!({}));
    own.set_raw(meta::CLIENT_CAPABILITIES, introduction.capabilities.map_or_else(nothing, ToOwned::to_owned));
    // A client that set its own level for this request is served better by that one.
    if let Some(level) = introduction.log_level.as_deref().filter(|_| !own.contains(meta::LOG_LEVEL)) {
        own.set(meta::LOG_LEVEL, level);
    }
    true
}

pub(crate) fn client_info() -> Raw {
    raw(&json!({"name": "toolfold", "version": env!("CARGO_PKG_VERSION")}))
}

/// The parameters of a progress notification with the caller's own token.
pub(crate) fn with_token(params: &Raw, token: &Raw) -> Option<Raw> {
    let mut object = Object::parse(params)?;
    object.set(TOKEN, token);
    Some(object.to_raw())
}

/// The request a progress notification is about: its token is the request's number.
pub(crate) fn token_of(params: &Raw) -> Option<u64> {
    Object::parse(params)?.read(TOKEN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolfold_wire::raw_of;

    fn prepared(era: Era, params: &str) -> (String, Option<String>) {
        let introduction = Introduction { capabilities: None, log_level: Some("info".into()) };
        let params = Object::parse(&raw_of(params).unwrap()).unwrap();
        let prepared = prepare(era, 7, Some(&params), &introduction);
        (prepared.params.unwrap().to_raw().get().to_owned(), prepared.token.map(|token| token.get().to_owned()))
    }

    #[test]
    fn only_the_token_changes_in_the_legacy_era() {
        let plain = r#"{"name":"x","arguments":{"n":1.0}}"#;
        assert_eq!(prepared(Era::Legacy, plain), (plain.to_owned(), None));
        let (params, token) = prepared(Era::Legacy, r#"{"name":"x","_meta":{"a":1,"progressToken":"t"},"n":1e400}"#);
        assert_eq!(params, r#"{"name":"x","_meta":{"a":1,"progressToken":7},"n":1e400}"#);
        assert_eq!(token.as_deref(), Some("\"t\""));
        let escaped = r#"{"name":"x","\u005fmeta":{"progress\u0054oken":9},"_meta":{"progress\u0054oken":8}}"#;
        let (params, token) = prepared(Era::Legacy, escaped);
        assert_eq!((params.as_str(), token.as_deref()), (r#"{"name":"x","_meta":{"progressToken":7}}"#, Some("8")));
        let long = format!(r#"{{"_meta":{{"progressToken":"{}"}}}}"#, "t".repeat(LONGEST_ID));
        assert_eq!(prepared(Era::Legacy, &long), (long.clone(), None), "too long to be repeated");
        let inside = r#"{"arguments":{"progressToken":1}}"#;
        assert_eq!(prepared(Era::Legacy, inside), (inside.to_owned(), None));
    }

    #[test]
    fn a_legacy_server_is_not_told_how_a_stateless_client_introduced_itself() {
        let own =
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
        let (params, _) = prepared(Era::Legacy, &format!(r#"{{"name":"x","_meta":{{{own}}}}}"#));
        assert_eq!(params, r#"{"name":"x"}"#);
        let (params, _) =
            prepared(Era::Legacy, &format!(r#"{{"name":"x","_meta":{{{own},"progressToken":1,"a":2}}}}"#));
        assert_eq!(params, r#"{"name":"x","_meta":{"progressToken":7,"a":2}}"#);
    }

    #[test]
    fn a_stateless_request_introduces_itself() {
        let (params, _) = prepared(Era::Modern, r#"{"_meta":{"io.modelcontextprotocol/logLevel":"error","x":1}}"#);
        let params: serde_json::Value = serde_json::from_str(&params).unwrap();
        assert_eq!(params["_meta"][meta::VERSION], MODERN);
        assert_eq!(params["_meta"][meta::LOG_LEVEL], "error");
        assert_eq!(params["_meta"][meta::CLIENT_CAPABILITIES], json!({}));
        assert_eq!(params["_meta"]["x"], 1);
        let (params, _) = prepared(Era::Modern, "{}");
        assert!(params.contains(r#""io.modelcontextprotocol/logLevel":"info""#));
    }
}
