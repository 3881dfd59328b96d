//! A catalog as declarations of TypeScript: what a program may call, for editors, type checkers and models that want more
//! than one line of each tool. Names are what they are in a script: `tools.server.tool(…)`.
//!
//! What a reader would get wrong: every word in here may be a server's. A description cannot end its comment, and a name
//! that is no identifier becomes one.

mod shape;

use std::collections::HashSet;

use serde_json::Value;
use toolfold_core::{Entry, ServerName};

use crate::level::summary;
use crate::view::View;
use shape::{Loose, shape};

/// What a program finds beside the tools.
const WORLD: &str = r"/** What is thrown where a tool fails or a call is refused. */
declare class ToolError extends Error {
  code: string;
  hints: string[];
  details?: any;
  result?: any;
}
/** Calls a tool by its id. With `raw`, the result as the server sent it. */
declare function call(id: string, args?: object, options?: { raw?: boolean }): Promise<any>;
/** Finds tools by what they do. */
declare function find(query: string, limit?: number): Promise<{ id: string; line: string; summary: string; readOnly: boolean }[]>;
/** Reads the whole definition of a tool. */
declare function describe(id: string): Promise<any>;
/** Reads a kept result. */
declare function result(handle: string): Promise<any>;
declare function print(...values: unknown[]): void;
/** Shows an image or other content to whoever asked. */
declare function show(content: any): void;
/** The `input` of run_code. */
declare const input: any;
";

/// Words that cannot be the name of a function or a namespace.
const RESERVED: [&str; 49] = [
    "abstract",
    "any",
    "arguments",
    "await",
    "boolean",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
];
const RESERVED_TOO: [&str; 5] = ["with", "yield", "undefined", "never", "unknown"];
/// Characters of a comment.
const LONGEST: usize = 300;

/// The declarations of everything that can be called, or of what these servers have.
pub fn declarations(view: &View<'_>, only: &[ServerName]) -> String {
    let mut text = String::from(WORLD);
    text.push_str("declare namespace tools {\n");
    let mut names = HashSet::new();
    for (server, tools) in view.tools_by_server() {
        if !only.is_empty() && !only.contains(server) {
            continue;
        }
        let entries: Vec<&Entry> = tools.into_iter().map(|position| &**view.entry(position)).collect();
        let name = Name::of(server.as_str());
        if names.insert(name.plain.clone()) {
            text.push_str(&namespace(&name, &entries));
        } else {
            text.push_str(&format!(
                "  // {}: use call(\"{}.…\", …)\n",
                comment(server.as_str()),
                comment(server.as_str())
            ));
        }
    }
    text.push_str("}\n");
    text
}

fn namespace(name: &Name, entries: &[&Entry]) -> String {
    let mut text = format!("  export namespace {} {{\n", name.declared());
    let mut names = HashSet::new();
    for entry in entries {
        let function = Name::of(entry.name());
        if names.insert(function.plain.clone()) {
            text.push_str(&declaration(&function, entry));
        } else {
            text.push_str(&format!(
                "    // call({}, …): its name is another's here\n",
                Value::from(entry.id.to_string())
            ));
        }
    }
    text.push_str("  }\n");
    text.push_str(&name.exported("  "));
    text
}

fn declaration(function: &Name, entry: &Entry) -> String {
    let input = entry.input_schema();
    let needed = input["required"].as_array().is_some_and(|required| !required.is_empty());
    let optional = if needed { "" } else { "?" };
    let output = entry.output_schema();
    let output = if output.is_object() { shape(&output, Loose::Any) } else { "any".to_owned() };
    let about = comment(&summary(entry));
    let args = shape(&input, Loose::Unknown);
    let declared = function.declared();
    let exported = function.exported("    ");
    format!(
        "    /** {about} */\n    export function {declared}(args{optional}: {args}): Promise<{output}>;\n{exported}"
    )
}

/// A name as an identifier.
struct Name {
    plain: String,
    reserved: bool,
}

impl Name {
    fn of(name: &str) -> Name {
        let fits = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '$' { c } else { '_' };
        let mut plain: String = name.chars().map(fits).collect();
        if plain.is_empty() || plain.starts_with(|c: char| c.is_ascii_digit()) {
            plain.insert(0, '_');
        }
        let reserved = RESERVED.contains(&plain.as_str()) || RESERVED_TOO.contains(&plain.as_str());
        Name { plain, reserved }
    }

    fn declared(&self) -> String {
        if self.reserved { format!("{}_", self.plain) } else { self.plain.clone() }
    }

    /// What gives a reserved word back to what could not be declared by it.
    fn exported(&self, indent: &str) -> String {
        match self.reserved {
            true => format!("{indent}export {{ {}_ as {} }};\n", self.plain, self.plain),
            false => String::new(),
        }
    }
}

/// Text that ends no comment and begins no line.
pub(super) fn comment(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).collect();
    let line = words.join(" ").replace("*/", "* /");
    if line.chars().count() <= LONGEST { line } else { line.chars().take(LONGEST).collect::<String>() + "…" }
}
