//! What a definition costs a model that is shown it: its name, its description and what it takes. Clients send their model
//! no more of a tool than that, whatever else its server says of it.

use toolfold_disclosure::tokens;
use toolfold_wire::{Object, Raw, raw};

const SHOWN: [&str; 3] = ["name", "description", "inputSchema"];

/// The tokens of one tool, exactly as o200k_base counts them.
pub(crate) fn of_tool(definition: &Raw) -> usize {
    let Some(whole) = Object::parse(definition) else { return tokens::count(definition.get()) };
    let mut shown = Object::new();
    for key in SHOWN {
        if let Some(value) = whole.get(key) {
            shown.set_raw(key, value.clone());
        }
    }
    tokens::count(raw(&shown).get())
}

/// `1,694,734`
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 tool`, `2 tools`, `1,200 tools`
pub(crate) fn counted(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_model_is_shown_costs_nothing() {
        let of = |text: &str| of_tool(&serde_json::from_str(text).unwrap());
        let plain = r#"{"name":"a","description":"Add.","inputSchema":{"type":"object"}}"#;
        let rich = r#"{"name":"a","title":"A","description":"Add.","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"_meta":{"x":1}}"#;
        assert_eq!(of(plain), of(rich));
        assert_eq!(of(plain), tokens::count(plain));
    }

    #[test]
    fn numbers_are_grouped() {
        let all = [0, 999, 1000, 1_694_734].map(grouped);
        assert_eq!(all, ["0", "999", "1,000", "1,694,734"]);
    }
}
