//! What an API offers: its document, from a file or an address, and what somebody described by hand.
//!
//! What a reader would get wrong: a key goes nowhere that only a document names. The configuration says where it goes, or the
//! document is where the API is.

use std::path::Path;
use std::sync::Arc;

use hyper::http::Method;
use serde_json::Value;
use toolfold_config::{ApiSource, AuthMode, DocumentPlace, HandTool, HandWay};
use toolfold_openapi::{
    Api, BadCommand, BadEndpoint, Base, BaseFrom, CommandPlan, Document, LARGEST, LeftOut, Unreadable, Wishes, api,
    endpoint, weight,
};
use url::Url;

use super::ask::{Asking, Known};
use super::{Made, Way};
use crate::call::CallError;
use crate::connection::Connection;

/// Of what is left out, so much is said in the log.
const MOST_SAID: usize = 5;
const LONGEST_INSTRUCTIONS: usize = 400;

/// Why a document is not read.
#[derive(Debug, thiserror::Error)]
enum Unread {
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    #[error("it would take about {megabytes} MB of memory, and `[limits] memory` has no room for that now")]
    Heavy { megabytes: usize },
}

/// A tool that somebody described by hand, and that is none.
#[derive(Debug, thiserror::Error)]
#[error("the tool {name}: {why}")]
struct BadTool {
    name: String,
    why: WhyBad,
}

#[derive(Debug, thiserror::Error)]
enum WhyBad {
    #[error(transparent)]
    Command(#[from] BadCommand),
    #[error(transparent)]
    Endpoint(#[from] BadEndpoint),
    #[error("there is no `base_url`")]
    NoBase,
}

pub(super) async fn read(asking: &Asking, connection: &Arc<Connection>, source: &ApiSource) -> Result<Made, CallError> {
    let base = source.base_url.as_deref().and_then(|url| Base::configured(url).ok());
    let mut made = Made::default();
    if let Some(place) = &source.document {
        let (bytes, from) = match place {
            DocumentPlace::File(path) => (from_file(path).await?, None),
            DocumentPlace::Url(url) => (from_address(asking, connection, source, url).await?, Url::parse(url).ok()),
        };
        let wishes = Wishes {
            base: base.clone(),
            document: from,
            include: source.include.clone(),
            exclude: source.exclude.clone(),
            headers: source.headers.keys().cloned().collect(),
        };
        // Some megabytes: for a thread that nobody waits for, and within the memory that all servers share.
        let memory = connection.shared.house.memory.clone();
        let read = tokio::task::spawn_blocking(move || {
            let weight = weight(&bytes);
            let _held = memory.take(weight).ok_or(Unread::Heavy { megabytes: weight >> 20 })?;
            Ok::<_, Unread>(api(&Document::read(&bytes)?, &wishes))
        });
        let read = read.await.map_err(|_| CallError::unavailable("the document was not read to its end"))?;
        let api = read.map_err(|why| unusable(place, &why.to_string()))?;
        let is_known = connection.shared.config.auth.mode == AuthMode::OAuth || !source.headers.is_empty();
        made = of_document(api, place, is_known, connection)?;
    }
    for tool in &source.tools {
        made.tools.push(by_hand(tool, base.as_ref()).map_err(|why| CallError::unavailable(why.to_string()))?);
    }
    Ok(made)
}

fn of_document(
    mut api: Api,
    place: &DocumentPlace,
    is_known: bool,
    connection: &Connection,
) -> Result<Made, CallError> {
    let server = &connection.shared.config.name;
    let mut tools = Vec::new();
    for tool in std::mem::take(&mut api.tools) {
        if is_known && tool.plan.base.from == BaseFrom::Document {
            let why = format!(
                "is at {}, which only its document names, and no key is sent there: set `base_url` of [servers.{server}]",
                tool.plan.base.url
            );
            api.left_out.push(LeftOut { what: tool.name, why });
        } else {
            tools.push((tool.definition, Way::Ask(Box::new(tool.plan))));
        }
    }
    if let (true, Some(first)) = (tools.is_empty(), api.left_out.first()) {
        return Err(unusable(place, &format!("nothing of it can be used: {} {}", first.what, first.why)));
    }
    for LeftOut { what, why } in api.left_out.iter().take(MOST_SAID) {
        tracing::warn!(%server, operation = ?what, ?why, "an operation of the document is left out");
    }
    if api.left_out.len() > MOST_SAID {
        tracing::warn!(%server, left_out = api.left_out.len(), "more operations of the document are left out");
    }
    let short = |text: String| toolfold_core::beginning(&text, LONGEST_INSTRUCTIONS).into_owned();
    Ok(Made { title: api.title, version: api.version, instructions: api.description.map(short), tools })
}

fn by_hand(tool: &HandTool, base: Option<&Base>) -> Result<(Value, Way), BadTool> {
    let named = |why: WhyBad| BadTool { name: tool.name.clone(), why };
    match (&tool.way, base) {
        (HandWay::Command(words), _) => {
            let command = CommandPlan::new(words, &tool.input).map_err(|error| named(error.into()))?;
            Ok((command.definition(&tool.name, &tool.description), Way::Run(command)))
        }
        (HandWay::Endpoint { method, path }, Some(base)) => {
            let made = endpoint((&tool.name, &tool.description), (method, path), &tool.input, base)
                .map_err(|error| named(error.into()))?;
            Ok((made.definition, Way::Ask(Box::new(made.plan))))
        }
        (HandWay::Endpoint { .. }, None) => Err(named(WhyBad::NoBase)),
    }
}

async fn from_file(path: &Path) -> Result<Vec<u8>, CallError> {
    let shown = path.display();
    let wrong =
        |error: std::io::Error| CallError::unavailable(format!("{shown} cannot be read ({error}): correct `openapi`"));
    let about = tokio::fs::metadata(path).await.map_err(wrong)?;
    if !about.is_file() {
        return Err(CallError::unavailable(format!("{shown} is not a file: correct `openapi`")));
    }
    if about.len() > LARGEST as u64 {
        return Err(CallError::unavailable(format!("{shown} is larger than {} MB", LARGEST >> 20)));
    }
    tokio::fs::read(path).await.map_err(wrong)
}

/// A key for the API is shown to who has its document only where that is the same place.
async fn from_address(
    asking: &Asking,
    connection: &Arc<Connection>,
    source: &ApiSource,
    url: &str,
) -> Result<Vec<u8>, CallError> {
    let origin = |text: &str| Url::parse(text).ok().map(|url| url.origin());
    let same = source.base_url.as_deref().is_none_or(|base| origin(base) == origin(url));
    let known = if same { Known::Yes } else { Known::No };
    let shown = url.split(['?', '#']).next().unwrap_or_default();
    let answer = asking.fetch(connection, (Method::GET, url), known, LARGEST).await?;
    match answer.status {
        200..=299 => Ok(answer.body.to_vec()),
        status => Err(CallError::unavailable(format!("{shown} answered HTTP {status}: correct `openapi`"))),
    }
}

fn unusable(place: &DocumentPlace, why: &str) -> CallError {
    let shown = match place {
        DocumentPlace::File(path) => path.display().to_string(),
        DocumentPlace::Url(url) => url.split(['?', '#']).next().unwrap_or_default().to_owned(),
    };
    CallError::unavailable(format!("the document {shown} cannot be used: {why}"))
}
