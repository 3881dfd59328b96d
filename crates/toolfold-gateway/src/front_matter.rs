//! From the text of a Markdown file with YAML front matter to the definition of an agent or a skill.
//!
//! What a reader would get wrong: much front matter in the wild is not YAML. A description with a colon in it is what
//! people write and what other programs accept, so a file that fails as YAML is read once more with its plain values
//! put in quotes.

use serde_json::{Map, Value};
use toolfold_wire::{Object, Raw};

const LONGEST_NAME: usize = 100;
const DEEPEST: usize = 32;
const MOST_NODES: usize = 20_000;

pub(crate) type Members = Map<String, Value>;

/// What is wrong with a file, in words that follow its name.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BadDocument {
    #[error("has no front matter: its first line must be ---")]
    NoFront,
    #[error("has front matter without an end: a second line --- is missing")]
    Unended,
    #[error("has front matter that is not a list of keys with values")]
    NoKeys,
    #[error("has front matter that is not YAML: {0}")]
    NotYaml(String),
    #[error("has neither a description nor a text")]
    Empty,
    #[error("has an empty name")]
    Nameless,
    #[error("has a name that cannot be used: one line of at most {LONGEST_NAME} characters can")]
    BadName,
}

/// The definition, or what is wrong with the file.
pub(crate) fn definition(text: &str, usual_name: &str) -> Result<Raw, BadDocument> {
    let (front, body) = split(text)?;
    let members = members(front)?;
    let name = named(scalar(&members, &["name"]).as_deref().unwrap_or(usual_name))?;
    let said = scalar(&members, &["description"]).map(|text| text.replace("\\n", "\n"));
    let said = said.or_else(|| first_words(body)).ok_or(BadDocument::Empty)?;
    let (description, told) = without_examples(&said);
    let mut object = Object::new().with("name", &name).with("description", &description);
    let mut add = |key: &str, value: Value| {
        if !is_empty(&value) {
            object.set(key, &value);
        }
    };
    let when = scalar(&members, &["whentouse", "when"]).or_else(|| when_to_use(&description));
    add("whenToUse", when.into());
    add("capabilities", list(&members, &["capabilities", "tags", "keywords"]).into());
    add("constraints", list(&members, &["constraints", "limitations"]).into());
    for key in ["model", "version", "license"] {
        add(key, scalar(&members, &[key]).into());
    }
    add("systemPrompt", body.trim().into());
    let (tools, prohibited) = tools(&members);
    add("tools", tools.into());
    add("prohibitedTools", prohibited.into());
    let written = member(&members, &["examples"]).filter(|value| value.is_array()).cloned();
    add("examples", written.unwrap_or_else(|| told.into()));
    Ok(object.to_raw())
}

/// What is between the two lines of dashes, and what follows.
pub(crate) fn split(text: &str) -> Result<(&str, &str), BadDocument> {
    let text = text.trim_start_matches('\u{feff}');
    let opening = text.lines().next().unwrap_or_default();
    if opening.trim_end() != "---" {
        return Err(BadDocument::NoFront);
    }
    let mut at = text.find('\n').map_or(text.len(), |end| end + 1);
    let start = at;
    for line in text[start..].split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            return Ok((&text[start..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    Err(BadDocument::Unended)
}

/// The members under names without case and punctuation: `allowed-tools`, `allowedTools` and `allowed_tools` are one.
pub(crate) fn members(front: &str) -> Result<Members, BadDocument> {
    let parsed = yaml(front).or_else(|problem| yaml(&quoted(front)).map_err(|_| problem))?;
    let plain = |key: &str| key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    match parsed {
        Value::Object(members) => Ok(members.into_iter().map(|(key, value)| (plain(&key), value)).collect()),
        Value::Null => Ok(Members::new()),
        _ => Err(BadDocument::NoKeys),
    }
}

fn yaml(text: &str) -> Result<Value, BadDocument> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEEPEST,
            max_nodes: MOST_NODES,
            max_anchors: 0,
            max_aliases: 0,
            max_documents: 1,
        },
        with_snippet: false,
    };
    // One line further down, where it is in the file: the dashes are above it.
    serde_saphyr::from_str_with_options(&format!("\n{text}"), options).map_err(|error| {
        let words: Vec<String> = error.to_string().split_whitespace().map(str::to_owned).collect();
        BadDocument::NotYaml(words.join(" "))
    })
}

/// The same text with every plain value of a top-level key in quotes.
fn quoted(front: &str) -> String {
    let quote = |line: &str| {
        let (key, value) = line.split_once(':')?;
        let value = value.trim();
        let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_');
        let is_plain = !value.is_empty() && !value.starts_with(['"', '\'', '[', '{', '|', '>', '#']);
        (is_key && is_plain).then(|| format!("{key}: {}", Value::from(value)))
    };
    front.lines().map(|line| quote(line).unwrap_or_else(|| line.to_owned()) + "\n").collect()
}

fn named(name: &str) -> Result<String, BadDocument> {
    let name = name.trim();
    if name.is_empty() {
        return Err(BadDocument::Nameless);
    }
    if name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(BadDocument::BadName);
    }
    Ok(name.to_owned())
}

fn member<'m>(members: &'m Members, keys: &[&str]) -> Option<&'m Value> {
    keys.iter().find_map(|key| members.get(*key)).filter(|value| !value.is_null())
}

pub(crate) fn scalar(members: &Members, keys: &[&str]) -> Option<String> {
    as_text(member(members, keys)?).filter(|text| !text.trim().is_empty())
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// A list, or text with commas in it.
pub(crate) fn list(members: &Members, keys: &[&str]) -> Vec<String> {
    match member(members, keys) {
        Some(Value::Array(items)) => items.iter().filter_map(as_text).filter(|text| !text.is_empty()).collect(),
        Some(value) => as_text(value).map(|text| separated(&text)).unwrap_or_default(),
        None => Vec::new(),
    }
}

/// Split at commas, but not at those inside brackets: `Bash(git add, git commit), Read` is two.
fn separated(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let pieces = text.split(|c| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    pieces.map(str::trim).filter(|piece| !piece.is_empty()).map(str::to_owned).collect()
}

/// The tools that may and that may not be used; some programs write both as one table of `name: true` or `false`.
fn tools(members: &Members) -> (Vec<String>, Vec<String>) {
    const ALLOWED: [&str; 2] = ["tools", "allowedtools"];
    let mut prohibited = list(members, &["prohibitedtools", "disallowedtools", "deniedtools", "forbiddentools"]);
    let Some(Value::Object(switches)) = member(members, &ALLOWED) else {
        return (list(members, &ALLOWED), prohibited);
    };
    let set = |wanted: bool| switches.iter().filter(move |(_, value)| **value == Value::Bool(wanted));
    prohibited.extend(set(false).map(|(name, _)| name.clone()));
    (set(true).map(|(name, _)| name.clone()).collect(), prohibited)
}

/// The description, and the `<example>` blocks that some programs want inside it.
fn without_examples(text: &str) -> (String, Vec<String>) {
    let (mut plain, mut examples, mut rest) = (String::new(), Vec::new(), text);
    while let Some((before, after)) = rest.split_once("<example>") {
        plain.push_str(before);
        let (example, behind) = after.split_once("</example>").unwrap_or((after, ""));
        examples.push(example.trim().to_owned());
        rest = behind;
    }
    plain.push_str(rest);
    let plain = plain.trim().trim_end_matches("Examples:").trim_end_matches("Example:").trim();
    (if plain.is_empty() { examples.first().cloned().unwrap_or_default() } else { plain.to_owned() }, examples)
}

/// The sentence of a description that says when: "Use when …", "Use this agent to …".
fn when_to_use(description: &str) -> Option<String> {
    let sentences = description.lines().flat_map(|line| line.split_inclusive(". "));
    let says_when = |sentence: &&str| {
        let lower = sentence.to_lowercase();
        lower.starts_with("use ") || ["use when", "use this", "use it", "used when"].iter().any(|w| lower.contains(w))
    };
    sentences.map(str::trim).find(says_when).map(|sentence| sentence.trim_end_matches('.').to_owned())
}

/// The first line of prose.
fn first_words(body: &str) -> Option<String> {
    let lines = body.lines().map(|line| line.trim_start_matches(['#', '>', '*', '-', ' ']).trim());
    lines.filter(|line| line.contains(' ')).map(str::to_owned).next()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        definition(text, "usual").map_or_else(|why| why.to_string(), |raw| raw.get().to_owned())
    }

    #[test]
    fn an_agent_with_everything() {
        let text = "---\nname: explorer\ndescription: Searches code. Use when you must find it.\ntools: Read, Bash(git log, git show)\n\
                    disallowed-tools: [Write]\ncapabilities: [file-search]\nconstraints: read-only\nmodel: sonnet\n---\n\nYou explore.\n";
        insta::assert_snapshot!(read(text), @r#"{"name":"explorer","description":"Searches code. Use when you must find it.","whenToUse":"Use when you must find it","capabilities":["file-search"],"constraints":["read-only"],"model":"sonnet","systemPrompt":"You explore.","tools":["Read","Bash(git log, git show)"],"prohibitedTools":["Write"]}"#);
    }

    #[test]
    fn what_is_missing_is_made_from_what_there_is() {
        insta::assert_snapshot!(read("---\n---\n# Title\nDoes a thing well.\n"), @r##"{"name":"usual","description":"Does a thing well.","systemPrompt":"# Title\nDoes a thing well."}"##);
    }

    #[test]
    fn front_matter_that_people_write_although_it_is_not_yaml() {
        let text = "---\nname: r\ndescription: Use this agent when: code is done. Examples:\\n<example>user: \"hi\"</example>\ncolor: blue\n---\nx";
        insta::assert_snapshot!(read(text), @r#"{"name":"r","description":"Use this agent when: code is done.","whenToUse":"Use this agent when: code is done","systemPrompt":"x","examples":["user: \"hi\""]}"#);
    }

    #[test]
    fn tools_as_switches() {
        let text = "---\nname: a\ndescription: b\ntools:\n  write: false\n  read: true\n---\n";
        insta::assert_snapshot!(read(text), @r#"{"name":"a","description":"b","tools":["read"],"prohibitedTools":["write"]}"#);
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        let deep = format!("---\nname: a\nx: {}\n---\n", "[".repeat(99) + &"]".repeat(99));
        let aliases = "---\nname: a\ndescription: b\na: &a [x]\nb: [*a, *a]\n---\n";
        let long = format!("---\nname: {}\ndescription: b\n---\n", "n".repeat(101));
        let found = [
            read("no front"),
            read("---\nname: a\n"),
            read("---\n- a\n- b\n---\n"),
            read("---\nname: a\n---\n"),
            read("---\nname: [\n---\nbody"),
            read(&long),
            read(&deep),
            read(aliases),
            read(""),
        ];
        insta::assert_snapshot!(found.join("\n"), @r"
        has no front matter: its first line must be ---
        has front matter without an end: a second line --- is missing
        has front matter that is not a list of keys with values
        has neither a description nor a text
        has front matter that is not YAML: unclosed bracket '[' at line 2, column 7
        has a name that cannot be used: one line of at most 100 characters can
        has front matter that is not YAML: budget breached: Depth { depth: 33 } at line 3, column 35
        has front matter that is not YAML: budget breached: Anchors { anchors: 1 } at line 4, column 7
        has no front matter: its first line must be ---
        ");
    }

    proptest::proptest! {
        /// Whatever lies in a folder of agents.
        #[test]
        fn any_file_is_a_definition_or_says_why(front in "(\\PC|[\n:#&*!|>'\"%@\\[\\]{},-]){0,200}", body in "(\\PC|\n){0,200}") {
            for text in [format!("---\n{front}\n---\n{body}"), front] {
                match definition(&text, "usual") {
                    Ok(made) => {
                        let object = Object::parse(&made).unwrap();
                        let name = object.string("name").unwrap();
                        assert!(!name.is_empty() && name.chars().count() <= LONGEST_NAME, "{name}");
                    }
                    Err(why) => assert!(why.to_string().len() < 2_000, "{why}"),
                }
            }
        }
    }
}
