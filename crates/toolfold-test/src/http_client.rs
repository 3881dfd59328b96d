//! A raw MCP client over HTTP, both eras, and plain posts for what no client would send.
//!
//! A reader would expect the answer to a question to come on the stream it was asked on: it is a post of its own.

use std::sync::{Arc, Mutex, PoisonError};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use toolfold_wire::{
    EventReader, Id, METHOD_HEADER, MODERN, Message, NAME_HEADER, Object, Raw, RpcError, SESSION_HEADER,
    VERSION_HEADER, encode_header, name_of, raw,
};

use crate::inbox::{Inbox, Question, given, greeting, patiently, value, with_modern_meta};

const EVENT_LIMIT: usize = 256 << 20;

pub struct HttpClient {
    url: String,
    http: reqwest::Client,
    inbox: Arc<Inbox>,
    capabilities: Value,
    headers: HeaderMap,
    session: Mutex<Option<String>>,
    version: Mutex<Option<String>>,
}

/// What came back for one post.
#[derive(Debug)]
pub struct HttpReply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl HttpReply {
    /// The messages in the body, whether it is JSON or a stream of events.
    pub fn messages(&self) -> Vec<Value> {
        if let Ok(message) = serde_json::from_str(&self.body) {
            return vec![message];
        }
        let mut messages = Vec::new();
        let mut reader = EventReader::new(EVENT_LIMIT);
        let _ = reader.feed(self.body.as_bytes(), |event| messages.extend(serde_json::from_str(&event.data).ok()));
        messages
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// HTTP without MCP.
pub fn plain_http() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().expect("a client can be built")
}

impl HttpClient {
    pub fn new(url: impl Into<String>) -> Self {
        HttpClient {
            url: url.into(),
            http: plain_http(),
            inbox: Arc::default(),
            capabilities: json!({}),
            headers: HeaderMap::new(),
            session: Mutex::default(),
            version: Mutex::default(),
        }
    }

    /// What the client says it can do, in both eras.
    pub fn with_capabilities(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// A header for every request, over what the client would send itself.
    pub fn with_header(mut self, name: &str, text: &str) -> Self {
        set(&mut self.headers, name, text);
        self
    }

    /// The same client, session included, as another address sees it.
    pub fn at(&self, url: impl Into<String>) -> Self {
        HttpClient {
            url: url.into(),
            http: self.http.clone(),
            inbox: self.inbox.clone(),
            capabilities: self.capabilities.clone(),
            headers: self.headers.clone(),
            session: Mutex::new(self.session()),
            version: Mutex::new(lock(&self.version).clone()),
        }
    }

    /// The legacy handshake; gives the server's result.
    pub async fn initialize(&self, version: &str) -> Value {
        let result = self.request("initialize", greeting(version, &self.capabilities)).await;
        *lock(&self.version) = result["protocolVersion"].as_str().map(str::to_owned);
        self.notify("notifications/initialized", Value::Null).await;
        result
    }

    /// Where the server is.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The session the server opened, if it did.
    pub fn session(&self) -> Option<String> {
        lock(&self.session).clone()
    }

    /// The result of a request; an error fails the test.
    pub async fn request(&self, method: &str, params: Value) -> Value {
        match self.try_request(method, params).await {
            Ok(result) => value(Some(&result)),
            Err(error) => panic!("{method} was answered with an error: {error}"),
        }
    }

    /// The outcome of a request, with the result as the bytes it came as.
    pub async fn try_request(&self, method: &str, params: Value) -> Result<Raw, RpcError> {
        self.exchange(method, params, HeaderMap::new()).await
    }

    /// As [`HttpClient::request`], in the stateless era: `_meta` and the headers are added.
    pub async fn modern(&self, method: &str, params: Value) -> Value {
        match self.try_modern(method, params).await {
            Ok(result) => value(Some(&result)),
            Err(error) => panic!("{method} was answered with an error: {error}"),
        }
    }

    pub async fn try_modern(&self, method: &str, params: Value) -> Result<Raw, RpcError> {
        let params = with_modern_meta(params, &self.capabilities);
        let headers = modern_headers(method, &params);
        self.exchange(method, params, headers).await
    }

    pub async fn notify(&self, method: &str, params: Value) {
        let reply = self.post(&Message::notification(method, given(&params)).to_line(), HeaderMap::new()).await;
        assert!(reply.status < 300, "{method} was answered with status {}", reply.status);
    }

    pub async fn next_request(&self) -> Question {
        self.inbox.next_question().await
    }

    pub async fn answer(&self, question: &Question, result: Value) {
        let message = Message::response(question.id.clone(), Ok(raw(&result)));
        self.post(&message.to_line(), HeaderMap::new()).await;
    }

    pub async fn refuse(&self, question: &Question, error: RpcError) {
        self.post(&Message::response(question.id.clone(), Err(error)).to_line(), HeaderMap::new()).await;
    }

    /// The notifications that came so far and were not taken yet, `{"method", "params"}`.
    pub fn notifications(&self) -> Vec<Value> {
        self.inbox.notifications()
    }

    pub async fn next_notification(&self, method: &str) -> Value {
        self.inbox.next_notification(method).await
    }

    /// Opens the stream for what no request asked for. Returns once the server accepted it.
    pub async fn open_stream(&self) {
        let request = self.http.get(&self.url).headers(self.all_headers(HeaderMap::new()));
        let response = request.header("accept", "text/event-stream").send().await.expect("the server can be reached");
        assert!(response.status().is_success(), "the stream was refused with status {}", response.status());
        let inbox = Arc::clone(&self.inbox);
        tokio::spawn(async move { read_events(response, &inbox).await });
    }

    /// A modern subscription, open until the client is dropped. Returns once it is acknowledged.
    pub async fn listen(&self, notifications: Value) -> Value {
        let params = with_modern_meta(json!({"notifications": notifications}), &self.capabilities);
        let headers = modern_headers("subscriptions/listen", &params);
        let (id, answer) = self.inbox.expect();
        drop(answer);
        let message = Message::request(id, "subscriptions/listen", Some(raw(&params))).to_line();
        let response = self.send(&message, headers).await;
        let inbox = Arc::clone(&self.inbox);
        tokio::spawn(async move { read_events(response, &inbox).await });
        self.inbox.next_notification("notifications/subscriptions/acknowledged").await
    }

    /// Ends the legacy session; gives the status.
    pub async fn delete(&self) -> u16 {
        let request = self.http.delete(&self.url).headers(self.all_headers(HeaderMap::new()));
        request.send().await.expect("the server can be reached").status().as_u16()
    }

    /// Posts a body as it is, with these headers over the usual ones.
    pub async fn post(&self, body: &str, headers: HeaderMap) -> HttpReply {
        let response = self.send(body, headers).await;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = patiently("the end of a body", response.text()).await.unwrap_or_default();
        HttpReply { status, headers, body }
    }

    async fn exchange(&self, method: &str, params: Value, headers: HeaderMap) -> Result<Raw, RpcError> {
        let (id, answer) = self.inbox.expect();
        let response = self.send(&Message::request(id.clone(), method, given(&params)).to_line(), headers).await;
        let status = response.status();
        if let Some(session) = response.headers().get(SESSION_HEADER).and_then(|value| value.to_str().ok()) {
            *lock(&self.session) = Some(session.to_owned());
        }
        let work = async {
            tokio::select! {
                biased;
                answer = answer => answer.ok(),
                () = self.read_reply(response, &id) => None,
            }
        };
        match patiently(method, work).await {
            Some(outcome) => outcome,
            None => Err(RpcError::internal(format!("{method} was answered with status {status} and no message"))),
        }
    }

    /// Feeds the inbox; ends only where the reply ended without the answer.
    async fn read_reply(&self, response: reqwest::Response, id: &Id) {
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind.starts_with("text/event-stream") {
            read_events(response, &self.inbox).await;
        } else {
            self.inbox.take(response.text().await.unwrap_or_default().as_bytes());
        }
        // Lets the answer, if it came, be seen first.
        tokio::task::yield_now().await;
        self.inbox.forget(id);
    }

    async fn send(&self, body: &str, headers: HeaderMap) -> reqwest::Response {
        let request = self.http.post(&self.url).headers(self.all_headers(headers)).body(body.to_owned());
        patiently("a status", request.send()).await.expect("the server can be reached")
    }

    fn all_headers(&self, own: HeaderMap) -> HeaderMap {
        let mut headers = HeaderMap::new();
        set(&mut headers, "content-type", "application/json");
        set(&mut headers, "accept", "application/json, text/event-stream");
        if let Some(session) = lock(&self.session).as_deref() {
            set(&mut headers, SESSION_HEADER, session);
        }
        if let Some(version) = lock(&self.version).as_deref() {
            set(&mut headers, VERSION_HEADER, version);
        }
        headers.extend(own);
        headers.extend(self.headers.clone());
        headers
    }
}

async fn read_events(mut response: reqwest::Response, inbox: &Inbox) {
    let mut reader = EventReader::new(EVENT_LIMIT);
    while let Ok(Some(chunk)) = response.chunk().await {
        let fed = reader.feed(&chunk, |event| {
            if !event.data.is_empty() {
                inbox.take(event.data.as_bytes());
            }
        });
        if fed.is_err() {
            return;
        }
    }
}

fn modern_headers(method: &str, params: &Value) -> HeaderMap {
    let mut headers = HeaderMap::new();
    set(&mut headers, VERSION_HEADER, MODERN);
    set(&mut headers, METHOD_HEADER, method);
    if let Some(name) = name_of(method, Object::parse(&raw(params)).as_ref()) {
        set(&mut headers, NAME_HEADER, &encode_header(&name));
    }
    headers
}

fn set(headers: &mut HeaderMap, name: &str, text: &str) {
    let name: HeaderName = name.parse().expect("a header name");
    headers.insert(name, HeaderValue::from_str(text).expect("a header value"));
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
