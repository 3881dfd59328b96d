//! The page at `/`: plain files in the binary, and what it looks at that nobody else asked for before.
//!
//! What a reader would get wrong: the files are for everybody who may reach this address, token or not: a browser cannot
//! send one before there is a page to type it into. They hold nothing but themselves; all they show comes from `/v1`,
//! which has its own door.

mod calls;
mod clients;
mod cost;
mod explain;
mod key;
mod servers;

use hyper::header::{self, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};

use super::reply::{Reply, whole};
pub(super) use calls::{Recent, calls};
pub(super) use clients::clients;
pub(super) use cost::{Costs, tokens};
pub(super) use explain::{explain, levels};
pub use key::page_key;
pub(super) use servers::{servers, start, stop};

/// Scripts and styles come from here alone, nothing is sent anywhere else, no text becomes markup, nobody frames it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types lit-html";

const INDEX: &str = include_str!("assets/index.html");
/// In the index: whether whoever opens the page needs a token to see anything.
const DOOR: &str = "data-token=\"\"";

macro_rules! assets {
    ($($name:literal $kind:expr),+ $(,)?) => {
        [$(($name, $kind, include_str!(concat!("assets/", $name)))),+]
    };
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Everything below `/page/`, by name.
const ASSETS: [(&str, &str, &str); 15] = assets![
    "page.css" "text/css; charset=utf-8",
    "icon.svg" "image/svg+xml",
    "main.js" SCRIPT,
    "api.js" SCRIPT,
    "parts.js" SCRIPT,
    "now.js" SCRIPT,
    "catalog.js" SCRIPT,
    "entry.js" SCRIPT,
    "search.js" SCRIPT,
    "calls.js" SCRIPT,
    "servers.js" SCRIPT,
    "approvals.js" SCRIPT,
    "tokens.js" SCRIPT,
    "lit-html.js" SCRIPT,
    "lit-html.LICENSE" "text/plain; charset=utf-8",
];

/// Whether this asks for a part of the page: a browser at `/`, or anybody below `/page/`.
pub(super) fn is_asked(request: &Parts) -> bool {
    let looks = request.method == Method::GET || request.method == Method::HEAD;
    looks && (request.uri.path().starts_with("/page/") || (request.uri.path() == "/" && wants_html(request)))
}

/// A part of the page. `closed` says that whoever opens it must have a token.
pub(super) fn answer(path: &str, closed: bool) -> Reply {
    if path == "/" {
        let door = if closed { "data-token=\"required\"" } else { "data-token=\"none\"" };
        return part("text/html; charset=utf-8", INDEX.replacen(DOOR, door, 1));
    }
    let name = path.strip_prefix("/page/").unwrap_or_default();
    match ASSETS.iter().find(|(known, _, _)| *known == name) {
        Some((_, kind, content)) => part(kind, *content),
        None => super::reply::text_response(StatusCode::NOT_FOUND, "The page has no such part.\n"),
    }
}

fn part(kind: &'static str, content: impl Into<hyper::body::Bytes>) -> Reply {
    let mut reply = whole(StatusCode::OK, kind, content);
    let headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        // It belongs to this binary: after an update nobody should see half of the one before.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    for (name, value) in headers {
        reply.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    reply
}

fn wants_html(request: &Parts) -> bool {
    let accepted = request.headers.get_all(header::ACCEPT).iter();
    accepted.filter_map(|value| value.to_str().ok()).any(|value| value.contains("text/html"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_page_is_small() {
        let all: usize = ASSETS.iter().map(|(_, _, content)| content.len()).sum::<usize>() + INDEX.len();
        assert!(all < 100_000, "{all} bytes");
    }

    #[test]
    fn the_index_has_one_door_and_nothing_inline() {
        assert_eq!(INDEX.matches(DOOR).count(), 1);
        for inline in ["<style", "style=", "onclick", "javascript:", "http://", "https://"] {
            assert!(!INDEX.contains(inline), "{inline}");
        }
        assert_eq!(INDEX.matches("<script").count(), INDEX.matches("<script type=\"module\" src=\"/page/").count());
    }

    /// A text of a server can only become markup through one of these.
    #[test]
    fn no_script_makes_markup_of_text() {
        let ways =
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "unsafeHTML", "unsafeSVG", "eval("];
        for (name, _, content) in ASSETS.iter().filter(|(name, _, _)| *name != "lit-html.js") {
            for way in ways {
                assert!(!content.contains(way), "{name}: {way}");
            }
        }
    }

    #[test]
    fn every_import_is_there() {
        for (name, _, content) in ASSETS.iter().filter(|(name, _, _)| name.ends_with(".js") && *name != "lit-html.js") {
            for line in content.lines().filter(|line| line.starts_with("import ")) {
                let from = line.split('"').nth(1).and_then(|from| from.strip_prefix("./")).unwrap_or_default();
                assert!(ASSETS.iter().any(|(known, _, _)| *known == from), "{name}: {line}");
            }
        }
    }
}
