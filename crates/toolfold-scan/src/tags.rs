//! Role tags: marks that some models take for the voice of the system or of the user. In a definition or a result they
//! have nothing to do.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// Tokens of chat templates: nobody writes them who does not speak in turns.
const TEMPLATE: &str = concat!(
    r"<\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|begin_of_text|end_of_text|start_header_id|end_header_id|eot_id|end_of_turn|channel|message)[^>\n]{0,20}\|?>",
    r"|<{2}/?\s?sys\s?>{2}|<(?:start|end)_of_turn>|\[/?inst\]",
);
/// Names of those who speak to a model, in brackets.
const ROLE: &str = concat!(
    r"<{1,2}/?\s?(?:sys|assistant|developer|system(?:[_ -](?:prompt|message|instructions?|override|directive|note|notice|reminder|role))?)\s?>{1,2}",
    r"|\[/?(?:system|sys|assistant)\]",
);
/// What nobody sees once the text is rendered.
const COMMENT: &str = "<!--";
/// Whatever else poses as another voice, or as more than the rest of the text.
const OTHER: &str = concat!(
    r"<{1,2}/?\s?(?:inst|user_?instructions?|important(?:[_ -][a-z]{2,14})?|hidden|instructions|override|directive|system[_ -][a-z]{2,14}|mandatory)\s?>{1,2}",
    r"|</\s?(?:critical|secret|instruction|admin|prompt|priority|internal|confidential|human|note|warning|rules?|context|task|thinking)\s?>",
    r"|\[/?(?:admin|developer|hidden|secret|override|important)\]",
    r"|\[(?:system|assistant|admin|developer|hidden|secret|agent|model|ai|llm|internal)[ _-](?:instructions?|directives?|messages?|prompts?|notes?|notices?|overrides?|only|commands?)(?:[:\]]|\s-)",
    r"|\{\{\s{0,3}[#/]?(?:system|assistant|admin|override)(?-u:\b)[^}\n]{0,60}\}\}",
    r"|(?:^|\n)#{1,6} ?(?:system|instructions? (?:for|to) (?:the )?(?:assistant|model|ai|agent|llm))(?: prompt| message| override| note)?:?(?:\n|$)",
    r"|(?:^|\n)(?:system|assistant|human)(?: prompt| message| override| note)?:(?: |\n)",
    r"|\[//\]: ?#|```(?:system|instructions?)",
);

/// What a tag is, as far as it matters who could have meant something else by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Template,
    Role,
    Comment,
    Other,
}

#[derive(Debug, Clone)]
pub(crate) struct Tag {
    pub(crate) range: Range<usize>,
    pub(crate) kind: Kind,
    /// It ends what another one began.
    pub(crate) closes: bool,
}

/// Every repetition is bounded.
static TAGS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!("({TEMPLATE})|({ROLE})|({COMMENT})|{OTHER}")).ok());

/// The tags of a folded text.
pub(crate) fn find(folded: &str) -> impl Iterator<Item = Tag> {
    TAGS.iter().flat_map(move |tags| tags.captures_iter(folded)).filter_map(|found| {
        let tag = found.get(0)?;
        let kinds = [Kind::Template, Kind::Role, Kind::Comment];
        let kind = kinds.into_iter().zip(1..).find(|(_, group)| found.get(*group).is_some());
        let closes = ["</", "<</", "[/", "<|im_end", "<|eot", "<|end_of", "<|endof", "<end"];
        let closes = closes.iter().any(|beginning| tag.as_str().starts_with(beginning));
        Some(Tag { range: tag.range(), kind: kind.map_or(Kind::Other, |(kind, _)| kind), closes })
    })
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
            "<start_of_turn>user",
            "<|start_header_id|>system<|end_header_id|>",
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
