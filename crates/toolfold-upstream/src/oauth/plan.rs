//! From what the configuration says about a login to what the machine needs to know. Secrets that are in files are read
//! here, each time: who put them there renews them.

use std::collections::BTreeMap;

use toolfold_config::{Auth, AuthMode, DocumentPlace, KeptIn, LoginAs, OAuthSettings, Server, Transport};
use toolfold_core::Secret;
use toolfold_oauth::{Enterprise, Given, Key, LoginKind, Plan};
use url::Url;

use super::failed::NoLogin;

const LARGEST: u64 = 64 * 1024;

pub(super) fn plan(auth: &Auth, settings: &OAuthSettings, server: &Url, redirect: String) -> Result<Plan, NoLogin> {
    let client = match &auth.client_id {
        Some(id) => Some(Given {
            id: id.clone(),
            secret: auth.client_secret.clone(),
            key: auth.private_key.as_ref().map(|key| read(key, "private_key_file")).transpose()?,
        }),
        None => None,
    };
    let assertion = || match &auth.assertion {
        Some(kept) => read(kept, "assertion_file"),
        None => Err(NoLogin::Unreachable("its configuration has no `assertion`".to_owned())),
    };
    let kind = match auth.who {
        LoginAs::Person => LoginKind::Person,
        LoginAs::Client => LoginKind::Client,
        LoginAs::Workload => LoginKind::Workload { token: assertion()? },
        LoginAs::Enterprise => LoginKind::Enterprise(Enterprise {
            provider: auth.identity_provider.clone().unwrap_or_default(),
            client: Given {
                id: auth.identity_client_id.clone().unwrap_or_default(),
                secret: auth.identity_client_secret.clone(),
                key: None,
            },
            id_token: assertion()?,
        }),
    };
    Ok(Plan {
        server: server.clone(),
        kind,
        client,
        used: None,
        scopes: auth.scopes.clone(),
        issuer: auth.issuer.clone(),
        document: settings.client_metadata.clone(),
        redirect,
    })
}

/// The client's own key, where it has one.
pub(super) fn own_key(auth: &Auth) -> Result<Option<Key>, NoLogin> {
    let Some(kept) = &auth.private_key else { return Ok(None) };
    Ok(Some(Key::from_pem(read(kept, "private_key_file")?.expose())?))
}

fn read(kept: &KeptIn, key: &str) -> Result<Secret, NoLogin> {
    let path = match kept {
        KeptIn::Text(secret) => return Ok(secret.clone()),
        KeptIn::File(path) => path,
    };
    let failed = |why: String| NoLogin::Unreachable(format!("{} (`{key}`) cannot be read: {why}", path.display()));
    // A few lines that somebody else wrote; not worth a thread of its own.
    let size = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
    if size > LARGEST {
        return Err(failed(format!("it is larger than {LARGEST} bytes")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    Ok(Secret::new(text.trim()))
}

/// Where a login is for, and the headers that may speak for us. An API or an agent takes a login only where the
/// configuration says so: a 401 of theirs need not mean one.
pub(super) fn place_of(server: &Server) -> Option<(&String, &BTreeMap<String, Secret>)> {
    let asked = server.auth.mode == AuthMode::OAuth;
    match &server.transport {
        Transport::Http { url, headers } => Some((url, headers)),
        Transport::Agent { card, headers } if asked => Some((card, headers)),
        Transport::Api(source) if asked => match (&source.base_url, &source.document) {
            (Some(url), _) | (None, Some(DocumentPlace::Url(url))) => Some((url, &source.headers)),
            _ => None,
        },
        _ => None,
    }
}
