//! Search results as XML. Everything that is not a tag of ours is text of some server: it is escaped, and characters that
//! XML has no way to write are left out.

use serde_json::Value;

/// `<tools><tool><name>…</name>…</tool></tools>`, a line for each tool, and one for what is missing.
pub(super) fn tools(tools: &[Value], missing: Option<String>) -> String {
    let missing = missing.map(|missing| element("missing", &Value::from(missing)));
    let shown: Vec<String> = tools.iter().map(tool).chain(missing).collect();
    if shown.is_empty() { "<tools></tools>".to_owned() } else { format!("<tools>\n{}\n</tools>", shown.join("\n")) }
}

fn tool(tool: &Value) -> String {
    let members = tool.as_object().into_iter().flatten().map(|(name, value)| match value {
        Value::Array(items) => {
            let items: String = items.iter().map(|item| element("tag", item)).collect();
            format!("<{name}>{items}</{name}>")
        }
        value => element(name, value),
    });
    format!("<tool>{}</tool>", members.collect::<String>())
}

fn element(name: &str, value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    format!("<{name}>{}</{name}>", escaped(&text))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\t' | '\n' | '\r' => escaped.push(c),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c < ' ' => {}
            c => escaped.push(c),
        }
    }
    escaped
}
