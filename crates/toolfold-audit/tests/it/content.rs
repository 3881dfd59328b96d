//! How much is written down, and what never is.

use std::sync::Arc;

use serde_json::json;
use toolfold_audit::{Audit, EventKind, Hides, Matter, Settings};
use toolfold_config::{AuditMode, Recorded};
use toolfold_wire::raw;

use crate::{called, disclosed, ended, events, settings};

struct Planted;

impl Hides for Planted {
    fn hide(&self, text: &str) -> String {
        text.replace("s3cret\"quoted", "…").replace("plain-s3cret", "…")
    }

    fn is_secret_name(&self, name: &str) -> bool {
        name.contains("password")
    }
}

async fn recorded(record: Recorded) -> (String, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let settings = Settings { record, hides: Arc::new(Planted), ..settings(&path, AuditMode::On) };
    let audit = Audit::start(settings);
    audit.mention(disclosed(EventKind::Search, "find plain-s3cret please", &[("github.create_issue", 0.5)]));
    let arguments = json!({
        "title": "it is s3cret\"quoted", "list": [{"deep plain-s3cret": 1}], "password": "hunter2", "note": "harmless",
    });
    audit.mention(called(1, "create_issue", raw(&arguments)));
    audit.mention(ended(1, "done"));
    audit.close().await;
    let last: Vec<String> =
        events(&path).iter().map(|event| json!([event.query, event.arguments, event.result]).to_string()).collect();
    (last.join("\n"), std::fs::read(&path).unwrap())
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test]
async fn each_rung_has_the_ones_below_it_and_no_secret() {
    let (names, bytes) = recorded(Recorded::Names).await;
    assert_eq!(names, "[null,null,null]\n[null,null,null]\n[null,null,null]");
    assert!(!holds(&bytes, "harmless") && !holds(&bytes, "please") && holds(&bytes, "github.create_issue"));
    let (queries, _) = recorded(Recorded::Queries).await;
    assert_eq!(queries, "[\"find … please\",null,null]\n[null,null,null]\n[null,null,null]");
    let (_, arguments) = recorded(Recorded::Arguments).await;
    assert!(holds(&arguments, "harmless") && !holds(&arguments, "\"result\":{"));
    let (results, bytes) = recorded(Recorded::Results).await;
    assert!(
        results.contains(r#"{"title":"it is …","list":[{"deep …":1}],"password":"…","note":"harmless"}"#),
        "{results}"
    );
    assert!(results.ends_with(r#"[null,null,{"content":[]}]"#), "{results}");
    for secret in ["s3cret", "hunter2"] {
        assert!(!holds(&bytes, secret), "{secret}");
    }
}

#[tokio::test]
async fn what_was_blanked_in_arguments_is_blanked_in_the_result_that_says_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let settings = Settings { record: Recorded::Results, hides: Arc::new(Planted), ..settings(&path, AuditMode::On) };
    let audit = Audit::start(settings);
    let arguments =
        json!({"password": "hunter2-too", "inner": "{\"passwords\": [\"tiger\", 77310, \"x\"]}", "user": "xavier"});
    let echoed = json!({"content": [
        {"type": "text", "text": "xavier logged in with hunter2-too and hunter2"},
        {"type": "text", "text": "{\"echo\": \"my tiger\", \"one\": \"x\"}"},
    ], "structuredContent": {"pin": 77310, "hunter2": 1, "extent": "x"}});
    // It waits for somebody in between.
    audit.mention(called(1, "log_in", raw(&arguments)));
    audit.mention(ended(1, "parked"));
    let mut resumed = called(2, "log_in", raw(&json!({"password": "hunter2"})));
    if let Matter::Called { resumes, .. } = &mut resumed.what {
        *resumes = Some(1);
    }
    audit.mention(resumed);
    let mut end = ended(2, "done");
    if let Matter::Ended { ended, .. } = &mut end.what {
        ended.result = Some(raw(&echoed));
    }
    audit.mention(end);
    // Of a call that nobody knows it is not known what its result must not say.
    audit.mention(ended(3, "done"));
    audit.close().await;
    let events = events(&path);
    assert_eq!(
        events[3].result.as_ref().unwrap(),
        &json!({"content": [
            {"type": "text", "text": "xavier logged in with … and …"},
            {"type": "text", "text": "{\"echo\":\"my …\",\"one\":\"…\"}"},
        ], "structuredContent": {"pin": "…", "…": 1, "extent": "…"}})
    );
    assert_eq!(events[4].result, None);
    let bytes = std::fs::read(&path).unwrap();
    assert!(!holds(&bytes, "hunter2") && !holds(&bytes, "tiger") && holds(&bytes, "xavier"));
}
