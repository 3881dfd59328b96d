//! Six ways to say "the value of this variable", each into Toolfold's own `${V}`. What an editor would ask for, or a file
//! would hold, has no translation, and says so.

use std::path::Path;

use serde_json::Value;

use crate::format::FileFormat;
use crate::table::Variables;

/// What a text means that is no variable: folders that an editor knows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Folders<'a> {
    pub(crate) home: Option<&'a Path>,
    pub(crate) project: Option<&'a Path>,
}

/// Why a text has no translation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Untranslated {
    #[error("a value is read from a file there (`{{file:…}}`)")]
    FromFile,
    #[error("a value is asked for by the editor there (`${{input:{0}}}`)")]
    AskedFor(String),
    #[error("`${{{kind}}}` is {what} there, and none is open here")]
    NoFolder { kind: String, what: &'static str },
}

/// The text as Toolfold writes it, or why there is none.
pub(crate) fn translate(text: &str, spelling: Variables, folders: Folders<'_>) -> Result<String, Untranslated> {
    let mut out = Written::default();
    let mut rest = text;
    while !rest.is_empty() {
        let (length, piece) = next(rest, spelling);
        match piece {
            Piece::Text => out.literal(&rest[..length]),
            Piece::Variable(name, default) => out.variable(name, default),
            Piece::Folder(kind) => out.literal(&folder(kind, folders)?),
            Piece::Unknown(why) => return Err(why),
        }
        rest = &rest[length..];
    }
    Ok(out.finish())
}

/// Text that is meant as it is.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = Written::default();
    out.literal(text);
    out.finish()
}

/// Whether something is filled in when the text is used.
pub(crate) fn has_variable(text: &str) -> bool {
    let unescaped = text.replace("$$", "");
    unescaped.contains("${")
}

/// The variables that a text of Toolfold's needs: those without a default.
pub(crate) fn needed(text: &str) -> Vec<String> {
    let unescaped = text.replace("$$", "");
    let names = unescaped.split("${").skip(1).filter_map(|rest| rest.split_once('}')).map(|(inner, _)| inner);
    names.filter(|name| is_name(name)).map(str::to_owned).collect()
}

/// Every variable that a `toolfold.toml` names, with a default or without, each once. Of a broken file: none.
pub fn named_in(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    collect(&FileFormat::Toml.parse(text).unwrap_or_default(), &mut names);
    names
}

fn collect(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let unescaped = text.replace("$$", "");
            for rest in unescaped.split("${").skip(1) {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                let (name, behind) = rest.split_at(end);
                let is_variable = is_name(name) && (behind.starts_with('}') || behind.starts_with(":-"));
                if is_variable && !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        Value::Object(members) => members.values().for_each(|member| collect(member, names)),
        _ => {}
    }
}

pub(crate) fn is_name(name: &str) -> bool {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    plain && name.chars().next().is_some_and(|c| !c.is_ascii_digit())
}

enum Piece<'t> {
    Text,
    Variable(&'t str, Option<&'t str>),
    Folder(&'t str),
    Unknown(Untranslated),
}

/// The length of the next piece, and what it is.
fn next(text: &str, spelling: Variables) -> (usize, Piece<'_>) {
    use Variables::{Any, Braces, Curly, Dollar, Editor, Nothing};
    if spelling == Nothing {
        return (text.len(), Piece::Text);
    }
    if let (Some(inner), Dollar | Braces | Editor | Any) = (text.strip_prefix("${"), spelling)
        && let Some(end) = inner.find('}')
    {
        return (end + 3, braces(&inner[..end], spelling));
    }
    if let (Some(inner), Curly | Any) = (text.strip_prefix('{'), spelling)
        && let Some(end) = inner.find('}')
    {
        if let Some(name) = inner[..end].strip_prefix("env:").filter(|name| is_name(name)) {
            return (end + 2, Piece::Variable(name, None));
        }
        if inner[..end].starts_with("file:") {
            return (end + 2, Piece::Unknown(Untranslated::FromFile));
        }
    }
    if let (Some(inner), Dollar) = (text.strip_prefix('$'), spelling) {
        let end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len());
        if is_name(&inner[..end]) {
            return (end + 1, Piece::Variable(&inner[..end], None));
        }
    }
    let first = text.chars().next().map_or(1, char::len_utf8);
    let more = text[first..].find(['$', '{']).unwrap_or(text.len() - first);
    (first + more, Piece::Text)
}

fn braces(inner: &str, spelling: Variables) -> Piece<'_> {
    let is_editor = matches!(spelling, Variables::Editor | Variables::Any);
    let (name, default) = inner.split_once(":-").map_or((inner, None), |(name, default)| (name, Some(default)));
    if let Some(id) = name.strip_prefix("input:") {
        let id: String = id.chars().filter(|c| !c.is_control()).take(40).collect();
        return Piece::Unknown(Untranslated::AskedFor(id));
    }
    match name.strip_prefix("env:").filter(|_| is_editor).unwrap_or(name) {
        folder @ ("userHome" | "workspaceFolder" | "workspaceRoot" | "pathSeparator" | "/") if is_editor => {
            Piece::Folder(folder)
        }
        name if is_name(name) => Piece::Variable(name, default),
        _ => Piece::Text,
    }
}

fn folder(kind: &str, folders: Folders<'_>) -> Result<String, Untranslated> {
    let told = |path: Option<&Path>, what: &'static str| {
        path.map(|path| path.display().to_string())
            .ok_or_else(|| Untranslated::NoFolder { kind: kind.to_owned(), what })
    };
    match kind {
        "userHome" => told(folders.home, "your home"),
        "workspaceFolder" | "workspaceRoot" => told(folders.project, "the open folder"),
        _ => Ok(std::path::MAIN_SEPARATOR.to_string()),
    }
}

/// A text of Toolfold's, where `$$` is a dollar sign.
#[derive(Default)]
struct Written {
    text: String,
    /// The text ends in a dollar sign that stands for itself, and is not doubled yet.
    dollar: bool,
}

impl Written {
    fn literal(&mut self, text: &str) {
        for c in text.chars() {
            if self.dollar && matches!(c, '$' | '{') {
                self.text.push('$');
            }
            self.text.push(c);
            self.dollar = c == '$';
        }
    }

    fn variable(&mut self, name: &str, default: Option<&str>) {
        if self.dollar {
            self.text.push('$');
        }
        match default {
            Some(default) => self.text.push_str(&format!("${{{name}:-{default}}}")),
            None => self.text.push_str(&format!("${{{name}}}")),
        }
        self.dollar = false;
    }

    fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FOLDERS: Folders<'static> = Folders { home: None, project: None };

    #[test]
    fn six_spellings_become_one() {
        let check = |text: &str, spelling| translate(text, spelling, FOLDERS);
        assert_eq!(check("Bearer ${T}", Variables::Braces).unwrap(), "Bearer ${T}");
        assert_eq!(check("${T:-x}", Variables::Braces).unwrap(), "${T:-x}");
        assert_eq!(check("a$T/b$", Variables::Dollar).unwrap(), "a${T}/b$");
        assert_eq!(check("${env:T}", Variables::Editor).unwrap(), "${T}");
        assert_eq!(check("x{env:T}y", Variables::Curly).unwrap(), "x${T}y");
        assert_eq!(check("${T} $T {env:T} $$", Variables::Nothing).unwrap(), "$${T} $T {env:T} $$$");
        let asked = check("${input:key}", Variables::Editor).unwrap_err();
        assert_eq!(asked.to_string(), "a value is asked for by the editor there (`${input:key}`)");
        assert!(check("{file:~/x}", Variables::Curly).is_err());
        assert!(check("${workspaceFolder}/x", Variables::Editor).is_err());
        let here = Folders { home: Some(Path::new("/h")), project: Some(Path::new("/p")) };
        assert_eq!(translate("${userHome}:${workspaceFolder}", Variables::Editor, here).unwrap(), "/h:/p");
        assert_eq!(check("p$${T}", Variables::Braces).unwrap(), "p$$${T}");
    }

    /// What Toolfold makes of its own text, without variables.
    fn expanded(text: &str) -> String {
        let (mut out, mut rest) = (String::new(), text);
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            assert!(!rest[at..].starts_with("${"), "{text}");
            out.push('$');
            rest = rest[at + 1..].strip_prefix('$').unwrap_or(&rest[at + 1..]);
        }
        out + rest
    }

    proptest! {
        #[test]
        fn a_literal_stays_what_it_is(text in "([$]|[{]|[}]|a|é|:-)*") {
            prop_assert_eq!(expanded(&escaped(&text)), text);
        }

        #[test]
        fn nothing_panics(text in "([$]|[{]|[}]|env:|file:|input:|A|é|:-)*") {
            for spelling in [Variables::Braces, Variables::Dollar, Variables::Editor, Variables::Curly, Variables::Any] {
                let _ = translate(&text, spelling, FOLDERS);
            }
        }
    }
}
