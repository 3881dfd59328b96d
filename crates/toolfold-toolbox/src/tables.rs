//! Tools for rows and columns.

use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::tool::{Answer, Reply, Tool, flag, text};

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            "csv_to_json",
            "Read CSV",
            "Read CSV (quoted fields and line breaks inside them included) into one JSON object per row. Values stay text.",
            csv_to_json,
        )
        .needs("csv", text("The CSV text"))
        .takes("delimiter", text("The character between fields; a comma if left out, \\t for tabs"))
        .takes("no_header", flag("The first row is data: columns are then named column1, column2, …"))
        .gives(json!({"rows": {"type": "array", "items": {"type": "object"}}, "count": {"type": "integer"}})),
        Tool::new(
            "markdown_table",
            "Make a table",
            "Write rows (an array of objects) as a Markdown table with aligned columns.",
            markdown_table,
        )
        .needs("rows", json!({"type": "array", "items": {"type": "object"}, "description": "The rows"}))
        .takes("columns", json!({"type": "array", "items": {"type": "string"},
            "description": "The columns to show, in order; all of them if left out"})),
    ]
}

fn csv_to_json(arguments: &Arguments<'_>) -> Answer {
    let delimiter = match arguments.text_or("delimiter", ",")? {
        "\\t" => '\t',
        given => {
            let mut chars = given.chars();
            match (chars.next(), chars.next()) {
                (Some(c), None) if c != '"' && c != '\n' => c,
                _ => return Err(format!("`delimiter` is {given:?}. Give a single character, such as , or ;.")),
            }
        }
    };
    let mut records = records(arguments.text("csv")?, delimiter)?.into_iter();
    let mut rows = Vec::new();
    let header = if arguments.flag("no_header")? { None } else { records.next() };
    for (n, record) in records.enumerate() {
        let fields = record.len();
        if header.as_ref().is_some_and(|header| fields > header.len()) {
            return Err(format!("Row {} has {fields} fields, which is more than the header has.", n + 2));
        }
        let name = |column: usize| match &header {
            Some(header) => header[column].clone(),
            None => format!("column{}", column + 1),
        };
        let row: Map<String, Value> =
            record.into_iter().enumerate().map(|(c, field)| (name(c), field.into())).collect();
        rows.push(row);
    }
    Ok(Reply::Json(json!({"count": rows.len(), "rows": rows})))
}

/// RFC 4180, with any delimiter and any line end. Empty lines are no rows.
fn records(csv: &str, delimiter: char) -> Result<Vec<Vec<String>>, String> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut was_quoted) = (false, false);
    let mut chars = csv.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if field.is_empty() && !was_quoted => (quoted, was_quoted) = (true, true),
            '\r' if !quoted && chars.peek() == Some(&'\n') => {}
            '\n' if !quoted => {
                if !(record.is_empty() && field.is_empty() && !was_quoted) {
                    record.push(std::mem::take(&mut field));
                    records.push(std::mem::take(&mut record));
                }
                was_quoted = false;
            }
            c if c == delimiter && !quoted => {
                record.push(std::mem::take(&mut field));
                was_quoted = false;
            }
            c => field.push(c),
        }
    }
    if quoted {
        return Err("A quoted field is never closed. Add the missing \" to `csv`.".to_owned());
    }
    if !(record.is_empty() && field.is_empty() && !was_quoted) {
        record.push(field);
        records.push(record);
    }
    Ok(records)
}

fn markdown_table(arguments: &Arguments<'_>) -> Answer {
    let rows = arguments.list("rows")?;
    let columns = columns(arguments, rows)?;
    if columns.is_empty() {
        return Err("There is nothing to show: `rows` has no row with a column.".to_owned());
    }
    let cells = |row: &Value| columns.iter().map(|column| cell(row.get(column))).collect::<Vec<String>>();
    let mut table = vec![columns.iter().map(|column| cell(Some(&column.as_str().into()))).collect::<Vec<_>>()];
    table.extend(rows.iter().map(cells));
    let width = |c: usize| table.iter().map(|row| row[c].chars().count()).max().unwrap_or(0).max(3);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let padded = row.iter().zip(&widths).map(|(text, width)| format!("{text:<width$}"));
        format!("| {} |\n", padded.collect::<Vec<_>>().join(" | "))
    };
    let rule = widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>();
    let mut text = line(&table[0]) + &line(&rule);
    text.extend(table[1..].iter().map(line));
    Ok(Reply::Text(text))
}

fn columns(arguments: &Arguments<'_>, rows: &[Value]) -> Result<Vec<String>, String> {
    if arguments.get("columns").is_some() {
        let given = arguments.list("columns")?.iter();
        return Ok(given.filter_map(|column| column.as_str().map(str::to_owned)).collect());
    }
    let mut columns: Vec<String> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for row in rows {
        let Some(members) = row.as_object() else {
            return Err("Every row must be an object of column and value.".to_owned());
        };
        columns.extend(members.keys().filter(|key| known.insert((*key).clone())).cloned());
    }
    Ok(columns)
}

/// A value as it stands in a cell, with what would break the table written otherwise.
fn cell(value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    text.replace('|', "\\|").replace("\r\n", "<br>").replace('\n', "<br>")
}
