//! Who may speak to us at all. A page in a browser on this machine can reach loopback too; its `Origin`, or the `Host`
//! it was tricked into using, gives it away.

use std::net::SocketAddr;

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use toolfold_config::Http;
use toolfold_core::Secret;

pub(crate) struct Guard {
    /// Accepted beside loopback names; without a port.
    hosts: Vec<String>,
    origins: Vec<String>,
    token: Option<Secret>,
}

impl Guard {
    pub(crate) fn new(http: &Http, address: SocketAddr) -> Self {
        let mut hosts = http.hosts.clone();
        if !address.ip().is_unspecified() {
            hosts.push(address.ip().to_string());
        }
        Guard { hosts, origins: http.origins.clone(), token: http.token.clone() }
    }

    /// What a request that may not come in is told.
    pub(crate) fn refusal(&self, headers: &HeaderMap) -> Option<Response> {
        let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("\u{0}"));
        let host = text(header::HOST).unwrap_or_default();
        if !self.knows_host(host) {
            let message = format!("Host {host:?} is not accepted. Add it to `hosts` under [http] to allow it.\n");
            return Some((StatusCode::FORBIDDEN, message).into_response());
        }
        if let Some(origin) = text(header::ORIGIN).filter(|origin| !self.knows_origin(origin)) {
            let message = format!("Origin {origin:?} is not accepted. Add it to `origins` under [http] to allow it.\n");
            return Some((StatusCode::FORBIDDEN, message).into_response());
        }
        let token = self.token.as_ref()?;
        let given = text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        if given.is_some_and(|given| same(given.as_bytes(), token.expose().as_bytes())) {
            return None;
        }
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        Some((StatusCode::UNAUTHORIZED, challenge, "Send the token as `Authorization: Bearer …`.\n").into_response())
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
        local || self.origins.iter().any(|known| known.eq_ignore_ascii_case(origin))
    }
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
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (x, y)| difference | (x ^ y)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> Guard {
        Guard { hosts: vec!["tools.example".into()], origins: vec!["https://app.example".into()], token: None }
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
}
