//! What an agent would be answered, and why: a search with the reasons for its order, and an entry at every level.
//!
//! What a reader would get wrong: the answer is the agent's own, made by the surface `compact` as it makes all of them.
//! Only the reasons beside it are made here.

use hyper::StatusCode;
use serde_json::{Value, json};
use toolfold_core::{Code, Entry, Principal, Refusal, Surface, shown, shown_line};
use toolfold_disclosure::level::{line as entry_line, lines, summary};
use toolfold_disclosure::{Action, Answered, Level, View, answer, answered, is_doubtful, route, tokens};
use toolfold_gateway::{Client, Scope, aside};
use toolfold_wire::{Object, Raw, raw};

use crate::http::App;
use crate::http::failure::refused;
use crate::http::reply::{Reply, json_response};
use crate::text::shown as cut;

/// Hits that say why.
const REASONS: usize = 8;
/// As much of a query as the surface looks at.
const LONGEST_QUERY: usize = 400;
const FIND: &str = "find_tools";
/// Bytes of a definition whose tokens are counted one by one.
const LARGEST_COUNTED: usize = 1024 * 1024;

/// `{"query"}`: the text an agent gets, and why it says what it does.
pub(crate) async fn explain(app: &App, principal: Principal, asked: &Raw) -> Reply {
    let query = Object::parse(asked).and_then(|asked| asked.string("query")).unwrap_or_default();
    if query.trim().is_empty() {
        return refused(&Refusal::new(Code::InvalidRequest, "`query`, a text, is required."));
    }
    let query: String = query.chars().take(LONGEST_QUERY).collect();
    apart(app, principal, move |scope| Ok(explained(scope, &query))).await
}

/// `{"tool_id"}`: the entry as it is shown, from its name to all of it.
pub(crate) async fn levels(app: &App, principal: Principal, asked: &Raw) -> Reply {
    let Some(id) = Object::parse(asked).and_then(|asked| asked.string("tool_id")) else {
        return refused(&Refusal::new(Code::InvalidRequest, "`tool_id`, a text, is required."));
    };
    apart(app, principal, move |scope| ladder(scope, &id)).await
}

/// Aside: an encoder may be asked, and a schema may be large.
async fn apart(
    app: &App,
    principal: Principal,
    work: impl FnOnce(&Scope) -> Result<Value, Refusal> + Send + 'static,
) -> Reply {
    let scope = app.gateway.settled(&Client::inside(principal, Surface::Compact)).await;
    match aside(move || work(&scope)).await.and_then(|done| done) {
        Ok(value) => match app.budget.answer(value.to_string()) {
            Some(body) => json_response(StatusCode::OK, body),
            None => refused(&Refusal::new(Code::RateLimited, "Too many large answers are waiting to be read.")),
        },
        Err(refusal) => refused(&refusal),
    }
}

fn explained(scope: &Scope, query: &str) -> Value {
    let view = scope.view();
    let begun = std::time::Instant::now();
    let Answered { text, entries } = said(&view, query);
    let took = begun.elapsed();
    let wanted =
        toolfold_index::Query { text: query, limit: REASONS, explain: true, ..toolfold_index::Query::default() };
    let found = view.rank(wanted);
    let hits: Vec<Value> = found.hits.iter().map(|hit| reason(&view, hit, &entries)).collect();
    json!({
        "text": shown(&text),
        "tokens": tokens::count(&text),
        "milliseconds": (took.as_secs_f64() * 1e5).round() / 1e2,
        "precise": view.is_precise(),
        "doubtful": is_doubtful(&found),
        "total": found.total,
        "hits": hits,
    })
}

fn said(view: &View<'_>, query: &str) -> Answered {
    let found = match route(Surface::Compact, view, FIND, Some(&raw(&json!({"query": query})))) {
        Action::Search(search, _) => answered(view, &search),
        Action::Refuse(refusal) => Err(refusal),
        _ => Err(Refusal::new(Code::InvalidRequest, "This is no search.")),
    };
    found.unwrap_or_else(|refusal| Answered { text: refusal.message, entries: Vec::new() })
}

fn reason(view: &View<'_>, hit: &toolfold_index::Hit, in_answer: &[usize]) -> Value {
    let (entry, why) = (view.entry(hit.entry), &hit.explain);
    let term = |term: &toolfold_index::TermMatch| {
        let fields: Vec<&str> = term.fields.iter().map(|field| field.as_str()).collect();
        json!({"term": line(&term.term), "fields": fields, "score": term.score})
    };
    json!({
        "tool_id": entry.id.to_string(),
        "kind": entry.kind,
        "summary": line(&summary(entry)),
        "shown": in_answer.contains(&hit.entry),
        "confidence": hit.confidence,
        "score": hit.score,
        "copies": hit.copies,
        "named": why.named,
        "words": why.lexical,
        "meaning": why.semantic,
        "encoder": why.precise,
        "near": why.near,
        "precisely_near": why.precisely_near,
        "deed": why.deed,
        "part": why.part.as_deref().map(line),
        "terms": why.terms.iter().map(term).collect::<Vec<_>>(),
    })
}

fn ladder(scope: &Scope, id: &str) -> Result<Value, Refusal> {
    let view = scope.view();
    let Ok(at) = view.resolve(id) else {
        if let Some(refusal) = view.withheld(id) {
            return Err(refusal);
        }
        let message = format!("There is nothing here by the name {:?}.", cut(&shown_line(id)));
        return Err(Refusal::new(Code::ToolNotFound, message).hints(view.nearest(id)));
    };
    let entry = view.entry(at);
    let levels: Vec<Value> = Level::ALL.iter().filter_map(|level| rung(&view, entry, *level)).collect();
    Ok(json!({
        "tool_id": entry.id.to_string(),
        "server": entry.server(),
        "kind": entry.kind,
        "name": line(view.exposed(at)),
        "path": view.home(at),
        "read_only": entry.hints.read_only,
        "destructive": entry.hints.destructive,
        "definition": definition_cost(entry.definition.get()),
        "levels": levels,
    }))
}

/// What the whole definition costs; about so much where nobody would read it anyway.
fn definition_cost(text: &str) -> usize {
    if text.len() > LARGEST_COUNTED { text.len() / 4 } else { tokens::count(text) }
}

fn rung(view: &View<'_>, entry: &Entry, level: Level) -> Option<Value> {
    let text = match level {
        Level::Name | Level::Summary | Level::Signature => entry_line(entry, lines(entry), level),
        Level::Details | Level::Full => described(view, &entry.id.to_string(), level)?,
    };
    Some(json!({"level": level.as_str(), "text": shown(&text), "tokens": tokens::count(&text)}))
}

/// What an agent is answered that asks for more about it.
fn described(view: &View<'_>, id: &str, level: Level) -> Option<String> {
    let asked = raw(&json!({"tool": id, "detail": level.as_str()}));
    let action = route(Surface::Compact, view, FIND, Some(&asked));
    let result = answer(Surface::Compact, view, &action).ok()?;
    let content: Vec<Value> = Object::parse(&result)?.read("content")?;
    content.first()?["text"].as_str().map(str::to_owned)
}

/// Text of a server as a part of one line.
fn line(text: &str) -> String {
    shown_line(text).into_owned()
}
