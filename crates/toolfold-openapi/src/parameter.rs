//! Parameters of an operation: where each goes and how it is written there, and the argument that it is called as.

use std::collections::HashSet;

use serde_json::Value;
use toolfold_core::slug;

use crate::document::Document;
use crate::style::{Style, Writing};
use crate::unfit::Unfit;

/// What the transport says of itself. No argument says it otherwise.
const NOT_FOR_ARGUMENTS: [&str; 11] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "proxy-authorization",
    "te",
    "transfer-encoding",
    "upgrade",
];
const LONGEST_ARGUMENT: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    Path,
    Query,
    Header,
    Cookie,
}

impl Where {
    fn of(text: &str) -> Option<Where> {
        [Where::Path, Where::Query, Where::Header, Where::Cookie].into_iter().find(|place| place.as_str() == text)
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Where::Path => "path",
            Where::Query => "query",
            Where::Header => "header",
            Where::Cookie => "cookie",
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) argument: String,
    pub(crate) name: String,
    pub(crate) place: Where,
    pub(crate) writing: Writing,
}

/// One as a document has it.
pub(crate) struct Described<'d> {
    pub(crate) name: &'d str,
    pub(crate) place: Where,
    pub(crate) writing: Writing,
    pub(crate) required: bool,
    pub(crate) schema: Option<&'d Value>,
    pub(crate) description: Option<&'d str>,
}

/// All of an operation: its own, and those of its path that it does not say itself.
pub(crate) fn described<'d>(
    document: &'d Document,
    holders: [&'d Value; 2],
    fixed: &[String],
) -> Result<Vec<Described<'d>>, Unfit> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for holder in holders {
        let own = holder.get("parameters").and_then(Value::as_array).into_iter().flatten();
        for parameter in own {
            let parameter = document.resolved(parameter).map_err(Unfit::Parameter)?;
            let Some(one) = read(parameter) else { continue };
            let is_ours = one.place == Where::Header
                && (NOT_FOR_ARGUMENTS.iter().any(|name| name.eq_ignore_ascii_case(one.name))
                    || fixed.iter().any(|name| name.eq_ignore_ascii_case(one.name)));
            if seen.insert((one.name, one.place.as_str())) && !is_ours {
                all.push(one);
            }
        }
    }
    all.sort_by_key(|one| (one.place != Where::Path, !one.required));
    Ok(all)
}

fn read(parameter: &Value) -> Option<Described<'_>> {
    let text = |key: &str| parameter.get(key).and_then(Value::as_str);
    let (name, place) = (text("name").filter(|name| !name.is_empty())?, Where::of(text("in")?)?);
    let flag = |key: &str| parameter.get(key).and_then(Value::as_bool);
    let content = parameter.get("content").and_then(Value::as_object).and_then(|content| content.iter().next());
    let style = match (text("style"), place, content) {
        (_, _, Some((media, _))) if is_json(media) => Style::Json,
        (Some("label"), ..) => Style::Label,
        (Some("matrix"), ..) => Style::Matrix,
        (Some("spaceDelimited"), ..) => Style::Space,
        (Some("pipeDelimited"), ..) => Style::Pipe,
        (Some("deepObject"), ..) => Style::Deep,
        (Some("form"), ..) => Style::Form,
        (_, Where::Path | Where::Header, _) => Style::Simple,
        (_, Where::Query | Where::Cookie, _) => Style::Form,
    };
    let explode = flag("explode").unwrap_or(matches!(style, Style::Form | Style::Deep));
    let writing = Writing { style, explode, reserved: flag("allowReserved") == Some(true) };
    let schema = parameter.get("schema").or_else(|| content?.1.get("schema"));
    let required = place == Where::Path || flag("required") == Some(true);
    Some(Described { name, place, writing, required, schema, description: text("description") })
}

pub(crate) fn is_json(media: &str) -> bool {
    let media = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    media == "application/json" || media.ends_with("+json") || media == "text/json"
}

/// Names of arguments: what every client and model takes as the name of a property, and none twice.
#[derive(Default)]
pub(crate) struct Arguments {
    taken: HashSet<String>,
}

impl Arguments {
    /// A name for this one. Of two that are called alike the second says where it goes.
    pub(crate) fn name(&mut self, name: &str, place: &str) -> String {
        let plain = plain(name);
        let second = || plain_cut(&format!("{plain}_{place}"));
        let names = [plain.clone(), second()].into_iter().chain((2..).map(|n| format!("{}_{n}", second())));
        let free = names.into_iter().find(|name| !self.taken.contains(name)).unwrap_or(plain);
        self.taken.insert(free.clone());
        free
    }

    pub(crate) fn is_free(&self, name: &str) -> bool {
        !self.taken.contains(name)
    }
}

/// Whether a name can be the name of an argument as it is.
pub(crate) fn is_plain(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=LONGEST_ARGUMENT).contains(&name.len()) && name.bytes().all(fits)
}

fn plain(name: &str) -> String {
    if is_plain(name) {
        return name.to_owned();
    }
    let plain = plain_cut(slug(name).trim_matches('_'));
    if plain.is_empty() { "it".to_owned() } else { plain }
}

fn plain_cut(name: &str) -> String {
    // Room for a number: only ASCII is left.
    name[..name.len().min(LONGEST_ARGUMENT - 4)].to_owned()
}
