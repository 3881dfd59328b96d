//! `[cluster]`: several Toolfolds that stand in for each other. What they share is in the database that `store` names, so one
//! without such a store is refused here: each replica would believe itself to be alone.

use std::net::SocketAddr;

use toolfold_core::Secret;
use url::Url;

use crate::node::Node;
use crate::report::{Place, Report, quoted};
use crate::resolve::{Draft, LISTEN_HINT, Resolver, listen};
use crate::table::{Field, Table};

#[derive(Debug, Clone, PartialEq)]
pub struct ClusterSettings {
    /// Where other replicas reach this one: `http://10.0.0.5:7421`, without a slash at the end.
    pub advertise: String,
    /// What listens there, apart from what clients use; `None`: the same.
    pub listen: Option<SocketAddr>,
    /// What replicas know each other by, the same for all.
    pub secret: Secret,
}

/// Fewer characters than this can be guessed.
const LEAST: usize = 32;

#[derive(Debug, Default)]
pub(crate) struct RawCluster {
    place: Option<Place>,
    advertise: Field<String>,
    listen: Field<String>,
    secret: Field<String>,
}

impl RawCluster {
    pub(crate) fn read(node: &Node, place: Place, report: &mut Report) -> RawCluster {
        let Some(mut table) = Table::open(node, place.clone(), report) else { return RawCluster::default() };
        let raw = RawCluster {
            place: Some(place),
            advertise: table.text("advertise", report),
            listen: table.text("listen", report),
            secret: table.text("secret", report),
        };
        table.refuse_rest(report);
        raw
    }
}

impl Resolver<'_> {
    pub(crate) fn cluster(&mut self, raw: &RawCluster) -> (Option<ClusterSettings>, Option<Place>) {
        let Some(place) = &raw.place else { return (None, None) };
        let advertise = self.advertise(raw, place);
        let mut address = None;
        if let Some(text) = self.text(&raw.listen) {
            address = listen(&text.value);
            if address.is_none() {
                let message = format!("{} is not an address to listen on", quoted(&text.typed.value));
                self.report.error(&text.typed.place, message, LISTEN_HINT.to_owned());
            }
        }
        let secret = self.cluster_secret(raw, place);
        let settings =
            advertise.zip(secret).map(|(advertise, secret)| ClusterSettings { advertise, listen: address, secret });
        (settings, Some(place.clone()))
    }

    fn advertise(&mut self, raw: &RawCluster, place: &Place) -> Option<String> {
        let hint = "write where other replicas reach this one: advertise = \"http://${POD_IP}:7421\"".to_owned();
        if raw.advertise.is_absent() {
            self.report.error(place, "does not say where this replica is reached", hint);
            return None;
        }
        let text = self.text(&raw.advertise)?;
        let address = Url::parse(&text.value).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        if address.is_none_or(|url| url.host().is_none() || url.path() != "/" || url.query().is_some()) {
            let message = format!("{} is not an address of HTTP without a path", quoted(&text.typed.value));
            self.report.error(&text.typed.place, message, hint);
            return None;
        }
        Some(text.value.trim_end_matches('/').to_owned())
    }

    fn cluster_secret(&mut self, raw: &RawCluster, place: &Place) -> Option<Secret> {
        let hint = "put the same random text into a variable of every replica, and name it: secret = \"${TOOLFOLD_CLUSTER_SECRET}\"; `openssl rand -hex 32` makes one";
        if raw.secret.is_absent() {
            self.report.error(place, "has no secret that replicas know each other by", hint.to_owned());
            return None;
        }
        let text = self.text(&raw.secret)?;
        if text.value.chars().count() < LEAST {
            self.report.error(&text.typed.place, format!("is shorter than {LEAST} characters"), hint.to_owned());
            return None;
        }
        Some(Secret::new(text.value))
    }
}

/// Asked last, of the store that would be used.
pub(crate) fn refuse_alone(draft: &Draft, report: &mut Report) {
    let shared = draft.config.store.as_ref().is_some_and(|store| store.database().is_some());
    if let (Some(place), false) = (&draft.cluster, shared) {
        let hint = "set `store = \"postgres://…\"` to the database that all replicas use, or take [cluster] out";
        report.error(place, "needs a database that all replicas share, and the store is none", hint.to_owned());
    }
}
