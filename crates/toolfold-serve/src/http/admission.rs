//! Who a request is from: by what it shows, or by the word of another replica that has let them in.

use std::net::IpAddr;
use std::time::Duration;

use hyper::StatusCode;
use hyper::http::request::Parts;
use toolfold_access::BodyHash;
use toolfold_core::{Code, Principal};
use toolfold_gateway::RELAY;

use super::cluster::Word;
use super::failure::Refused;
use super::guard::Shown;
use super::{App, Door, cluster, identity};

const LOOKED_AT_OFTEN: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// What says whether to send anything here.
const PROBED: [&str; 2] = ["/healthz", "/readyz"];

/// Who a request is from.
pub(crate) struct Whom {
    pub(super) principal: Principal,
    pub(super) peer: IpAddr,
    /// By the word of another replica: what the body has to be.
    pub(super) passed: Option<BodyHash>,
}

/// Who this is by the word of another replica, which has let them in; `None` where none gives its word. What is said and
/// not believed is never taken for nothing said.
pub(super) fn passed_on(app: &App, door: Door, parts: &Parts) -> Option<Result<Whom, Refused>> {
    let word = app.replicas.as_ref().and_then(|replicas| cluster::word_of(&replicas.standing, parts));
    let path = parts.uri.path();
    let is_inner = path.starts_with(RELAY) || path == cluster::RESULTS || path == cluster::STATE;
    let is_ours = path == "/mcp" || path.starts_with("/mcp/") || is_inner;
    match word {
        Some(Ok(Word { principal, peer, body })) if is_ours => Some(Ok(Whom { principal, peer, passed: Some(body) })),
        Some(_) => Some(Err(not_believed())),
        None if door == Door::Inside => Some(Err(not_believed())),
        None => None,
    }
}

pub(crate) fn not_believed() -> Refused {
    Refused::challenged(StatusCode::FORBIDDEN, "This is for replicas of the same cluster.", cluster::WORD.to_owned())
}

/// Who this is, unless they may not come in, or come too often. `None`: nobody needs to know, it is a part of the page.
pub(super) async fn admit(app: &App, parts: &Parts, peer: IpAddr) -> Result<Option<Whom>, Refused> {
    let whom = |principal| Some(Whom { principal, peer, passed: None });
    let shown = app.guard.admit(parts);
    // What says that we are alive is asked often, and by machines.
    let counted = !LOOKED_AT_OFTEN.contains(&parts.uri.path());
    let shown = match shown {
        Ok(Shown::Page) => return knock(app, counted, None).map(|()| None),
        Ok(shown) => shown,
        Err(refused) => return knock(app, counted, None).and(Err(refused)),
    };
    // Whoever looks for how to be let in cannot have been let in; and a balancer has nothing to show, and learns nothing.
    let path = parts.uri.path();
    if (identity::is_metadata(path) || PROBED.contains(&path)) && matches!(shown, Shown::Nothing) {
        return knock(app, counted, None).map(|()| whom(Principal::local()));
    }
    // Whether a token is right takes a look into the store, a signature or a question to its issuer. Where so many were
    // wrong that the next one is refused anyway, only those are looked at that were right before.
    let limited = counted && app.gateway.limits_strangers();
    if limited && !app.identities.is_familiar(app, &shown) {
        app.gateway.has_room_for_strangers().map_err(|wait| {
            // Counted as what it is taken for.
            app.gateway.turned_away(None, Code::NotAuthorized);
            too_often(app, None, wait)
        })?;
    }
    match app.identities.who(app, &shown, parts.uri.path(), peer).await {
        Ok(principal) => {
            if limited {
                app.identities.remember(&shown);
            }
            knock(app, counted, Some(&principal)).map(|()| whom(principal))
        }
        Err(refused) => knock(app, counted, None).and(Err(refused)),
    }
}

fn knock(app: &App, counted: bool, principal: Option<&Principal>) -> Result<(), Refused> {
    if !counted {
        return Ok(());
    }
    app.gateway.knock(principal).map_err(|wait| too_often(app, principal, wait))
}

fn too_often(app: &App, principal: Option<&Principal>, wait: Duration) -> Refused {
    app.gateway.turned_away(principal, Code::RateLimited);
    Refused::too_often(wait)
}
