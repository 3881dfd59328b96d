//! The operations of a document as tools: a definition for those who look for one, a plan for those who call it.

use serde_json::{Map, Value, json};
use toolfold_core::beginning;
use url::Url;

use crate::body::{self, Body, DescribedBody, Form, Taken};
use crate::document::Document;
use crate::name::Names;
use crate::parameter::{self, Arguments, Described, Parameter, Where, is_json, is_plain};
use crate::place::Base;
use crate::plan::{Piece, RequestPlan, pieces};
use crate::schema::{Converter, Side};
use crate::select::{Candidate, Selection};
use crate::span::Span;
use crate::style::{Style, Writing};
use crate::unfit::Unfit;

const METHODS: [&str; 8] = ["get", "head", "post", "put", "patch", "delete", "options", "trace"];
/// More are left out, and said to be.
const MOST_OPERATIONS: usize = 10_000;
const LONGEST_DESCRIPTION: usize = 4_000;
/// Bytes of all the tools' schemas together, and of one.
const ALL_SCHEMAS: usize = 16 << 20;
const LARGEST_SCHEMA: usize = 64 << 10;
const SMALLEST_SCHEMA: usize = 4 << 10;
/// A schema of an answer above this is not declared: nobody reads it before a call, and everybody would pay for it.
const LARGEST_OUTPUT: usize = 8 << 10;

/// What somebody wants of a document.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Where the API is, whatever the document says.
    pub base: Option<Base>,
    /// Where the document came from, if it is not a file.
    pub document: Option<Url>,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    /// Headers that every request has: no arguments.
    pub headers: Vec<String>,
}

/// A document as tools.
#[derive(Debug, Clone, Default)]
pub struct Api {
    pub title: Option<String>,
    pub version: Option<String>,
    pub description: Option<String>,
    pub tools: Vec<ApiTool>,
    pub left_out: Vec<LeftOut>,
}

#[derive(Debug, Clone)]
pub struct ApiTool {
    pub name: String,
    /// As `tools/list` has it.
    pub definition: Value,
    pub plan: RequestPlan,
}

/// An operation that is no tool, and why: completes the sentence "GET /pets …".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub what: String,
    pub why: String,
}

struct Operation<'d> {
    method: &'static str,
    path: &'d str,
    item: &'d Value,
    value: &'d Value,
}

/// May take a second for the largest documents: not for a thread that others wait for.
pub fn api(document: &Document, wishes: &Wishes) -> Api {
    let info = |key: &str| Some(beginning(document.root().get("info")?.get(key)?.as_str()?, 2_000).into_owned());
    let mut api =
        Api { title: info("title"), version: info("version"), description: info("description"), ..Api::default() };
    let selection = Selection::new(&wishes.include, &wishes.exclude);
    let mut names = Names::default();
    let mut chosen = Vec::new();
    for operation in operations(document, &mut api.left_out) {
        let own = operation.value.get("operationId").and_then(Value::as_str);
        let name = names.of(own, operation.method, operation.path);
        let tags = operation.tags();
        let (method, path) = (operation.method, operation.path);
        let candidate = Candidate { method, path, names: [own, Some(&name)], tags: &tags };
        if selection.takes(&candidate) {
            chosen.push((name, operation));
        }
    }
    let too_many = chosen.split_off(chosen.len().min(MOST_OPERATIONS));
    let room = (ALL_SCHEMAS / chosen.len().max(1)).clamp(SMALLEST_SCHEMA, LARGEST_SCHEMA);
    for (name, operation) in chosen {
        match operation.tool(document, wishes, name, room) {
            Ok(tool) => api.tools.push(tool),
            Err(why) => api.left_out.push(LeftOut { what: operation.what(), why: why.to_string() }),
        }
    }
    for (_, operation) in too_many {
        let why = format!("is one of more than {MOST_OPERATIONS}: choose with `include`");
        api.left_out.push(LeftOut { what: operation.what(), why });
    }
    api
}

fn operations<'d>(document: &'d Document, left_out: &mut Vec<LeftOut>) -> Vec<Operation<'d>> {
    let mut all = Vec::new();
    let paths = document.root().get("paths").and_then(Value::as_object);
    for (path, item) in paths.into_iter().flatten().filter(|(path, _)| path.starts_with('/')) {
        let item = match document.resolved(item) {
            Ok(item) => item,
            Err(why) => {
                left_out.push(LeftOut { what: beginning(path, 200).into_owned(), why: why.to_string() });
                continue;
            }
        };
        let own = METHODS.into_iter().filter_map(|method| Some((method, item.get(method)?)));
        all.extend(own.filter(|(_, value)| value.is_object()).map(|(method, value)| Operation {
            method,
            path,
            item,
            value,
        }));
    }
    all
}

impl Operation<'_> {
    fn what(&self) -> String {
        format!("{} {}", self.method.to_uppercase(), beginning(self.path, 200))
    }

    fn tags(&self) -> Vec<&str> {
        let tags = self.value.get("tags").and_then(Value::as_array).into_iter().flatten();
        tags.filter_map(Value::as_str).take(20).collect()
    }

    fn tool(&self, document: &Document, wishes: &Wishes, name: String, room: usize) -> Result<ApiTool, Unfit> {
        let mut base = match &wishes.base {
            Some(base) => base.clone(),
            None => Base::named([self.value, self.item, document.root()], wishes.document.as_ref())?,
        };
        let path = self.path.split('#').next().unwrap_or_default();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        base.query =
            [base.query.as_str(), query].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("&");
        let described = parameter::described(document, [self.value, self.item], &wishes.headers)?;
        let mut input = Input::new(document, room);
        let path = input.path(path, &described);
        for one in described.iter().filter(|one| one.place != Where::Path) {
            input.add(one);
        }
        let body = body::described(document, self.value)?.and_then(|body| input.add_body(document, body));
        let parameters = std::mem::take(&mut input.parameters);
        let output = self.output(document);
        let definition = self.definition(&name, input.finish(), output.as_ref());
        let method = self.method.to_uppercase();
        let plan = RequestPlan { method, base, public: self.is_public(document), output, path, parameters, body };
        Ok(ApiTool { name, definition, plan })
    }

    fn definition(&self, name: &str, input: Value, output: Option<&Value>) -> Value {
        let text =
            |key: &str| self.value.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
        let (summary, description) = (text("summary"), text("description"));
        let mut words: Vec<&str> = Vec::new();
        if self.value.get("deprecated") == Some(&Value::Bool(true)) {
            words.push("Deprecated.");
        }
        words.extend(summary.filter(|summary| description.is_none_or(|long| !long.starts_with(summary))));
        words.extend(description);
        let words = if words.is_empty() { self.what() } else { words.join("\n\n") };
        let mut definition = json!({
            "name": name,
            "description": beginning(&words, LONGEST_DESCRIPTION),
            "inputSchema": input,
            "annotations": annotations(self.method),
        });
        if let Some(summary) = summary {
            definition["title"] = json!(beginning(summary, 120));
        }
        if let Some(output) = output {
            definition["outputSchema"] = output.clone();
        }
        let tags = self.tags();
        if !tags.is_empty() {
            definition["_meta"] = json!({ "tags": tags });
        }
        definition
    }

    /// What a success is, where it is a JSON object that can be described in a few words.
    fn output(&self, document: &Document) -> Option<Value> {
        let responses = self.value.get("responses")?.as_object()?;
        let success = |code: &&String| code.starts_with('2') && code.len() == 3;
        let mut codes = responses.keys().filter(success);
        let (code, None) = (codes.next()?, codes.next()) else { return None };
        let response = document.resolved(&responses[code]).ok()?;
        let content = response.get("content")?.as_object()?;
        let (_, json) = content.iter().find(|(media, _)| is_json(media)).filter(|_| content.len() == 1)?;
        let schema = json.get("schema")?;
        let target = document.resolved(schema).ok()?;
        let is_object = target.get("type").and_then(Value::as_str) == Some("object");
        if !is_object || target.get("nullable") == Some(&Value::Bool(true)) {
            return None;
        }
        let mut converter = Converter::new(document, Side::Output, LARGEST_OUTPUT);
        let mut output = converter.schema(target);
        let definitions = converter.definitions();
        if converter.was_cut() {
            return None;
        }
        output["type"] = json!("object");
        if !definitions.is_empty() {
            output["$defs"] = definitions.into();
        }
        Some(output)
    }

    /// Its own word, or else the document's: an empty list, or a choice of nothing.
    fn is_public(&self, document: &Document) -> bool {
        let said = self.value.get("security").or_else(|| document.root().get("security")).and_then(Value::as_array);
        let nothing = |one: &Value| one.as_object().is_some_and(Map::is_empty);
        said.is_none_or(|all| all.is_empty() || all.iter().any(nothing))
    }
}

/// What a method says of its effects.
pub(crate) fn annotations(method: &str) -> Value {
    match method.to_ascii_lowercase().as_str() {
        "get" | "head" | "options" | "trace" => json!({"readOnlyHint": true, "openWorldHint": true}),
        "delete" => {
            json!({"readOnlyHint": false, "destructiveHint": true, "idempotentHint": true, "openWorldHint": true})
        }
        "put" => json!({"readOnlyHint": false, "idempotentHint": true, "openWorldHint": true}),
        _ => json!({"readOnlyHint": false, "openWorldHint": true}),
    }
}

/// The arguments of a tool, while they are put together.
struct Input<'d> {
    converter: Converter<'d>,
    arguments: Arguments,
    properties: Map<String, Value>,
    required: Vec<String>,
    parameters: Vec<Parameter>,
}

impl<'d> Input<'d> {
    fn new(document: &'d Document, room: usize) -> Self {
        Input {
            converter: Converter::new(document, Side::Input, room),
            arguments: Arguments::default(),
            properties: Map::new(),
            required: Vec::new(),
            parameters: Vec::new(),
        }
    }

    /// A path names its parameters, described or not.
    fn path(&mut self, template: &str, described: &[Described<'_>]) -> Vec<Piece> {
        let mut path = Vec::new();
        for piece in pieces(template) {
            let name = match piece {
                Span::Text(text) => {
                    path.push(Piece::Text(text));
                    continue;
                }
                Span::Name(name) => name,
            };
            let known = self.parameters.iter().position(|one| one.place == Where::Path && one.name == name);
            let at = known.unwrap_or_else(|| {
                let own = described.iter().find(|one| one.place == Where::Path && one.name == name);
                let writing = Writing { style: Style::Simple, explode: false, reserved: false };
                let bare = Described {
                    name: &name,
                    place: Where::Path,
                    writing,
                    required: true,
                    schema: None,
                    description: None,
                };
                self.add(own.unwrap_or(&bare));
                self.parameters.len() - 1
            });
            path.push(Piece::Parameter(at));
        }
        path
    }

    fn add(&mut self, one: &Described<'_>) {
        let argument = self.arguments.name(one.name, one.place.as_str());
        let mut schema = one.schema.map_or_else(|| json!({"type": "string"}), |schema| self.converter.schema(schema));
        describe(&mut schema, one.description);
        self.properties.insert(argument.clone(), schema);
        if one.required {
            self.required.push(argument.clone());
        }
        self.parameters.push(Parameter { argument, name: one.name.to_owned(), place: one.place, writing: one.writing });
    }

    /// The members of a body are arguments themselves, where that says the same; else the body is one.
    fn add_body(&mut self, document: &Document, body: DescribedBody<'_>) -> Option<Body> {
        let media = body.media.to_owned();
        let schema = body.schema.and_then(|schema| document.resolved(schema).ok());
        if let Some(members) = schema.and_then(|schema| self.members(schema, &body)) {
            if members.is_empty() {
                return None;
            }
            let required = members.iter().filter(|(_, _, required)| *required).map(|(name, ..)| name.clone());
            self.required.extend(required);
            let names: Vec<String> = members.iter().map(|(name, ..)| name.clone()).collect();
            self.properties.extend(members.into_iter().map(|(name, schema, _)| (name, schema)));
            return Some(Body { media, form: body.form, taken: Taken::Members { names, always: body.required } });
        }
        let argument = self.arguments.name("body", "content");
        let mut schema = match (&body.form, body.schema) {
            (Form::Bytes, _) => json!({"type": "string", "contentEncoding": "base64"}),
            (Form::Text, _) | (_, None) if !matches!(body.form, Form::Json) => json!({"type": "string"}),
            (_, Some(schema)) => self.converter.schema(schema),
            (_, None) => json!({}),
        };
        describe(&mut schema, body.description);
        self.properties.insert(argument.clone(), schema);
        if body.required {
            self.required.push(argument.clone());
        }
        Some(Body { media, form: body.form, taken: Taken::Whole(argument) })
    }

    /// Name, schema, and whether there must be one; `None` where an object is more than its members, or one of them is
    /// called like a parameter.
    fn members(&mut self, schema: &Value, body: &DescribedBody<'_>) -> Option<Vec<(String, Value, bool)>> {
        let more = ["allOf", "oneOf", "anyOf", "not", "if", "patternProperties", "minProperties", "dependentSchemas"];
        let is_object = schema.get("type").is_none_or(|name| name.as_str() == Some("object"));
        let open = schema.get("additionalProperties").is_some_and(|more| more != &Value::Bool(false));
        let fits = matches!(body.form, Form::Json | Form::Pairs(_) | Form::Parts(_));
        if !fits || !is_object || open || more.iter().any(|key| schema.get(key).is_some()) {
            return None;
        }
        let properties = schema.get("properties")?.as_object()?;
        if properties.is_empty() {
            return (!body.required).then(Vec::new);
        }
        if properties.keys().any(|name| !is_plain(name) || !self.arguments.is_free(name)) {
            return None;
        }
        let converted = self.converter.schema(schema);
        let required: Vec<&str> = converted
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        // A body that may be left out, and is not half a body: only as a whole.
        if !body.required && !required.is_empty() {
            return None;
        }
        let members = converted.get("properties")?.as_object()?;
        let read =
            |(name, schema): (&String, &Value)| (name.clone(), schema.clone(), required.contains(&name.as_str()));
        let members: Vec<_> = members.iter().map(read).collect();
        for (name, ..) in &members {
            self.arguments.name(name, "body");
        }
        Some(members)
    }

    fn finish(mut self) -> Value {
        let mut schema = json!({"type": "object", "properties": self.properties});
        if !self.required.is_empty() {
            schema["required"] = json!(self.required);
        }
        if !self.converter.was_cut() {
            schema["additionalProperties"] = json!(false);
        }
        let definitions = self.converter.definitions();
        if !definitions.is_empty() {
            schema["$defs"] = definitions.into();
        }
        schema
    }
}

/// What is said of a parameter is more than what is said of its type.
fn describe(schema: &mut Value, description: Option<&str>) {
    let Some(description) = description.map(str::trim).filter(|text| !text.is_empty()) else { return };
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".to_owned(), Value::from(beginning(description, 2_000).into_owned()));
    }
}
