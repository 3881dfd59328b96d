//! Which addresses a login may lead to. A server on the internet has no business on our network: what it says about where
//! to log in is looked up and dialled only where anybody could be. One on this machine, or on a private network, may lead
//! to its neighbours.

use std::net::IpAddr;

use toolfold_http::Reach;
use toolfold_oauth::{Reached, reached};
use url::{Host, Url};

pub(super) struct Nearby {
    /// Where the server itself was found to be.
    allowed: Vec<Reached>,
    /// Hosts that the configuration names.
    hosts: Vec<String>,
}

impl Nearby {
    pub(super) async fn of(server: &Url, hosts: &[String]) -> Nearby {
        let mut allowed = vec![Reached::World];
        let addresses: Vec<IpAddr> = match server.host() {
            Some(Host::Ipv4(address)) => vec![address.into()],
            Some(Host::Ipv6(address)) => vec![address.into()],
            Some(Host::Domain(name)) => {
                let port = server.port_or_known_default().unwrap_or(443);
                let found = tokio::net::lookup_host((name, port)).await;
                found.map(|found| found.map(|address| address.ip()).collect()).unwrap_or_default()
            }
            None => Vec::new(),
        };
        let near = addresses.into_iter().map(reached).filter(|place| matches!(place, Reached::Here | Reached::Private));
        allowed.extend(near);
        Nearby { allowed, hosts: hosts.to_vec() }
    }
}

impl Reach for Nearby {
    fn allows(&self, host: &str, address: IpAddr) -> bool {
        let place = reached(address);
        let named = || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host.trim_matches(['[', ']'])));
        self.allowed.contains(&place) || (place == Reached::Private && named())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn allowed(server: &str, address: &str) -> bool {
        let near = Nearby::of(&Url::parse(server).unwrap(), &["idp.corp.example".to_owned()]).await;
        near.allows("login.example", address.parse().unwrap())
    }

    #[tokio::test]
    async fn a_server_leads_no_nearer_than_it_is() {
        for (server, address, expected) in [
            ("https://8.8.8.8/mcp", "1.1.1.1", true),
            ("https://8.8.8.8/mcp", "10.0.0.1", false),
            ("https://8.8.8.8/mcp", "127.0.0.1", false),
            ("https://8.8.8.8/mcp", "::1", false),
            ("https://8.8.8.8/mcp", "169.254.169.254", false),
            ("https://10.0.0.2/mcp", "10.0.0.1", true),
            ("https://10.0.0.2/mcp", "127.0.0.1", false),
            ("http://127.0.0.1:1/mcp", "127.0.0.1", true),
            ("http://localhost:1/mcp", "127.0.0.1", true),
            ("http://127.0.0.1:1/mcp", "169.254.169.254", false),
            ("http://127.0.0.1:1/mcp", "fe80::1", false),
        ] {
            assert_eq!(allowed(server, address).await, expected, "{server} to {address}");
        }
        let near = Nearby::of(&Url::parse("https://8.8.8.8/").unwrap(), &["IDP.corp.example".to_owned()]).await;
        assert!(near.allows("idp.corp.example", "10.0.0.1".parse().unwrap()));
        assert!(!near.allows("idp.corp.example", "169.254.169.254".parse().unwrap()));
        assert!(!near.allows("other.corp.example", "10.0.0.1".parse().unwrap()));
    }
}
