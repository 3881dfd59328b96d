//! What is in a node: its children with a word about each, and the entries that are in none of them. At the root the
//! servers are named as well, as long as they are few: their names tell a model more than anything else about them.

use toolfold_catalog::{Node, SERVERS};
use toolfold_core::{Code, Kind, Next, Refusal};
use toolfold_wire::Raw;

use super::budget::{Item, cost, fit};
use super::{more, nodes};
use crate::cursor::Cursor;
use crate::level::Level;
use crate::surface::{Browse, node, note, text_result};
use crate::view::View;

const EMPTY: &str =
    "There are no tools yet: no server is configured, or none has answered so far. Ask again in a moment.";
const NONE_YET: &str = "There are no tools yet.";

/// Servers that are named one by one at the root.
const FEW_SERVERS: usize = 12;

pub(crate) fn browse(view: &View<'_>, browse: &Browse) -> Result<Raw, Refusal> {
    let node = node(view, &browse.path)?;
    if view.servers().next().is_none() {
        return Ok(text_result(&empty(view)));
    }
    let places = places(view, browse, node);
    if places.is_empty() {
        return Ok(text_result(&with_note(view, format!("{} has nothing of that kind.", shown(node)))));
    }
    let Some(rest) = places.get(browse.offset..).filter(|rest| !rest.is_empty()) else {
        let message = "There is nothing behind this cursor any more: what is served has changed. Ask again without it.";
        return Err(Refusal::new(Code::InvalidCursor, message).next(Next::Browse { path: browse.path.clone() }));
    };
    Ok(text_result(&page(view, browse, rest)))
}

/// There is nothing at all, and why.
pub(super) fn empty(view: &View<'_>) -> String {
    view.what_is_missing().map_or_else(|| EMPTY.to_owned(), |missing| format!("{NONE_YET} {missing}"))
}

pub(super) fn with_note(view: &View<'_>, text: String) -> String {
    match note(view) {
        Some(note) => format!("{text}\n{note}"),
        None => text,
    }
}

/// No such node: the one spelled most like it is the hint, or those that have its words, or the roots where none is near, or the
/// servers where it would be one.
pub(crate) fn unknown_path(view: &View<'_>, asked: &[String], nearest: Vec<String>) -> Refusal {
    let shown: String = asked.join("/").chars().take(200).collect();
    let leads_there = |depth: usize| view.node(&asked[..depth]).is_ok_and(|node| node.path == nearest);
    // As far as the path leads is not near.
    let spelled = !(0..asked.len()).any(leads_there);
    let like = if spelled { Vec::new() } else { nodes::like(view, asked) };
    let roots = || view.children(view.root()).map(|root| root.path.join("/")).collect();
    let servers = || view.servers().take(FEW_SERVERS).map(|server| format!("{SERVERS}/{server}")).collect();
    let hints = match nearest.as_slice() {
        _ if !like.is_empty() => like.iter().map(|node| node.path.join("/")).collect(),
        [] => roots(),
        // Nobody is near: these are all there are.
        [only] if only == SERVERS && asked.len() > 1 => servers(),
        nearest => vec![nearest.join("/")],
    };
    let path = like.first().map_or(nearest, |node| node.path.clone());
    Refusal::new(Code::UnknownPath, format!("There is no node {shown:?}.")).hints(hints).next(Next::Browse { path })
}

/// What may be shown, not yet as lines: most of a large node is behind a cursor.
enum Place<'a> {
    Node(&'a Node),
    Entry(usize, Level),
}

fn places<'a>(view: &View<'a>, browse: &Browse, node: &'a Node) -> Vec<Place<'a>> {
    let wanted = |position: &usize| browse.kind.is_none_or(|kind| view.entry(*position).kind == kind);
    if node.path.is_empty() && matches!(browse.kind, Some(Kind::Prompt | Kind::Resource)) {
        // They are in no node.
        return view.entries().filter(wanted).map(|position| Place::Entry(position, Level::Summary)).collect();
    }
    let own = view.own_entries(node).into_iter().filter(wanted).map(|position| Place::Entry(position, Level::Summary));
    if node.path.is_empty() {
        let pinned = view.pins().filter(wanted).map(|position| Place::Entry(position, Level::Signature));
        return pinned.chain(roots(view, node).map(Place::Node)).chain(own).collect();
    }
    view.children(node).map(Place::Node).chain(own).collect()
}

/// The nodes that are shown at the root.
pub(crate) fn roots<'a>(view: &View<'a>, root: &'a Node) -> impl Iterator<Item = &'a Node> {
    view.children(root).flat_map(|child| {
        let below: Vec<&Node> = view.children(child).collect();
        if child.name() == SERVERS && below.len() <= FEW_SERVERS { below } else { vec![child] }
    })
}

fn item<'a>(view: &View<'a>, place: &Place<'a>) -> Item<'a> {
    match place {
        Place::Entry(position, most) => Item::entry(view.entry(*position), *most, String::new()),
        Place::Node(node) => {
            let short = format!("{} — {}", shown(node), view.counted(node));
            Item::Text(if node.summary.is_empty() {
                vec![short]
            } else {
                vec![format!("{short}: {}", node.summary), short]
            })
        }
    }
}

fn shown(node: &Node) -> String {
    if node.path.is_empty() { "The catalog".to_owned() } else { node.path.join("/") }
}

fn page<'a>(view: &View<'a>, browse: &Browse, rest: &[Place<'a>]) -> String {
    let cursor = |shown: usize| {
        let Browse { path, kind, limit, offset, .. } = browse.clone();
        let cursor = Cursor {
            query: String::new(),
            path,
            kind,
            detail: Level::Summary,
            limit,
            offset: offset + shown,
            tags: Vec::new(),
        };
        (shown < rest.len()).then(|| more(&cursor.encode(), rest.len() - shown))
    };
    let note = note(view).filter(|_| browse.offset == 0);
    let reserved = cursor(1.min(rest.len() - 1)).map_or(0, |line| cost(&line) + 2) + note.as_deref().map_or(0, cost);
    let asked: Vec<Item<'_>> = rest.iter().take(browse.limit).map(|place| item(view, place)).collect();
    let mut lines = fit(&asked, view.budget().saturating_sub(reserved));
    let next = cursor(lines.len());
    lines.extend(next);
    lines.extend(note);
    lines.join("\n")
}
