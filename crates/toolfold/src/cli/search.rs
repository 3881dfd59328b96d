//! `toolfold search`: what a model would find, for a person: the same ranking, the same tier, the same doubt.

use std::collections::BTreeSet;

use clap::{Args, value_parser};
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolfold_catalog::Node;
use toolfold_config::Config;
use toolfold_core::{Absent, Kind, ServerName, shown_line, words};
use toolfold_disclosure::level::{marked_summary, signature, summary};
use toolfold_disclosure::{DOUBT, Search, ShownHits, View, is_doubtful, shown};
use toolfold_index::{Explain, Filter, Hit, Query, TermMatch};

use super::Fail;
use super::ask::{Answer, Needs};
use super::ls::{node_at, not_there};
use super::output::{Style, as_json};

/// Why a hit is where it is that fits less than the one behind it.
const PREFERRED: &str = "comes first and counts as much because its server is preferred:";

#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct SearchCommand {
    /// What the tool should do, in your own words
    #[arg(required = true)]
    query: Vec<String>,
    /// How many to show; without it, as many as an agent is shown
    #[arg(long, short = 'n', value_parser = value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Only tools of this server
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// Only what is in this node, such as Data/Text
    #[arg(long)]
    path: Option<String>,
    /// Only tools that bring this tag along; with several, one of them is enough
    #[arg(long)]
    tag: Vec<String>,
    /// Only tools whose name or id begins with this
    #[arg(long, value_name = "TEXT")]
    prefix: Option<String>,
    /// Only tools that say they change nothing
    #[arg(long)]
    read_only: bool,
    /// Say why each one was found
    #[arg(long)]
    explain: bool,
}

/// Hits that are shown where a search is narrowed down as no agent can.
const USUAL: usize = 8;

impl SearchCommand {
    pub(crate) fn needs(&self) -> Needs {
        self.server.clone().map_or(Needs::All, Needs::Server)
    }

    /// What can be said without looking.
    pub(crate) fn check(&self) -> Result<(), Fail> {
        if self.query.iter().all(|word| word.trim().is_empty()) {
            return Err(Fail::usage("there is nothing to search for")
                .hint("say what the tool should do, or look around with `toolfold ls`"));
        }
        Ok(())
    }

    pub(crate) fn answer(&self, view: &View<'_>, config: &Config, style: Style) -> Result<Answer, Fail> {
        let server = self.known_server(view, config)?;
        let has_nothing = |name: &ServerName| view.of_server(name).next().is_none();
        let is_it = |absent: &&Absent| Some(&absent.server) == server.as_ref() && has_nothing(&absent.server);
        if let Some(absent) = view.absent().iter().find(is_it) {
            return Err(not_there(absent));
        }
        let text = self.query.join(" ");
        let node = self.path.as_deref().map(|path| node_at(view, path)).transpose()?;
        let ShownHits { hits, doubtful, total } = match self.is_narrowed() {
            true => self.narrowed(view, &text, server, node),
            // What an agent would be shown: as many, in the same order, with the same doubt.
            false => {
                let path = node.map(|node| node.path.clone()).unwrap_or_default();
                let (limit, as_needed) = (self.most(), self.limit.is_none());
                let search = Search { path, kind: None, as_needed, ..Search::tools(text.clone(), limit) };
                shown(view, &search).map_err(|refusal| Fail::nothing(refusal.message))?
            }
        };
        let lines = if style.json {
            let close = !hits.is_empty() && !doubtful;
            let hits: Vec<_> = hits.iter().map(|(hit, _)| self.as_json(view, hit)).collect();
            as_json(&json!({"query": text, "total": total, "close_match": close, "hits": hits}))?
        } else {
            let lines = hits.iter().map(|(hit, also)| self.as_text(view, hit, also, style));
            doubtful.then(|| DOUBT.to_owned()).into_iter().chain(lines).collect::<Vec<_>>().join("\n")
        };
        let but = hits.is_empty().then(|| self.nothing(&text, view));
        let answer = Answer { text: lines, but };
        Ok(if self.server.is_none() { answer.of_what_is_there(view) } else { answer })
    }

    fn most(&self) -> usize {
        self.limit.map_or(USUAL, |limit| limit as usize)
    }

    /// Whether it asks for what no agent can.
    fn is_narrowed(&self) -> bool {
        self.server.is_some() || !self.tag.is_empty() || self.prefix.is_some() || self.read_only
    }

    fn narrowed(&self, view: &View<'_>, text: &str, server: Option<ServerName>, node: Option<&Node>) -> ShownHits {
        let within: Option<Vec<usize>> =
            node.filter(|node| !node.path.is_empty()).map(|node| view.entries_in(node).collect());
        let filter = Filter {
            servers: server.map(|server| vec![server]),
            within: within.as_deref(),
            tags: (!self.tag.is_empty()).then(|| self.tag.clone()),
            prefix: self.prefix.clone(),
            read_only: self.read_only.then_some(true),
            ..Filter::default()
        };
        let limit = self.most();
        let found = view.search(Query { text, filter, limit, explain: true, ..Query::default() });
        let doubtful = !found.hits.is_empty() && is_doubtful(&found);
        let hits = found.hits.into_iter().map(|hit| (hit, String::new())).collect();
        ShownHits { hits, doubtful, total: found.total }
    }

    fn known_server(&self, view: &View<'_>, config: &Config) -> Result<Option<ServerName>, Fail> {
        let Some(wanted) = &self.server else { return Ok(None) };
        let names = config.servers.keys().chain(config.unusable.keys());
        let known: BTreeSet<&ServerName> = names.chain(view.servers()).collect();
        if let Some(server) = known.iter().find(|name| name.as_str() == wanted) {
            return Ok(Some((*server).clone()));
        }
        let names = || known.iter().map(|name| name.as_str());
        let hint = nearest(wanted, names(), "servers");
        Err(Fail::usage(format!("there is no server {wanted:?}")).hint(hint))
    }

    fn nothing(&self, text: &str, view: &View<'_>) -> Fail {
        let known: BTreeSet<String> = view.entries().flat_map(|position| view.entry(position).tags()).collect();
        let is_known = |tag: &&String| known.iter().any(|other| other.eq_ignore_ascii_case(tag));
        match self.tag.first() {
            Some(tag) if !self.tag.iter().any(|tag| is_known(&tag)) => {
                let hint = nearest(tag, known.iter().map(String::as_str), "tags");
                Fail::nothing(format!("No tool has the tag {tag:?}.")).hint(hint)
            }
            _ => {
                let known = view.entries().count();
                let fail = Fail::nothing(format!("Nothing fits {text:?} among {known} tools."))
                    .hint("use other words for what the tool should do, or look around with `toolfold ls`");
                view.missing_lines().iter().fold(fail, |fail, missing| fail.hint(shown_line(missing)))
            }
        }
    }

    fn as_text(&self, view: &View<'_>, hit: &Hit, also: &str, style: Style) -> String {
        let entry = view.entry(hit.entry);
        let takes = match entry.kind {
            Kind::Tool => format!("({})", shown_line(&signature(entry).text)),
            Kind::Agent if entry.is_tool() => format!("({}) [agent]", shown_line(&signature(entry).text)),
            kind => format!(" [{}]", kind.as_str()),
        };
        let (id, about) = (entry.id.to_string(), marked_summary(entry));
        let mut text = format!("{}{} — {}", style.bold(&shown_line(&id)), style.dim(&takes), shown_line(&about));
        if hit.copies > 0 {
            text.push_str(&style.dim(&format!(" (+{} much like it)", hit.copies)));
        }
        text.push_str(&style.dim(&shown_line(also)));
        if self.explain {
            text.push_str(&format!("\n    confidence {:.2}, score {:.2}", hit.confidence, hit.score));
            if let Some(other) = hit.explain.preferred_to {
                let other = view.entry(other).id.to_string();
                text.push_str(&format!("\n    {PREFERRED} {} does the same", shown_line(&other)));
            }
            text.push_str(&explained(&hit.explain));
        }
        text
    }

    fn as_json(&self, view: &View<'_>, hit: &Hit) -> serde_json::Value {
        let entry = view.entry(hit.entry);
        let mut value = json!({
            "tool": entry.id.to_string(),
            "kind": entry.kind,
            "signature": signature(entry).text,
            "summary": summary(entry),
            "confidence": hit.confidence,
            "copies": hit.copies,
        });
        if self.explain {
            let Explain { named, terms, lexical, semantic, precise, near, precisely_near, deed, part, .. } =
                &hit.explain;
            let Explain { learned, preferred_to, .. } = &hit.explain;
            value["score"] = json!(hit.score);
            value["preferred_to"] = json!(preferred_to.map(|other| view.entry(other).id.to_string()));
            value["named"] = json!(named);
            value["lexical"] = json!(lexical);
            value["semantic"] = json!(semantic);
            value["precise"] = json!(precise);
            value["near"] = json!(near);
            value["precisely_near"] = json!(precisely_near);
            value["deed"] = json!(deed);
            value["part"] = json!(part);
            value["learned"] = json!(learned.map(|lift| json!({"score": lift.score, "times": lift.times})));
            let term = |term: &TermMatch| json!({"term": term.term, "fields": fields(term), "score": term.score});
            value["terms"] = terms.iter().map(term).collect();
        }
        value
    }
}

/// What was probably meant, or what there is.
fn nearest<'a>(wanted: &str, known: impl Iterator<Item = &'a str> + Clone, what: &str) -> String {
    match words::nearest(wanted, known.clone()) {
        Some(near) => format!("did you mean {:?}?", shown_line(near)),
        None => {
            let some: Vec<_> = known.map(|name| shown_line(name)).take(12).collect();
            if some.is_empty() { format!("there are no {what}") } else { format!("{what}: {}", some.join(", ")) }
        }
    }
}

/// What each side says of a hit, and the words that it was found by.
fn explained(explain: &Explain) -> String {
    let Explain { named, terms, lexical, semantic, precise, near, precisely_near, deed, part, learned, .. } = explain;
    let mut text = format!("\n    words {lexical:.2}, meaning {semantic:.2}");
    if let Some(precise) = precise {
        text.push_str(&format!(", encoder {precise:.2}"));
    }
    if let Some(near) = near {
        text.push_str(&format!(", word by word {near:.2}"));
    }
    if let Some(near) = precisely_near {
        text.push_str(&format!(", by the encoder's {near:.2}"));
    }
    if *deed != 0.0 {
        text.push_str(&format!(", deed {deed:+.2}"));
    }
    if *named {
        text.push_str("; the query names it");
    }
    if let Some(lift) = learned {
        let times = if lift.times == 1 { "once".to_owned() } else { format!("{} times", lift.times) };
        text.push_str(&format!("\n    {:+.2} for having been called {times} after requests like this one", lift.score));
    }
    if let Some(part) = part {
        text.push_str(&format!("\n    fits the part {part:?}"));
    }
    for term in terms {
        let found = shown_line(&term.term);
        text.push_str(&format!("\n    {:>6.2}  {found} in {}", term.score, fields(term).join(", ")));
    }
    text
}

fn fields(term: &TermMatch) -> Vec<&'static str> {
    term.fields.iter().map(|field| field.as_str()).collect()
}
