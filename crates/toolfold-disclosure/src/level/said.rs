//! What only the prose of a parameter says about its values: "one of: create, update", "in cents", "ISO 8601". Taken over
//! where it is said plainly, and not where one would have to guess.

const MOST_VALUES: usize = 12;
const LONGEST_VALUE: usize = 30;
/// Letters of a description that are looked at.
const LOOKED_AT: usize = 600;

/// What a list of all values begins with.
const OPENINGS: [&str; 11] = [
    "one of",
    "must be either",
    "must be",
    "can be either",
    "can be",
    "valid values",
    "allowed values",
    "possible values",
    "accepted values",
    "supported values",
    "options",
];
/// A list in which these stand is not all there is.
const OPEN_ENDED: [&str; 5] = ["e.g", "for example", "such as", "etc", "..."];
/// The same of a list that nothing announces; and where these stand, more than one of the values may be meant at once.
const UNSURE: [&str; 9] = ["example", "common", "usual", "typical", "json", "list of", "comma", "separated", "array"];
/// What stands between what is asked for and a list of all answers to it: `Type of address ('v4' or 'v6')`.
const BEFORE_LIST: [&str; 5] = [": ", " (", " - ", " – ", " — "];

/// How a text is written, or what a number counts: what is looked for, how it is shown, and what in the parameter's
/// name says it already.
const TEXTS: [(&str, &str, &str); 10] = [
    ("iso 8601", "ISO 8601", "iso"),
    ("iso-8601", "ISO 8601", "iso"),
    ("iso8601", "ISO 8601", "iso"),
    ("rfc 3339", "RFC 3339", "rfc"),
    ("rfc3339", "RFC 3339", "rfc"),
    ("yyyy-mm-dd", "YYYY-MM-DD", "yyyy"),
    ("e.164", "E.164", "164"),
    ("base64", "base64", "base64"),
    ("comma-separated", "comma-separated", "csv"),
    ("comma separated", "comma-separated", "csv"),
];
const NUMBERS: [(&str, &str, &str); 10] = [
    ("in cents", "cents", "cent"),
    ("in seconds", "seconds", "sec"),
    ("in milliseconds", "milliseconds", "m"),
    ("in minutes", "minutes", "min"),
    ("in hours", "hours", "hour"),
    ("in days", "days", "day"),
    ("in bytes", "bytes", "byte"),
    ("in pixels", "pixels", "p"),
    ("in meters", "meters", "meter"),
    ("unix timestamp", "Unix time", "unix"),
];

/// The unit or notation that a description names; nothing where it names several.
pub(super) fn unit(name: &str, description: &str, is_number: bool) -> Option<&'static str> {
    let (name, text) = (name.to_lowercase(), looked_at(description).to_lowercase());
    let known: &[(&str, &'static str, &str)] = if is_number { &NUMBERS } else { &TEXTS };
    let mut found = known.iter().filter(|(phrase, ..)| text.contains(phrase));
    let (_, shown, said) = found.next()?;
    let alone = found.all(|(_, other, _)| other == shown);
    let named = name.split(['_', '-']).any(|word| word.starts_with(said)) || name.ends_with(said);
    (alone && !named).then_some(*shown)
}

/// The values that a description lists, where it lists them all.
pub(super) fn values(description: &str) -> Option<Vec<&str>> {
    let text = looked_at(description);
    // Positions in lower case are positions in the text only where no letter changes its length.
    let lower = text.to_ascii_lowercase();
    if OPEN_ENDED.iter().any(|open| lower.contains(open)) {
        return None;
    }
    let announced = OPENINGS.iter().find_map(|opening| {
        let at = lower.find(opening)?;
        let starts_word = !lower[..at].ends_with(|c: char| c.is_alphanumeric());
        list(&text[at + opening.len()..]).filter(|_| starts_word)
    });
    announced.or_else(|| unannounced(text).filter(|_| !UNSURE.iter().any(|word| lower.contains(word))))
}

/// A list of values in quotes behind the first words of a description. What has a dot in it names something elsewhere.
fn unannounced(text: &str) -> Option<Vec<&str>> {
    let first = |before: &&str| text.find(*before).map(|at| at + before.len());
    let rest = &text[BEFORE_LIST.iter().filter_map(first).min()?..];
    let values = list(rest).filter(|_| rest.starts_with(['\'', '"']))?;
    values.iter().all(|value| !value.contains('.')).then_some(values)
}

fn looked_at(description: &str) -> &str {
    let end = description.char_indices().map(|(at, _)| at).nth(LOOKED_AT).unwrap_or(description.len());
    &description[..end]
}

/// A list of values at the beginning of a text. Bare words count only behind a colon: otherwise they are a sentence.
fn list(text: &str) -> Option<Vec<&str>> {
    let mut rest = text.trim_start();
    for word in ["are", "is", "the following", "these"] {
        rest = rest.strip_prefix(word).map_or(rest, str::trim_start);
    }
    let colon = rest.strip_prefix(':');
    let bare_allowed = colon.is_some();
    rest = colon.unwrap_or(rest).trim_start_matches([' ', '[', '(']);
    let mut values = Vec::new();
    loop {
        let (value, after) = value(rest, bare_allowed)?;
        values.push(value);
        let after = without_remark(after);
        match separated(after) {
            Some(next) if values.len() <= MOST_VALUES => rest = next,
            Some(_) => return None,
            None if ends(after) => break,
            None => return None,
        }
    }
    (values.len() > 1).then_some(values)
}

fn value(text: &str, bare_allowed: bool) -> Option<(&str, &str)> {
    let quote = text.chars().next()?;
    let (value, after) = if matches!(quote, '\'' | '"' | '`') {
        text[1..].split_once(quote)?
    } else {
        let end = text.find(|c: char| !is_of_value(c)).unwrap_or(text.len());
        let value = text[..end].trim_end_matches('.');
        (Some(value).filter(|_| bare_allowed)?, &text[value.len()..])
    };
    let plain = !value.is_empty() && value.len() <= LONGEST_VALUE && value.chars().all(is_of_value);
    plain.then_some((value, after))
}

fn is_of_value(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.".contains(c)
}

/// `'asc' (upwards), 'desc'`: what is said of a value is not the end of the list.
fn without_remark(text: &str) -> &str {
    match text.trim_start().strip_prefix('(').and_then(|remark| remark.split_once(')')) {
        Some((_, after)) => after,
        None => text,
    }
}

/// What comes after a separator.
fn separated(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(' ');
    for separator in [", or ", ", and ", ",", "or ", "and ", "|", "/"] {
        if let Some(next) = text.strip_prefix(separator) {
            return Some(next.trim_start());
        }
    }
    None
}

fn ends(text: &str) -> bool {
    let text = text.trim_start_matches(' ');
    text.is_empty() || text.starts_with(['.', ')', ']', ';', '\n'])
}

#[cfg(test)]
mod tests {
    use super::{unit, values};

    #[test]
    fn values_are_taken_where_all_are_listed() {
        let of = |text| values(text).map(|values| values.join(" "));
        assert_eq!(of("What to do. One of: create, update, delete.").as_deref(), Some("create update delete"));
        assert_eq!(of("Sort order: must be 'asc' (upwards) or 'desc' (downwards)").as_deref(), Some("asc desc"));
        assert_eq!(of("Options: `a-1`|`b.2`").as_deref(), Some("a-1 b.2"));
        assert_eq!(
            of("Action to perform - \"create\", \"list\", or \"delete\".").as_deref(),
            Some("create list delete")
        );
        assert_eq!(of("Type of address ('v4' or 'v6')").as_deref(), Some("v4 v6"));
        assert_eq!(of("Position: 'above' (before it), or 'below' (after it)").as_deref(), Some("above below"));
        assert_eq!(of("What to look for. Common values: 'read', 'update'."), None);
        assert_eq!(of("The head (`sha` or `head_sha`)"), None);
        assert_eq!(of("JSON text with what to group by ('NAME', 'PERIOD')"), None);
        assert_eq!(of("Full type: 'base.request' or 'chain.agent'"), None);
        assert_eq!(of("Can be used to filter, sort or group"), None);
        assert_eq!(of("Can be \"a\" or \"b\", e.g. \"a\""), None);
        assert_eq!(of("one of: red, green, etc."), None);
        assert_eq!(of("Must be one of: the names you see there, or nothing"), None);
        assert_eq!(of("one of the following formats"), None);
        assert_eq!(of("one of: only"), None);
    }

    #[test]
    fn units_are_taken_where_one_is_named() {
        assert_eq!(unit("amount", "The price, in cents", true), Some("cents"));
        assert_eq!(unit("amount_cents", "The price, in cents", true), None);
        assert_eq!(unit("wait", "In seconds, or in minutes where it is long", true), None);
        assert_eq!(unit("since", "Start, as ISO 8601 date", false), Some("ISO 8601"));
        assert_eq!(unit("size", "How large", true), None);
    }
}
