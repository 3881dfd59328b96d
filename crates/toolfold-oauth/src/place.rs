//! Which addresses may be asked, which of them describe whom, and which are nobody's business from outside.
//!
//! What a reader would get wrong: a name says nothing about where it leads. [`reached`] is about addresses after they were
//! looked up, and is asked where a connection is made.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use crate::problem::{Problem, quoted};

/// What kind of place an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reached {
    /// Anybody on the internet could be reached there.
    World,
    /// A network of somebody's own.
    Private,
    /// This machine.
    Here,
    /// Neighbours on the wire, among them the services that tell machines in clouds their secrets; and what is no address
    /// of anybody.
    Nowhere,
}

/// Where a connection to this address ends.
pub fn reached(address: IpAddr) -> Reached {
    match address {
        IpAddr::V4(four) => reached_four(four),
        IpAddr::V6(six) => match carried(six) {
            Some(four) => reached_four(four),
            None => reached_six(six),
        },
    }
}

fn reached_four(address: Ipv4Addr) -> Reached {
    let [a, b, c, _] = address.octets();
    match (a, b, c) {
        (127, ..) => Reached::Here,
        (10, ..) | (172, 16..=31, _) | (192, 168, _) | (100, 64..=127, _) => Reached::Private,
        (0, ..)
        | (169, 254, _)
        | (192, 0, 0 | 2)
        | (198, 18..=19, _)
        | (198, 51, 100)
        | (203, 0, 113)
        | (224.., ..) => Reached::Nowhere,
        _ => Reached::World,
    }
}

fn reached_six(address: Ipv6Addr) -> Reached {
    let first = address.segments()[0];
    match first {
        _ if address.is_loopback() => Reached::Here,
        0xfc00..=0xfdff => Reached::Private,
        // What is given out is 2000::/3; of that, some is for examples and for tunnels.
        0x2000..=0x3fff if !(first == 0x2001 && address.segments()[1] < 0x0200) && first != 0x3fff => {
            if first == 0x2001 && address.segments()[1] == 0x0db8 { Reached::Nowhere } else { Reached::World }
        }
        _ => Reached::Nowhere,
    }
}

/// The old address that a new one is another spelling of: mapped, translated, or by way of 6to4.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let parts = address.segments();
    let [.., a, b] = parts;
    let four = |a: u16, b: u16| Ipv4Addr::from((u32::from(a) << 16) | u32::from(b));
    match parts {
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => Some(four(a, b)),
        [0x2002, c, d, ..] => Some(four(c, d)),
        _ => None,
    }
}

/// Whether the address is written as one of this machine.
pub fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => reached(address.into()) == Reached::Here,
        Some(Host::Ipv6(address)) => reached(address.into()) == Reached::Here,
        None => false,
    }
}

/// An address that may be used: over TLS, or on this machine where the server itself is there (`local`).
pub(crate) fn secure(text: &str, what: &'static str, local: bool) -> Result<Url, Problem> {
    let wrong = |why: &str| Problem::Address { what, why: why.to_owned() };
    let url = Url::parse(text).map_err(|_| wrong(&quoted(text)))?;
    match url.scheme() {
        "https" => {}
        "http" if local && is_local(&url) => {}
        other => return Err(wrong(&format!("it begins with {}:", quoted(other)))),
    }
    if url.host().is_none() {
        return Err(wrong("it names no host"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("it has a user name in it"));
    }
    if url.fragment().is_some() {
        return Err(wrong("it has a # in it"));
    }
    Ok(url)
}

/// Whether a resource is this server, or a part of its address that it is below.
pub(crate) fn covers(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    if resource.origin() != server.origin() || resource.fragment().is_some() {
        return false;
    }
    let (above, below) = (resource.path().trim_end_matches('/'), server.path().trim_end_matches('/'));
    let part = below.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    part && (resource.query().is_none() || resource.query() == server.query())
}

/// Where a server describes itself if it does not say: with its path inserted, then for the whole host.
pub(crate) fn resource_documents(server: &Url) -> Vec<String> {
    let at = |path: &str| {
        let mut url = server.clone();
        url.set_path(&format!("/.well-known/oauth-protected-resource{path}"));
        url.set_query(None);
        url.to_string()
    };
    let path = server.path().trim_end_matches('/');
    let mut all = vec![at(path), at("")];
    all.dedup();
    all
}

/// Where a login server describes itself. One with a path is never looked for at the root: that is somebody else.
pub(crate) fn issuer_documents(issuer: &Url) -> Vec<String> {
    let at = |path: String| {
        let mut url = issuer.clone();
        url.set_path(&path);
        url.set_query(None);
        url.to_string()
    };
    let path = issuer.path().trim_end_matches('/');
    let mut all = vec![
        at(format!("/.well-known/oauth-authorization-server{path}")),
        at(format!("/.well-known/openid-configuration{path}")),
        at(format!("{path}/.well-known/openid-configuration")),
    ];
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn documents_are_looked_for_in_order() {
        assert_eq!(
            resource_documents(&url("https://a.example/mcp/x?y=1")),
            [
                "https://a.example/.well-known/oauth-protected-resource/mcp/x",
                "https://a.example/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(resource_documents(&url("https://a.example")).len(), 1);
        assert_eq!(
            issuer_documents(&url("https://a.example/tenant1/")),
            [
                "https://a.example/.well-known/oauth-authorization-server/tenant1",
                "https://a.example/.well-known/openid-configuration/tenant1",
                "https://a.example/tenant1/.well-known/openid-configuration"
            ]
        );
        assert_eq!(
            issuer_documents(&url("https://a.example/")),
            [
                "https://a.example/.well-known/oauth-authorization-server",
                "https://a.example/.well-known/openid-configuration"
            ]
        );
    }

    #[test]
    fn a_resource_is_the_server_or_above_it() {
        let server = url("https://a.example/mcp/x");
        for yes in ["https://a.example/mcp/x", "https://a.example/mcp", "https://a.example", "https://A.example/mcp/"] {
            assert!(covers(yes, &server), "{yes}");
        }
        for no in [
            "https://a.example/mc",
            "https://a.example/mcp/x/y",
            "https://b.example/mcp/x",
            "http://a.example/mcp/x",
            "https://a.example:8443/mcp",
            "https://a.example/mcp#x",
            "not an address",
        ] {
            assert!(!covers(no, &server), "{no}");
        }
    }

    #[test]
    fn only_tls_and_this_machine() {
        assert!(secure("https://a.example/x", "x", false).is_ok());
        assert!(secure("http://127.0.0.1:1/x", "x", true).is_ok() && secure("http://localhost:1", "x", true).is_ok());
        for no in [
            "http://a.example",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://me@a.example",
            "https://a.example/#x",
            "data:text/html,x",
            "http://127.0.0.1.a.example/",
            "",
        ] {
            assert!(secure(no, "x", true).is_err(), "{no}");
        }
        assert!(secure("http://127.0.0.1:1/x", "x", false).is_err(), "a server elsewhere does not lead here");
    }

    #[test]
    fn where_an_address_ends() {
        for (address, expected) in [
            ("8.8.8.8", Reached::World),
            ("2606:4700::1", Reached::World),
            ("10.1.2.3", Reached::Private),
            ("100.64.0.1", Reached::Private),
            ("fd00::1", Reached::Private),
            ("127.8.8.8", Reached::Here),
            ("::1", Reached::Here),
            ("::ffff:127.0.0.1", Reached::Here),
            ("64:ff9b::a00:1", Reached::Private),
            ("2002:7f00:1::", Reached::Here),
            ("169.254.169.254", Reached::Nowhere),
            ("::ffff:169.254.169.254", Reached::Nowhere),
            ("fe80::1", Reached::Nowhere),
            ("0.0.0.0", Reached::Nowhere),
            ("::", Reached::Nowhere),
            ("224.0.0.1", Reached::Nowhere),
            ("255.255.255.255", Reached::Nowhere),
            ("2001:db8::1", Reached::Nowhere),
            ("fd00:ec2::254", Reached::Private),
        ] {
            assert_eq!(reached(address.parse().unwrap()), expected, "{address}");
        }
    }
}
