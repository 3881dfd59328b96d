//! Everything that documents in public were seen to do, and that others stumbled over.

use serde_json::{Value, json};
use toolfold_core::Fuel;
use toolfold_openapi::{BaseFrom, Wishes, api};
use toolfold_schema::Schema;

use crate::kit::{at, body, document, parameter, read, refused, request, tool, tool_with, tools_of};

fn accepts(schema: &Value, value: Value) -> bool {
    let fuel = Fuel::new(10_000_000);
    Schema::prepare(schema.clone(), &fuel).unwrap().is_valid(&value, &fuel).unwrap()
}

fn json_body(schema: Value) -> Value {
    json!({"required": true, "content": {"application/json": {"schema": schema}}})
}

#[test]
fn a_circle_of_references_is_copied_once_and_stays_a_circle() {
    let node = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}}}});
    let whole = json!({"requestBody": json_body(json!({"allOf": [{"$ref": "#/components/schemas/Node"}]}))});
    let tool = tool_with("post", "/nodes", whole, json!({"Node": node}));
    let schema = &tool.definition["inputSchema"];
    assert_eq!(schema["$defs"].as_object().unwrap().len(), 1);
    assert_eq!(schema["$defs"]["Node"]["properties"]["children"]["items"]["$ref"], "#/$defs/Node");
    assert!(accepts(schema, json!({"body": {"name": "a", "children": [{"name": "b"}]}})));
    assert!(!accepts(schema, json!({"body": {"name": "a", "children": [{"children": []}]}})));
}

#[test]
fn references_that_lead_to_each_other_and_nowhere_else_take_anything() {
    let schemas = json!({"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}});
    let operation =
        json!({"parameters": [parameter("q", "query", json!({"schema": {"$ref": "#/components/schemas/A"}}))]});
    let tool = tool_with("get", "/x", operation, schemas);
    assert!(accepts(&tool.definition["inputSchema"], json!({"q": [1]})));
}

#[test]
fn another_document_costs_what_refers_to_it_and_no_more() {
    let paths = json!({
        "/elsewhere": {"$ref": "paths.yaml#/elsewhere"},
        "/parameter": {"get": {"parameters": [{"$ref": "https://evil.example/p.json"}]}},
        "/schema": {"get": {"operationId": "here", "parameters": [parameter("q", "query", json!({"schema": {"$ref": "other.json#/Q"}}))]}},
    });
    let api = tools_of(&document(paths, json!({})));
    let names: Vec<&str> = api.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["here"]);
    assert!(accepts(&api.tools[0].definition["inputSchema"], json!({"q": 1})), "what is not known is not refused");
    insta::assert_snapshot!(api.left_out.iter().map(|out| format!("{} {}\n", out.what, out.why)).collect::<String>(), @r"
    /elsewhere refers to another document (paths.yaml#/elsewhere), and only one is read: bundle them
    GET /parameter has a parameter that refers to another document (https://evil.example/p.json), and only one is read: bundle them
    ");
}

#[test]
fn where_an_api_is() {
    let with = |servers: Value| {
        let mut document = document(json!({"/pets": {"get": {"operationId": "pets"}}}), json!({}));
        document["servers"] = servers;
        read(&document)
    };
    let from = |text: &str| Wishes { document: Some(text.parse().unwrap()), ..Wishes::default() };
    let base = |servers: Value, wishes: &Wishes| {
        let api = api(&with(servers), wishes);
        match api.tools.first() {
            Some(tool) => format!("{:?} {}", tool.plan.base.from, tool.plan.prepare(&Default::default()).unwrap().url),
            None => format!("{} {}", api.left_out[0].what, api.left_out[0].why),
        }
    };
    let file = Wishes::default();
    let web = from("https://docs.example/specs/openapi.yaml");
    let relative = json!([{"url": "/api/v2"}]);
    let several = json!([{"url": "https://one.example/"}, {"url": "https://two.example"}]);
    let variables = json!([{"url": "https://{region}.example:{port}/v1", "variables": {"region": {"default": "eu"}, "port": {"default": 8443}}}]);
    let without = json!([{"url": "https://{tenant}.example"}]);
    let lines = [
        base(relative.clone(), &web),
        base(relative, &file),
        base(json!([]), &web),
        base(several.clone(), &file),
        base(several, &at("http://127.0.0.1:9/api/?key=k")),
        base(variables, &file),
        base(without, &web),
        base(json!([{"url": "file:///etc/passwd"}]), &web),
        base(json!([{"url": "https://me:pw@one.example"}]), &web),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r#"
    Beside https://docs.example/api/v2/pets
    GET /pets is at "/api/v2", which is no whole address, and the document is a file: set `base_url`
    Beside https://docs.example/pets
    Document https://one.example/pets
    Configuration http://127.0.0.1:9/api/pets?key=k
    Document https://eu.example:8443/v1/pets
    GET /pets is at an address with the variable "tenant", which has no default: set `base_url`
    GET /pets is at an address that is not an address that begins with http:// or https://
    GET /pets is at an address that has a user name or a password in it: send them as a header
    "#);
}

#[test]
fn an_operation_may_be_elsewhere_and_a_configuration_has_the_last_word() {
    let paths = json!({"/upload": {"post": {"servers": [{"url": "https://uploads.example"}]}}});
    let document = read(&document(paths, json!({})));
    let tool = &api(&document, &Wishes::default()).tools[0];
    assert_eq!((tool.plan.base.url.as_str(), tool.plan.base.from), ("https://uploads.example", BaseFrom::Document));
    let tool = &api(&document, &at("https://api.example")).tools[0];
    assert_eq!((tool.plan.base.url.as_str(), tool.plan.base.from), ("https://api.example", BaseFrom::Configuration));
}

#[test]
fn ids_twice_missing_and_too_long() {
    let long = "a_very_long_operation_id_that_somebody_generated_from_a_class_name_and_a_method_name";
    let paths = json!({
        "/a": {"get": {"operationId": "list"}},
        "/b": {"get": {"operationId": "list"}},
        "/c/{id}": {"get": {}, "delete": {"operationId": ""}},
        "/d": {"get": {"operationId": format!("{long}_1")}, "put": {"operationId": format!("{long}_2")}},
    });
    let api = tools_of(&document(paths, json!({})));
    let names: Vec<&str> = api.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names[..4], ["list", "get_b", "get_c_id", "delete_c_id"]);
    assert!(names[4..].iter().all(|name| name.len() == 64) && names[4] != names[5], "{names:?}");
}

#[test]
fn names_that_collide_are_told_apart_and_each_goes_where_it_belongs() {
    let operation = json!({
        "parameters": [
            parameter("id", "query", json!({})),
            parameter("id", "header", json!({})),
            parameter("id", "path", json!({})),
            parameter("filter[a]", "query", json!({})),
        ],
        "requestBody": json_body(json!({"type": "object", "properties": {"id": {"type": "integer"}}})),
    });
    let tool = tool("put", "/things/{id}", operation);
    let names: Vec<&String> = tool.definition["inputSchema"]["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["id", "id_query", "id_header", "filter_a", "body"]);
    let made =
        request(&tool, json!({"id": "p", "id_query": "q", "id_header": "h", "filter_a": "f", "body": {"id": 1}}));
    assert_eq!(made.url, "https://api.example/v1/things/p?id=q&filter[a]=f");
    assert_eq!(made.headers, [("id".into(), "h".into()), ("Content-Type".into(), "application/json".into())]);
    assert_eq!(body(&made), r#"{"id":1}"#);
}

#[test]
fn members_of_a_body_are_arguments_where_that_says_the_same() {
    let issue = json!({"type": "object", "required": ["title"], "properties": {
        "title": {"type": "string"}, "body": {"type": "string"}, "labels": {"type": "array", "items": {"type": "string"}}}});
    let operation = json!({"requestBody": json_body(json!({"$ref": "#/components/schemas/Issue"}))});
    let tool = tool_with("post", "/repos/{owner}/issues", operation, json!({"Issue": issue}));
    assert_eq!(tool.definition["inputSchema"]["required"], json!(["owner", "title"]));
    let made = request(&tool, json!({"owner": "o", "title": "t", "labels": ["a"]}));
    assert_eq!(made.url, "https://api.example/v1/repos/o/issues");
    assert_eq!(body(&made), r#"{"title":"t","labels":["a"]}"#);
    assert_eq!(refused(&tool, json!({"owner": "o", "title": "t", "lables": 1})), "lables is not a parameter");
}

#[test]
fn a_body_that_may_be_missing_is_missing_as_a_whole() {
    let body = json!({"content": {"application/json": {"schema":
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}}}});
    let tool = tool("post", "/x", json!({ "requestBody": body }));
    assert!(accepts(&tool.definition["inputSchema"], json!({})));
    assert!(!accepts(&tool.definition["inputSchema"], json!({"body": {}})));
    let made = request(&tool, json!({}));
    assert!(made.body.is_empty() && made.headers.is_empty());
}

#[test]
fn null_is_what_a_document_says_it_is() {
    let properties = json!({
        "plain": {"type": "string", "nullable": true},
        "choice": {"type": "string", "enum": ["a"], "nullable": true},
        "other": {"allOf": [{"$ref": "#/components/schemas/O"}], "nullable": true},
        "modern": {"type": ["string", "null"]},
        "never": {"type": "string"},
    });
    let operation = json!({"requestBody": json_body(json!({"type": "object", "properties": properties}))});
    let tool = tool_with("patch", "/x", operation, json!({"O": {"type": "object", "required": ["x"]}}));
    let schema = &tool.definition["inputSchema"];
    for name in ["plain", "choice", "other", "modern"] {
        assert!(accepts(schema, json!({ name: null })), "{name}");
    }
    assert!(!accepts(schema, json!({"never": null})) && !accepts(schema, json!({"other": {}})));
    assert_eq!(body(&request(&tool, json!({"plain": null}))), r#"{"plain":null}"#, "to set nothing is to say null");
}

#[test]
fn an_optional_parameter_that_is_null_is_not_sent() {
    let tool = tool(
        "get",
        "/x",
        json!({"parameters": [parameter("q", "query", json!({})), parameter("X-A", "header", json!({}))]}),
    );
    let made = request(&tool, json!({"q": null, "X-A": null}));
    assert_eq!((made.url.as_str(), made.headers.len()), ("https://api.example/v1/x", 0));
}

#[test]
fn a_discriminator_leaves_a_choice_that_fits_more_than_one() {
    let pet = json!({"oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
        "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/components/schemas/Cat"}}});
    let kind = json!({"type": "object", "properties": {"kind": {"type": "string"}}});
    let tool = tool_with("post", "/pets", json!({"requestBody": json_body(pet)}), json!({"Cat": kind, "Dog": kind}));
    let schema = &tool.definition["inputSchema"];
    assert!(accepts(schema, json!({"body": {"kind": "cat"}})), "both fit, and that is meant");
    assert!(!accepts(schema, json!({"body": "cat"})));
    assert!(!schema.to_string().contains("discriminator"));
}

#[test]
fn what_is_only_read_is_no_argument_and_what_is_only_written_no_answer() {
    let user = json!({"type": "object", "required": ["id", "password"], "properties": {
        "id": {"type": "string", "readOnly": true}, "made": {"$ref": "#/components/schemas/Made"},
        "password": {"type": "string", "writeOnly": true}, "name": {"type": "string"}}});
    let response = json!({"201": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/User"}}}}});
    let operation =
        json!({"requestBody": json_body(json!({"$ref": "#/components/schemas/User"})), "responses": response});
    let schemas = json!({"User": user, "Made": {"type": "string", "readOnly": true}});
    let tool = tool_with("post", "/users", operation, schemas);
    let names = |schema: &Value| schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&tool.definition["inputSchema"]), ["password", "name"]);
    assert_eq!(tool.definition["inputSchema"]["required"], json!(["password"]));
    assert_eq!(names(&tool.definition["outputSchema"]), ["id", "made", "name"]);
}

#[test]
fn an_example_that_looks_like_a_schema_is_not_shown() {
    let schema = json!({"type": "object", "properties": {"id": {"type": "string", "example": "abc"}},
        "example": {"$id": "https://evil.example/", "$ref": "#/nowhere"}, "default": {"$schema": "x"}});
    let tool = tool("post", "/x", json!({"requestBody": json_body(json!({"allOf": [schema]}))}));
    let text = tool.definition.to_string();
    assert!(!text.contains("$id") && !text.contains("nowhere") && !text.contains("$schema"), "{text}");
    assert!(text.contains(r#""examples":["abc"]"#), "{text}");
}

#[test]
fn whether_somebody_has_to_be_known_is_each_operations_own_word() {
    let mut document = document(
        json!({"/a": {"get": {}, "post": {"security": []}, "put": {"security": [{}, {"key": []}]}, "delete": {"security": [{"key": []}]}}}),
        json!({}),
    );
    let public = |document: &Value| tools_of(document).tools.iter().map(|tool| tool.plan.public).collect::<Vec<_>>();
    assert_eq!(public(&document), [true, true, true, false]);
    document["security"] = json!([{"key": []}]);
    assert_eq!(public(&document), [false, true, true, false]);
}

#[test]
fn a_header_of_the_configuration_is_no_argument() {
    let parameters = json!([
        parameter("X-Api-Key", "header", json!({"required": true})),
        parameter("X-Other", "header", json!({})),
        parameter("Authorization", "header", json!({"required": true})),
        parameter("Host", "header", json!({}))
    ]);
    let document = read(&document(json!({"/a": {"get": {"parameters": parameters}}}), json!({})));
    let wishes = Wishes { headers: vec!["x-api-key".to_owned()], ..Wishes::default() };
    let schema = &api(&document, &wishes).tools[0].definition["inputSchema"];
    assert_eq!(schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["X-Other"]);
    assert!(schema.get("required").is_none());
}

#[test]
fn a_path_keeps_its_structure_whatever_the_arguments_are() {
    let tool = tool("get", "/files/{name}/raw", json!({}));
    let url = |name: Value| request(&tool, json!({ "name": name })).url;
    assert_eq!(url(json!("a/../../b")), "https://api.example/v1/files/a%2F..%2F..%2Fb/raw");
    assert_eq!(url(json!("../x?y=1#z")), "https://api.example/v1/files/..%2Fx%3Fy%3D1%23z/raw");
    assert_eq!(url(json!("a\\b\r\nc %2e")), "https://api.example/v1/files/a%5Cb%0D%0Ac%20%252e/raw");
    assert_eq!(url(json!(7)), "https://api.example/v1/files/7/raw");
    for bad in [json!(".."), json!("."), json!(""), json!([]), json!(null)] {
        assert!(refused(&tool, json!({ "name": bad })).contains("path"), "{bad}");
    }
    let pair = crate::kit::tool("get", "/x/{a}{b}", json!({}));
    assert!(refused(&pair, json!({"a": ".", "b": "."})).contains("`..`"), "nor put together from two");
    assert_eq!(request(&pair, json!({"a": "%2e", "b": "%2e"})).url, "https://api.example/v1/x/%252e%252e");
}

#[test]
fn a_header_stays_one_header() {
    let tool = tool("get", "/x", json!({"parameters": [parameter("X-A", "header", json!({}))]}));
    assert_eq!(refused(&tool, json!({"X-A": "a\r\nX-Evil: 1"})), "X-A goes into a header, which has no line breaks");
}

#[test]
fn methods_say_what_they_do() {
    let paths = json!({"/a": {"get": {}, "head": {}, "post": {}, "put": {}, "patch": {}, "delete": {}}});
    let lines = tools_of(&document(paths, json!({}))).tools.into_iter().map(|tool| {
        let said = tool.definition["annotations"].as_object().unwrap().clone();
        let said: Vec<String> = said
            .iter()
            .filter(|(key, _)| *key != "openWorldHint")
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        format!("{} {}\n", tool.plan.method, said.join(" "))
    });
    insta::assert_snapshot!(lines.collect::<String>(), @r"
    GET readOnlyHint=true
    HEAD readOnlyHint=true
    POST readOnlyHint=false
    PUT readOnlyHint=false idempotentHint=true
    PATCH readOnlyHint=false
    DELETE readOnlyHint=false destructiveHint=true idempotentHint=true
    ");
}

#[test]
fn what_is_included_and_excluded() {
    let paths = json!({
        "/repos/{id}": {"get": {"operationId": "repos/get", "tags": ["repos"]}, "delete": {"operationId": "repos/delete", "tags": ["repos"]}},
        "/users": {"get": {"operationId": "users/list", "tags": ["users", "admin"]}},
    });
    let document = read(&document(paths, json!({})));
    let chosen = |include: &[&str], exclude: &[&str]| {
        let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect();
        let wishes = Wishes { include: texts(include), exclude: texts(exclude), ..Wishes::default() };
        api(&document, &wishes).tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>()
    };
    assert_eq!(chosen(&[], &[]), ["repos_get", "repos_delete", "users_list"]);
    assert_eq!(chosen(&["tag:repos"], &["DELETE /repos/*"]), ["repos_get"]);
    assert_eq!(chosen(&["/users*"], &[]), ["users_list"]);
    assert_eq!(chosen(&["repos/*"], &["*_delete"]), ["repos_get"]);
    assert_eq!(chosen(&["GET /*"], &["tag:admin"]), ["repos_get"]);
    assert_eq!(chosen(&[], &["DELETE *"]), ["repos_get", "users_list"]);
    assert_eq!(chosen(&["GET"], &["* /users"]), ["repos_get"]);
    assert_eq!(chosen(&["delete  /repos/*", "users/list"], &[]), ["repos_delete", "users_list"]);
    assert_eq!(chosen(&["nothing"], &[]), [""; 0]);
}
