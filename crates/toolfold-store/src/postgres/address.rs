//! Where a database is and how it is reached: the address in words that the client library knows, and the TLS that it asks for.
//!
//! `sslmode` means what it means to every other program of PostgreSQL: `disable`, `prefer` (the default: encrypted where the
//! database can be), `require` (encrypted), `verify-ca` and `verify-full` (encrypted, and the certificate is checked; with its
//! name). `sslrootcert` names a file of certificates to check against; otherwise the system's are.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;
use toolfold_core::DatabaseUrl;

use super::{ANSWER, CONNECT, MOST_LINKS};
use crate::error::StoreError;

#[derive(Clone)]
pub(crate) struct Address {
    /// For people.
    pub(crate) shown: PathBuf,
    config: Config,
    tls: MakeRustlsConnect,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.shown.display())
    }
}

/// What a link beside the pool is driven by.
pub(crate) type Wire = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    Nothing,
    /// Who signed it.
    Chain,
    /// And whose it is.
    Name,
}

impl Address {
    pub(crate) fn new(url: &DatabaseUrl) -> Result<Address, StoreError> {
        let shown = PathBuf::from(url.to_string());
        let wrong = |Unusable(why): Unusable| StoreError::Address { path: PathBuf::from(url.to_string()), why };
        let (rest, ours) = split(url.expose());
        let (mode, check) = ours.mode().map_err(wrong)?;
        let mut config = Config::from_str(&rest).map_err(|error| wrong(Unusable(said(&error))))?;
        config.ssl_mode(mode);
        if config.get_application_name().is_none() {
            config.application_name("toolfold");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        // A network that swallows everything is noticed, with and without something on its way.
        config
            .keepalives_idle(Duration::from_secs(15))
            .keepalives_interval(Duration::from_secs(5))
            .keepalives_retries(2);
        config.tcp_user_timeout(ANSWER);
        Ok(Address { shown, config, tls: tls(check, ours.root.as_deref()).map_err(wrong)? })
    }

    pub(crate) fn pool(&self) -> Pool {
        // What a link is asked before it is used again costs a round trip; a database that went away has closed it.
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(self.config.clone(), self.tls.clone(), recycling);
        let timeouts = Timeouts { wait: Some(CONNECT), create: Some(CONNECT), recycle: Some(CONNECT) };
        let pool = Pool::builder(manager).max_size(MOST_LINKS).timeouts(timeouts).runtime(Runtime::Tokio1);
        let settle = Hook::async_fn(|link: &mut deadpool_postgres::ClientWrapper, _| {
            Box::pin(async move { link.batch_execute(&settings()).await.map_err(HookError::Backend) })
        });
        // It fails where there is no runtime, and there is one.
        pool.post_create(settle).build().unwrap_or_else(|error| unreachable!("{error}"))
    }

    /// A link beside the pool, for what holds on to it.
    pub(crate) async fn connect(&self) -> Result<(Client, Wire), StoreError> {
        let connected = tokio::time::timeout(CONNECT, self.config.connect(self.tls.clone())).await;
        match connected {
            Ok(Ok(both)) => Ok(both),
            Ok(Err(error)) => Err(StoreError::database(&self.shown, &error)),
            Err(_) => Err(StoreError::Unreachable { path: self.shown.clone(), why: "it did not answer".to_owned() }),
        }
    }
}

/// What a link is told first. Our tables are in a schema of their own, so that the database may be somebody's who has others.
pub(crate) fn settings() -> String {
    let answer = ANSWER.as_millis();
    format!(
        "SET search_path = toolfold, pg_catalog; SET statement_timeout = {answer}; SET lock_timeout = {answer};
         SET idle_in_transaction_session_timeout = {answer}; SET client_min_messages = warning;"
    )
}

/// What is wrong with an address.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Unusable(String);

/// What of an address is for us to understand.
#[derive(Default)]
struct Ours {
    mode: Option<String>,
    root: Option<String>,
}

impl Ours {
    fn mode(&self) -> Result<(SslMode, Check), Unusable> {
        Ok(match self.mode.as_deref() {
            Some("disable") => (SslMode::Disable, Check::Nothing),
            None | Some("prefer" | "allow") => (SslMode::Prefer, Check::Nothing),
            // As elsewhere: who names certificates wants them looked at.
            Some("require") if self.root.is_some() => (SslMode::Require, Check::Chain),
            Some("require") => (SslMode::Require, Check::Nothing),
            Some("verify-ca") => (SslMode::Require, Check::Chain),
            Some("verify-full") => (SslMode::Require, Check::Name),
            Some(other) => {
                let known = "disable, prefer, require, verify-ca and verify-full";
                return Err(Unusable(format!("there is no sslmode {other:?}; there are {known}")));
            }
        })
    }
}

/// The client library does not know all modes, and no files.
fn split(url: &str) -> (String, Ours) {
    let mut ours = Ours::default();
    let (before, query) = match url.rsplit_once('?') {
        // A question mark of a password is before the `@`.
        Some((before, query)) if !query.contains('@') => (before, query),
        _ => return (url.to_owned(), ours),
    };
    let mut rest = Vec::new();
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("sslmode", mode)) => ours.mode = Some(mode.to_owned()),
            Some(("sslrootcert", file)) => ours.root = Some(file.replace("%2F", "/")),
            _ => rest.push(pair),
        }
    }
    let joined = rest.join("&");
    (if joined.is_empty() { before.to_owned() } else { format!("{before}?{joined}") }, ours)
}

/// The error without the address, which its source may quote.
fn said(error: &tokio_postgres::Error) -> String {
    let source = std::error::Error::source(error).map(ToString::to_string);
    source.unwrap_or_else(|| error.to_string())
}

fn tls(check: Check, root: Option<&str>) -> Result<MakeRustlsConnect, Unusable> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(Verifier { check, inner: inner(check, root, &provider)?, provider: provider.clone() });
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Unusable(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn inner(
    check: Check,
    root: Option<&str>,
    provider: &Arc<CryptoProvider>,
) -> Result<Option<Arc<dyn ServerCertVerifier>>, Unusable> {
    if check == Check::Nothing {
        return Ok(None);
    }
    let failed = |error: &dyn std::fmt::Display| Unusable(format!("certificates cannot be checked: {error}"));
    let Some(file) = root.filter(|root| *root != "system") else {
        let system = rustls_platform_verifier::Verifier::new(provider.clone()).map_err(|error| failed(&error))?;
        return Ok(Some(Arc::new(system)));
    };
    let unread =
        |error: &dyn std::fmt::Display| Unusable(format!("the certificates in {file} cannot be read: {error}"));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(Path::new(file)).map_err(|error| unread(&error))? {
        roots.add(certificate.map_err(|error| unread(&error))?).map_err(|error| unread(&error))?;
    }
    let built = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
    Ok(Some(built.map_err(|error| unread(&error))?))
}

/// Checks as much of a certificate as the address asks for; that its owner speaks is checked always.
#[derive(Debug)]
struct Verifier {
    check: Check,
    inner: Option<Arc<dyn ServerCertVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(inner) = &self.inner else { return Ok(ServerCertVerified::assertion()) };
        match inner.verify_server_cert(end_entity, intermediates, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.check == Check::Chain => Ok(ServerCertVerified::assertion()),
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
