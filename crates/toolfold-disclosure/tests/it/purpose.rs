//! What a call is for comes first in a signature and is in a usage, also where no schema requires it.

use insta::assert_snapshot;
use serde_json::{Value, json};
use toolfold_core::{Entry, ServerName};
use toolfold_disclosure::Checker;
use toolfold_disclosure::level::{example, signature, usage};
use toolfold_wire::{raw, raw_of};

use crate::fixture::tool;

/// The signature and a call of a tool with these parameters, which the call keeps to.
fn shown(name: &str, properties: Value, required: Value) -> String {
    let schema = json!({"type": "object", "properties": properties, "required": required, "$defs": {
        "Person": {"type": "object", "properties": {"mail": {"type": "object", "properties": {"name": {"type": "string"}, "address": {"type": "string"}}}}},
        "Caller": {"type": "object", "properties": {"device": {"type": "object", "properties": {"name": {"type": "string"}}}}},
    }});
    let definition = raw(&tool(name, "Does it.", schema));
    let entry = Entry::tool(&ServerName::new("post").unwrap(), &definition).unwrap();
    let arguments = raw_of(&example(&entry).to_string()).unwrap();
    assert!(Checker::new().check(&entry, Some(arguments)).is_ok());
    format!("{}\n{}", signature(&entry).text, usage(&entry))
}

fn text() -> Value {
    json!({"type": "string"})
}

#[test]
fn who_sends_says_to_whom() {
    let letter = json!({
        "subject": {"type": "string", "description": "Required for a new letter."},
        "body": {"type": "string", "description": "Required when sending."},
        "cc": text(),
        "priority": text(),
        "to": {"type": "string", "description": "Whom it goes to."},
    });
    assert_snapshot!(shown("send_letter", letter.clone(), json!([])), @"
    to?: string, subject?: string, body?: string, cc?: string, priority?: string
    post.send_letter(to='…', subject='…', body='…')
    ");
    // What is looked for was sent to somebody, and to whom a reply goes is known.
    assert_snapshot!(shown("list_sent_letters", letter, json!([])), @"
    subject?: string, body?: string, to?: string, cc?: string, priority?: string
    post.list_sent_letters(subject='…', body='…')
    ");
    let alert = json!({"message": text(), "color": text(), "channel_id": text()});
    assert_snapshot!(shown("notify_team", alert.clone(), json!(["message"])), @"
    message: string, channel_id?: string, color?: string
    post.notify_team(message='…', channel_id='…')
    ");
    // Nothing stands for somebody beside somebody.
    let both = json!({"message": text(), "email": text(), "recipients": {"type": "array", "items": text()}});
    assert_snapshot!(shown("share_page", both, json!(["message"])), @r#"
    message: string, recipients?: string[], email?: string
    post.share_page(message='…', recipients=["…"])
    "#);
}

#[test]
fn whom_something_is_from_is_known() {
    let message = json!({"type": "object", "properties": {
        "from": {"$ref": "#/$defs/Caller"},
        "text": text(),
        "subject": text(),
        "recipients": {"type": "array", "items": {"$ref": "#/$defs/Person"}},
    }});
    assert_snapshot!(shown("send_message", json!({"message": message.clone()}), json!(["message"])), @r#"
    message: {recipients?: {mail?: {name?: string, address?: string}}[], text?: string, subject?: string, …}
    post.send_message(message={"recipients":[{"mail":{"name":"…","address":"…"}}],"text":"…","subject":"…"})
    "#);
    // What a body is all about is told as if it stood alone, and nobody is named twice.
    let wrapped = json!({"type": "object", "properties": {"Message": message.clone(), "keep": {"type": "boolean"}}});
    assert_snapshot!(shown("send_mail", json!({"body": wrapped}), json!(["body"])), @r#"
    body: {Message?: {recipients?: {mail?: {name?: string, address?: string}}[], text?: string, subject?: string, …}, …}
    post.send_mail(body={"Message":{"recipients":[{"mail":{"name":"…","address":"…"}}],"text":"…","subject":"…"},"keep":true})
    "#);
    let people = json!({"type": "array", "items": {"$ref": "#/$defs/Person"}});
    let twice = json!({"type": "object", "properties": {"message": message, "toRecipients": people}});
    assert!(!shown("forward_mail", json!({"body": twice}), json!(["body"])).contains(r#""recipients""#));
    // A period has two ends.
    let period = json!({"from": {"$ref": "#/$defs/Caller"}, "to": {"$ref": "#/$defs/Caller"}});
    assert_snapshot!(shown("get_prices", period, json!([])), @"
    from?: {device?: {name?: string}}, to?: {device?: {name?: string}}
    post.get_prices(from={}, to={})
    ");
}

#[test]
fn who_plans_says_when() {
    let event =
        json!({"description": text(), "title": text(), "endTime": text(), "color": text(), "startTime": text()});
    assert_snapshot!(shown("create_event", event.clone(), json!(["title"])), @"
    title: string, endTime?: string, startTime?: string, description?: string, color?: string
    post.create_event(title='…', endTime='…', startTime='…', description='…')
    ");
    assert_snapshot!(shown("update_event", event, json!(["title"])), @"
    title: string, description?: string, endTime?: string, color?: string, startTime?: string
    post.update_event(title='…', description='…')
    ");
    // One end alone is no time, nor are places in a text.
    assert!(shown("add_mark", json!({"text": text(), "startTime": text()}), json!([])).starts_with("text?"));
    let places = json!({"text": text(), "start_index": {"type": "integer"}, "end_index": {"type": "integer"}});
    assert!(shown("add_mark", places, json!([])).starts_with("text?"));
}

#[test]
fn the_one_object_of_a_call_is_the_call() {
    let options = json!({"type": "object", "properties": {
        "projectSlug": text(),
        "branch": {"type": "string"},
        "workingFolder": text(),
        "parameters_of_the_pipeline": text(),
        "more": text(),
    }});
    assert_snapshot!(shown("run_pipeline", json!({"params": options.clone()}), json!([])), @r#"
    params?: {projectSlug?: string, branch?: string, workingFolder?: string, parameters_of_the_pipeline?: string, …}
    post.run_pipeline(params={"projectSlug":"…","branch":"…"})
    "#);
    // Who only looks can do without; of two each may be left out.
    assert!(shown("list_pipelines", json!({"params": options.clone()}), json!([])).ends_with("post.list_pipelines()"));
    let two = json!({"params": options, "more": text()});
    assert!(shown("run_pipeline", two, json!([])).ends_with("post.run_pipeline()"));
}

#[test]
fn a_list_holds_something() {
    let rule = json!({"type": "object", "properties": {"value": text(), "comment": text()}});
    let rules = |items: Value| json!({"rules": {"type": "array", "items": items}});
    assert_snapshot!(shown("set_rules", rules(rule), json!(["rules"])), @r#"
    rules: {value?: string, comment?: string}[]
    post.set_rules(rules=[{"value":"…","comment":"…"}])
    "#);
    // One of several that only their names tell apart.
    let one = |name: &str| json!({"type": "object", "properties": {name: text()}});
    let either = json!({"type": "object", "properties": {"create_page": one("title"), "move_page": one("folder")}});
    assert_snapshot!(shown("set_rules", rules(either), json!(["rules"])), @r#"
    rules: {create_page?: {title?: string}, move_page?: {folder?: string}}[]
    post.set_rules(rules=[{"create_page":{"title":"…"}}])
    "#);
}

/// What prose says of an optional one may be cut; what the schema requires may not.
#[test]
fn what_is_required_comes_before_what_is_only_said_to_be() {
    let said = |schema: Value| {
        let mut schema = schema;
        schema["description"] = json!("Required. Somebody who gets it.");
        schema
    };
    let pair = json!({"type": "object", "properties": {"first": text(), "second": text()}});
    let properties = json!({
        "recipient_email_addresses": said(json!({"type": "array", "items": text()})),
        "to_groups": said(pair.clone()),
        "attendees": said(pair.clone()),
        "invitees": said(pair),
        "file_id": text(),
        "role": text(),
    });
    let nested = json!({"thing": {"type": "object", "properties": properties, "required": ["file_id", "role"]}});
    assert_snapshot!(shown("share_file", properties, json!(["file_id", "role"])), @r#"
    file_id: string, role: string, recipient_email_addresses?: string[], to_groups?: {first?: string, second?: string}, …
    post.share_file(file_id='…', role='…', recipient_email_addresses=["…"], to_groups={"first":"…","second":"…"}, attendees={"first":"…","second":"…"})
    "#);
    assert_snapshot!(shown("share_file", nested, json!(["thing"])), @r#"
    thing: {file_id: string, role: string, recipient_email_addresses?: string[], to_groups?: {first?: string, second?: string}, attendees?: {first?: string, second?: string}, …}
    post.share_file(thing={"file_id":"…","role":"…"})
    "#);
}
