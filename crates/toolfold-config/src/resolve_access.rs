//! What rules and issuers come to. A rule that could never mean anything (a server that is not there, a kind that does not
//! exist) is said here: at best it grants nothing, at worst it was meant to forbid.

use toolfold_core::{AccessRule, Kind, Pattern, RiskClass, RuleEffect, Secret, words};
use url::{Host, Url};

use crate::access::{Introspection, Issuer};
use crate::raw::RawConfig;
use crate::raw_access::{RawIssuer, RawRule};
use crate::report::{Place, quoted};
use crate::resolve::Resolver;
use crate::table::{Field, Pairs, Texts};

const KINDS: [Kind; 5] = [Kind::Tool, Kind::Agent, Kind::Skill, Kind::Prompt, Kind::Resource];
/// Servers that are there without being configured as such.
const OWN: [&str; 3] = ["toolbox", "agents", "skills"];
const EFFECT_HINT: &str = "write `effect = \"call\"`, \"see\" or \"forbid\"";

impl Resolver<'_> {
    pub(crate) fn rules(&mut self, raw: &RawConfig) -> Vec<AccessRule> {
        let servers: Vec<&str> = raw.servers.iter().map(|server| server.name.as_str()).chain(OWN).collect();
        let rules = raw.rules.iter().enumerate();
        rules.filter_map(|(place, rule)| self.rule(place + 1, rule, &servers)).collect()
    }

    fn rule(&mut self, number: usize, raw: &RawRule, servers: &[&str]) -> Option<AccessRule> {
        let effects = RuleEffect::ALL.map(|effect| (effect.as_str(), effect));
        if raw.effect.is_absent() {
            self.report.error(&raw.place, "does not say what it grants or forbids", EFFECT_HINT.to_owned());
        }
        let effect = self.choice(&raw.effect, &effects, RuleEffect::Forbid);
        self.refuse_unknown_servers(&raw.servers, servers);
        let kinds = self.choices(&raw.kinds, &KINDS.map(|kind| (kind.as_str(), kind)));
        let risk = self.choices(&raw.risk, &RiskClass::ALL.map(|risk| (risk.as_str(), risk)));
        let rule = AccessRule {
            number,
            line: self.report.line_of(&raw.place),
            who: self.patterns(&raw.who),
            groups: self.patterns(&raw.groups),
            scopes: self.filled(&raw.scopes),
            claims: self.claims(&raw.claims),
            what: self.patterns(&raw.what),
            servers: self.patterns(&raw.servers),
            nodes: self.filled(&raw.nodes).iter().map(|path| steps(path)).collect(),
            kinds,
            risk,
            effect,
        };
        raw.effect.given().map(|_| rule)
    }

    /// Texts, none of them empty: an empty one would fit nothing, and was hardly meant.
    fn filled(&mut self, field: &Field<Texts>) -> Vec<String> {
        if let Some(typed) = field.given().filter(|typed| typed.value.is_empty()) {
            let hint = "leave it out where everything is meant".to_owned();
            self.report.error(&typed.place, "is an empty list, which fits nothing", hint);
        }
        for item in field.given().map_or(&[][..], |typed| &typed.value) {
            if item.value.trim().is_empty() {
                self.report.error(&item.place, "is empty", "write a name, or `*` for any".to_owned());
            }
        }
        self.texts(field)
    }

    fn patterns(&mut self, field: &Field<Texts>) -> Vec<Pattern> {
        self.filled(field).iter().map(|text| Pattern::new(text)).collect()
    }

    fn claims(&mut self, field: &Field<Pairs>) -> std::collections::BTreeMap<String, Pattern> {
        let mut claims = std::collections::BTreeMap::new();
        for (name, value) in field.given().map_or(&[][..], |typed| &typed.value) {
            if let Some(text) = self.expanded(value) {
                claims.insert(name.clone(), Pattern::new(&text.value));
            }
        }
        claims
    }

    fn choices<T: Copy>(&mut self, field: &Field<Texts>, choices: &[(&'static str, T)]) -> Vec<T> {
        let items = field.given().map_or(Vec::new(), |typed| typed.value.clone());
        let mut chosen = Vec::new();
        for item in items {
            let Some(text) = self.expanded(&item) else { continue };
            match choices.iter().find(|(name, _)| *name == text.value) {
                Some((_, choice)) => chosen.push(*choice),
                None => {
                    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
                    let hint = match words::nearest(&text.value, names.iter().copied()) {
                        Some(near) => format!("did you mean \"{near}\"?"),
                        None => format!("choose from: {}", names.join(", ")),
                    };
                    self.report.error(&item.place, format!("{} is not a choice here", quoted(&item.value)), hint);
                }
            }
        }
        chosen
    }

    /// A name without a star that no server has is a slip of the pen, or a server that was taken away.
    fn refuse_unknown_servers(&mut self, field: &Field<Texts>, servers: &[&str]) {
        for item in field.given().map_or(&[][..], |typed| &typed.value) {
            let pattern = Pattern::new(&item.value);
            if !item.value.contains('*') && !servers.iter().any(|server| pattern.matches(server)) {
                let hint =
                    words::nearest(&item.value, servers.iter().copied()).map(|near| format!("did you mean `{near}`?"));
                self.report.warn(&item.place, format!("there is no server {}", quoted(&item.value)), hint);
            }
        }
    }

    pub(crate) fn issuers(&mut self, raw: &[RawIssuer]) -> Vec<Issuer> {
        let mut issuers: Vec<Issuer> = Vec::new();
        for raw in raw {
            let Some(issuer) = self.issuer(raw) else { continue };
            if issuers.iter().any(|other| other.issuer == issuer.issuer) {
                let message = format!("there is another issuer {}", quoted(&issuer.issuer));
                self.report.error(&raw.place, message, "make one of the two".to_owned());
            } else {
                issuers.push(issuer);
            }
        }
        issuers
    }

    fn issuer(&mut self, raw: &RawIssuer) -> Option<Issuer> {
        if raw.issuer.is_absent() {
            let hint = "write its address as it says it itself: `issuer = \"https://login.example.com\"`";
            self.report.error(&raw.place, "has no issuer", hint.to_owned());
        }
        let issuer = self.address(&raw.issuer);
        let jwks = self.address(&raw.jwks);
        let claim = |this: &mut Self, field: &Field<String>, usual: &str| {
            this.text(field).map_or(usual.to_owned(), |text| text.value)
        };
        Some(Issuer {
            audiences: self.filled(&raw.audiences),
            jwks,
            name_claim: claim(self, &raw.name_claim, "sub"),
            groups_claim: claim(self, &raw.groups_claim, "groups"),
            scopes: self.filled(&raw.scopes),
            introspection: self.introspection(raw),
            issuer: issuer?,
        })
    }

    fn introspection(&mut self, raw: &RawIssuer) -> Option<Introspection> {
        let url = self.address(&raw.introspection);
        let client_id = self.text(&raw.client_id).map(|text| text.value);
        let client_secret = self.text(&raw.client_secret).map(|text| Secret::new(text.value));
        match (url, client_id, client_secret) {
            (Some(url), Some(client_id), Some(client_secret)) => Some(Introspection { url, client_id, client_secret }),
            (None, None, None) => None,
            _ => {
                let hint =
                    "an issuer that is asked wants to know by whom: `introspection`, `client_id` and `client_secret`";
                let place = [raw.introspection.given(), raw.client_id.given(), raw.client_secret.given()];
                let place = place.into_iter().flatten().next().map_or(&raw.place, |typed| &typed.place);
                self.report.error(place, "goes with two other keys", hint.to_owned());
                None
            }
        }
    }

    /// `public_url`: where clients find us, without a path of its own behind it.
    pub(crate) fn public_url(&mut self, field: &Field<String>) -> Option<String> {
        let address = self.address(field)?;
        if address.contains(['?', '#']) {
            let place = field.given().map(|typed| typed.place.clone()).unwrap_or_default();
            self.report.error(&place, "has a query or a fragment", "write the address alone".to_owned());
        }
        Some(address.trim_end_matches('/').to_owned())
    }

    /// An address that secrets may go to: of https, or of this machine.
    fn address(&mut self, field: &Field<String>) -> Option<String> {
        let text = self.text(field)?;
        match check_address(&text.value) {
            Ok(()) => Some(text.value),
            Err(message) => {
                let hint = "write an address of https, or of this machine: \"https://login.example.com\"";
                let place: &Place = &text.typed.place;
                self.report.error(place, format!("{} {message}", quoted(&text.typed.value)), hint.to_owned());
                None
            }
        }
    }
}

fn check_address(text: &str) -> Result<(), &'static str> {
    let url = Url::parse(text).map_err(|_| "is not an address")?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("has a name or a password in it");
    }
    let near = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => return Err("has no host"),
    };
    match url.scheme() {
        "https" => Ok(()),
        "http" if near => Ok(()),
        "http" => Err("is not encrypted"),
        _ => Err("is not an address of HTTP"),
    }
}

/// `Coding/Refactoring` from the root down.
fn steps(path: &str) -> Vec<String> {
    path.split(['/', '>']).map(str::trim).filter(|step| !step.is_empty()).map(str::to_owned).collect()
}
