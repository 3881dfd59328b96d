//! How values are written into addresses and bodies.

use serde_json::json;

use crate::kit::{body, parameter, refused, request, tool};

#[test]
fn styles_of_parameters() {
    let parameters = json!([
        parameter("deep", "query", json!({"style": "deepObject", "schema": {"type": "object"}})),
        parameter("pipe", "query", json!({"style": "pipeDelimited", "explode": false, "schema": {"type": "array"}})),
        parameter("space", "query", json!({"style": "spaceDelimited", "explode": false, "schema": {"type": "array"}})),
        parameter("comma", "query", json!({"explode": false, "schema": {"type": "array"}})),
        parameter("many", "query", json!({"schema": {"type": "array"}})),
        parameter("raw", "query", json!({"allowReserved": true})),
        {"name": "json", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}},
        parameter("session", "cookie", json!({})),
    ]);
    let tool = tool("get", "/x", json!({ "parameters": parameters }));
    let made = request(
        &tool,
        json!({
        "deep": {"a": {"b": "c d"}}, "pipe": ["x", "y"], "space": ["x", "y"], "comma": ["x", "y,z"], "many": [1, 2],
        "raw": "a/b?c&d", "json": {"k": 1}, "session": "a; b=c"}),
    );
    let query = made.url.split_once('?').unwrap().1.replace('&', "\n");
    insta::assert_snapshot!(query, @r"
    deep[a][b]=c%20d
    pipe=x%7Cy
    space=x%20y
    comma=x,y%2Cz
    many=1
    many=2
    raw=a/b?c%26d
    json=%7B%22k%22%3A1%7D
    ");
    assert_eq!(made.headers, [("Cookie".to_owned(), "session=a%3B%20b%3Dc".to_owned())]);
}

/// As Stripe has them.
#[test]
fn forms_with_brackets() {
    let schema = json!({"type": "object", "properties": {
        "amount": {"type": "integer"}, "expand": {"type": "array", "items": {"type": "string"}},
        "metadata": {"type": "object"}, "items": {"type": "array", "items": {"type": "object"}}}});
    let deep = json!({"style": "deepObject", "explode": true});
    let content = json!({"application/x-www-form-urlencoded": {"schema": schema,
        "encoding": {"expand": deep, "metadata": deep, "items": deep}}});
    let tool = tool("post", "/v1/charges", json!({"requestBody": {"content": content}}));
    let made = request(
        &tool,
        json!({"amount": 5, "expand": ["a", "b"], "metadata": {"k&": "v="}, "items": [{"price": "p", "n": 1}]}),
    );
    assert_eq!(body(&made), "amount=5&expand[0]=a&expand[1]=b&metadata[k%26]=v%3D&items[0][price]=p&items[0][n]=1");
    assert_eq!(made.headers[0].1, "application/x-www-form-urlencoded");
}

#[test]
fn parts_and_bytes() {
    let schema = json!({"type": "object", "properties": {
        "file": {"type": "string", "format": "binary"}, "note": {"type": "string"}, "meta": {"type": "object"},
        "odd\"\r\nname": {"type": "string"}}});
    let content =
        json!({"multipart/form-data": {"schema": schema, "encoding": {"file": {"contentType": "image/png"}}}});
    let tool = tool("post", "/upload", json!({"requestBody": {"required": true, "content": content}}));
    let given = json!({"body": {"file": "AAEC", "note": "--x\r\nfoo", "meta": {"a": 1}, "odd\"\r\nname": "v"}});
    let made = request(&tool, given);
    let boundary = made.headers[0].1.strip_prefix("multipart/form-data; boundary=").unwrap().to_owned();
    let text = String::from_utf8_lossy(&made.body).replace(&boundary, "B").replace('\r', "").replace('\0', "0");
    insta::assert_snapshot!(text.escape_debug().to_string().replace("\\n", "\n").replace("\\\"", "\""), @r#"
    --B
    Content-Disposition: form-data; name="file"; filename="file"
    Content-Type: image/png

    0\u{1}\u{2}
    --B
    Content-Disposition: form-data; name="note"

    --x
    foo
    --B
    Content-Disposition: form-data; name="meta"
    Content-Type: application/json

    {"a":1}
    --B
    Content-Disposition: form-data; name="odd%22%0D%0Aname"

    v
    --B--
    "#);
    assert_eq!(refused(&tool, json!({"body": {"file": "not base64!"}})), "file has to be bytes in base64");
    let content = json!({"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}});
    let tool = crate::kit::tool("put", "/blob", json!({"requestBody": {"required": true, "content": content}}));
    assert_eq!(tool.definition["inputSchema"]["properties"]["body"]["contentEncoding"], "base64");
    assert_eq!(request(&tool, json!({"body": "AAEC"})).body, [0, 1, 2]);
}
