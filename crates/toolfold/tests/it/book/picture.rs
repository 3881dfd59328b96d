//! The session of a document as a picture: an SVG in which a terminal is typed into. What it shows is what the document
//! shows, and that is what was said when a test typed it.

use super::document::{Document, Step};

const LINE: usize = 20;
const CHARACTER: f64 = 8.4;
const MARGIN: usize = 20;
/// Seconds before a command, and after it.
const PAUSE: f64 = 0.9;
const READING: f64 = 1.4;

/// One line, when it appears, and whether somebody typed it.
struct Shown {
    text: String,
    at: f64,
    typed: bool,
}

pub(super) fn drawn(document: &Document) -> String {
    let lines = shown(document);
    assert!(!lines.is_empty(), "{}: no block is part of the session", document.name);
    let columns = lines.iter().map(|line| line.text.chars().count()).max().unwrap_or(0);
    let width = (columns as f64 * CHARACTER) as usize + 2 * MARGIN;
    let height = lines.len() * LINE + 2 * MARGIN + 24;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\n\
         <title>Toolfold in a terminal: the servers of a client are taken over, and a tool is found and called</title>\n\
         <style>\n\
         text {{ font: 14px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #d8dee9; white-space: pre; }}\n\
         .typed {{ fill: #a3e08b; }}\n\
         @media (prefers-reduced-motion: no-preference) {{ .line {{ animation: appear 0.01s both; }} }}\n\
         @keyframes appear {{ from {{ opacity: 0; }} to {{ opacity: 1; }} }}\n\
         </style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1e222a\"/>\n\
         <circle cx=\"20\" cy=\"18\" r=\"5\" fill=\"#bf616a\"/><circle cx=\"38\" cy=\"18\" r=\"5\" fill=\"#ebcb8b\"/><circle cx=\"56\" cy=\"18\" r=\"5\" fill=\"#a3be8c\"/>\n"
    );
    for (place, line) in lines.iter().enumerate().filter(|(_, line)| !line.text.is_empty()) {
        let kind = if line.typed { "line typed" } else { "line" };
        let down = MARGIN + 24 + place * LINE + 14;
        svg += &format!(
            "<text class=\"{kind}\" x=\"{MARGIN}\" y=\"{down}\" style=\"animation-delay:{:.1}s\" xml:space=\"preserve\">{}</text>\n",
            line.at,
            escaped(&line.text)
        );
    }
    svg + "</svg>\n"
}

fn shown(document: &Document) -> Vec<Shown> {
    let mut lines: Vec<Shown> = Vec::new();
    let mut at = 0.0;
    for step in &document.steps {
        let Step::Command(typed) = step else { continue };
        if !typed.pictured {
            continue;
        }
        if !lines.is_empty() {
            lines.push(Shown { text: String::new(), at, typed: false });
        }
        at += PAUSE;
        for (place, line) in typed.command.lines().enumerate() {
            let text = if place == 0 { format!("$ {line}") } else { line.to_owned() };
            lines.push(Shown { text, at, typed: true });
        }
        at += PAUSE;
        let answer = document.answer(typed).iter().rev().skip_while(|line| line.trim().is_empty());
        let answer: Vec<&String> = answer.collect();
        lines.extend(answer.into_iter().rev().map(|line| Shown { text: line.clone(), at, typed: false }));
        at += READING;
    }
    lines
}

/// Fit for XML, with what is left out as people write it.
fn escaped(text: &str) -> String {
    let text = if text.trim() == "..." { "…".to_owned() } else { text.replace("[..]", "…") };
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
