//! Rows with a bar each, as wide as the terminal; where there is none, rows without.

use toolfold_core::shown_line;

use super::super::cost::grouped;
use super::super::output::Style;

pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) about: String,
    pub(crate) tokens: usize,
}

/// Narrower bars say nothing.
const NARROWEST: usize = 8;
const WIDEST: usize = 60;
/// Eighths of a character.
const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// `width`: of the terminal, if there is one.
pub(crate) fn chart(rows: &[Row], width: Option<usize>, style: Style) -> String {
    let longest = |text: fn(&Row) -> usize| rows.iter().map(text).max().unwrap_or(0);
    // A monstrous name must not push the figures out of sight.
    let labels: Vec<String> = rows.iter().map(|row| cut(&shown_line(&row.label), 40)).collect();
    let label = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let about = longest(|row| row.about.chars().count());
    let number = longest(|row| grouped(row.tokens).len());
    let most = longest(|row| row.tokens).max(1);
    let room = width.map(|width| width.saturating_sub(label + about + number + 8).min(WIDEST));
    let mut text = String::new();
    for (row, name) in rows.iter().zip(labels) {
        let mut line = format!("  {name:<label$}  {:<about$}  {:>number$}", row.about, grouped(row.tokens));
        if let Some(room) = room.filter(|room| *room >= NARROWEST) {
            line.push_str(&format!("  {}", style.blue(&bar(row.tokens, most, room))));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Something that costs anything is seen.
fn bar(tokens: usize, most: usize, room: usize) -> String {
    let eighths = (tokens * room * 8).div_ceil(most);
    format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8])
}

fn cut(text: &str, width: usize) -> String {
    match text.chars().count() <= width {
        true => text.to_owned(),
        false => text.chars().take(width - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(label: &str, tokens: usize) -> Row {
        Row { label: label.to_owned(), about: "2 tools".to_owned(), tokens }
    }

    #[test]
    fn bars_fit_the_terminal_and_vanish_without_one() {
        let rows = [row("github", 12_000), row("files", 3_000), row("one", 1)];
        let style = Style::here(false);
        insta::assert_snapshot!(chart(&rows, Some(48), style), @"
          github  2 tools  12,000  █████████████████████
          files   2 tools   3,000  █████▎
          one     2 tools       1  ▏
        ");
        insta::assert_snapshot!(chart(&rows, None, style), @"
          github  2 tools  12,000
          files   2 tools   3,000
          one     2 tools       1
        ");
        for width in [0, 10, 30, 48, 80, 300] {
            let text = chart(&rows, Some(width), style);
            assert!(width < 40 || text.lines().all(|line| line.chars().count() <= width), "{width}\n{text}");
        }
        assert!(chart(&[row(&"x".repeat(500), 1)], Some(100), style).trim_end().chars().count() <= 100);
    }
}
