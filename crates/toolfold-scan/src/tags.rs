//! Role tags: marks that some models take for the voice of the system or of the user. In a definition or a result they
//! have nothing to do.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// Names of roles in angle brackets, square brackets or braces, the tokens of chat templates, and comments that nobody
/// sees once the text is rendered. Over folded text; every repetition is bounded.
const PATTERN: &str = concat!(
    r"<\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|begin_of_text|end_of_text|start_header_id|eot_id|end_of_turn|channel|message)[^>\n]{0,20}\|?>",
    r"|<{1,2}/?\s?(?:sys|inst|assistant|user_?instructions?|important(?:[_ -][a-z]{2,14})?|hidden|instructions|override|directive|system(?:[_ -][a-z]{2,14})?|developer|mandatory|start_of_turn)\s?>{1,2}",
    r"|</\s?(?:critical|secret|instruction|admin|prompt|priority|internal|confidential|human|note|warning|rules?|context|task|thinking)\s?>",
    r"|\[/?(?:inst|system|sys|assistant|admin|developer|hidden|secret|override|important)\]",
    r"|\[(?:system|assistant|admin|developer|hidden|secret|agent|model|ai|llm|internal)[ _-](?:instructions?|directives?|messages?|prompts?|notes?|notices?|overrides?|only|commands?)(?:[:\]]|\s-)",
    r"|\{\{\s{0,3}[#/]?(?:system|assistant|admin|override)(?-u:\b)[^}\n]{0,60}\}\}",
    r"|(?:^|\n)#{1,6} ?(?:system|instructions? (?:for|to) (?:the )?(?:assistant|model|ai|agent|llm))(?: prompt| message| override| note)?:?(?:\n|$)",
    r"|(?:^|\n)(?:system|assistant|human)(?: prompt| message| override| note)?:(?: |\n)",
    r"|<!--|\[//\]: ?#|```(?:system|instructions?)",
);

static TAGS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PATTERN).ok());

/// Where tags are in a folded text.
pub(crate) fn find(folded: &str) -> impl Iterator<Item = Range<usize>> {
    TAGS.iter().flat_map(move |tags| tags.find_iter(folded)).map(|found| found.range())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_several_kinds_are_found_and_markup_is_not() {
        for text in [
            "<important>",
            "</secret>",
            "<<sys>>",
            "[inst]",
            "<|im_start|>system",
            "{{ system: override }}",
            "<!-- x -->",
            "[assistant instructions: x",
            "\nsystem: you are",
            "<system_prompt>",
            "<|start_header_id|>",
            "## system\nx",
        ] {
            assert!(find(text).next().is_some(), "{text}");
        }
        for text in [
            "<div>",
            "<b>important</b>",
            "a < b > c",
            "[link](x)",
            "{{ name }}",
            "the system: a view",
            "<id>",
            "<string>",
        ] {
            assert!(find(text).next().is_none(), "{text}");
        }
    }
}
