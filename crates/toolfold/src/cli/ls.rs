//! `toolfold ls`: what is in a node; without one, what there is to begin with.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolfold_catalog::{Node, SERVERS};
use toolfold_core::{Absence, Absent, ServerName, shown_line};
use toolfold_disclosure::View;
use toolfold_disclosure::level::{marked_summary, summary};

use super::Fail;
use super::ask::{Answer, Needs};
use super::output::{Style, as_json, table};

#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct Ls {
    /// A node such as `Coding/Testing`, `Servers/github` or just `github` [default: all that are at the root]
    path: Option<String>,
}

/// Servers that are named where one is asked for that there is not.
const MOST_NAMED: usize = 12;

impl Ls {
    /// Where the node is a server's, nobody else is needed.
    pub(crate) fn needs(&self) -> Needs {
        let last = self.path.iter().flat_map(|path| path.split('/')).rfind(|part| !part.is_empty());
        last.map_or(Needs::All, |name| Needs::Server(name.to_owned()))
    }

    pub(crate) fn answer(&self, view: &View<'_>, style: Style) -> Result<Answer, Fail> {
        let node = node_at(view, self.path.as_deref().unwrap_or_default())?;
        let own = view.own_entries(node);
        let own = || own.iter().map(|&place| view.entry(place));
        if style.json {
            let tools: Vec<_> =
                own().map(|entry| json!({"tool": entry.id.to_string(), "summary": summary(entry)})).collect();
            let nodes: Vec<_> = view.children(node).map(|child| node_json(view, child)).collect();
            let told = as_json(&json!({"path": node.path, "nodes": nodes, "tools": tools}))?;
            return Ok(whole(view, node, Answer::new(told)));
        }
        let line = |text: &str| shown_line(text).into_owned();
        let mut rows: Vec<Vec<String>> = view
            .children(node)
            .filter(|child| !child.entries.is_empty() || !child.children.is_empty())
            .map(|child| vec![format!("{}/", line(child.name())), view.counted(child), line(&child.summary)])
            .collect();
        rows.extend(own().map(|entry| vec![line(&entry.id.to_string()), line(&marked_summary(entry))]));
        if rows.is_empty() {
            let fail = Fail::nothing("There is nothing here yet.").hint("`toolfold status` tells how the servers are");
            return Err(view.missing_lines().iter().fold(fail, |fail, missing| fail.hint(shown_line(missing))));
        }
        Ok(whole(view, node, Answer::new(table(&rows))))
    }
}

/// Where a server that is not there would be listed, it is said to be missing.
pub(crate) fn whole(view: &View<'_>, node: &Node, answer: Answer) -> Answer {
    let lists_servers = match node.path.as_slice() {
        [] => true,
        [only] => only == SERVERS,
        _ => false,
    };
    if lists_servers { answer.of_what_is_there(view) } else { answer }
}

fn node_json<'a>(view: &View<'a>, node: &'a Node) -> serde_json::Value {
    json!({"path": node.path, "summary": node.summary, "tags": node.tags, "tools": view.entries_in(node).count()})
}

/// The node that a path means, as somebody types it; the root for none.
pub(crate) fn node_at<'a>(view: &View<'a>, path: &str) -> Result<&'a Node, Fail> {
    let path: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    view.node(&path).map_err(|nearest| {
        if let Some(absent) = view.absent_at(&path) {
            return not_there(absent);
        }
        let hint = match &nearest[..] {
            [] => "`toolfold ls` shows what there is".to_owned(),
            [only] if only == SERVERS && path.len() > 1 => {
                let servers: Vec<&str> = view.servers().take(MOST_NAMED).map(ServerName::as_str).collect();
                format!("servers: {}", servers.join(", "))
            }
            nearest => format!("the nearest is {:?}", shown_line(&nearest.join("/"))),
        };
        Fail::nothing(format!("There is no node {:?}.", path.join("/"))).hint(hint)
    })
}

/// A server that is asked for, configured and not there.
pub(crate) fn not_there(absent: &Absent) -> Fail {
    let hint = match absent.state {
        Absence::Starting => "`--wait` waits for it, however long it takes",
        Absence::Failing | Absence::NeedsLogin => "`toolfold doctor` tries it and says what to do",
    };
    Fail::servers(shown_line(&absent.said())).hint(hint)
}
