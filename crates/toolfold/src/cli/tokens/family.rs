//! What a text costs other models than the one whose tokens are counted here, as a range.
//!
//! What a reader would get wrong: there is no single number, least of all for Claude, whose tokenizers are not published. A
//! range is where nine of ten real servers lie: 4,378 tools of 107 servers were counted with each vocabulary, and each
//! server's sum divided by its sum in o200k_base.

use serde_json::{Value, json};

use super::super::cost::grouped;

pub(crate) struct Family {
    pub(crate) models: &'static str,
    /// Times o200k_base: of the twentieth part that is cheapest, and of the one that is dearest.
    low: f64,
    high: f64,
    pub(crate) how: &'static str,
}

pub(crate) const FAMILIES: [Family; 8] = [
    Family { models: "GPT-4o, GPT-4.1, o-series, GPT-5", low: 1.0, high: 1.0, how: "exact" },
    Family { models: "GPT-4, GPT-3.5", low: 0.961, high: 0.996, how: "its own vocabulary" },
    Family { models: "Llama 3", low: 0.961, high: 0.996, how: "its own vocabulary" },
    Family { models: "Qwen 3", low: 0.967, high: 1.025, how: "its own vocabulary" },
    Family { models: "Gemini", low: 1.011, high: 1.095, how: "Gemma 3's vocabulary" },
    Family { models: "Mistral", low: 1.029, high: 1.088, how: "its own vocabulary" },
    Family { models: "Claude 3 to 4.6", low: 1.115, high: 1.210, how: "an unofficial reconstruction" },
    Family { models: "Claude 4.7 and later", low: 1.534, high: 1.768, how: "an unofficial reconstruction" },
];

impl Family {
    pub(crate) fn range(&self, tokens: usize) -> (usize, usize) {
        let times = |ratio: f64| tokens as f64 * ratio;
        (times(self.low).floor() as usize, times(self.high).ceil() as usize)
    }

    pub(crate) fn shown(&self, tokens: usize) -> String {
        shown(self.range(tokens))
    }

    pub(crate) fn to_json(&self, direct: usize, through: usize) -> Value {
        let range = |tokens: usize| json!(self.range(tokens));
        json!({"models": self.models, "how": self.how, "direct": range(direct), "toolfold": range(through)})
    }
}

/// What a provider wraps around the tools of a request: fitted to real calls by others, so an estimate.
pub(crate) struct Framing {
    pub(crate) models: &'static str,
    once: (usize, usize),
    each: usize,
}

pub(crate) const FRAMINGS: [Framing; 3] = [
    Framing { models: "Claude 4", once: (366, 549), each: 53 },
    Framing { models: "GPT-5", once: (24, 24), each: 6 },
    Framing { models: "Gemini", once: (0, 0), each: 0 },
];

impl Framing {
    pub(crate) fn of(&self, tools: usize) -> (usize, usize) {
        (self.once.0 + self.each * tools, self.once.1 + self.each * tools)
    }

    pub(crate) fn shown(&self, tools: usize) -> String {
        match self.of(tools) {
            (0, 0) => "nothing".to_owned(),
            range => shown(range),
        }
    }

    pub(crate) fn to_json(&self, direct: usize, through: usize) -> Value {
        json!({"models": self.models, "estimate": true, "direct": self.of(direct), "toolfold": self.of(through)})
    }
}

/// `16,555`, `306–354`, `25.4–29.3 k`
fn shown((low, high): (usize, usize)) -> String {
    if low == high {
        return grouped(low);
    }
    let (unit, digits, name) = match high {
        0..10_000 => return format!("{}–{}", grouped(low), grouped(high)),
        10_000..100_000 => (1_000.0, 1, "k"),
        100_000..1_000_000 => (1_000.0, 0, "k"),
        _ => (1_000_000.0, 2, "M"),
    };
    format!("{:.digits$}–{:.digits$} {name}", low as f64 / unit, high as f64 / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claude_is_always_a_range() {
        for family in FAMILIES.iter().filter(|family| family.models.starts_with("Claude")) {
            for tokens in [1, 200, 16_555, 1_694_734] {
                let (low, high) = family.range(tokens);
                assert!(low < high, "{} {tokens}", family.models);
                assert!(family.shown(tokens).contains('–'), "{}", family.shown(tokens));
            }
        }
    }

    #[test]
    fn ranges_are_short_and_never_narrower_than_they_are() {
        let claude = &FAMILIES[7];
        let shown = [200, 16_555, 200_000, 1_694_734].map(|tokens| claude.shown(tokens));
        assert_eq!(shown, ["306–354", "25.4–29.3 k", "307–354 k", "2.60–3.00 M"]);
        assert_eq!(FAMILIES[0].shown(16_555), "16,555");
        assert_eq!((FRAMINGS[0].of(2), FRAMINGS[2].shown(57)), ((472, 655), "nothing".to_owned()));
    }
}
