//! What an API answers, as results.

use serde_json::{Value, json};
use toolfold_openapi::{Answered, result};

use crate::kit::tool;

fn answered<'a>(status: u16, media: &'a str, body: &'a [u8]) -> Answered<'a> {
    let media = Some(media).filter(|media| !media.is_empty());
    Answered { status, reason: "Something", media, location: None, body, address: "https://api.example/v1/x" }
}

fn plain(status: u16, media: &str, body: &[u8]) -> Value {
    result(&tool("get", "/x", json!({})).plan, answered(status, media, body))
}

#[test]
fn what_comes_back_is_shown_as_what_it_is() {
    let text = |result: &Value| result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    let numbers = br#"{"n": 12345678901234567890123, "a":  1.0}"#;
    let json = plain(200, "application/json; charset=utf-8", numbers);
    assert_eq!(text(&json).as_bytes(), numbers, "not a byte is changed");
    assert!(json.get("structuredContent").is_none() && json.get("isError").is_none());
    assert_eq!(text(&plain(200, "application/problem+json", b"{}")), "{}");
    assert_eq!(text(&plain(200, "text/csv", b"a,b")), "a,b");
    assert_eq!(text(&plain(204, "", b"")), "HTTP 204 Something: done, and nothing to show for it.");
    assert_eq!(
        plain(200, "image/png", &[1, 2])["content"][0],
        json!({"type": "image", "data": "AQI=", "mimeType": "image/png"})
    );
    assert_eq!(plain(200, "image/svg+xml", b"<svg/>")["content"][0]["type"], "image");
    assert_eq!(plain(200, "audio/wav", &[1])["content"][0]["type"], "audio");
    let file = json!({"type": "resource", "resource": {"uri": "https://api.example/v1/x", "mimeType": "application/zip", "blob": "AQ=="}});
    assert_eq!(plain(200, "application/zip", &[1])["content"][0], file);
    assert_eq!(plain(200, "text/plain", &[0xff])["content"][0]["type"], "resource", "no text, whatever it is called");
    assert_eq!(plain(200, "", b"plain")["content"][0]["type"], "text");
}

#[test]
fn what_is_no_success_is_an_error_with_its_status_and_its_beginning() {
    let long = "x".repeat(20_000);
    let error = plain(404, "application/json", long.as_bytes());
    assert_eq!(error["isError"], true);
    let text = error["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("HTTP 404 Something\nxxx") && text.len() < 9_000);
    assert!(plain(500, "image/png", &[0xff; 5])["content"][0]["text"].as_str().unwrap().contains("5 bytes"));
    let plan = tool("get", "/x", json!({})).plan;
    let moved = Answered { location: Some("http://169.254.169.254/"), ..answered(302, "", b"") };
    let text = result(&plan, moved)["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("where requests are not sent"), "{text}");
}

#[test]
fn an_answer_that_was_declared_is_structured_and_one_that_is_not_does_not_pretend() {
    let schema = json!({"type": "object", "required": ["id", "kind"], "properties": {
        "id": {"type": "integer"}, "kind": {"type": "string", "enum": ["a"]}, "at": {"type": "string", "format": "date"}}});
    let operation = json!({"responses": {"200": {"content": {"application/json": {"schema": schema}}}}});
    let plan = tool("get", "/x", operation).plan;
    let result = |body: &str| result(&plan, answered(200, "application/json", body.as_bytes()));
    assert_eq!(result(r#"{"id": 1}"#)["structuredContent"], json!({"id": 1}));
    let loose = result(r#"{"id": null, "kind": "new", "more": 1, "at": "soon"}"#);
    assert!(loose["structuredContent"].is_object(), "an API says more, and less, than its document: {loose}");
    let wrong = result(r#"{"id": "one"}"#);
    assert!(wrong.get("structuredContent").is_none() && wrong["isError"] == true);
    assert_eq!(wrong["content"][1]["text"], r#"{"id": "one"}"#, "all of it is there");
    assert_eq!(result("[1]")["isError"], true);
    assert_eq!(result("")["isError"], true);
    // Of very many values no tree is made; it is shown as it is.
    let many = format!(r#"{{"id":1,"all":[{}1]}}"#, "1,".repeat(600_000));
    let shown = result(&many);
    assert!(shown.get("structuredContent").is_none() && shown["content"][1]["text"] == many.as_str());
}
