//! Which addresses a login may lead to. A server on the internet has no business on our network: what it says about where
//! to log in is dialled only where anybody could be. One whose address is written out as one of this machine, or of a
//! private network, may lead to its neighbours.
//!
//! What a reader would get wrong: where a server's *name* leads is not asked here. Whoever has the name says so, and says
//! something else a moment later: by its name a server reaches itself and the world, and the rest takes a configuration.

use std::net::IpAddr;

use toolfold_http::Reach;
use toolfold_oauth::{Reached, is_local, reached};
use url::{Host, Url};

pub(super) struct Nearby {
    /// The server's own host, which the configuration names.
    own: String,
    /// Where that is, where it is written out.
    near: Option<Reached>,
    /// Hosts that the configuration allows.
    hosts: Vec<String>,
}

impl Nearby {
    pub(super) fn of(server: &Url, hosts: &[String]) -> Nearby {
        let near = match server.host() {
            Some(Host::Ipv4(address)) => Some(reached(address.into())),
            Some(Host::Ipv6(address)) => Some(reached(address.into())),
            Some(Host::Domain(_)) => is_local(server).then_some(Reached::Here),
            None => None,
        };
        Nearby { own: server.host_str().unwrap_or_default().to_owned(), near, hosts: hosts.to_vec() }
    }
}

impl Reach for Nearby {
    fn allows(&self, host: &str, address: IpAddr) -> bool {
        let named = || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host.trim_matches(['[', ']'])));
        // Its own certificate has to be there: nobody else answers for it.
        let own = host.eq_ignore_ascii_case(&self.own);
        match reached(address) {
            Reached::World => true,
            place @ Reached::Here => own || self.near == Some(place),
            place @ Reached::Private => own || self.near == Some(place) || named(),
            Reached::Nowhere => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(server: &str, address: &str) -> bool {
        let near = Nearby::of(&Url::parse(server).unwrap(), &["idp.corp.example".to_owned()]);
        near.allows("login.example", address.parse().unwrap())
    }

    #[test]
    fn a_server_leads_no_nearer_than_it_is() {
        for (server, address, expected) in [
            ("https://8.8.8.8/mcp", "1.1.1.1", true),
            ("https://8.8.8.8/mcp", "10.0.0.1", false),
            ("https://8.8.8.8/mcp", "127.0.0.1", false),
            ("https://8.8.8.8/mcp", "::ffff:127.0.0.1", false),
            ("https://8.8.8.8/mcp", "0.0.0.0", false),
            ("https://8.8.8.8/mcp", "::1", false),
            ("https://8.8.8.8/mcp", "169.254.169.254", false),
            ("https://10.0.0.2/mcp", "10.0.0.1", true),
            ("https://10.0.0.2/mcp", "127.0.0.1", false),
            ("http://127.0.0.1:1/mcp", "127.0.0.1", true),
            ("http://localhost:1/mcp", "127.0.0.1", true),
            ("http://127.0.0.1:1/mcp", "10.0.0.1", false),
            ("http://127.0.0.1:1/mcp", "169.254.169.254", false),
            ("http://127.0.0.1:1/mcp", "fe80::1", false),
            // Wherever a name leads at the moment.
            ("https://mcp.example/mcp", "8.8.8.8", true),
            ("https://mcp.example/mcp", "10.0.0.1", false),
            ("https://mcp.example/mcp", "127.0.0.1", false),
        ] {
            assert_eq!(allowed(server, address), expected, "{server} to {address}");
        }
    }

    #[test]
    fn a_name_reaches_itself_and_what_the_configuration_names() {
        let near = Nearby::of(&Url::parse("https://mcp.example/").unwrap(), &["IDP.corp.example".to_owned()]);
        let allows = |host: &str, address: &str| near.allows(host, address.parse().unwrap());
        assert!(allows("mcp.example", "10.0.0.1") && allows("mcp.example", "127.0.0.1"));
        assert!(!allows("mcp.example", "169.254.169.254"));
        assert!(allows("idp.corp.example", "10.0.0.1"));
        assert!(!allows("idp.corp.example", "169.254.169.254") && !allows("idp.corp.example", "127.0.0.1"));
        assert!(!allows("other.corp.example", "10.0.0.1"));
    }
}
