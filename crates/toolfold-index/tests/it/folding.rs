//! Near-copies of one server: when one stands for all, and when each stands for itself.

use toolfold_catalog::Catalog;
use toolfold_index::{Index, Query};

use crate::{plain, server};

#[test]
fn near_copies_of_one_server_are_one_hit() {
    let text = "Render a chart of the given series with axes, legend and title as a picture in the chosen style";
    let copies = (0..20).map(|i| plain(&format!("render_chart_{i}"), text)).collect();
    let catalog = Catalog::merge(1, [server("a", copies), server("b", vec![plain("render_chart", text)])]);
    let index = Index::build(&catalog);
    let hits = index.search(&catalog, &Query { text: "chart of series", limit: 10, ..Query::default() }).hits;
    let shown: Vec<(String, usize)> =
        hits.iter().map(|hit| (catalog.entry(hit.entry).id.to_string(), hit.copies)).collect();
    assert_eq!(shown.iter().map(|(_, copies)| copies).sum::<usize>(), 19, "{shown:?}");
    assert_eq!(shown.len(), 2, "{shown:?}");
    // By name each of them is found.
    let named = index.search(&catalog, &Query { text: "a.render_chart_7", limit: 1, ..Query::default() });
    assert_eq!(catalog.entry(named.hits[0].entry).name(), "render_chart_7");
}

#[test]
fn tools_that_are_described_alike_and_do_something_else_are_hits_of_their_own() {
    // So long that one other word in the name is lost in it.
    let text = "Handles a node pool of a managed cluster in the given region by the number of the cluster. ".repeat(8);
    let tools = ["get", "delete", "recycle", "update", "upgrade", "label", "drain"];
    let tools = tools.map(|verb| plain(&format!("{verb}_node_pool"), &text)).into();
    let catalog = Catalog::merge(1, [server("a", tools)]);
    let index = Index::build(&catalog);
    let hits = index.search(&catalog, &Query { text: "node pool of a cluster", limit: 10, ..Query::default() }).hits;
    assert_eq!(hits.iter().map(|hit| hit.copies).sum::<usize>() + hits.len(), 7);
    assert_eq!(hits.len(), 4, "one server does not fill an answer");
    let hits = index.search(&catalog, &Query { text: "delete a node pool", limit: 10, ..Query::default() }).hits;
    assert_eq!(catalog.entry(hits[0].entry).name(), "delete_node_pool");
}
