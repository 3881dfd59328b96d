//! From files, environment and flags to a [`Config`], or to every problem at once.
//!
//! A file is read in steps: text → a tree with places (`node`) → what was typed (`raw`, or `client` and `foreign` for
//! another program's file) → what is meant (`resolve`). No step stops at the first mistake, and only the last one sees what a
//! variable holds.

mod access;
mod api;
mod auth;
mod cluster;
mod code;
mod config;
mod operation;
mod options;
mod problem;
mod report;

mod source;
mod trust;

mod node;
mod table;

mod client;
mod foreign;
mod raw;
mod raw_access;
mod raw_auth;
mod raw_operation;

mod expand;
mod units;

mod doors;
mod resolve;
mod resolve_access;
mod resolve_auth;
mod resolve_nodes;
mod resolve_operation;
mod resolve_server;
mod results;

mod overrides;
mod own;
mod program;

mod changes;
mod written;

use std::path::{Path, PathBuf};

pub use access::{Introspection, Issuer};
pub use api::{ApiSource, DocumentPlace, HandTool, HandWay};
pub use auth::{Auth, AuthMode, CLIENT_DOCUMENT, KeptIn, LoginAs, OAuthSettings};
pub use changes::{Changes, changed};
pub use cluster::ClusterSettings;
pub use code::CodeSettings;
pub use config::{
    Config, DEFAULT_MAX_MESSAGE, EraChoice, Http, Learn, PreciseTier, Run, Server, Start, Timeouts, Transport,
};
pub use operation::{AuditMode, AuditSettings, Keep, Limits, Rate, Recorded, TelemetrySettings};
pub use options::LoadOptions;
pub use problem::{Problem, Problems, Severity};
pub use program::find as find_program;
pub use resolve::listen;
pub use results::ResultSettings;
pub use source::nearest;
pub use trust::{TrustError, TrustList, TrustedFile, Verdict};
pub use written::{Written, WrittenServer, as_written};

use report::{Place, Report};
use resolve::{Draft, Resolver, Surroundings};
use source::{Found, Source, Syntax};

#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    pub config: Config,
    /// What is worth a warning and no more.
    pub notices: Vec<Problem>,
    pub origin: Origin,
    /// Files that were found by looking upwards and not used, as nobody trusts them.
    pub untrusted: Vec<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    File(PathBuf),
    /// No file was found, which is not a mistake: the toolbox is served.
    Default,
}

pub fn load(options: &LoadOptions) -> Result<Loaded, Problems> {
    let mut report = Report::default();
    let Found { source, untrusted, notes } = source::read(options, &mut report);
    let mut draft = match &source {
        Some(source) => read(source, options, &mut report),
        None => Draft::default(),
    };
    overrides::apply(&mut draft, options, &mut report);
    own::leave_out(&mut draft, options, source.as_ref().map(|source| source.path.as_path()), &mut report);
    refuse_exposure(&draft, &mut report);
    cluster::refuse_alone(&draft, &mut report);
    if report.failed() {
        return Err(Problems(report.into_problems()));
    }
    let origin = source.map_or(Origin::Default, |source| Origin::File(source.path));
    if let Origin::File(path) = &origin {
        draft.config.files.push(path.clone());
    }
    draft.config.files.extend(notes);
    Ok(Loaded { config: draft.config, notices: report.into_problems(), origin, untrusted })
}

/// What would be wrong with a `toolfold.toml` of this text, before it is written. Variables that are not set, and programs that are not
/// there, are for later.
pub fn mistakes(path: &Path, text: &str, options: &LoadOptions) -> Vec<Problem> {
    let options = LoadOptions { lenient: true, look_for_commands: false, ..options.clone() };
    let mut report = Report::default();
    read(&Source { path: path.to_owned(), text: text.to_owned(), format: Syntax::Toml }, &options, &mut report);
    report.into_problems().into_iter().filter(|problem| problem.severity == Severity::Error).collect()
}

fn read(source: &Source, options: &LoadOptions, report: &mut Report) -> Draft {
    report.enter(source::shown(&source.path, &options.directory), &source.text);
    let raw = foreign::read(source, options, report).or_else(|| match source.format {
        Syntax::Toml => node::from_toml(&source.text, report).map(|root| raw::RawConfig::read(&root, report)),
        Syntax::Json => node::from_json(&source.text, report).map(|root| client::read(&root, report)),
    });
    let Some(raw) = raw else { return Draft::default() };
    let surroundings = Surroundings { options, base: source.base() };
    Resolver { report, surroundings, dialect: raw.dialect, unset: None, replaced: Vec::new() }.run(&raw)
}

/// Everybody on the network could call every tool: that takes credentials. Asked last, of the address that would be used.
fn refuse_exposure(draft: &Draft, report: &mut Report) {
    let http = &draft.config.http;
    let elsewhere = Place::outside("http.local");
    let open = draft.config.is_open();
    if open && http.public_url.is_some() {
        let hint = "a proxy in front of Toolfold comes from this machine too: leave `local` out".to_owned();
        report.error(&elsewhere, "does not go with `public_url`: everybody would be `local`", hint);
    }
    if !draft.config.issuers.is_empty() && http.public_url.is_none() && !http.listen.ip().is_loopback() {
        let hint =
            "write where clients find it: `public_url = \"https://tools.example.com\"` under `[http]`".to_owned();
        report.error(&Place::outside("http.public_url"), "is needed: tokens of issuers are for an address", hint);
    }
    if let Some(place) = &draft.listen
        && !http.listen.ip().is_loopback()
        && open
    {
        let message =
            format!("{} can be reached from other machines, and nobody has to show who they are", http.listen);
        let hint = "set `token` under `[http]`, name `[[issuers]]`, or write `local = false` and give out tokens with `toolfold token add`, or listen on 127.0.0.1".to_owned();
        report.error(place, message, hint);
    }
}
