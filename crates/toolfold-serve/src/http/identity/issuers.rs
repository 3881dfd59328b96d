//! Issuers: whose word counts, their keys, and what they said when they were asked.
//!
//! What a reader would get wrong: nobody makes us ask. Keys are fetched when a token names one that is not known, at most
//! once in a while, however many such tokens come; about tokens that only their issuer can read it is asked within a bound; and what was fetched stays good while its issuer cannot be reached. Who
//! began to ask may hang up: the keys come all the same, or the next would be told for a while that there are none.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::header::HeaderValue;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::Instant;
use toolfold_access::{BadToken, Keys, Trusted, claimed, introspected, is_signed, verify};
use toolfold_config::{Introspection, Issuer};
use toolfold_core::Principal;
use toolfold_gateway::seconds_now;
use tracing::{debug, warn};
use url::Url;

use super::fetch::{self, NoDocument};
use super::questions::Questions;

/// How long keys are good before they are asked for again, and how long nobody is asked after somebody was.
const FRESH: Duration = Duration::from_secs(10 * 60);
const PAUSE: Duration = Duration::from_secs(5);
/// How long an answer about a token is good, and how many are kept.
const REMEMBERED: Duration = Duration::from_secs(30);
const MOST_REMEMBERED: usize = 10_000;

pub(crate) struct Issuers(Vec<Arc<Known>>);

struct Known {
    issuer: Issuer,
    keys: ArcSwapOption<Keys>,
    /// When its keys were asked for last, and whether they came; held while they are asked for.
    asked: Arc<Mutex<Option<Instant>>>,
    answers: std::sync::Mutex<Answers>,
    questions: Questions,
}

/// What was said of tokens, by their hash, and until when that is good.
type Answers = HashMap<[u8; 32], (Instant, Result<Principal, BadToken>)>;

impl Issuers {
    pub(crate) fn new(issuers: &[Issuer]) -> Self {
        let known = |issuer: &Issuer| Known {
            issuer: issuer.clone(),
            keys: ArcSwapOption::empty(),
            asked: Arc::default(),
            answers: std::sync::Mutex::default(),
            questions: Questions::new(),
        };
        Issuers(issuers.iter().map(known).map(Arc::new).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Who a token is of, for one of these audiences; or why it is not accepted, for the record.
    pub(crate) async fn who(&self, token: &str, audiences: &[String]) -> Result<Principal, BadToken> {
        let bad = match claimed(token) {
            Ok(origin) => match self.0.iter().find(|known| known.issuer.issuer == origin.issuer) {
                Some(known) => return known.signed(token, origin.kid.as_deref(), audiences).await,
                None => BadToken::Issuer,
            },
            // Nothing that is meant to be read here: whoever gave it out can be asked.
            Err(BadToken::Malformed) if !is_signed(token) => {
                let mut bad = BadToken::Malformed;
                for known in &self.0 {
                    let Some(introspection) = &known.issuer.introspection else { continue };
                    match known.introspected(introspection, token, audiences).await {
                        Ok(principal) => return Ok(principal),
                        Err(why) => bad = why,
                    }
                }
                bad
            }
            Err(bad) => bad,
        };
        Err(bad)
    }
}

impl Known {
    fn trusted<'a>(&'a self, audiences: &'a [String]) -> Trusted<'a> {
        let Issuer { issuer, name_claim, groups_claim, .. } = &self.issuer;
        Trusted { issuer, audiences, name_claim, groups_claim }
    }

    async fn signed(
        self: &Arc<Self>,
        token: &str,
        kid: Option<&str>,
        audiences: &[String],
    ) -> Result<Principal, BadToken> {
        let keys = self.keys_with(kid).await;
        let trusted = self.trusted(audiences);
        match verify(token, &keys, &trusted) {
            // It does not say which key it is: perhaps one that came since.
            Err(BadToken::Signature | BadToken::UnknownKey) if kid.is_none() => {
                let last = self.asked.clone().lock_owned().await;
                let keys = self.keys_after(last, PAUSE).await;
                verify(token, &keys, &trusted)
            }
            known => known,
        }
    }

    /// The keys, asked for again where none is of this name.
    async fn keys_with(self: &Arc<Self>, kid: Option<&str>) -> Arc<Keys> {
        let known = self.keys.load_full().filter(|keys| keys.have(kid));
        if let (Some(keys), Ok(last)) = (&known, self.asked.try_lock())
            && last.is_some_and(|last| last.elapsed() < FRESH)
        {
            return keys.clone();
        }
        // Whoever has a key that will do does not wait for others.
        if let (Some(keys), Err(_)) = (&known, self.asked.try_lock()) {
            return keys.clone();
        }
        let last = self.asked.clone().lock_owned().await;
        // Another may have asked while we waited.
        let found = self.keys.load_full().filter(|keys| keys.have(kid));
        self.keys_after(last, if found.is_some() { FRESH } else { PAUSE }).await
    }

    /// The keys, asked for again where nobody has for a while.
    async fn keys_after(self: &Arc<Self>, mut last: OwnedMutexGuard<Option<Instant>>, pause: Duration) -> Arc<Keys> {
        if last.is_none_or(|last| last.elapsed() >= pause) {
            *last = Some(Instant::now());
            let known = self.clone();
            // With the lock: whoever comes meanwhile waits for what is on its way, also when this request is gone.
            let fetching = tokio::spawn(async move {
                let _held = last;
                match known.fetch().await {
                    Ok(keys) => known.keys.store(Some(Arc::new(keys))),
                    Err(error) => warn!(issuer = known.issuer.issuer, "its keys could not be had: {error}"),
                }
            });
            if let Err(error) = fetching.await {
                warn!(issuer = self.issuer.issuer, "its keys could not be fetched: {error}");
            }
        }
        self.keys.load_full().unwrap_or_default()
    }

    async fn fetch(&self) -> Result<Keys, NoDocument> {
        let place = match &self.issuer.jwks {
            Some(place) => place.clone(),
            None => self.place_of_keys().await?,
        };
        let document = fetch::get(&place).await?;
        let keys = Keys::parse(&document).filter(|keys| !keys.is_empty());
        debug!(issuer = self.issuer.issuer, "keys were fetched");
        keys.ok_or_else(|| NoDocument::Unreachable("what it answered is no set of keys".to_owned()))
    }

    /// Where its metadata says that its keys are.
    async fn place_of_keys(&self) -> Result<String, NoDocument> {
        #[derive(Deserialize)]
        struct Metadata {
            issuer: String,
            jwks_uri: String,
        }
        let mut last = NoDocument::Unreachable("its address cannot be read".to_owned());
        for place in places(&self.issuer.issuer) {
            let document = match fetch::get(&place).await {
                Ok(document) => document,
                Err(error) => {
                    last = error;
                    continue;
                }
            };
            let read = serde_json::from_slice::<Metadata>(&document).ok();
            // Another's document is not to be used, whoever sent it.
            match read.filter(|read| read.issuer == self.issuer.issuer && is_safe(&read.jwks_uri)) {
                Some(read) => return Ok(read.jwks_uri),
                None => {
                    last = NoDocument::Unreachable("its metadata is not its own, or names no safe place".to_owned())
                }
            }
        }
        Err(last)
    }

    async fn introspected(&self, at: &Introspection, token: &str, audiences: &[String]) -> Result<Principal, BadToken> {
        // The same token is not for every place: what was said is remembered with where it was asked.
        let key: [u8; 32] = Sha256::digest(format!("{}\n{token}", audiences.join("\n"))).into();
        let remembered =
            self.answers().get(&key).filter(|(until, _)| *until > Instant::now()).map(|(_, who)| who.clone());
        if let Some(remembered) = remembered {
            return remembered;
        }
        if !self.questions.wait().await {
            return Err(BadToken::Unanswered);
        }
        let form: String = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("token", token)
            .append_pair("token_type_hint", "access_token")
            .finish();
        let encoded = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let basic = format!("{}:{}", encoded(&at.client_id), encoded(at.client_secret.expose()));
        let mut authorization = HeaderValue::try_from(format!("Basic {}", BASE64_STANDARD.encode(basic)))
            .map_err(|_| BadToken::Malformed)?;
        authorization.set_sensitive(true);
        let answer = match fetch::post(&at.url, authorization, form).await {
            Ok(answer) => answer,
            Err(error) => {
                warn!(issuer = self.issuer.issuer, "it could not be asked about a token: {error}");
                return Err(BadToken::Unanswered);
            }
        };
        let now = seconds_now();
        let who = introspected(&answer, now, &self.trusted(audiences));
        let good = who.as_ref().map_or(REMEMBERED, |(_, until)| REMEMBERED.min(Duration::from_secs(until - now)));
        let who = who.map(|(principal, _)| principal);
        if who.is_ok() {
            self.questions.give_back();
        }
        let mut answers = self.answers();
        if answers.len() >= MOST_REMEMBERED {
            answers.retain(|_, (until, _)| *until > Instant::now());
        }
        if answers.len() < MOST_REMEMBERED {
            answers.insert(key, (Instant::now() + good, who.clone()));
        }
        who
    }

    fn answers(&self) -> std::sync::MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where an issuer's metadata may be, in the order in which it is looked for.
fn places(issuer: &str) -> Vec<String> {
    let Ok(url) = Url::parse(issuer) else { return Vec::new() };
    let (path, origin) = (url.path().trim_end_matches('/'), url.origin().ascii_serialization());
    let mut places = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        places.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    places
}

/// Keys come encrypted, or from this machine.
fn is_safe(place: &str) -> bool {
    Url::parse(place).is_ok_and(|url| {
        let near = match url.host() {
            Some(url::Host::Domain(name)) => name == "localhost",
            Some(url::Host::Ipv4(address)) => address.is_loopback(),
            Some(url::Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        };
        url.scheme() == "https" || (url.scheme() == "http" && near)
    })
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn metadata_is_looked_for_where_the_issuer_is() {
        assert_eq!(
            places("https://login.example/tenant/"),
            [
                "https://login.example/.well-known/oauth-authorization-server/tenant",
                "https://login.example/.well-known/openid-configuration/tenant",
                "https://login.example/tenant/.well-known/openid-configuration",
            ]
        );
        assert_eq!(places("https://login.example").len(), 2);
        assert!(is_safe("https://login.example/keys") && is_safe("http://127.0.0.1:9/keys"));
        assert!(!is_safe("http://login.example/keys") && !is_safe("file:///etc/passwd") && !is_safe("nothing"));
    }

    /// As a program does that logs in and ends: its first request is gone while the keys for it are on their way.
    #[tokio::test]
    async fn keys_come_also_where_whoever_made_us_ask_is_gone() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = Issuer {
            issuer: "https://login.example".into(),
            audiences: Vec::new(),
            jwks: Some(format!("http://{}/keys", listener.local_addr().unwrap())),
            name_claim: "sub".into(),
            groups_claim: "groups".into(),
            scopes: Vec::new(),
            introspection: None,
        };
        let known = Issuers::new(&[issuer]).0.remove(0);
        let asking = known.clone();
        let first = tokio::spawn(async move { asking.keys_with(Some("first")).await });
        let (mut socket, _) = listener.accept().await.unwrap();
        first.abort();
        assert!(first.await.is_err_and(|ended| ended.is_cancelled()));
        let asking = known.clone();
        let second = tokio::spawn(async move { asking.keys_with(Some("first")).await });
        let keys = r#"{"keys": [{"kty": "RSA", "kid": "first", "n": "AQAB", "e": "AQAB"}]}"#;
        let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{keys}", keys.len());
        let mut heard = Vec::new();
        while !heard.ends_with(b"\r\n\r\n") {
            assert_ne!(socket.read_buf(&mut heard).await.unwrap(), 0, "nobody waits for the keys any more");
        }
        socket.write_all(reply.as_bytes()).await.unwrap();
        assert!(second.await.unwrap().have(Some("first")));
        assert!(known.keys_with(Some("first")).await.have(Some("first")));
    }
}
