//! Answers that take long to work out: large definitions that are read, catalogs that are looked through.
//!
//! What a reader would get wrong: few of them run at once, and that is the point. Reading a definition of some megabytes
//! takes many times as much memory, and whoever asks for it a hundred times at once gets it one after the other.

use std::time::Duration;

use toolfold_core::{Code, Refusal};
use toolfold_disclosure::{Action, Level, View};

use crate::threads::{NoAnswer, Threads};

/// Bytes of definitions that are read where requests are answered.
const LARGE: usize = 128 * 1024;

static THREADS: Threads = Threads::for_large(2, Duration::from_secs(10));

/// Does what may take long on one of a few threads. Where they are busy for long, the newcomer is told so.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refusal> {
    THREADS.run(move |_| work()).await.map_err(|why| match why {
        NoAnswer::Busy => Refusal::new(Code::RateLimited, "Too many large answers are being worked out already.")
            .hint("Ask again in a while."),
        NoAnswer::Crashed => Refusal::new(Code::InvalidRequest, "This could not be worked out."),
    })
}

/// Whether an answer reads so much that it is not worked out where requests are answered.
pub(crate) fn is_long(view: &View<'_>, action: &Action) -> bool {
    let size = |position: usize| view.entry(position).definition.get().len();
    match action {
        Action::Describe(describe, _) => {
            describe.names.iter().filter_map(|name| view.resolve(name).ok()).map(size).sum::<usize>() > LARGE
        }
        // Each hit may be the largest there is.
        Action::Search(search, _) if search.detail > Level::Signature || search.examples => {
            view.entries().any(|position| size(position) > LARGE)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use tokio::time::Instant;
    use toolfold_catalog::{Catalog, ServerTools};
    use toolfold_core::{Entry, ServerName};
    use toolfold_disclosure::{Describe, Search};
    use toolfold_index::Index;
    use toolfold_wire::raw;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_is_large_is_worked_out_aside_and_two_at_a_time() {
        let server = ServerName::new("s").unwrap();
        let tool = |name: &str, length: usize| {
            let definition =
                json!({"name": name, "description": "x".repeat(length), "inputSchema": {"type": "object"}});
            Arc::new(Entry::tool(&server, &raw(&definition)).unwrap())
        };
        let (title, instructions, offered) = (None, None, Vec::new());
        let entries = vec![tool("large", LARGE), tool("small", 10)];
        let tools = ServerTools { name: server.clone(), prefix: true, title, instructions, entries, offered };
        let catalog = Catalog::merge(1, [Arc::new(tools)]);
        let index = Index::build(&catalog);
        let view = View::new(&catalog, &index, 1_000);
        let describe =
            |name: &str| Action::Describe(Describe::one(name.to_owned(), Level::Full), |_, _| unreachable!());
        assert!(is_long(&view, &describe("s.large")) && !is_long(&view, &describe("s.small")));
        let search = |detail| Search { detail, ..Search::tools("x".to_owned(), 5) };
        assert!(is_long(&view, &Action::Search(search(Level::Full), |_, _| unreachable!())));
        assert!(!is_long(&view, &Action::Search(search(Level::Signature), |_, _| unreachable!())));

        let _one = THREADS.busy(1).await;
        assert_eq!(aside(|| "done").await.ok(), Some("done"));
        let _two = THREADS.busy(1).await;
        let begun = Instant::now();
        let refusal = aside(|| "done").await.unwrap_err();
        assert_eq!((refusal.code, begun.elapsed()), (Code::RateLimited, Duration::from_secs(10)));
    }
}
