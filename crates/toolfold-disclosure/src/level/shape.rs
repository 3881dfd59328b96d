//! A schema as a type in a few characters: `string[]`, `"open"|"closed"`, `{id: int, name?: string, …}`.
//!
//! Two marks, and only one of them asks for another request. `…` stands for what may be left out of a call; `~` stands
//! where a call could go wrong without reading on: a shape or values that are not shown.

use serde_json::Value;
use toolfold_core::{Entry, Fuel, words};

use super::limit::{asks, limited, narrows, unsaid};
use super::order::by_need_inside;
use super::said::is_choice;
use crate::schema::{Parameter, choices, parameters, resolve, types};

/// What cannot be shown and may be needed.
pub(super) const MARK: char = '~';
/// What is left out and need not be known.
pub(super) const CUT: char = '…';
/// Bytes of a parameter's name that somebody might have to write, and letters that are left of a longer one.
const LONGEST_NAME: usize = 200;
const SHORT_NAME: usize = 40;
/// Parts and members that are looked at for one answer. References multiply: a hundred members of a hundred members are few
/// bytes and no end of work. Where it is spent, the rest is told coarsely.
pub(super) const FUEL: u64 = 2_000;
/// Characters of a shape that a call can do without, and of one that it cannot.
const OPTIONAL: usize = 72;
const REQUIRED: usize = 220;
/// Of what most calls give in an object that they cannot do without.
const USUAL: usize = 180;
/// Characters of the first values of a list that is too long.
pub(super) const FIRST_VALUES: usize = 40;
/// Characters around a member of an object beside its name.
const AROUND: usize = 8;
const MOST_CHOICES: usize = 4;
const MOST_VALUES: usize = 24;
const MOST_OPTIONAL: usize = 4;
const DEEPEST: usize = 5;

/// The tool whose parameters are shown.
pub(super) struct Tool<'a> {
    text: &'a str,
    /// The words of its name.
    words: Vec<String>,
    /// It takes one parameter, which holds all that a call gives and is not required.
    takes_one: bool,
}

impl<'a> Tool<'a> {
    pub(super) fn of(entry: &'a Entry) -> Tool<'a> {
        Tool { text: &entry.description, words: words::split(entry.name()), takes_one: false }
    }

    /// The same with what is known of its parameters.
    pub(super) fn with_parameters(self, list: &[Parameter<'_>]) -> Tool<'a> {
        Tool { takes_one: matches!(list, [only] if !only.required), ..self }
    }
}

/// The type of a value that may be left out of a call.
pub(super) fn shape(root: &Value, schema: &Value, fuel: &Fuel) -> String {
    Writer { root, room: OPTIONAL, fuel, tool: None }.shape("", schema, Place::default())
}

/// The type of a parameter, with what its description, or else the tool's, says plainly about its values. Without a tool it is part of
/// what comes back.
pub(super) fn parameter_shape(root: &Value, parameter: &Parameter<'_>, tool: Option<&Tool<'_>>, fuel: &Fuel) -> String {
    let is_main = parameter.required || tool.is_some_and(|tool| tool.takes_one);
    let room = if is_main { REQUIRED } else { OPTIONAL };
    let place = Place { depth: 0, main: is_main.then_some(USUAL) };
    let text = Writer { root, room, fuel, tool }.shape(parameter.name, parameter.schema, place);
    // Not any text will do for what the tool is to do.
    if text == "string" && parameter.required && tool.is_some() && is_choice(parameter.name) {
        return format!("{text}{MARK}");
    }
    // What was not read to its end is what may need reading on.
    let read = fuel.left() > 0 || is_plain(resolve(root, parameter.schema)) || text.contains(MARK);
    if read { text } else { format!("{text}{MARK}") }
}

/// Whether a schema has no parts.
fn is_plain(schema: &Value) -> bool {
    const PARTS: [&str; 8] =
        ["properties", "items", "prefixItems", "anyOf", "oneOf", "allOf", "$ref", "additionalProperties"];
    PARTS.iter().all(|key| schema.get(*key).is_none())
}

/// A parameter's name, or the beginning of one that nobody could write anyway.
pub(super) fn short_name(name: &str) -> String {
    if name.len() <= LONGEST_NAME {
        return name.to_owned();
    }
    let head: String = name.chars().take(SHORT_NAME).collect();
    format!("{head}{CUT}")
}

/// A parameter's name as a signature shows it: as it is where that is safe to read, quoted otherwise.
pub(super) fn shown_name(name: &str) -> String {
    if name.len() > LONGEST_NAME {
        return format!("{}{MARK}", short_name(name));
    }
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-.$@".contains(c));
    if plain { name.to_owned() } else { Value::from(name).to_string() }
}

/// Where in a parameter something is.
#[derive(Clone, Copy, Default)]
struct Place {
    depth: usize,
    /// Characters for what most calls give, where this is what the call is about.
    main: Option<usize>,
}

impl Place {
    fn inside(self) -> Place {
        Place { depth: self.depth + 1, main: None }
    }

    /// Inside what an object is about: of its characters what the name leaves.
    fn about(self, name: &str) -> Place {
        Place { main: self.main.map(|most| most.saturating_sub(name.len() + AROUND)), ..self.inside() }
    }
}

struct Writer<'a> {
    root: &'a Value,
    room: usize,
    fuel: &'a Fuel,
    tool: Option<&'a Tool<'a>>,
}

impl<'a> Writer<'a> {
    fn shape(&self, name: &str, given: &'a Value, place: Place) -> String {
        let schema = resolve(self.root, given);
        if self.fuel.burn(1).is_err() && !(place.depth == 0 && is_plain(schema)) {
            return format!("{}{MARK}", coarse(self.root, schema));
        }
        let told = self.tool.filter(|_| place.depth == 0).map_or("", |tool| tool.text);
        let fine = self.fine(schema, place).map(|text| limited(name, given, schema, told, text));
        let more = unsaid(schema) || narrows(given);
        match fine {
            Some(text) if text.len() <= self.room && more => format!("{}{MARK}", text.trim_end_matches(MARK)),
            Some(text) if text.len() <= self.room => text,
            _ => self.first_values(schema).unwrap_or_else(|| format!("{}{MARK}", coarse(self.root, schema))),
        }
    }

    /// The whole truth, if it is short; `None` where it is not even tried.
    fn fine(&self, schema: &'a Value, place: Place) -> Option<String> {
        if place.depth > DEEPEST {
            return None;
        }
        if let Some(value) = schema.get("const") {
            return Some(value.to_string());
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            let shown: Vec<String> =
                values.iter().filter(|value| !value.is_null()).take(MOST_VALUES + 1).map(Value::to_string).collect();
            return (!shown.is_empty() && shown.len() <= MOST_VALUES).then(|| shown.join("|"));
        }
        let choices = choices(schema);
        if !choices.is_empty() && schema.get("properties").is_none() {
            return self.either(schema, &choices, place);
        }
        if let Some(Value::Array(parts)) = schema.get("allOf") {
            return self.all(schema, parts, place);
        }
        match types(schema).as_slice() {
            [] => Some(self.untyped(schema, place)),
            [only] => self.typed(schema, only, place),
            several => {
                let shapes = several.iter().map(|name| self.typed(schema, name, place));
                shapes.collect::<Option<Vec<String>>>().map(|shapes| shapes.join("|"))
            }
        }
    }

    /// What all parts ask for: an object with the members of all, or what the only one says that says something.
    fn all(&self, schema: &'a Value, parts: &'a [Value], place: Place) -> Option<String> {
        if types(schema).contains(&"object") || !parameters(self.root, schema).list.is_empty() {
            return self.object(schema, place);
        }
        let tells = |part: &&Value| {
            let part = resolve(self.root, part);
            !types(part).is_empty() || asks(part, true)
        };
        let mut telling = parts.iter().filter(tells);
        match (telling.next(), telling.next()) {
            (Some(only), None) => {
                let shown = self.shape("", only, place.inside());
                let is_told = types(schema).is_empty() || shown.trim_end_matches(MARK) != "any";
                let mark = if asks(schema, false) { MARK.to_string() } else { String::new() };
                is_told
                    .then(|| format!("{}{mark}", if mark.is_empty() { &shown } else { shown.trim_end_matches(MARK) }))
            }
            (None, _) => match types(schema).as_slice() {
                [only] => self.typed(schema, only, place),
                [] => Some(self.untyped(schema, place)),
                _ => None,
            },
            _ => None,
        }
    }

    fn either(&self, schema: &'a Value, choices: &[&'a Value], place: Place) -> Option<String> {
        let constants = choices.iter().all(|choice| choice.get("const").is_some() || choice.get("enum").is_some());
        if choices.len() > if constants { MOST_VALUES } else { MOST_CHOICES } {
            return None;
        }
        let mut shapes: Vec<String> = Vec::new();
        for choice in choices {
            let mut shape = self.shape("", choice, place.inside());
            // What is said around all of them is said of each.
            if shape.trim_end_matches(MARK) == "any" && !types(schema).is_empty() {
                shape = shape.replacen("any", &coarse(self.root, schema), 1);
            }
            if !shapes.contains(&shape) {
                shapes.push(shape);
            }
        }
        let shapes = shapes.join("|");
        Some(if asks(schema, false) { format!("{shapes}{MARK}") } else { shapes })
    }

    fn untyped(&self, schema: &'a Value, place: Place) -> String {
        if schema.get("properties").is_some() {
            return self.object(schema, place).unwrap_or_else(|| format!("object{MARK}"));
        }
        match schema.get("items") {
            Some(_) => self.list(schema, place),
            None if asks(schema, false) || schema.get("$ref").is_some() => format!("any{MARK}"),
            // An empty schema takes anything, and so says all there is to say.
            None => "any".to_owned(),
        }
    }

    fn typed(&self, schema: &'a Value, name: &str, place: Place) -> Option<String> {
        match name {
            "integer" => Some("int".to_owned()),
            "boolean" => Some("bool".to_owned()),
            "array" => Some(self.list(schema, place)),
            "object" => self.object(schema, place),
            "string" | "number" | "null" => Some(name.to_owned()),
            _ => Some(format!("any{MARK}")),
        }
    }

    fn list(&self, schema: &'a Value, place: Place) -> String {
        if let Some(Value::Array(leading)) = schema.get("prefixItems").or_else(|| schema.get("items")) {
            if leading.len() > self.room {
                return format!("any[]{MARK}");
            }
            let items: Vec<String> = leading.iter().map(|item| self.shape("", item, place.inside())).collect();
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
            let mark = if least > leading.len() as u64 { MARK.to_string() } else { String::new() };
            return format!("[{}]{mark}", items.join(", "));
        }
        let item = match schema.get("items") {
            Some(items) if items.is_object() => self.shape("", items, place.inside()),
            _ => "any".to_owned(),
        };
        if has_choice(&item) { format!("({item})[]") } else { format!("{item}[]") }
    }

    /// Every required member, then as many others as there is room for.
    fn object(&self, schema: &'a Value, place: Place) -> Option<String> {
        let members = parameters(self.root, schema);
        self.fuel.burn(members.list.len() as u64).ok()?;
        if members.list.is_empty() {
            return Some(self.map(schema, members.conditional, place));
        }
        let mut shown: Vec<String> = Vec::new();
        let words = self.tool.map(|tool| tool.words.as_slice());
        let list: Vec<(&Parameter<'_>, bool)> = match words {
            Some(words) => by_need_inside(words, &members.list)
                .iter()
                .map(|placed| (placed.parameter, placed.is_usual()))
                .collect(),
            None => members.list.iter().map(|member| (member, false)).collect(),
        };
        // What is the only usual one is what the object is about.
        let about_one = list.iter().filter(|(_, usual)| *usual).count() == 1;
        let takes_one = place.depth == 0 && self.tool.is_some_and(|tool| tool.takes_one);
        let (mut length, mut optional, mut cut) = (2, 0, list.len() < members.list.len());
        for (member, usual) in list {
            // Required ones come first: nothing that follows is shown any more.
            if optional == MOST_OPTIONAL {
                cut = true;
                break;
            }
            let name = format!("{}{}", shown_name(member.name), if member.required { "" } else { "?" });
            let inside = if usual && about_one { place.about(&name) } else { place.inside() };
            let text = format!("{name}: {}", self.shape(member.name, member.schema, inside));
            // What the object is all about is named at least, also where a call could do without it.
            let room = match place.main.filter(|_| usual || takes_one) {
                _ if member.required => self.room,
                Some(most) => most,
                None => OPTIONAL.min(self.room),
            };
            let needed = usual && place.main.is_some();
            let fits = |text: &str| length + text.len() + 2 <= room;
            let text = match needed && !member.required && !fits(&text) {
                true => {
                    let target = resolve(self.root, member.schema);
                    format!("{name}: {}{MARK}", coarse(self.root, target))
                }
                false => text,
            };
            match (member.required, fits(&text)) {
                (true, false) => return None,
                (false, false) => cut = true,
                _ => {
                    optional += usize::from(!member.required);
                    length += text.len() + 2;
                    shown.push(text);
                }
            }
        }
        let least = schema.get("minProperties").and_then(Value::as_u64).unwrap_or(0) as usize;
        let required = members.list.iter().filter(|member| member.required).count();
        if shown.is_empty() {
            return None;
        }
        shown.extend(cut.then(|| CUT.to_string()));
        shown.extend((members.conditional || least > required).then(|| MARK.to_string()));
        Some(format!("{{{}}}", shown.join(", ")))
    }

    /// An object without members of its own: any names, perhaps for values of one type.
    fn map(&self, schema: &'a Value, conditional: bool, place: Place) -> String {
        let values = schema.get("additionalProperties").filter(|values| values.is_object());
        let values = values.map(|values| self.shape("", values, place.inside())).filter(|values| values != "any");
        let least = schema.get("minProperties").and_then(Value::as_u64).unwrap_or(0);
        match values {
            _ if conditional || least > 1 => format!("object{MARK}"),
            None if least == 1 => "{[name]: any}".to_owned(),
            None => "object".to_owned(),
            Some(values) => format!("{{[name]: {values}}}"),
        }
    }

    /// Of a list of values that is too long the first ones, which are good for a call.
    fn first_values(&self, schema: &Value) -> Option<String> {
        let values = schema.get("enum").and_then(Value::as_array)?;
        let mut text = String::new();
        for value in values.iter().filter(|value| !value.is_null()).map(Value::to_string) {
            if text.len() + value.len() > FIRST_VALUES {
                break;
            }
            text.push_str(&value);
            text.push('|');
        }
        (!text.is_empty()).then(|| format!("{text}{MARK}"))
    }
}

/// Whether a shape is one of several, outside of all braces and quotation marks.
fn has_choice(shape: &str) -> bool {
    let (mut depth, mut quoted, mut escaped) = (0i32, false, false);
    for c in shape.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            '|' if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

fn coarse(root: &Value, schema: &Value) -> String {
    let name = |name: &str| match name {
        "integer" => "int".to_owned(),
        "boolean" => "bool".to_owned(),
        "array" => match schema.get("items").map(|items| resolve(root, items)).map(types).as_deref() {
            Some(["object"]) => "object[]".to_owned(),
            Some(["string"]) => "string[]".to_owned(),
            _ => "any[]".to_owned(),
        },
        "string" | "number" | "object" => name.to_owned(),
        _ => "any".to_owned(),
    };
    match types(schema).as_slice() {
        [only] => name(only),
        [] if schema.get("properties").is_some() => "object".to_owned(),
        [] if schema.get("enum").is_none() => match choices(schema).as_slice() {
            [only] => types(resolve(root, only)).first().map_or("any".to_owned(), |only| name(only)),
            _ => "any".to_owned(),
        },
        [] => match schema.get("enum").and_then(|values| values.get(0)) {
            Some(Value::String(_)) => "string".to_owned(),
            Some(Value::Number(_)) => "number".to_owned(),
            _ => "any".to_owned(),
        },
        _ => "any".to_owned(),
    }
}
