//! From what is read to what is sent: the text of the counters as metrics of OTLP.

use std::collections::BTreeMap;
use std::time::SystemTime;

use crate::protobuf::{Message, attribute, resource, scope};
use crate::span::nanoseconds;

/// Counted since the start, not since the last time.
const CUMULATIVE: u64 = 2;

type Labels = Vec<(String, String)>;

/// One series of one family.
#[derive(Default)]
struct Series {
    value: f64,
    sum: f64,
    count: f64,
    /// Upper bounds and how many are below each, itself included.
    buckets: Vec<(f64, f64)>,
}

#[derive(Default)]
struct Figure {
    kind: String,
    series: BTreeMap<Labels, Series>,
}

/// `ExportMetricsServiceRequest`, of the text that `/metrics` has.
pub(crate) fn encode(text: &str, since: SystemTime, now: SystemTime) -> Vec<u8> {
    let times = (nanoseconds(since), nanoseconds(now));
    let figures = read(text);
    let metrics = figures.iter().map(|(name, figure)| metric(name, figure, times));
    let scoped = Message::default().message(1, scope()).messages(2, metrics);
    let whole = Message::default().message(1, resource()).message(2, scoped);
    Message::default().message(1, whole).into_bytes()
}

fn read(text: &str) -> BTreeMap<String, Figure> {
    let mut figures: BTreeMap<String, Figure> = BTreeMap::new();
    for line in text.lines() {
        if let Some(about) = line.strip_prefix("# TYPE ") {
            let (name, kind) = about.split_once(' ').unwrap_or((about, ""));
            figures.entry(name.to_owned()).or_default().kind = kind.to_owned();
        } else if !line.starts_with('#') {
            sample(line, &mut figures);
        }
    }
    figures
}

fn sample(line: &str, figures: &mut BTreeMap<String, Figure>) -> Option<()> {
    let (series, value) = line.rsplit_once(' ')?;
    let value: f64 = value.parse().ok()?;
    let (name, labels) = match series.split_once('{') {
        Some((name, labels)) => (name, labels.strip_suffix('}')?),
        None => (series, ""),
    };
    let (family, part) = ["_total", "_sum", "_count", "_bucket"]
        .into_iter()
        .filter_map(|part| Some((name.strip_suffix(part)?, part)))
        .find(|(family, _)| figures.contains_key(*family))
        .unwrap_or((name, ""));
    let mut labels = read_labels(labels);
    let bound = labels.iter().position(|(key, _)| key == "le").map(|place| labels.remove(place).1);
    labels.retain(|(_, value)| !value.is_empty());
    let series = figures.get_mut(family)?.series.entry(labels).or_default();
    match (part, bound) {
        ("_bucket", Some(bound)) => series.buckets.push((bound.parse().unwrap_or(f64::INFINITY), value)),
        ("_sum", _) => series.sum = value,
        ("_count", _) => series.count = value,
        _ => series.value = value,
    }
    Some(())
}

/// `a="x",b="y"`, with `\"`, `\\` and `\n` in the values.
fn read_labels(text: &str) -> Labels {
    let (mut labels, mut rest) = (Labels::new(), text);
    while let Some((key, after)) = rest.split_once("=\"") {
        let (mut value, mut escaped, mut end) = (String::new(), false, after.len());
        for (at, c) in after.char_indices() {
            match c {
                _ if escaped => {
                    value.push(if c == 'n' { '\n' } else { c });
                    escaped = false;
                }
                '\\' => escaped = true,
                '"' => {
                    end = at + 1;
                    break;
                }
                c => value.push(c),
            }
        }
        labels.push((key.trim_start_matches(',').to_owned(), value));
        rest = &after[end..];
    }
    labels
}

fn metric(name: &str, figure: &Figure, times: (u64, u64)) -> Message {
    let seconds = name.ends_with("_seconds");
    let metric = Message::default().text(1, &official(name)).text(3, if seconds { "s" } else { "1" });
    match figure.kind.as_str() {
        "histogram" => {
            let points = figure.series.iter().map(|(labels, series)| histogram(labels, series, times));
            metric.message(9, Message::default().messages(1, points).varint(2, CUMULATIVE))
        }
        "counter" => {
            let points = figure.series.iter().map(|(labels, series)| number(labels, series, times));
            metric.message(7, Message::default().messages(1, points).varint(2, CUMULATIVE).varint(3, 1))
        }
        _ => {
            let points = figure.series.iter().map(|(labels, series)| number(labels, series, times));
            metric.message(5, Message::default().messages(1, points))
        }
    }
}

fn number(labels: &Labels, series: &Series, (since, now): (u64, u64)) -> Message {
    Message::default().fixed64(2, since).fixed64(3, now).double(4, series.value).messages(7, attributes(labels))
}

fn histogram(labels: &Labels, series: &Series, (since, now): (u64, u64)) -> Message {
    let bounds = series.buckets.iter().map(|(bound, _)| *bound).filter(|bound| bound.is_finite());
    let mut below = 0.0;
    let counts = series.buckets.iter().map(|(_, count)| {
        let here = count - below;
        below = *count;
        here as u64
    });
    let counts: Vec<u64> = counts.collect();
    Message::default()
        .fixed64(2, since)
        .fixed64(3, now)
        .fixed64(4, series.count as u64)
        .double(5, series.sum)
        .packed(6, counts)
        .packed(7, bounds.map(f64::to_bits))
        .messages(9, attributes(labels))
}

fn attributes(labels: &Labels) -> impl Iterator<Item = Message> {
    labels.iter().map(|(key, value)| attribute(&official(key), value))
}

/// As OpenTelemetry spells it, where that is where the name is from.
fn official(name: &str) -> String {
    match name {
        "mcp_server_operation_duration_seconds" => "mcp.server.operation.duration".to_owned(),
        "mcp_client_operation_duration_seconds" => "mcp.client.operation.duration".to_owned(),
        "mcp_server_session_duration_seconds" => "mcp.server.session.duration".to_owned(),
        "mcp_client_session_duration_seconds" => "mcp.client.session.duration".to_owned(),
        "network_transport" => "network.transport".to_owned(),
        "mcp_protocol_version" => "mcp.protocol.version".to_owned(),
        "mcp_method_name" => "mcp.method.name".to_owned(),
        "error_type" => "error.type".to_owned(),
        other => other.trim_end_matches("_seconds").replacen("toolfold_", "toolfold.", 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let labels = read_labels(r#"a="x\"y,z",b="\\n""#);
        assert_eq!(labels, [("a".to_owned(), "x\"y,z".to_owned()), ("b".to_owned(), "\\n".to_owned())]);
        let text = "# HELP c About.\n# TYPE c counter\nc_total{a=\"x\"} 3\n# TYPE h_seconds histogram\n\
            h_seconds_sum 1.5\nh_seconds_count 2\nh_seconds_bucket{le=\"0.1\"} 1\nh_seconds_bucket{le=\"+Inf\"} 2\n# EOF\n";
        let figures = read(text);
        let series = figures["c"].series.values().next().map(|series| series.value);
        assert_eq!((figures["c"].kind.as_str(), series), ("counter", Some(3.0)));
        let histogram = figures["h_seconds"].series.values().next().map(|h| (h.sum, h.count, h.buckets.clone()));
        assert_eq!(histogram, Some((1.5, 2.0, vec![(0.1, 1.0), (f64::INFINITY, 2.0)])));
    }
}
