//! The keys of a server that are about its login, and `[oauth]`, as they were typed.

use crate::node::Node;
use crate::report::{Place, Report};
use crate::table::{Field, Table, Texts};

#[derive(Debug, Default)]
pub(crate) struct RawAuth {
    pub(crate) auth: Field<String>,
    pub(crate) login: Field<String>,
    pub(crate) scopes: Field<Texts>,
    pub(crate) client_id: Field<String>,
    pub(crate) client_secret: Field<String>,
    pub(crate) private_key: Field<String>,
    pub(crate) private_key_file: Field<String>,
    pub(crate) issuer: Field<String>,
    pub(crate) assertion: Field<String>,
    pub(crate) assertion_file: Field<String>,
    pub(crate) identity_provider: Field<String>,
    pub(crate) identity_client_id: Field<String>,
    pub(crate) identity_client_secret: Field<String>,
    pub(crate) shared: Field<bool>,
}

#[derive(Debug, Default)]
pub(crate) struct RawOAuth {
    pub(crate) client_metadata: Field<String>,
    pub(crate) callback_port: Field<i64>,
    pub(crate) private_hosts: Field<Texts>,
}

impl RawAuth {
    pub(crate) fn read(table: &mut Table<'_>, report: &mut Report) -> RawAuth {
        RawAuth {
            auth: table.text("auth", report),
            login: table.text("login", report),
            scopes: table.texts("scopes", report),
            client_id: table.text("client_id", report),
            client_secret: table.text("client_secret", report),
            private_key: table.text("private_key", report),
            private_key_file: table.text("private_key_file", report),
            issuer: table.text("issuer", report),
            assertion: table.text("assertion", report),
            assertion_file: table.text("assertion_file", report),
            identity_provider: table.text("identity_provider", report),
            identity_client_id: table.text("identity_client_id", report),
            identity_client_secret: table.text("identity_client_secret", report),
            shared: table.flag("shared", report),
        }
    }

    /// Where the first of these keys was typed, if one was.
    pub(crate) fn first(&self) -> Option<&Place> {
        let texts = [
            &self.auth,
            &self.login,
            &self.client_id,
            &self.client_secret,
            &self.private_key,
            &self.private_key_file,
            &self.issuer,
            &self.assertion,
            &self.assertion_file,
            &self.identity_provider,
            &self.identity_client_id,
            &self.identity_client_secret,
        ];
        let text = texts.into_iter().find_map(|field| field.given().map(|typed| &typed.place));
        let scopes = self.scopes.given().map(|typed| &typed.place);
        text.or(scopes).or_else(|| self.shared.given().map(|typed| &typed.place))
    }
}

impl RawOAuth {
    pub(crate) fn read(node: &Node, place: Place, report: &mut Report) -> RawOAuth {
        let Some(mut table) = Table::open(node, place, report) else { return RawOAuth::default() };
        let raw = RawOAuth {
            client_metadata: table.text("client_metadata", report),
            callback_port: table.integer("callback_port", report),
            private_hosts: table.texts("private_hosts", report),
        };
        table.refuse_rest(report);
        raw
    }
}
