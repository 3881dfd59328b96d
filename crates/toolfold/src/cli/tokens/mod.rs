//! `toolfold tokens`: what tools cost a model that is shown them all, and what they cost through Toolfold.

mod bill;
mod chart;
mod family;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolfold_core::{shown_line, words};
use toolfold_gateway::Gateway;

use super::ask::{Answer, Ask, Needs};
use super::cost::{counted, grouped};
use super::output::{Style, as_json, columns, print, print_json, table};
use super::{Common, Fail, open};
use bill::{Bill, Part};
use chart::{Row, chart};
use family::{FAMILIES, FRAMINGS};

#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[command(after_help = "\
What is counted: name, description and parameters of every tool, as compact JSON. For o200k_base (GPT-4o, GPT-4.1, GPT-5) the \
figures are exact. For other models they are ranges, made by counting 4,378 tools of 107 real servers with each vocabulary: nine \
of ten servers are within. Claude's vocabularies are not published; its ranges rest on an unofficial reconstruction. Framing, what \
a provider wraps around tools, is an estimate of its own and not part of any other figure.

A search is measured on your own tools: they are asked for in two words of their descriptions, which costs about what real questions \
do, and question and answer are counted together. Every answer is assumed to stay in the conversation.

Where `toolfold serve` runs with the same configuration, it is asked; else what is remembered is counted.")]
pub(crate) struct Tokens {
    /// Only this server, tool by tool
    server: Option<String>,
    /// Tell also what each tool costs
    #[arg(long)]
    tools: bool,
    /// How many rows of a list to show; 0 for all
    #[arg(long, short = 'n', default_value_t = 25)]
    limit: usize,
}

impl Tokens {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let answer = open::ask(common, Ask::Tokens(self.clone()))?;
        let bill: Bill = serde_json::from_str(&answer.text).map_err(|error| Fail::machine(error.to_string()))?;
        let parts = self.parts(&bill)?;
        if common.json {
            return print_json(&as_value(&bill, &parts));
        }
        let style = Style::here(false);
        print(&self.to_text(&bill, &parts, style))
    }

    pub(crate) fn needs(&self) -> Needs {
        self.server.clone().map_or(Needs::All, Needs::Server)
    }

    pub(crate) async fn answer(&self, gateway: &Gateway) -> Result<Answer, Fail> {
        as_json(&Bill::of(gateway).await).map(Answer::new)
    }

    fn parts<'b>(&self, bill: &'b Bill) -> Result<Vec<&'b Part>, Fail> {
        let Some(wanted) = &self.server else { return Ok(bill.servers.iter().collect()) };
        if let Some(part) = bill.servers.iter().find(|part| part.server == *wanted) {
            return Ok(vec![part]);
        }
        if let Some((_, why)) = bill.missing.iter().find(|(name, _)| name == wanted) {
            return Err(Fail::nothing(format!(
                "{} has no tool that is known: {}",
                shown_line(wanted),
                shown_line(why)
            ))
            .hint(format!("`toolfold doctor {}` tries it", shown_line(wanted))));
        }
        let fail = Fail::usage(format!("there is no server {wanted:?}"));
        let missing = bill.missing.iter().map(|(name, _)| name.as_str());
        let known = bill.servers.iter().map(|part| part.server.as_str()).chain(missing);
        Err(match words::nearest(wanted, known.clone()) {
            Some(near) => fail.hint(format!("did you mean {near:?}?")),
            None => fail.hint(format!("servers: {}", known.take(12).collect::<Vec<_>>().join(", "))),
        })
    }

    fn to_text(&self, bill: &Bill, parts: &[&Part], style: Style) -> String {
        let mut text = String::new();
        if self.server.is_none() {
            let row = |part: &&Part| Row {
                label: part.server.clone(),
                about: counted(part.tools.len(), "tool"),
                tokens: part.tokens(),
            };
            text.push_str(&style.bold("What the servers cost when every tool is shown (o200k_base, exact)"));
            text.push('\n');
            text.push_str(&self.rows(parts.iter().map(row).collect(), style));
        }
        if self.tools || self.server.is_some() {
            let mut rows: Vec<Row> = parts.iter().flat_map(|part| &part.tools).map(tool_row).collect();
            rows.sort_by_key(|row| std::cmp::Reverse(row.tokens));
            let title = match parts {
                [one] => format!(
                    "The tools of {}: {} tokens (o200k_base, exact)",
                    shown_line(&one.server),
                    grouped(one.tokens())
                ),
                _ => "The tools (o200k_base, exact)".to_owned(),
            };
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}{}\n{}", style.bold(&title), self.rows(rows, style)));
        }
        if self.server.is_none() {
            text.push_str(&compared(bill, style));
            text.push_str(&families(bill, style));
        }
        for (name, why) in bill.missing.iter().filter(|_| self.server.is_none()) {
            text.push_str(&format!("\nnot counted: {} ({})", shown_line(name), shown_line(why)));
        }
        text
    }

    fn rows(&self, mut rows: Vec<Row>, style: Style) -> String {
        let left = if self.limit > 0 { rows.len().saturating_sub(self.limit) } else { 0 };
        let rest: usize = rows.iter().rev().take(left).map(|row| row.tokens).sum();
        rows.truncate(rows.len() - left);
        let mut text = chart(&rows, columns(), style);
        if left > 0 {
            text.push_str(&format!(
                "  and {} more with {} tokens (--limit 0 shows all)\n",
                grouped(left),
                grouped(rest)
            ));
        }
        text
    }
}

fn tool_row((tool, tokens): &(String, usize)) -> Row {
    Row { label: tool.clone(), about: String::new(), tokens: *tokens }
}

/// Directly, through Toolfold, and when that stops paying.
fn compared(bill: &Bill, style: Style) -> String {
    let ((tools, direct), through) = (bill.direct(), bill.through());
    let rows = [
        vec!["directly".to_owned(), counted(tools, "tool"), grouped(direct), String::new()],
        vec![
            "through Toolfold".to_owned(),
            counted(bill.shown.0, "tool"),
            grouped(through),
            format!("{} for the tools, {} for instructions", grouped(bill.shown.1), grouped(bill.instructions)),
        ],
    ];
    let mut text = format!("\n{}\n{}", style.bold("In every request"), indented(&right(&rows)));
    if tools == 0 {
        text.push_str("  No tool could be counted: `toolfold doctor` says what is wrong with the servers.\n");
        return text;
    }
    let Some(search) = bill.search else {
        text.push_str("  The surface is direct: every tool is shown, and nothing is saved.\n");
        return text;
    };
    text.push_str(&format!(
        "  one search        about {} tokens, question and answer; nine of ten are between {} and {}\n",
        grouped(search.mean),
        grouped(search.low),
        grouped(search.high)
    ));
    text.push_str(&pays(bill));
    text
}

fn pays(bill: &Bill) -> String {
    let direct = "`toolfold serve --surface direct` shows them as they are";
    match bill.pays_for() {
        None => String::new(),
        Some((_, 0)) => format!("  So few tools cost less without Toolfold's search: {direct}.\n"),
        Some((least, usual)) => format!(
            "  It pays for about {usual} searches in a conversation ({least} if all were among the longest); after that, showing every tool\n  \
             would have cost less.\n"
        ),
    }
}

fn families(bill: &Bill, style: Style) -> String {
    let ((tools, direct), through) = (bill.direct(), bill.through());
    let row = |family: &family::Family| {
        vec![family.models.to_owned(), family.shown(direct), family.shown(through), family.how.to_owned()]
    };
    let heading = ["", "directly", "Toolfold", ""].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(FAMILIES.iter().map(row)).collect();
    let mut text = format!("\n{}\n{}", style.bold("By model family"), indented(&right(&rows)));
    let framing =
        |framing: &family::Framing| vec![framing.models.to_owned(), framing.shown(tools), framing.shown(bill.shown.0)];
    let rows: Vec<Vec<String>> = FRAMINGS.iter().map(framing).collect();
    text.push_str(&format!(
        "\n{}\n{}",
        style.bold("On top of that, what the provider wraps around tools (an estimate)"),
        indented(&right(&rows))
    ));
    text
}

/// Numbers end at the same column.
fn right(rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let aligned = |row: &Vec<String>| -> Vec<String> {
        let cell = |(place, cell): (usize, &String)| match place {
            1 | 2 => format!("{cell:>width$}", width = width(place)),
            _ => cell.clone(),
        };
        row.iter().enumerate().map(cell).collect()
    };
    table(&rows.iter().map(aligned).collect::<Vec<_>>())
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

fn as_value(bill: &Bill, parts: &[&Part]) -> Value {
    let ((tools, direct), through) = (bill.direct(), bill.through());
    let part = |part: &&Part| {
        let tools: Vec<Value> =
            part.tools.iter().map(|(tool, tokens)| json!({"tool": tool, "tokens": tokens})).collect();
        json!({"server": part.server, "tokens": part.tokens(), "tools": tools})
    };
    json!({
        "encoding": "o200k_base",
        "surface": bill.surface,
        "direct": {"tools": tools, "tokens": direct},
        "toolfold": {"tools": bill.shown.0, "tokens": through, "tool_tokens": bill.shown.1, "instruction_tokens": bill.instructions},
        "search": bill.search,
        "pays_for_searches": bill.pays_for(),
        "families": FAMILIES.iter().map(|family| family.to_json(direct, through)).collect::<Vec<_>>(),
        "framing": FRAMINGS.iter().map(|framing| framing.to_json(tools, bill.shown.0)).collect::<Vec<_>>(),
        "servers": parts.iter().map(part).collect::<Vec<_>>(),
        "missing": bill.missing.iter().map(|(name, why)| json!({"server": name, "why": why})).collect::<Vec<_>>(),
    })
}
