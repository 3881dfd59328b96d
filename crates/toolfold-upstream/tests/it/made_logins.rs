//! APIs that want a login: a token is got, sent, renewed where it is refused, and shown to nobody else.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State as Kept;
use axum::http::{HeaderMap, Uri};
use serde_json::{Value, json};
use toolfold_config::{ApiSource, Auth, AuthMode, DocumentPlace, LoginAs, Server, Start, Transport};
use toolfold_core::{Principal, Secret};
use toolfold_test::plain_http;
use toolfold_test::provider::{Provider, Vice};
use toolfold_upstream::{CallError, Need};

use crate::kit::{self, Subject, names, text_of};

fn document(elsewhere: &str) -> Value {
    let get = |name: &str| json!({"get": {"operationId": name, "summary": name}});
    let mut paths =
        json!({"/whoami": get("whoami"), "/away": get("away"), "/open": get("open"), "/other": get("other")});
    paths["/open"]["get"]["security"] = json!([]);
    paths["/other"]["get"]["servers"] = json!([{"url": elsewhere}]);
    json!({"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "servers": [{"url": "/api"}],
        "security": [{"login": []}], "paths": paths})
}

/// Every path that was asked for, with its `Authorization`.
type Heard = Arc<Mutex<Vec<(String, Option<String>)>>>;

/// Somebody else, who would like to have a token. And what they heard.
async fn somebody_else() -> (String, Heard) {
    let heard: Heard = Arc::default();
    let answer = |Kept(heard): Kept<Heard>, uri: Uri, headers: HeaderMap| async move {
        let token = headers.get("authorization").map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        heard.lock().unwrap().push((uri.path().to_owned(), token));
        document("/").to_string()
    };
    let app = Router::new().fallback(answer).with_state(heard.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    (url, heard)
}

fn server(document: &str, base_url: Option<String>, who: LoginAs) -> Server {
    let document = Some(DocumentPlace::Url(document.to_owned()));
    let source = ApiSource { document, base_url, ..ApiSource::default() };
    let client = who == LoginAs::Client;
    let auth = Auth {
        mode: AuthMode::OAuth,
        who,
        client_id: client.then(|| "machine".to_owned()),
        client_secret: client.then(|| Secret::new("secret-of-the-machine")),
        ..Auth::default()
    };
    Server { auth, ..kit::config(Transport::Api(Box::new(source)), Start::Eager) }
}

fn times(provider: &Provider, asked: &str) -> usize {
    provider.asked().iter().filter(|one| *one == asked).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_its_own_gets_a_token_sends_it_and_gets_another_when_it_is_refused() {
    let provider = Provider::start(Vice::None, 3600).await.unwrap();
    let (elsewhere, heard) = somebody_else().await;
    let described = provider.describe(document(&elsewhere), &elsewhere);
    let mut subject = Subject::new(server(&described, Some(provider.api()), LoginAs::Client));
    subject.listed().await;
    let known = subject.tool("whoami", json!({})).await.unwrap();
    assert_eq!(text_of(&known), r#"{"you":"somebody"}"#);
    let tokens = times(&provider, "POST /token");
    subject.tool("whoami", json!({})).await.unwrap();
    assert_eq!(times(&provider, "POST /token"), tokens, "a token that is good is used again");
    provider.expire();
    let before = times(&provider, "GET /api/whoami");
    subject.tool("whoami", json!({})).await.unwrap();
    assert_eq!(times(&provider, "GET /api/whoami"), before + 2, "once in vain, and once more");
    let callers = provider.callers();
    assert!(callers[0] == callers[1] && callers[1] != callers[2], "{callers:?}");
    assert!(heard.lock().unwrap().is_empty(), "nobody else was asked anything");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_logs_in_and_their_login_is_renewed_until_it_is_over() {
    let provider = Provider::start(Vice::None, 3600).await.unwrap();
    let described = provider.describe(document("/"), "/");
    let subject = Subject::new(server(&described, Some(provider.api()), LoginAs::Person));
    let me = Principal::local();
    let wanted = subject.tool("whoami", json!({})).await.unwrap_err();
    assert!(matches!(wanted, CallError::Login(Need::Login { .. })), "{wanted}");
    let mut begun = subject.upstream.of(&me).await.log_in().await.unwrap();
    let shown = plain_http().get(&begun.url).send().await.unwrap().text().await.unwrap();
    assert!(shown.starts_with("Logged in to fake"), "{shown}");
    begun.done().await.unwrap();
    subject.tool("whoami", json!({})).await.unwrap();
    provider.expire();
    subject.tool("whoami", json!({})).await.unwrap();
    assert_eq!((provider.counts().refreshes, provider.counts().reused), (1, 0));
    provider.revoke();
    let over = subject.tool("whoami", json!({})).await.unwrap_err();
    assert!(matches!(over, CallError::Login(Need::Login { .. })), "{over}");
    let said = over.to_string();
    assert!(provider.secrets().iter().all(|token| !said.contains(token)), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_goes_to_its_api_and_nowhere_else() {
    let provider = Provider::start(Vice::None, 3600).await.unwrap();
    let (elsewhere, heard) = somebody_else().await;
    let described = provider.describe(document(&elsewhere), &format!("{elsewhere}/stolen"));
    // Where only the document says where the API is, what it puts elsewhere is no tool.
    let mut alone = Subject::new(server(&described, None, LoginAs::Client));
    assert_eq!(names(&*alone.listed().await), ["whoami", "away", "open"]);
    // Where the configuration says so, everything is there.
    let mut subject = Subject::new(server(&described, Some(provider.api()), LoginAs::Client));
    assert_eq!(names(&*subject.listed().await), ["whoami", "away", "open", "other"]);
    subject.tool("whoami", json!({})).await.unwrap();
    subject.tool("other", json!({})).await.unwrap();
    let away = text_of(&subject.tool("away", json!({})).await.unwrap());
    assert!(away.contains("where requests are not sent"), "{away}");
    let open = text_of(&subject.tool("open", json!({})).await.unwrap());
    assert_eq!(open, r#"{"signed":false}"#, "what asks nobody who they are is not told");
    assert!(heard.lock().unwrap().is_empty(), "nobody else was asked anything");
    // A document that somebody else has is fetched as nobody, also with a login at hand.
    let mut theirs = Subject::new(server(&format!("{elsewhere}/openapi.json"), Some(provider.api()), LoginAs::Client));
    theirs.listed().await;
    theirs.tool("whoami", json!({})).await.unwrap();
    assert_eq!(*heard.lock().unwrap(), [("/openapi.json".to_owned(), None)]);
}
