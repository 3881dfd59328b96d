//! Events for other programs.

use std::fmt::Write as _;

use toolfold_core::to_hex;

use crate::event::{AuditEvent, EventKind};
use crate::read::Stored;

/// The bytes as they are stored and the hash beside them, so that the chain can be checked without us.
pub fn json_line(stored: &Stored) -> String {
    let body = String::from_utf8_lossy(&stored.body);
    let hash = to_hex(&stored.hash);
    // A chain's name is letters and digits of ours.
    let chain = stored.chain.as_ref().map_or_else(String::new, |chain| format!("\"chain\":\"{chain}\","));
    format!("{{{chain}\"hash\":\"{hash}\",\"event\":{body}}}")
}

/// ArcSight's Common Event Format, which collectors of security events read.
pub fn cef(event: &AuditEvent, version: &str) -> String {
    let name = match &event.tool {
        Some(tool) => format!("{} {tool}", event.kind.as_str()),
        None => event.kind.as_str().to_owned(),
    };
    let head = |text: &str| text.replace('\\', "\\\\").replace('|', "\\|").replace(['\n', '\r'], " ");
    let (version, kind, name) = (head(version), event.kind.as_str(), head(&name));
    let mut line = format!("CEF:0|Toolfold|Toolfold|{version}|{kind}|{name}|{}|", severity(event));
    let mut add = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            let value = value.replace('\\', "\\\\").replace('=', "\\=").replace('\n', "\\n").replace('\r', "\\r");
            let _ = write!(line, "{key}={value} ");
        }
    };
    add("rt", Some((event.time.0 / 1000).to_string()));
    add("externalId", Some(event.number.to_string()));
    add("suser", event.principal.clone());
    add("requestClientApplication", event.client.clone());
    add("act", event.kind.as_str().to_owned().into());
    add("outcome", event.outcome.clone());
    add("reason", event.code.clone());
    add("dhost", event.server.clone());
    add("in", event.sizes.map(|sizes| sizes.input.to_string()));
    add("out", event.sizes.map(|sizes| sizes.output.to_string()));
    for (place, (label, value)) in [
        ("tool", event.tool.clone()),
        ("via", event.via.clone()),
        ("trace", event.trace.clone()),
        ("rule", event.rule.clone()),
        ("target", event.target.clone()),
    ]
    .into_iter()
    .enumerate()
    {
        if value.is_some() {
            add(&format!("cs{}Label", place + 1), Some(label.to_owned()));
            add(&format!("cs{}", place + 1), value);
        }
    }
    for (place, (label, value)) in
        [("follows", event.follows), ("of", event.of), ("microseconds", event.duration)].into_iter().enumerate()
    {
        if value.is_some() {
            add(&format!("cn{}Label", place + 1), Some(label.to_owned()));
            add(&format!("cn{}", place + 1), value.map(|number| number.to_string()));
        }
    }
    add("msg", event.about.clone());
    line.truncate(line.trim_end().len());
    line
}

/// 0 to 10.
fn severity(event: &AuditEvent) -> u8 {
    match event.kind {
        EventKind::Refuse | EventKind::Hold | EventKind::Gap => 6,
        EventKind::Approve | EventKind::Config | EventKind::Login | EventKind::Cut => 4,
        _ if event.outcome.as_deref().is_some_and(|outcome| !matches!(outcome, "done" | "parked")) => 3,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moment::Moment;

    #[test]
    fn nothing_somebody_chose_can_end_a_field() {
        let mut event = AuditEvent::new(7, Moment(1_000_000), EventKind::Call);
        event.tool = Some("a.b|c".to_owned());
        event.client = Some("x\ny=z \\".to_owned());
        assert_eq!(
            cef(&event, "1"),
            "CEF:0|Toolfold|Toolfold|1|call|call a.b\\|c|1|rt=1000 externalId=7 requestClientApplication=x\\ny\\=z \\\\ \
             act=call cs1Label=tool cs1=a.b|c"
        );
    }
}
