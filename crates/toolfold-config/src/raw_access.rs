//! `[[rules]]` and `[[issuers]]` as they were typed.

use crate::node::Node;
use crate::report::{Place, Report};
use crate::table::{Field, Pairs, Table, Texts};

/// One `[[rules]]`.
#[derive(Debug)]
pub(crate) struct RawRule {
    pub(crate) place: Place,
    pub(crate) who: Field<Texts>,
    pub(crate) groups: Field<Texts>,
    pub(crate) scopes: Field<Texts>,
    pub(crate) claims: Field<Pairs>,
    pub(crate) what: Field<Texts>,
    pub(crate) servers: Field<Texts>,
    pub(crate) nodes: Field<Texts>,
    pub(crate) kinds: Field<Texts>,
    pub(crate) risk: Field<Texts>,
    pub(crate) effect: Field<String>,
}

/// One `[[issuers]]`.
#[derive(Debug)]
pub(crate) struct RawIssuer {
    pub(crate) place: Place,
    pub(crate) issuer: Field<String>,
    pub(crate) audiences: Field<Texts>,
    pub(crate) jwks: Field<String>,
    pub(crate) name_claim: Field<String>,
    pub(crate) groups_claim: Field<String>,
    pub(crate) scopes: Field<Texts>,
    pub(crate) introspection: Field<String>,
    pub(crate) client_id: Field<String>,
    pub(crate) client_secret: Field<String>,
}

impl RawRule {
    pub(crate) fn read(node: &Node, place: Place, report: &mut Report) -> Option<RawRule> {
        let mut table = Table::open(node, place.clone(), report)?;
        let raw = RawRule {
            place,
            who: table.one_or_more("who", report),
            groups: table.one_or_more("groups", report),
            scopes: table.one_or_more("scopes", report),
            claims: table.pairs("claims", report),
            what: table.one_or_more("what", report),
            servers: table.one_or_more("servers", report),
            nodes: table.one_or_more("nodes", report),
            kinds: table.one_or_more("kinds", report),
            risk: table.one_or_more("risk", report),
            effect: table.text("effect", report),
        };
        table.refuse_rest(report);
        Some(raw)
    }
}

impl RawIssuer {
    pub(crate) fn read(node: &Node, place: Place, report: &mut Report) -> Option<RawIssuer> {
        let mut table = Table::open(node, place.clone(), report)?;
        let raw = RawIssuer {
            place,
            issuer: table.text("issuer", report),
            audiences: table.one_or_more("audiences", report),
            jwks: table.text("jwks", report),
            name_claim: table.text("name_claim", report),
            groups_claim: table.text("groups_claim", report),
            scopes: table.one_or_more("scopes", report),
            introspection: table.text("introspection", report),
            client_id: table.text("client_id", report),
            client_secret: table.text("client_secret", report),
        };
        table.refuse_rest(report);
        Some(raw)
    }
}
