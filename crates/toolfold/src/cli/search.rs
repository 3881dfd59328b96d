//! `toolfold search`: what a model would find, for a person.

use clap::Args;
use serde_json::json;
use toolfold_core::{Kind, ServerName};
use toolfold_disclosure::level::{signature, summary};
use toolfold_gateway::Snapshot;
use toolfold_index::{Explain, Filter, Hit, Query, TermMatch};

use super::ls::node_at;
use super::open::with_gateway;
use super::output::{bold, dim, plain, print, print_json};
use super::{Common, Fail};

#[derive(Args)]
pub(crate) struct Search {
    /// What the tool should do, in your own words
    #[arg(required = true)]
    query: Vec<String>,
    /// How many to show
    #[arg(long, short = 'n', default_value_t = 8)]
    limit: usize,
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

impl Search {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let server = self
            .server
            .clone()
            .map(ServerName::new)
            .transpose()
            .map_err(|error| Fail::usage(format!("error: {error}")))?;
        with_gateway(common, async |_, snapshot| {
            let text = self.query.join(" ");
            let node = self.path.as_deref().map(|path| node_at(&snapshot.catalog, path)).transpose()?;
            let filter = Filter {
                servers: server.map(|server| vec![server]),
                within: node.filter(|node| !node.path.is_empty()).map(|node| &node.entries[..]),
                tags: (!self.tag.is_empty()).then(|| self.tag.clone()),
                prefix: self.prefix.clone(),
                read_only: self.read_only.then_some(true),
                ..Filter::default()
            };
            let query = Query {
                text: &text,
                filter,
                limit: self.limit,
                explain: self.explain,
                answers_only: true,
                ..Query::default()
            };
            let found = snapshot.index.search(&snapshot.catalog, &query);
            if common.json {
                let hits: Vec<_> = found.hits.iter().map(|hit| self.as_json(&snapshot, hit)).collect();
                print_json(&json!({"query": text, "total": found.total, "hits": hits}))?;
            } else {
                for hit in &found.hits {
                    print(&self.as_text(&snapshot, hit))?;
                }
            }
            if found.hits.is_empty() {
                let known = snapshot.catalog.len();
                return Err(Fail::nothing(format!(
                    "Nothing fits {text:?} among {known} tools.\n\nhint: use other words for what the tool should do, or look around with `toolfold ls`"
                )));
            }
            Ok(())
        })
    }

    fn as_text(&self, snapshot: &Snapshot, hit: &Hit) -> String {
        let entry = snapshot.catalog.entry(hit.entry);
        let takes = match entry.kind {
            Kind::Tool => format!("({})", plain(&signature(entry).text)),
            kind => format!(" [{}]", kind.as_str()),
        };
        let mut text = format!("{}{} — {}", bold(&plain(&entry.id.to_string())), dim(&takes), plain(&summary(entry)));
        if hit.copies > 0 {
            text.push_str(&dim(&format!(" (+{} much like it)", hit.copies)));
        }
        if self.explain {
            text.push_str(&format!("\n    confidence {:.2}, score {:.2}", hit.confidence, hit.score));
            text.push_str(&explained(&hit.explain));
        }
        text
    }

    fn as_json(&self, snapshot: &Snapshot, hit: &Hit) -> serde_json::Value {
        let entry = snapshot.catalog.entry(hit.entry);
        let mut value = json!({
            "tool": entry.id.to_string(),
            "kind": entry.kind,
            "signature": signature(entry).text,
            "summary": summary(entry),
            "confidence": hit.confidence,
            "copies": hit.copies,
        });
        if self.explain {
            let Explain { named, terms, lexical, semantic, precise, near, part } = &hit.explain;
            value["score"] = json!(hit.score);
            value["named"] = json!(named);
            value["lexical"] = json!(lexical);
            value["semantic"] = json!(semantic);
            value["precise"] = json!(precise);
            value["near"] = json!(near);
            value["part"] = json!(part);
            let term = |term: &TermMatch| json!({"term": term.term, "fields": fields(term), "score": term.score});
            value["terms"] = terms.iter().map(term).collect();
        }
        value
    }
}

/// What each side says of a hit, and the words that it was found by.
fn explained(explain: &Explain) -> String {
    let Explain { named, terms, lexical, semantic, precise, near, part } = explain;
    let mut text = format!("\n    words {lexical:.2}, meaning {semantic:.2}");
    if let Some(precise) = precise {
        text.push_str(&format!(", encoder {precise:.2}"));
    }
    if let Some(near) = near {
        text.push_str(&format!(", word by word {near:.2}"));
    }
    if *named {
        text.push_str("; the query names it");
    }
    if let Some(part) = part {
        text.push_str(&format!("\n    fits the part {part:?}"));
    }
    for term in terms {
        text.push_str(&format!("\n    {:>6.2}  {} in {}", term.score, term.term, fields(term).join(", ")));
    }
    text
}

fn fields(term: &TermMatch) -> Vec<&'static str> {
    term.fields.iter().map(|field| field.as_str()).collect()
}
