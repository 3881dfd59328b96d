//! Rules about characters: what nobody sees, what commands a terminal, what looks like something else, and text that is
//! pushed out of sight.

use std::sync::LazyLock;

use regex::Regex;

use crate::finding::{Family, Finding, Report, Severity};
use crate::lookalike;
use crate::piece::{Piece, Role, cut};
use crate::visible::{Odd, excerpt, odd, tagged, visible};

/// Characters on either side of something that nobody sees.
const AROUND: usize = 60;

pub(crate) fn look(piece: &Piece<'_>, report: &mut Report) {
    report.work += 2 * piece.text.len() as u64;
    hidden(piece, report);
    look_alikes(piece, report);
    out_of_sight(piece, report);
}

fn hidden(piece: &Piece<'_>, report: &mut Report) {
    let mut seen = [None; 3];
    for (at, c, kind) in odd(piece.text) {
        let slot = &mut seen[kind as usize];
        let count = slot.map_or(0, |(_, _, count)| count);
        *slot = Some((slot.map_or(at, |(first, _, _)| first), c, count + 1));
    }
    for (kind, found) in [Odd::Invisible, Odd::Direction, Odd::Control].into_iter().zip(seen) {
        let Some((at, c, count)) = found else { continue };
        let (family, rule, what) = match kind {
            Odd::Invisible => (Family::HiddenCharacters, "invisible", "cannot be seen"),
            Odd::Direction => (Family::HiddenCharacters, "direction", "turn the direction of reading"),
            Odd::Control => (Family::ControlCharacters, "control", "command a terminal"),
        };
        let message = tagged(piece.text);
        let says =
            if message.len() > 1 { format!("; they say {:?}", visible(cut(&message, 120))) } else { String::new() };
        let last = u32::from(c);
        let reason = format!("has {count} characters that {what} (U+{last:04X} among them){says}");
        report.add(finding(piece, family, rule, Severity::Hard, around(piece.text, at), reason));
    }
}

fn look_alikes(piece: &Piece<'_>, report: &mut Report) {
    if piece.text.is_ascii() {
        return;
    }
    if let Some(word) = lookalike::words(piece.text).find(|word| lookalike::is_mixed_word(word)) {
        let foreign: Vec<String> =
            word.chars().filter(|c| !c.is_ascii()).map(|c| format!("{c} = U+{:04X}", u32::from(c))).collect();
        let reason = format!(
            "mixes letters of several scripts in one word, so that it looks like another ({})",
            foreign.join(", ")
        );
        report.add(finding(piece, Family::LookAlikes, "mixed-scripts", Severity::Hard, excerpt(word), reason));
    }
    let is_name = matches!(piece.role, Role::Name | Role::Key);
    let disguised = || lookalike::words(piece.text).any(lookalike::is_disguised);
    let styled = piece.text.chars().filter(|c| lookalike::is_styled(*c)).count();
    if is_name && (styled > 0 || disguised()) {
        let reason = "is a name in letters that look like Latin ones and are not".to_owned();
        report.add(finding(piece, Family::LookAlikes, "disguised-name", Severity::Hard, excerpt(piece.text), reason));
    } else if styled > 3 {
        let reason =
            "writes words in signs that look like letters, which a search for the words does not find".to_owned();
        report.add(finding(piece, Family::LookAlikes, "styled-letters", Severity::Review, excerpt(piece.text), reason));
    }
}

static GAP: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:\r?\n[ \t]{0,200}){12,40}|[ \t\u{a0}\u{3000}]{120,200}").ok());

/// Many empty lines or a very wide gap, with something behind it: a person stops reading there, a model does not.
fn out_of_sight(piece: &Piece<'_>, report: &mut Report) {
    let Some(gap) = GAP.as_ref().and_then(|gap| gap.find(piece.text)) else { return };
    let behind = piece.text[gap.end()..].trim();
    if !behind.is_empty() && !piece.text[..gap.start()].trim().is_empty() {
        let reason = "has text behind a gap so wide that nobody scrolls there".to_owned();
        report.add(finding(piece, Family::OutOfSight, "gap", Severity::Review, excerpt(cut(behind, 400)), reason));
    }
}

fn around(text: &str, at: usize) -> String {
    let before = text[..at].char_indices().rev().nth(AROUND).map_or(0, |(start, _)| start);
    let after = text[at..].char_indices().nth(AROUND).map_or(text.len(), |(end, _)| at + end);
    excerpt(&text[before..after])
}

pub(crate) fn finding(
    piece: &Piece<'_>,
    family: Family,
    rule: &'static str,
    severity: Severity,
    excerpt: String,
    reason: String,
) -> Finding {
    Finding { family, rule, severity, place: piece.place.clone(), excerpt, reason }
}
