//! What a server's login comes to, and what is missing for it.

use toolfold_core::Secret;
use url::Url;

use crate::auth::{Auth, AuthMode, CLIENT_DOCUMENT, KeptIn, LoginAs, OAuthSettings};
use crate::raw::RawServer;
use crate::raw_auth::{RawAuth, RawOAuth};
use crate::report::quoted;
use crate::resolve::Resolver;
use crate::table::Field;

/// No document describes this client.
const NONE: &str = "none";

impl Resolver<'_> {
    pub(crate) fn auth(&mut self, raw: &RawServer) -> Auth {
        let typed = &raw.auth;
        if let (Some(place), false) = (typed.first(), raw.command.is_absent()) {
            let hint = "a program that is started is given what it needs in `env`; logins are for servers with a `url`";
            self.report.error(place, "does not go with `command`", hint.to_owned());
        }
        let modes = [("oauth", AuthMode::OAuth), ("none", AuthMode::None)];
        let kinds = [
            ("person", LoginAs::Person),
            ("client", LoginAs::Client),
            ("workload", LoginAs::Workload),
            ("enterprise", LoginAs::Enterprise),
        ];
        let auth = Auth {
            mode: self.choice(&typed.auth, &modes, AuthMode::Auto),
            who: self.choice(&typed.login, &kinds, LoginAs::Person),
            scopes: self.scopes(typed),
            client_id: self.text(&typed.client_id).map(|text| text.value),
            client_secret: self.secret(&typed.client_secret),
            private_key: self.kept(&typed.private_key, &typed.private_key_file),
            issuer: self.login_address(&typed.issuer),
            assertion: self.kept(&typed.assertion, &typed.assertion_file),
            identity_provider: self.login_address(&typed.identity_provider),
            identity_client_id: self.text(&typed.identity_client_id).map(|text| text.value),
            identity_client_secret: self.secret(&typed.identity_client_secret),
            shared: typed.shared.given().is_some_and(|shared| shared.value),
        };
        self.missing(typed, &auth);
        auth
    }

    pub(crate) fn oauth(&mut self, raw: &RawOAuth) -> OAuthSettings {
        let mut settings = OAuthSettings { private_hosts: self.texts(&raw.private_hosts), ..OAuthSettings::default() };
        // Said and not none: whatever else is wrong with it is told below.
        if let Some(text) = self.text(&raw.client_metadata).filter(|text| text.value != NONE) {
            let url = Url::parse(&text.value).ok();
            if url.is_some_and(|url| url.scheme() == "https" && url.path().len() > 1) {
                settings.client_metadata = Some(text.value);
            } else {
                let hint = "a document about a client is at an https address with a path".to_owned();
                let message = format!("{} cannot be the name of a client", quoted(&text.typed.value));
                self.report.error(&text.typed.place, message, hint);
            }
        }
        if let Some(typed) = raw.callback_port.given() {
            match u16::try_from(typed.value) {
                Ok(port) => settings.callback_port = port,
                Err(_) => self.report.error(&typed.place, "must be between 0 and 65535", None),
            }
        }
        settings
    }

    /// Where it is not said which document describes this client, the one that is served at the public address. Login servers
    /// read it there, so that has to be an address of theirs too.
    pub(crate) fn own_document(raw: &RawOAuth, public_url: Option<&str>) -> Option<String> {
        let base = public_url.filter(|base| raw.client_metadata.is_absent() && base.starts_with("https://"))?;
        Some(format!("{base}{CLIENT_DOCUMENT}"))
    }

    fn scopes(&mut self, raw: &RawAuth) -> Vec<String> {
        let scopes = self.texts(&raw.scopes);
        if let (Some(typed), true) =
            (raw.scopes.given(), scopes.iter().any(|scope| scope.contains(char::is_whitespace)))
        {
            let hint = "write each scope as a text of its own: scopes = [\"read\", \"write\"]".to_owned();
            self.report.error(&typed.place, "has a scope with a space in it", hint);
        }
        scopes
    }

    fn secret(&mut self, field: &Field<String>) -> Option<Secret> {
        self.text(field).map(|text| Secret::new(text.value))
    }

    /// What is in the one field, or in the file that the other names.
    fn kept(&mut self, text: &Field<String>, file: &Field<String>) -> Option<KeptIn> {
        if let (Some(_), Some(file)) = (text.given(), file.given()) {
            self.report.error(&file.place, "is said twice", "keep the text or the file".to_owned());
        }
        if let Some(file) = self.text(file) {
            return Some(KeptIn::File(self.path(&file.value)));
        }
        self.secret(text).map(KeptIn::Text)
    }

    fn login_address(&mut self, field: &Field<String>) -> Option<String> {
        let text = self.text(field)?;
        let url = Url::parse(&text.value).ok().filter(|url| url.host().is_some());
        if url.is_none_or(|url| !["http", "https"].contains(&url.scheme())) {
            let message = format!("{} is not an address", quoted(&text.typed.value));
            self.report.error(&text.typed.place, message, "write it whole: \"https://login.example.com\"".to_owned());
        }
        Some(text.value)
    }

    /// What each kind of login cannot do without.
    fn missing(&mut self, typed: &RawAuth, auth: &Auth) {
        let Some(login) = typed.login.given() else { return };
        let mut lacks = Vec::new();
        if auth.who != LoginAs::Person && auth.client_id.is_none() {
            lacks.push("client_id");
        }
        if auth.who == LoginAs::Client && auth.client_secret.is_none() && auth.private_key.is_none() {
            lacks.push("client_secret or private_key");
        }
        if matches!(auth.who, LoginAs::Workload | LoginAs::Enterprise) && auth.assertion.is_none() {
            lacks.push("assertion or assertion_file");
        }
        if auth.who == LoginAs::Enterprise && auth.identity_provider.is_none() {
            lacks.push("identity_provider");
        }
        if auth.who == LoginAs::Enterprise && auth.identity_client_id.is_none() {
            lacks.push("identity_client_id");
        }
        if !lacks.is_empty() {
            let message = format!("needs {} beside it", lacks.join(", "));
            self.report.error(&login.place, message, None);
        }
    }
}
