//! Tools for rows and columns.

use serde_json::{Map, Value, json};

use crate::arguments::Arguments;
use crate::page::Page;
use crate::problem::{LARGEST, Problem, told};
use crate::tool::{Replied, Reply, Tool, flag, text};

/// What a field takes beside its text: so many of them are held at once.
const FIELD: usize = 16;
const FEWER: &str = "Take fewer rows or columns at a time.";

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
            "Rows as Markdown",
            "Convert rows (an array of objects) to Markdown text: a table with aligned columns.",
            markdown_table,
        )
        .needs("rows", json!({"type": "array", "items": {"type": "object"}, "description": "The rows"}))
        .takes("columns", json!({"type": "array", "items": {"type": "string"},
            "description": "The columns to show, in order; all of them if left out"})),
    ]
}

fn csv_to_json(arguments: &Arguments<'_>) -> Replied {
    let delimiter = match arguments.word_or("delimiter", ",")? {
        "\\t" => '\t',
        given => {
            let mut chars = given.chars();
            match (chars.next(), chars.next()) {
                (Some(c), None) if c != '"' && c != '\n' => c,
                _ => return Err(told!("`delimiter` is {given:?}. Give a single character, such as , or ;.")),
            }
        }
    };
    let mut records = records(arguments.text("csv")?, delimiter)?.into_iter();
    let (mut rows, mut size) = (Vec::new(), 0);
    let header = if arguments.flag("no_header")? { None } else { records.next() };
    for (n, record) in records.enumerate() {
        let fields = record.len();
        if header.as_ref().is_some_and(|header| fields > header.len()) {
            return Err(told!("Row {} has {fields} fields, which is more than the header has.", n + 2));
        }
        // Every row has the names of the header again.
        size += header.iter().flatten().take(fields).map(|name| name.len() + FIELD).sum::<usize>();
        size += record.iter().map(|field| field.len() + FIELD).sum::<usize>();
        arguments.fuel.burn(10 * fields as u64)?;
        if size > 2 * LARGEST {
            return Err(Problem::TooLarge(FEWER));
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
fn records(csv: &str, delimiter: char) -> Result<Vec<Vec<String>>, Problem> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut was_quoted, mut fields) = (false, false, 0);
    let mut chars = csv.chars().peekable();
    while let Some(c) = chars.next() {
        fields += usize::from(c == delimiter || c == '\n');
        if fields * FIELD > 2 * LARGEST {
            return Err(Problem::TooLarge(FEWER));
        }
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
        return Err(told!("A quoted field is never closed. Add the missing \" to `csv`."));
    }
    if !(record.is_empty() && field.is_empty() && !was_quoted) {
        record.push(field);
        records.push(record);
    }
    Ok(records)
}

fn markdown_table(arguments: &Arguments<'_>) -> Replied {
    let rows = arguments.list("rows")?;
    let columns = columns(arguments, rows)?;
    if columns.is_empty() {
        return Err(told!("There is nothing to show: `rows` has no row with a column."));
    }
    let cells = columns.len().saturating_mul(rows.len() + 1);
    if cells.saturating_mul(FIELD) > 4 * LARGEST {
        return Err(Problem::TooLarge(FEWER));
    }
    arguments.fuel.burn(10 * cells as u64)?;
    let mut size = 0;
    let mut table = vec![row(columns.iter().map(|column| Some(Value::from(column.as_str()))), &mut size)?];
    for members in rows {
        table.push(row(columns.iter().map(|column| members.get(column).cloned()), &mut size)?);
    }
    let width = |c: usize| table.iter().map(|row| row[c].chars().count()).max().unwrap_or(0).max(3);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut page = Page::new(arguments.fuel, FEWER);
    for (n, row) in table.iter().enumerate() {
        line(&mut page, row, &widths)?;
        if n == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            line(&mut page, &rule, &widths)?;
        }
    }
    Ok(Reply::Text(page.finish()))
}

/// The cells of a row; `size` counts what they are together, so that a cell that is shown often is not made often.
fn row(values: impl Iterator<Item = Option<Value>>, size: &mut usize) -> Result<Vec<String>, Problem> {
    let mut cells = Vec::new();
    for value in values {
        let cell = cell(value.as_ref());
        *size += cell.len();
        if *size > LARGEST {
            return Err(Problem::TooLarge(FEWER));
        }
        cells.push(cell);
    }
    Ok(cells)
}

fn line(page: &mut Page<'_>, row: &[String], widths: &[usize]) -> Result<(), Problem> {
    page.push("|")?;
    for (text, width) in row.iter().zip(widths) {
        page.push(" ")?;
        page.push(text)?;
        page.push_blanks(width.saturating_sub(text.chars().count()) + 1)?;
        page.push("|")?;
    }
    page.push("\n")
}

fn columns(arguments: &Arguments<'_>, rows: &[Value]) -> Result<Vec<String>, Problem> {
    if arguments.get("columns").is_some() {
        let given = arguments.list("columns")?.iter();
        return Ok(given.filter_map(|column| column.as_str().map(str::to_owned)).collect());
    }
    let mut columns: Vec<String> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for row in rows {
        let Some(members) = row.as_object() else {
            return Err(told!("Every row must be an object of column and value."));
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
