//! Servers that are no MCP servers: an API that a document describes, endpoints and commands that somebody described by hand,
//! agents that speak A2A. What is typed, and what it comes to.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value as Json, json};
use toolfold_core::{Secret, slug};
use toolfold_openapi::{Base, CommandPlan, endpoint};
use url::Url;

use crate::config::Transport;
use crate::node::{Node, Value};
use crate::program;
use crate::raw::RawServer;
use crate::report::{Place, Report, quoted};
use crate::resolve::Resolver;
use crate::table::{Field, Table, Texts};

/// Where an API's description is, and what is wanted of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ApiSource {
    pub document: Option<DocumentPlace>,
    /// Where the API is, whatever its document says.
    pub base_url: Option<String>,
    pub headers: BTreeMap<String, Secret>,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub tools: Vec<HandTool>,
    /// For commands.
    pub env: BTreeMap<String, Secret>,
    pub cwd: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentPlace {
    File(PathBuf),
    Url(String),
}

/// A tool that somebody described by hand.
#[derive(Debug, Clone, PartialEq)]
pub struct HandTool {
    pub name: String,
    pub description: String,
    /// A JSON Schema.
    pub input: Json,
    pub way: HandWay,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandWay {
    Endpoint { method: String, path: String },
    Command(Vec<String>),
}

impl ApiSource {
    /// Where it is, for people and for names: no query, which may be a key.
    pub fn shown(&self) -> String {
        let plain = |url: &str| url.split(['?', '#']).next().unwrap_or_default().to_owned();
        match (&self.document, &self.base_url) {
            (Some(DocumentPlace::File(path)), _) => path.display().to_string(),
            (Some(DocumentPlace::Url(url)), _) => plain(url),
            (None, Some(base_url)) => plain(base_url),
            (None, None) => {
                let program = |tool: &HandTool| match &tool.way {
                    HandWay::Command(words) => words.first().cloned(),
                    HandWay::Endpoint { .. } => None,
                };
                let mut programs: Vec<String> = self.tools.iter().filter_map(program).collect();
                programs.dedup();
                programs.join(", ")
            }
        }
    }

    /// Programs that its tools run.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().filter_map(|tool| match &tool.way {
            HandWay::Command(words) => words.first().map(String::as_str),
            HandWay::Endpoint { .. } => None,
        })
    }

    /// Everything that decides what tools there are, without secrets.
    pub fn identity(&self) -> String {
        let ApiSource { document, include, exclude, tools, headers, env, cwd, .. } = self;
        let names = (headers.keys().collect::<Vec<_>>(), env.keys().collect::<Vec<_>>());
        format!("{document:?}\0{}\0{include:?}\0{exclude:?}\0{tools:?}\0{names:?}\0{cwd:?}", self.shown())
    }
}

#[derive(Debug, Default)]
pub(crate) struct RawApi {
    pub(crate) openapi: Field<String>,
    pub(crate) base_url: Field<String>,
    pub(crate) include: Field<Texts>,
    pub(crate) exclude: Field<Texts>,
    pub(crate) tools: Vec<RawTool>,
    /// Of an agent.
    pub(crate) card: Field<String>,
}

#[derive(Debug, Default)]
pub(crate) struct RawTool {
    place: Place,
    name: Field<String>,
    description: Field<String>,
    method: Field<String>,
    path: Field<String>,
    command: Field<Texts>,
    input: Option<Json>,
}

impl RawApi {
    pub(crate) fn read(table: &mut Table<'_>, report: &mut Report) -> RawApi {
        RawApi {
            openapi: table.text("openapi", report),
            base_url: table.text("base_url", report),
            include: table.texts("include", report),
            exclude: table.texts("exclude", report),
            tools: table
                .tables("tools", report)
                .into_iter()
                .filter_map(|(node, place)| RawTool::read(node, place, report))
                .collect(),
            card: Field::Absent,
        }
    }

    /// Whether the server is one of these.
    pub(crate) fn is_meant(&self) -> bool {
        !self.openapi.is_absent() || !self.tools.is_empty()
    }
}

impl RawTool {
    fn read(node: &Node, place: Place, report: &mut Report) -> Option<RawTool> {
        let mut table = Table::open(node, place.clone(), report)?;
        let mut raw = RawTool {
            place,
            name: table.text("name", report),
            description: table.text("description", report),
            method: table.text("method", report),
            path: table.text("path", report),
            command: table.texts("command", report),
            input: None,
        };
        if let Some((node, place)) = table.take("input") {
            raw.input = Some(json_of(node, &place, report));
        }
        table.refuse_rest(report);
        Some(raw)
    }
}

/// What was typed as JSON. What JSON does not have is reported.
fn json_of(node: &Node, place: &Place, report: &mut Report) -> Json {
    match &node.value {
        Value::Text(text) => json!(text),
        Value::Integer(number) => json!(number),
        Value::Float(number) => json!(number),
        Value::Bool(flag) => json!(flag),
        Value::List(items) => {
            let read = |(at, item): (usize, &Node)| json_of(item, &place.item(at, item.offset), report);
            items.iter().enumerate().map(read).collect::<Vec<_>>().into()
        }
        Value::Table(members) => {
            let mut object = Map::new();
            for member in members {
                let place = place.child(&member.name, member.offset);
                object.insert(member.name.clone(), json_of(&member.node, &place, report));
            }
            object.into()
        }
        Value::Other(what) => {
            report.error(place, format!("a schema has no {}", what.trim_start_matches("a ")), None);
            Json::Null
        }
    }
}

impl Resolver<'_> {
    pub(crate) fn api(&mut self, raw: &RawServer) -> Option<Transport> {
        let typed = &raw.api;
        let document = self.text(&typed.openapi).and_then(|text| self.document(&text.value, text.typed.place.clone()));
        let base_url = self.base_url(&typed.base_url);
        let headers = self.request_headers(raw);
        let env = self.secrets(&raw.env, |name| !name.is_empty() && !name.contains(['=', '\0']), "a variable");
        let cwd = self.text(&raw.cwd).map(|text| self.path(&text.value));
        let mut tools: Vec<HandTool> = Vec::new();
        for tool in &typed.tools {
            let Some(read) = self.hand_tool(tool, base_url.as_deref(), typed) else { continue };
            if tools.iter().any(|other| other.name == read.name) {
                self.report.error(&tool.place, format!("there are two tools called {}", quoted(&read.name)), None);
            }
            if let HandWay::Command(words) = &read.way {
                self.look_for_program(&words[0], &env, cwd.as_deref(), &tool.place);
            }
            tools.push(read);
        }
        let commands = tools.iter().any(|tool| matches!(tool.way, HandWay::Command(_)));
        for (field, place) in
            [("env", raw.env.given().map(|it| &it.place)), ("cwd", raw.cwd.given().map(|it| &it.place))]
        {
            if let (Some(place), false) = (place, commands) {
                let hint = format!("`{field}` is for commands, and no tool of this server is one");
                self.report.error(place, "does not go with an API", hint);
            }
        }
        let (include, exclude) = (self.texts(&typed.include), self.texts(&typed.exclude));
        if document.is_none() && !typed.openapi.is_absent() {
            return None;
        }
        Some(Transport::Api(Box::new(ApiSource { document, base_url, headers, include, exclude, tools, env, cwd })))
    }

    pub(crate) fn agent(&mut self, raw: &RawServer) -> Option<Transport> {
        let headers = self.request_headers(raw);
        let card = self.url(&raw.api.card);
        Some(Transport::Agent { card: card?, headers })
    }

    fn document(&mut self, text: &str, place: Place) -> Option<DocumentPlace> {
        if text.trim().is_empty() {
            self.report.error(&place, "is empty", "name a file, or the address of one".to_owned());
            return None;
        }
        let Some((scheme, _)) = text.split_once("://") else { return Some(DocumentPlace::File(self.path(text))) };
        let right = ["http", "https"].contains(&scheme) && Url::parse(text).is_ok_and(|url| url.host().is_some());
        if !right {
            let hint = "write a path, or \"https://example.com/openapi.json\"".to_owned();
            self.report.error(&place, "is neither a file nor an address", hint);
            return None;
        }
        Some(DocumentPlace::Url(text.to_owned()))
    }

    fn base_url(&mut self, field: &Field<String>) -> Option<String> {
        let text = self.text(field)?;
        match Base::configured(&text.value) {
            Ok(_) => Some(text.value),
            Err(why) => {
                let hint = "write it whole: \"https://api.example.com/v1\"".to_owned();
                self.report.error(&text.typed.place, why.to_string(), hint);
                None
            }
        }
    }

    fn hand_tool(&mut self, raw: &RawTool, base_url: Option<&str>, api: &RawApi) -> Option<HandTool> {
        let name = self.tool_name(raw)?;
        let description = self.text(&raw.description).map(|text| text.value).unwrap_or_default();
        if description.trim().is_empty() && raw.description.is_absent() {
            let hint = "a model finds and chooses a tool by its description: say in a sentence what it does";
            self.report.error(&raw.place, "has no `description`", hint.to_owned());
        }
        let way = match (raw.command.given(), raw.path.given()) {
            (Some(_), None) if raw.method.is_absent() => HandWay::Command(self.texts(&raw.command)),
            (None, Some(_)) => {
                let method = self.text(&raw.method).map_or_else(|| "GET".to_owned(), |text| text.value);
                HandWay::Endpoint { method, path: self.text(&raw.path)?.value }
            }
            _ => {
                let hint = "a tool is an endpoint, with `method` and `path`, or a program, with `command`";
                self.report.error(&raw.place, "needs `path` or `command`, and not both", hint.to_owned());
                return None;
            }
        };
        let input = input_of(raw.input.clone(), &way);
        let wrong = match &way {
            HandWay::Command(words) => CommandPlan::new(words, &input).err().map(|error| error.to_string()),
            HandWay::Endpoint { method, path } => match base_url.and_then(|url| Base::configured(url).ok()) {
                Some(base) => {
                    endpoint((&name, &description), (method, path), &input, &base).err().map(|error| error.to_string())
                }
                None if !api.base_url.is_absent() => None,
                None => Some("is an endpoint, and the server has no `base_url`".to_owned()),
            },
        };
        if let Some(wrong) = wrong {
            self.report.error(&raw.place, wrong, None);
            return None;
        }
        Some(HandTool { name, description, input, way })
    }

    fn tool_name(&mut self, raw: &RawTool) -> Option<String> {
        let Some(text) = self.text(&raw.name) else {
            if raw.name.is_absent() {
                self.report.error(&raw.place, "has no `name`", None);
            }
            return None;
        };
        let fits = (1..=64).contains(&text.value.len()) && slug(&text.value) == text.value;
        if !fits {
            let message = "a tool's name is 1 to 64 letters, digits, `_` or `-`";
            self.report.error(&text.typed.place, message, None);
            return None;
        }
        Some(text.value)
    }

    fn look_for_program(
        &mut self,
        command: &str,
        env: &BTreeMap<String, Secret>,
        cwd: Option<&std::path::Path>,
        place: &Place,
    ) {
        let options = self.surroundings.options;
        if !options.look_for_commands {
            return;
        }
        let paths = env.get("PATH").map(Secret::expose).or(options.environment.get("PATH").map(String::as_str));
        if program::find(command, paths.unwrap_or_default(), cwd.unwrap_or(&options.directory)).is_none() {
            let (message, hint) = program::not_found(command, command.contains('/'));
            self.report.error(place, message, hint);
        }
    }
}

/// A schema, complete: without one, what the path or the command names is text and has to be there.
fn input_of(typed: Option<Json>, way: &HandWay) -> Json {
    let mut input = typed.unwrap_or_else(|| {
        let texts: Vec<&str> = match way {
            HandWay::Endpoint { path, .. } => vec![path],
            HandWay::Command(words) => words.iter().skip(1).map(String::as_str).collect(),
        };
        let names: Vec<&str> = texts.into_iter().flat_map(placeholders).collect();
        let properties: Map<String, Json> =
            names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        let required: Vec<&String> = properties.keys().collect();
        json!({"required": required, "properties": properties, "additionalProperties": false})
    });
    if let Some(object) = input.as_object_mut() {
        object.entry("type").or_insert_with(|| json!("object"));
    }
    input
}

fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    let named = text.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name);
    named.filter(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-'))
}
