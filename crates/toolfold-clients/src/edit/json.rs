//! Editing JSON, with comments or without. A comma more, a comma less and the entry itself are all that ever changes.

use std::ops::Range;

use jsonc_parser::ast::{self, Object};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy};
use serde::Serialize;
use serde_json::Value;

use super::layout::{Layout, leading, line_start};
use super::{EditError, Shape, Slot, Splice, Traces, wrap};
use crate::format::{json_error, json_options};

type Changes = (Vec<Splice>, Traces);

pub(super) fn set(text: &str, slot: &Slot, value: &Value) -> Result<Changes, EditError> {
    let file = File::read(text)?;
    let Some(root) = &file.root else {
        let whole = file.print(&wrap(&slot.container, slot, value), "", false);
        let gap = if text.trim().is_empty() || text.ends_with('\n') { "" } else { file.layout.eol };
        let inserted = format!("{gap}{whole}{}", file.layout.eol);
        let traces = Traces { created: slot.container.len() + 1, hollow: None };
        return Ok((vec![Splice::insert(text.len(), inserted)], traces));
    };
    let mut object = root.as_object().ok_or(EditError::Strange("the file".to_owned(), "an object"))?;
    for (depth, key) in slot.container.iter().enumerate() {
        let is_last = depth + 1 == slot.container.len();
        match (member(object, key)?, is_last && slot.shape != Shape::Map) {
            (None, _) => {
                let made = wrap(&slot.container[depth + 1..], slot, value);
                let (splices, traces) = file.insert(&Group::of(object), Some(key), &made);
                return Ok((splices, Traces { created: slot.container.len() - depth, ..traces }));
            }
            (Some(found), false) => object = as_object(found, key)?,
            (Some(found), true) => {
                let list = found.value.as_array().ok_or(EditError::Strange(key.clone(), "a list"))?;
                return Ok(match list.elements.iter().find(|item| file.is_named(item, slot)) {
                    Some(item) => (vec![file.replace(item.range(), value)], Traces::default()),
                    None => file.insert(&Group::list(list), None, value),
                });
            }
        }
    }
    Ok(match member(object, &slot.name)? {
        Some(found) => (vec![file.replace(found.value.range(), value)], Traces::default()),
        None => file.insert(&Group::of(object), Some(&slot.name), value),
    })
}

pub(super) fn remove(text: &str, slot: &Slot, traces: &Traces) -> Result<Vec<Splice>, EditError> {
    let file = File::read(text)?;
    let root = file.root.as_ref().and_then(ast::Value::as_object);
    let mut object = root.ok_or(EditError::Strange("the file".to_owned(), "an object"))?;
    // The way to the entry: each container with the member that leads on.
    let mut way: Vec<(Group, usize)> = Vec::new();
    for (depth, key) in slot.container.iter().enumerate() {
        let found = member(object, key)?.ok_or(EditError::Strange(key.clone(), "there"))?;
        way.push((Group::of(object), position(object, key)));
        if depth + 1 == slot.container.len() && slot.shape != Shape::Map {
            let list = found.value.as_array().ok_or(EditError::Strange(key.clone(), "a list"))?;
            let at = list.elements.iter().position(|item| file.is_named(item, slot));
            way.push((Group::list(list), at.ok_or(EditError::Strange(slot.name.clone(), "there"))?));
        } else {
            object = as_object(found, key)?;
        }
    }
    if slot.shape == Shape::Map {
        member(object, &slot.name)?;
        way.push((Group::of(object), position(object, &slot.name)));
    }
    // A container that came with the entry and holds nothing else goes with it.
    let mut left = traces.created;
    while left > 0 && way.len() > 1 && way.last().is_some_and(|(group, _)| file.is_alone(group)) {
        way.pop();
        left -= 1;
    }
    let (group, at) = way.pop().ok_or(EditError::Strange(slot.name.clone(), "there"))?;
    Ok(file.take_out(&group, at, traces.hollow.as_deref()))
}

struct File<'t> {
    text: &'t str,
    root: Option<ast::Value<'t>>,
    /// Comments included.
    tokens: Vec<TokenAndRange<'t>>,
    layout: Layout,
}

/// An object or a list: what is between its brackets, and the places of its members.
struct Group {
    open: usize,
    close: usize,
    members: Vec<Range<usize>>,
}

impl Group {
    fn of(object: &Object<'_>) -> Group {
        Group::new(object.range(), object.properties.iter().map(|member| member.range()))
    }

    fn list(list: &ast::Array<'_>) -> Group {
        Group::new(list.range(), list.elements.iter().map(Ranged::range))
    }

    fn new(whole: jsonc_parser::common::Range, members: impl Iterator<Item = jsonc_parser::common::Range>) -> Group {
        let members = members.map(|range| range.start..range.end).collect();
        Group { open: whole.start + 1, close: whole.end - 1, members }
    }
}

impl<'t> File<'t> {
    fn read(text: &'t str) -> Result<Self, EditError> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = jsonc_parser::parse_to_ast(text, &collect, &json_options()).map_err(|error| json_error(&error))?;
        Ok(File { text, root: parsed.value, tokens: parsed.tokens.unwrap_or_default(), layout: Layout::of(text) })
    }

    fn is_named(&self, item: &ast::Value<'_>, slot: &Slot) -> bool {
        match (item, slot.shape) {
            (ast::Value::StringLit(text), Shape::Strings) => text.value == slot.name,
            (ast::Value::Object(object), Shape::List) => {
                object.get_string("name").is_some_and(|name| name.value == slot.name)
            }
            _ => false,
        }
    }

    fn insert(&self, group: &Group, key: Option<&str>, value: &Value) -> Changes {
        let inner = &self.text[group.open..group.close];
        let commented = self.tokens_in(group.open..group.close).next().is_some();
        let Some(last) = group.members.last() else {
            if commented {
                return (vec![self.after_comments(group, key, value)], Traces::default());
            }
            let traces = Traces { created: 0, hollow: Some(inner.to_owned()) };
            let text = if self.text.trim_end().contains('\n') {
                let base = self.indent_of(group.open);
                let indent = format!("{base}{}", self.layout.unit);
                format!("{eol}{indent}{}{eol}{base}", self.entry(key, value, &indent, false), eol = self.layout.eol)
            } else {
                self.entry(key, value, "", true)
            };
            return (vec![Splice::replace(self.text, group.open..group.close, text)], traces);
        };
        let trailing = self.tokens_in(last.end..group.close).any(|token| token.token == Token::Comma);
        let end = self.end_before(group.close);
        let own_line = self.text[self.end_before(last.start)..last.start].contains('\n');
        let ends_in_comment = self.tokens_in(last.end..group.close).last().is_some_and(is_line_comment);
        let (gap, entry) = if own_line {
            let indent = leading(&self.text[line_start(self.text, last.start)..]).to_owned();
            (format!("{}{indent}", self.layout.eol), self.entry(key, value, &indent, false))
        } else {
            let gap = if ends_in_comment {
                self.layout.eol
            } else if inner.contains(": ") {
                " "
            } else {
                ""
            };
            (gap.to_owned(), self.entry(key, value, "", true))
        };
        let mut splices = Vec::new();
        if !trailing {
            splices.push(Splice::insert(last.end, ","));
        }
        splices.push(Splice::insert(end, format!("{gap}{entry}{}", if trailing { "," } else { "" })));
        (splices, Traces::default())
    }

    /// Into brackets that hold nothing but comments.
    fn after_comments(&self, group: &Group, key: Option<&str>, value: &Value) -> Splice {
        let end = self.end_before(group.close);
        if !self.text[end..group.close].contains('\n') {
            return Splice::insert(end, format!(" {}", self.entry(key, value, "", true)));
        }
        let indent = format!("{}{}", self.indent_of(group.open), self.layout.unit);
        let entry = self.entry(key, value, &indent, false);
        Splice::insert(end, format!("{}{indent}{entry}", self.layout.eol))
    }

    fn take_out(&self, group: &Group, at: usize, hollow: Option<&str>) -> Vec<Splice> {
        if self.is_alone(group) {
            return vec![Splice::replace(self.text, group.open..group.close, hollow.unwrap_or_default())];
        }
        let member = &group.members[at];
        let before = self.tokens.iter().rev().find(|token| token.end() <= member.start);
        let next = self.tokens_in(member.end..group.close).find(|token| !is_comment(token));
        let comma = next.filter(|token| token.token == Token::Comma);
        let after = comma.map_or(member.end, |comma| comma.end());
        let rest =
            self.tokens.iter().find(|token| token.start() >= after).map_or(self.text.len(), |token| token.start());
        // What follows may not slip into a comment.
        let held = before.is_some_and(is_line_comment) && !self.text[after..rest].contains('\n');
        let start = if held { member.start } else { self.end_before(member.start) };
        let mut splices = vec![Splice::remove(self.text, start..member.end)];
        let previous = || self.tokens.iter().rev().find(|token| token.end() <= member.start && !is_comment(token));
        match (comma, previous().filter(|token| token.token == Token::Comma)) {
            (Some(comma), _) | (None, Some(comma)) => {
                splices.push(Splice::remove(self.text, comma.start()..comma.end()));
            }
            (None, None) => {}
        }
        join(self.text, splices)
    }

    /// Whether brackets hold one member at most, and no comment.
    fn is_alone(&self, group: &Group) -> bool {
        let inside = |token: &TokenAndRange<'_>| group.members.iter().any(|member| member.contains(&token.start()));
        group.members.len() <= 1
            && self.tokens_in(group.open..group.close).all(|token| inside(token) || !is_comment(token))
    }

    fn replace(&self, range: jsonc_parser::common::Range, value: &Value) -> Splice {
        let old = &self.text[range.start..range.end];
        let printed = self.print(value, self.indent_of(range.start), !old.contains('\n') && old.len() > 2);
        Splice::replace(self.text, range.start..range.end, printed)
    }

    fn entry(&self, key: Option<&str>, value: &Value, indent: &str, one_line: bool) -> String {
        let value = self.print(value, indent, one_line);
        match key {
            Some(key) if one_line && !self.text.contains("\": ") => format!("{}:{value}", Value::from(key)),
            Some(key) => format!("{}: {value}", Value::from(key)),
            None => value,
        }
    }

    fn print(&self, value: &Value, indent: &str, one_line: bool) -> String {
        if one_line {
            return value.to_string();
        }
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(self.layout.unit.as_bytes());
        let mut printer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        // Neither writing to memory nor a value of plain JSON can fail; if it did, one line is right too.
        let pretty = value.serialize(&mut printer).ok().and_then(|()| String::from_utf8(bytes).ok());
        let pretty = pretty.unwrap_or_else(|| value.to_string());
        pretty.replace('\n', &format!("{}{indent}", self.layout.eol))
    }

    fn indent_of(&self, at: usize) -> &'t str {
        leading(&self.text[line_start(self.text, at)..])
    }

    fn tokens_in(&self, range: Range<usize>) -> impl Iterator<Item = &TokenAndRange<'t>> {
        let first = self.tokens.partition_point(|token| token.start() < range.start);
        self.tokens[first..].iter().take_while(move |token| token.end() <= range.end)
    }

    /// Where the last token or comment before this place ends.
    fn end_before(&self, at: usize) -> usize {
        self.tokens.iter().rev().find(|token| token.end() <= at).map_or(0, |token| token.end())
    }
}

/// Neighbours that touch become one.
fn join(text: &str, mut splices: Vec<Splice>) -> Vec<Splice> {
    splices.sort_by_key(|splice| splice.at);
    let mut joined: Vec<Splice> = Vec::new();
    for splice in splices {
        match joined.last_mut() {
            Some(last) if last.at + last.removed.len() == splice.at => {
                *last = Splice::remove(text, last.at..splice.at + splice.removed.len());
            }
            _ => joined.push(splice),
        }
    }
    joined
}

fn is_comment(token: &TokenAndRange<'_>) -> bool {
    matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_))
}

fn is_line_comment(token: &TokenAndRange<'_>) -> bool {
    matches!(token.token, Token::CommentLine(_))
}

fn as_object<'v, 't>(found: &'v ast::ObjectProp<'t>, key: &str) -> Result<&'v Object<'t>, EditError> {
    found.value.as_object().ok_or_else(|| EditError::Strange(key.to_owned(), "an object"))
}

fn position(object: &Object<'_>, key: &str) -> usize {
    object.properties.iter().position(|member| member.name.as_str() == key).unwrap_or_default()
}

fn member<'v, 't>(object: &'v Object<'t>, key: &str) -> Result<Option<&'v ast::ObjectProp<'t>>, EditError> {
    let mut found = object.properties.iter().filter(|member| member.name.as_str() == key);
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(EditError::Twice(key.to_owned())),
        (first, None) => Ok(first),
    }
}
