//! APIs as servers: from a document or by hand, against an API that remembers what it was asked.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State as Kept;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use toolfold_config::{ApiSource, DocumentPlace, HandTool, HandWay, Server, Start, Transport};
use toolfold_core::Secret;
use toolfold_upstream::CallError;
use toolfold_wire::Memory;

use crate::kit::{Subject, config, names, text_of};

type Asked = Arc<Mutex<Vec<(Method, Uri, HeaderMap, Vec<u8>)>>>;

/// An API, and its document at `/openapi.json`.
struct Api {
    url: String,
    asked: Asked,
}

impl Api {
    async fn serve() -> Api {
        let asked = Asked::default();
        let app = Router::new().fallback(answer).with_state(asked.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Api { url, asked }
    }

    fn asked(&self) -> Vec<(Method, Uri, HeaderMap, Vec<u8>)> {
        let all = self.asked.lock().unwrap();
        all.iter().filter(|(_, uri, ..)| uri.path() != "/openapi.json").cloned().collect()
    }
}

fn document() -> Value {
    json!({
        "openapi": "3.0.3",
        "info": {"title": "Pets", "version": "7", "description": "All about pets."},
        "servers": [{"url": "/api"}],
        "security": [{"key": []}],
        "paths": {
            "/pets/{id}": {
                "get": {"operationId": "getPet", "summary": "Get a pet", "tags": ["pets"],
                    "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}]},
                "delete": {"operationId": "deletePet"},
            },
            "/pets": {"post": {"operationId": "addPet", "requestBody": {"required": true, "content": {"application/json": {
                "schema": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}}}}}},
            "/picture": {"get": {"operationId": "picture"}},
            "/large": {"get": {"operationId": "large"}},
            "/away": {"get": {"operationId": "away"}},
            "/near": {"get": {"operationId": "near"}},
        },
    })
}

async fn answer(Kept(asked): Kept<Asked>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    asked.lock().unwrap().push((method, uri.clone(), headers, body.to_vec()));
    let json = [("content-type", "application/json")];
    match uri.path() {
        "/openapi.json" => (json, document().to_string()).into_response(),
        "/api/pets/none" => (StatusCode::NOT_FOUND, json, r#"{"error":"no such pet"}"#).into_response(),
        "/api/picture" => ([("content-type", "image/png")], vec![1_u8, 2, 3]).into_response(),
        "/api/large" => (json, "x".repeat(2 << 20)).into_response(),
        "/api/away" => (StatusCode::FOUND, [("location", "http://169.254.169.254/latest/meta-data")]).into_response(),
        "/api/near" => (StatusCode::FOUND, [("location", "/api/pets/7")]).into_response(),
        path if path.starts_with("/padded/") => (json, padded(path[8..].parse().unwrap())).into_response(),
        "/openapi.yaml" => "openapi: 3.1.0\npaths: [".into_response(),
        _ => (json, r#"{"n": 12345678901234567890123,  "name":"Rex"}"#).into_response(),
    }
}

/// The document in so many bytes.
fn padded(length: usize) -> String {
    let text = document().to_string();
    let rest = " ".repeat(length - text.len());
    text + &rest
}

fn server(source: ApiSource) -> Server {
    config(Transport::Api(Box::new(source)), Start::Eager)
}

fn by_document(url: &str) -> ApiSource {
    ApiSource { document: Some(DocumentPlace::Url(format!("{url}/openapi.json"))), ..ApiSource::default() }
}

fn key() -> BTreeMap<String, Secret> {
    BTreeMap::from([("X-Api-Key".to_owned(), Secret::new("the-key-of-the-api"))])
}

fn written(document: &Value, folder: &Path) -> Option<DocumentPlace> {
    let path = folder.join("openapi.json");
    std::fs::write(&path, document.to_string()).unwrap();
    Some(DocumentPlace::File(path))
}

#[tokio::test]
async fn an_api_is_listed_and_called_like_any_server() {
    let api = Api::serve().await;
    let mut subject = Subject::new(server(ApiSource { headers: key(), ..by_document(&api.url) }));
    let manifest = subject.listed().await;
    assert_eq!(names(&manifest), ["getPet", "deletePet", "addPet", "picture", "large", "away", "near"]);
    assert_eq!(manifest.server_info.as_ref().unwrap().get(), r#"{"name":"Pets","version":"7"}"#);
    let pet = subject.tool("getPet", json!({"id": "a/../b"})).await.unwrap();
    assert_eq!(text_of(&pet), r#"{"n": 12345678901234567890123,  "name":"Rex"}"#, "as it came");
    subject.tool("addPet", json!({"name": "Rex"})).await.unwrap();
    let asked = api.asked();
    assert_eq!((asked[0].0.as_str(), asked[0].1.to_string().as_str()), ("GET", "/api/pets/a%2F..%2Fb"));
    assert_eq!(asked[0].2["x-api-key"], "the-key-of-the-api");
    assert_eq!((asked[1].0.as_str(), asked[1].2["content-type"].to_str().unwrap()), ("POST", "application/json"));
    assert_eq!(asked[1].3, br#"{"name":"Rex"}"#);
    let picture = subject.tool("picture", json!({})).await.unwrap();
    assert_eq!(picture["content"][0], json!({"type": "image", "data": "AQID", "mimeType": "image/png"}));
}

#[tokio::test]
async fn what_goes_wrong_is_said() {
    let api = Api::serve().await;
    let mut subject = Subject::new(server(by_document(&api.url)));
    subject.listed().await;
    let missing = subject.tool("getPet", json!({"id": "none"})).await.unwrap();
    assert_eq!(
        (missing["isError"].as_bool(), text_of(&missing).as_str()),
        (Some(true), "HTTP 404 Not Found\n{\"error\":\"no such pet\"}")
    );
    let wrong = subject.tool("getPet", json!({"id": ".."})).await.unwrap();
    assert!(text_of(&wrong).starts_with("The request was not made: a part of the path"), "{wrong}");
    assert!(matches!(subject.tool("large", json!({})).await, Err(CallError::TooLarge { .. })));
    assert!(matches!(subject.tool("nothing", json!({})).await, Err(CallError::Answered(_))));
    assert!(subject.tool("getPet", json!({"id": "7"})).await.is_ok(), "and it goes on");
}

#[tokio::test]
async fn a_redirect_is_followed_at_home_and_nowhere_else() {
    let api = Api::serve().await;
    let mut subject = Subject::new(server(ApiSource { headers: key(), ..by_document(&api.url) }));
    subject.listed().await;
    let near = subject.tool("near", json!({})).await.unwrap();
    assert!(near.get("isError").is_none(), "{near}");
    let away = text_of(&subject.tool("away", json!({})).await.unwrap());
    assert!(away.contains("169.254.169.254") && away.contains("where requests are not sent"), "{away}");
}

/// A document that names another place gets no key, and no way to this machine.
#[tokio::test]
async fn what_only_a_document_names_is_asked_as_nobody_and_not_nearby() {
    let (api, folder) = (Api::serve().await, tempfile::tempdir().unwrap());
    let mut hostile = document();
    hostile["servers"] = json!([{"url": format!("{}/api", api.url)}]);
    let file = || written(&hostile, folder.path());
    let mut subject = Subject::new(server(ApiSource { document: file(), ..ApiSource::default() }));
    subject.listed().await;
    let why = subject.tool("getPet", json!({"id": "1"})).await.unwrap_err().to_string();
    assert!(why.contains("only a document names it: set `base_url`"), "{why}");
    let mut with_key = Subject::new(server(ApiSource { document: file(), headers: key(), ..ApiSource::default() }));
    let why = with_key.why_failing().await;
    assert!(why.contains("no key is sent there: set `base_url` of [servers.fake]"), "{why}");
    assert!(api.asked().is_empty(), "nobody was asked anything");
    let base_url = Some(format!("{}/api", api.url));
    let mut told =
        Subject::new(server(ApiSource { document: file(), headers: key(), base_url, ..ApiSource::default() }));
    told.listed().await;
    told.tool("getPet", json!({"id": "1"})).await.unwrap();
    assert_eq!(api.asked()[0].2["x-api-key"], "the-key-of-the-api");
}

#[tokio::test]
async fn the_key_of_an_api_is_not_shown_to_who_has_its_document() {
    let (docs, api) = (Api::serve().await, Api::serve().await);
    let base_url = Some(format!("{}/api", api.url));
    let mut subject = Subject::new(server(ApiSource { headers: key(), base_url, ..by_document(&docs.url) }));
    subject.listed().await;
    subject.tool("getPet", json!({"id": "1"})).await.unwrap();
    assert!(docs.asked.lock().unwrap().iter().all(|(_, _, headers, _)| !headers.contains_key("x-api-key")));
    assert_eq!(api.asked().len(), 1);
}

#[tokio::test]
async fn a_document_that_cannot_be_used_fails_its_server_with_a_reason() {
    let (api, folder) = (Api::serve().await, tempfile::tempdir().unwrap());
    let at = |path: &str| Some(DocumentPlace::Url(format!("{}{path}", api.url)));
    let file = Some(DocumentPlace::File(folder.path().join("nothing.json")));
    let swagger = written(&json!({"swagger": "2.0", "paths": {"/a": {}}}), folder.path());
    for (document, expected) in [
        (at("/openapi.yaml"), "is not YAML"),
        (at("/api/pets/none"), "answered HTTP 404: correct `openapi`"),
        (Some(DocumentPlace::File(folder.path().to_owned())), "is not a file"),
        (file, "cannot be read"),
        (swagger, "it is Swagger 2.0, and OpenAPI 3 is wanted"),
    ] {
        let why = Subject::new(server(ApiSource { document, ..ApiSource::default() })).why_failing().await;
        assert!(why.contains(expected), "{why}");
    }
}

#[tokio::test]
async fn a_document_has_40_megabytes_in_a_file_and_at_an_address() {
    const MOST: usize = 40 * 1024 * 1024;
    let (api, folder) = (Api::serve().await, tempfile::tempdir().unwrap());
    let path = folder.path().join("padded.json");
    let file = |length: usize| {
        std::fs::write(&path, padded(length)).unwrap();
        DocumentPlace::File(path.clone())
    };
    let address = |length: usize| DocumentPlace::Url(format!("{}/padded/{length}", api.url));
    let source = |place: DocumentPlace| {
        let base_url = Some(format!("{}/api", api.url));
        server(ApiSource { document: Some(place), base_url, ..ApiSource::default() })
    };
    for place in [file(MOST), address(MOST)] {
        assert_eq!(names(&*Subject::new(source(place)).listed().await)[0], "getPet");
    }
    for (place, expected) in [(file(MOST + 1), "larger than 40 MB"), (address(MOST + 1), "larger than 41943040 bytes")]
    {
        let why = Subject::new(source(place)).why_failing().await;
        assert!(why.contains(expected), "{why}");
    }
}

/// A document of a few megabytes can be made to take a hundred times as much.
#[tokio::test]
async fn what_a_document_takes_is_taken_from_the_memory_of_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heavy.json");
    let objects = r#"{"a":1},"#.repeat(300_000);
    let rest = r#""paths":{"/a":{"get":{"operationId":"a"}}}"#;
    std::fs::write(&path, format!(r#"{{"openapi":"3.1.0","x":[{objects}1],{rest}}}"#)).unwrap();
    let source = || {
        let (document, base_url) = (Some(DocumentPlace::File(path.clone())), Some("http://127.0.0.1:1".to_owned()));
        server(ApiSource { document, base_url, ..ApiSource::default() })
    };
    let why = Subject::within(source(), &Memory::new(128 << 20)).why_failing().await;
    assert!(why.contains("it would take about 139 MB of memory, and `[limits] memory` has no room"), "{why}");
    assert_eq!(names(&*Subject::within(source(), &Memory::new(256 << 20)).listed().await), ["a"]);
}

#[tokio::test]
async fn endpoints_by_hand_are_tools_beside_those_of_a_document() {
    let api = Api::serve().await;
    let input = json!({"type": "object", "properties": {"id": {"type": "string"}, "q": {"type": "string"}}});
    let way = HandWay::Endpoint { method: "GET".to_owned(), path: "/owners/{id}".to_owned() };
    let tools = vec![HandTool { name: "owner".to_owned(), description: "Who owns it".to_owned(), input, way }];
    let base_url = Some(format!("{}/api", api.url));
    let include = vec!["tag:pets".to_owned()];
    let mut subject = Subject::new(server(ApiSource { tools, base_url, include, ..by_document(&api.url) }));
    assert_eq!(names(&*subject.listed().await), ["getPet", "owner"]);
    subject.tool("owner", json!({"id": "1", "q": "a&b"})).await.unwrap();
    assert_eq!(api.asked()[0].1.to_string(), "/api/owners/1?q=a%26b");
}
