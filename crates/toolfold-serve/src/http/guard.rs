//! Who speaks to us, and whether they may at all. A page in a browser on this machine can reach loopback too; its
//! `Origin`, or the `Host` it was tricked into using, gives it away.
//!
//! What a reader would get wrong: a header that is sent twice is refused, never looked at. Which of the two counts is
//! something that the next proxy would decide differently.

use std::net::SocketAddr;

use hyper::header::{self, HeaderName};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};
use toolfold_config::Config;
use toolfold_core::{Principal, Proof, Secret};
use toolfold_gateway::Gateway;

use super::failure::Refused;
use super::page;
use crate::text::shown;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

pub(crate) struct Guard {
    /// Accepted beside loopback names; without a port.
    hosts: Vec<String>,
    origins: Vec<String>,
    /// Whether whoever comes without credentials is whoever runs the program.
    open: bool,
    /// What it takes for them to change something here.
    key: Option<&'static Secret>,
}

/// What a request shows of who it is from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Shown<'a> {
    /// Nothing, and nothing is needed: a part of the page.
    Page,
    Nothing,
    /// A bearer token.
    Token(&'a str),
    /// Something that is none.
    Odd,
}

impl Guard {
    pub(crate) fn new(config: &Config, address: SocketAddr) -> Self {
        let http = &config.http;
        let mut hosts = http.hosts.clone();
        if !address.ip().is_unspecified() {
            hosts.push(address.ip().to_string());
        }
        Guard { hosts, origins: http.origins.clone(), open: config.is_open(), key: page::page_key() }
    }

    /// What a request shows of who it is from, or what one that may not come in is told.
    pub(crate) fn admit<'r>(&self, request: &'r Parts) -> Result<Shown<'r>, Refused> {
        let headers = &request.headers;
        if request.uri.authority().is_some() || request.uri.scheme().is_some() {
            return Err(bad_request("Send the path alone, not a whole URL."));
        }
        let host = only(headers, header::HOST)?.ok_or_else(|| bad_request("A Host header is required."))?;
        if !self.knows_host(host) {
            let message =
                format!("Host {:?} is not accepted. Add it to `hosts` under [http] to allow it.", shown(host));
            return Err(Refused::new(StatusCode::FORBIDDEN, message));
        }
        let origin = only(headers, header::ORIGIN)?;
        if let Some(origin) = origin.filter(|origin| !self.knows_origin(origin)) {
            let message =
                format!("Origin {:?} is not accepted. Add it to `origins` under [http] to allow it.", shown(origin));
            return Err(Refused::new(StatusCode::FORBIDDEN, message));
        }
        if request.method == Method::POST {
            self.check_page(request, host, origin)?;
        } else {
            self.check_look(request, host, origin)?;
        }
        // The parts of the page are no secret, and where the token is typed.
        if page::is_asked(request) {
            return Ok(Shown::Page);
        }
        Ok(match only(headers, header::AUTHORIZATION) {
            Ok(None) => Shown::Nothing,
            Ok(Some(given)) => bearer(given).map_or(Shown::Odd, Shown::Token),
            Err(_) => Shown::Odd,
        })
    }

    /// Whether nobody gets in without credentials.
    pub(crate) fn is_closed(&self) -> bool {
        !self.open
    }

    /// Whether this is the key of the page: then it is whoever runs the program.
    pub(crate) fn is_key(&self, given: &str) -> bool {
        self.open && self.key.is_some_and(|key| same(given.as_bytes(), key.expose().as_bytes()))
    }

    /// Whether whoever came in may start and stop servers, and approve what is held. The token of the configuration is
    /// enough; without credentials looking is free on this machine, and this takes the key. Nobody else may: they use
    /// what is here, and do not run it.
    pub(crate) fn may_change(&self, principal: &Principal, headers: &HeaderMap) -> Result<(), Refused> {
        match principal.identity().proof {
            Proof::Token => return Ok(()),
            Proof::Local if self.key.is_none() => {
                return Err(Refused::new(StatusCode::FORBIDDEN, "Nothing can be changed here: there is no key."));
            }
            Proof::Local => {}
            Proof::Named | Proof::Signed(_) | Proof::Introspected(_) => {
                let message = "This is for whoever runs Toolfold: it takes the token of its configuration.";
                return Err(Refused::new(StatusCode::FORBIDDEN, message));
            }
        }
        if only(headers, header::AUTHORIZATION)?.and_then(bearer).is_some_and(|given| self.is_key(given)) {
            return Ok(());
        }
        Err(Refused::new(
            StatusCode::UNAUTHORIZED,
            "This takes a key: `toolfold page` tells it. Send it as `Authorization: Bearer …`.",
        ))
    }

    /// A page of another place sees nothing of what it asks for, as browsers see to that. It may not keep us busy either.
    fn check_look(&self, request: &Parts, host: &str, origin: Option<&str>) -> Result<(), Refused> {
        let site = only(&request.headers, SEC_FETCH_SITE)?;
        // Following a link is no way to look at what is behind it.
        let follows = only(&request.headers, SEC_FETCH_MODE)? == Some("navigate");
        if self.is_elsewhere(site, origin, host) && !follows && request.uri.path().starts_with("/v1/") {
            return Err(elsewhere_refused());
        }
        Ok(())
    }

    /// What a page sends without asking first ("simple" requests) does nothing here, and a page of another place does
    /// nothing below `/v1`, however it asks: browsers say where a request comes from.
    fn check_page(&self, request: &Parts, host: &str, origin: Option<&str>) -> Result<(), Refused> {
        let site = only(&request.headers, SEC_FETCH_SITE)?;
        let kind = only(&request.headers, header::CONTENT_TYPE)?;
        let (rest, page) = (request.uri.path().starts_with("/v1/"), origin.is_some() || site.is_some());
        let json = kind.map(is_json);
        // Programs other than browsers may leave the type out; a browser that does so sends no JSON either.
        if (page && json != Some(true)) || (rest && json == Some(false)) {
            return Err(Refused::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "Send JSON, and say so: `Content-Type: application/json`.",
            ));
        }
        if rest && self.is_elsewhere(site, origin, host) {
            return Err(elsewhere_refused());
        }
        Ok(())
    }

    /// Whether a request comes from a page of another place that is not one of ours.
    fn is_elsewhere(&self, site: Option<&str>, origin: Option<&str>, host: &str) -> bool {
        let elsewhere = site.is_some_and(|site| !matches!(site, "same-origin" | "none"))
            || origin.is_some_and(|origin| origin.split_once("://").is_none_or(|(_, place)| place != host));
        elsewhere && !origin.is_some_and(|origin| self.lists_origin(origin))
    }

    fn knows_host(&self, host: &str) -> bool {
        let name = without_port(host);
        is_loopback(name) || self.hosts.iter().any(|known| without_port(known).eq_ignore_ascii_case(name))
    }

    fn knows_origin(&self, origin: &str) -> bool {
        let local = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"))
            .is_some_and(|host| is_loopback(without_port(host)));
        local || self.lists_origin(origin)
    }

    fn lists_origin(&self, origin: &str) -> bool {
        self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin))
    }
}

/// The one value of a header; what is sent twice, or is no text, is refused.
fn only(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, Refused> {
    let mut values = headers.get_all(&name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(bad_request(&format!("The header {name} is sent twice.")));
    }
    value.to_str().map(Some).map_err(|_| bad_request(&format!("The header {name} is not readable text.")))
}

/// The token of `Bearer TOKEN`. The scheme is a name, whatever its case.
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

fn elsewhere_refused() -> Refused {
    Refused::new(
        StatusCode::FORBIDDEN,
        "A page of another place may not use the HTTP API. Add it to `origins` under [http] to allow it.",
    )
}

fn bad_request(message: &str) -> Refused {
    Refused::new(StatusCode::BAD_REQUEST, message)
}

fn is_json(kind: &str) -> bool {
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

fn is_loopback(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
        || name.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// `[::1]:80` → `[::1]`, `host:80` → `host`.
fn without_port(host: &str) -> &str {
    match host.rfind(':') {
        Some(colon) if !host[colon..].contains(']') && host[colon + 1..].bytes().all(|b| b.is_ascii_digit()) => {
            &host[..colon]
        }
        _ => host,
    }
}

/// Compares in a time that does not depend on where the two differ.
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (x, y)| difference | (x ^ y)) == 0
}

/// An address that others can reach, and nobody who could show who they are: that is a mistake, and not a safe one.
pub(super) async fn refuse_nobody(gateway: &Gateway, address: SocketAddr) -> std::io::Result<()> {
    let Some(why) = exposed(&gateway.config(), address) else { return Ok(()) };
    if gateway.tokens().any().await.unwrap_or(true) {
        return Ok(());
    }
    Err(std::io::Error::new(std::io::ErrorKind::PermissionDenied, why))
}

/// What is wrong with listening there while no token is given out; nothing where the configuration has credentials, or nobody
/// comes from elsewhere.
pub fn exposed(config: &Config, address: SocketAddr) -> Option<String> {
    let credentials = config.http.token.is_some() || !config.issuers.is_empty();
    let message = || {
        format!(
            "{address} can be reached from other machines, and there are no credentials at all: give out a token with `toolfold token add NAME`, set `token` under [http], or name [[issuers]]"
        )
    };
    (!address.ip().is_loopback() && !credentials).then(message)
}

#[cfg(test)]
mod tests {
    use toolfold_config::Http;

    use super::*;

    fn guard() -> Guard {
        let http = Http {
            hosts: vec!["tools.example".into()],
            origins: vec!["https://app.example".into()],
            ..Http::default()
        };
        Guard::new(&Config { http, ..Config::default() }, "127.0.0.1:7420".parse().unwrap())
    }

    #[test]
    fn loopback_and_listed_names_are_known_others_are_not() {
        for host in ["localhost", "localhost:7420", "127.0.0.1:1", "[::1]:7420", "tools.example:443", "TOOLS.example"] {
            assert!(guard().knows_host(host), "{host}");
        }
        for host in ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "10.0.0.1"] {
            assert!(!guard().knows_host(host), "{host}");
        }
    }

    #[test]
    fn only_local_and_listed_origins_are_known() {
        for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:5", "https://app.example"] {
            assert!(guard().knows_origin(origin), "{origin}");
        }
        for origin in ["null", "http://evil.example", "http://localhost.evil.example", "file://"] {
            assert!(!guard().knows_origin(origin), "{origin}");
        }
    }

    fn status(method: &str, target: &str, headers: &[(&str, &str)]) -> u16 {
        let mut request = hyper::Request::builder().method(method).uri(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        guard().admit(&parts).err().map_or(200, |refusal| refusal.status.as_u16())
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        let host = ("host", "localhost:7420");
        assert_eq!(status("GET", "/healthz", &[host]), 200);
        assert_eq!(status("GET", "/healthz", &[]), 400);
        assert_eq!(status("GET", "/healthz", &[host, ("host", "evil.example")]), 400);
        assert_eq!(status("GET", "/healthz", &[host, ("host", "localhost:7420")]), 400);
        assert_eq!(status("GET", "http://evil.example/healthz", &[host]), 400);
        assert_eq!(status("GET", "/healthz", &[host, ("origin", "http://localhost"), ("origin", "null")]), 400);
        assert_eq!(status("GET", "/healthz", &[host, ("origin", "http://evil.example")]), 403);
    }

    #[test]
    fn a_page_calls_no_tool_and_a_program_does() {
        let host = ("host", "localhost:7420");
        let (json, plain) = (("content-type", "application/json; charset=utf-8"), ("content-type", "text/plain"));
        let (own, other) = (("origin", "http://localhost:7420"), ("origin", "http://localhost:3000"));
        let call = |headers: &[(&str, &str)]| status("POST", "/v1/call_tool", headers);
        assert_eq!(call(&[host, json]), 200);
        assert_eq!(call(&[host]), 200, "no browser");
        assert_eq!(call(&[host, plain]), 415);
        assert_eq!(call(&[host, own]), 415, "a page can send bytes without a type");
        assert_eq!(call(&[host, plain, other]), 415);
        assert_eq!(call(&[host, json, other]), 403);
        assert_eq!(call(&[host, json, own]), 200);
        assert_eq!(call(&[host, json, ("origin", "https://app.example")]), 200, "listed");
        for (site, expected) in [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)] {
            assert_eq!(call(&[host, json, ("sec-fetch-site", site)]), expected, "{site}");
        }
        assert_eq!(status("POST", "/mcp", &[host, json, other]), 200);
        assert_eq!(status("POST", "/mcp", &[host, plain, other]), 415);
        assert_eq!(status("POST", "/mcp", &[host]), 200);
    }

    #[test]
    fn a_page_of_another_place_looks_at_nothing() {
        let host = ("host", "localhost:7420");
        let look = |origin: &str| status("GET", "/v1/status", &[host, ("origin", origin)]);
        assert_eq!(look("http://localhost:3000"), 403, "browsers of before say no more than that");
        assert_eq!(look("http://localhost:7420"), 200);
        assert_eq!(look("https://app.example"), 200, "listed");
        let (site, link) = (("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"));
        assert_eq!(status("GET", "/v1/status", &[host, site]), 403);
        assert_eq!(status("GET", "/v1/status", &[host, site, link]), 200, "a link somewhere else");
    }
}
