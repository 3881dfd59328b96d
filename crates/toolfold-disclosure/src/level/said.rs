//! What only the prose of a parameter says about its values: "one of: create, update", "in cents", "ISO 8601". Taken over
//! where it is said plainly, and not where one would have to guess.

/// Values of one list.
const MOST_VALUES: usize = 24;
const LONGEST_VALUE: usize = 30;
/// Letters of a description that are looked at, for units and for values.
const LOOKED_AT: usize = 600;
const LOOKED_AT_FOR_VALUES: usize = 2_000;
/// Places of one opening that are tried.
const MOST_PLACES: usize = 4;
/// Letters behind a list in which it may be taken back.
const TAKEN_BACK: usize = 40;

/// What a list of all values begins with. What another of these is part of comes behind it.
const OPENINGS: [&str; 20] = [
    "one of",
    "must be either",
    "must be",
    "can be either",
    "can be",
    "valid values",
    "valid options",
    "valid operations",
    "valid actions",
    "valid types",
    "allowed values",
    "possible values",
    "accepted values",
    "supported values",
    "supported operations",
    "available operations",
    "available actions",
    "to perform",
    "options",
    "either",
];
/// Words between those and the list.
const BEFORE_VALUES: [&str; 6] = ["are", "is", "the following", "these", "includes", "include"];
/// A list in which these stand is not all there is.
const OPEN_ENDED: [&str; 5] = ["e.g", "for example", "such as", "etc", "..."];
/// The same of a list that nothing announces; and where these stand, more than one of the values may be meant at once.
const UNSURE: [&str; 9] = ["example", "common", "usual", "typical", "json", "list of", "comma", "separated", "array"];
/// What stands between what is asked for and a list of all answers to it: `Type of address ('v4' or 'v6')`.
const BEFORE_LIST: [&str; 5] = [": ", " (", " - ", " – ", " — "];
/// What a list may be followed by that is no more of it.
const BEHIND_LIST: [&str; 6] = ["and the default", "and default", "defaults", "default", "where ", "with "];
/// Names of parameters that choose what a tool does: any text will hardly do.
const CHOOSE: [&str; 5] = ["operation", "action", "op", "mode", "subcommand"];
/// Ends of names of parameters that take one of few words.
const KINDS: [&str; 9] = ["operation", "action", "mode", "type", "kind", "command", "method", "level", "status"];

/// The values that a description tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Values<'a> {
    All(Vec<&'a str>),
    /// There may be others.
    Some(Vec<&'a str>),
    /// There are some, and which is not told so plainly that it could be taken over.
    Untold,
}

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
    let (name, text) = (name.to_lowercase(), looked_at(description, LOOKED_AT).to_lowercase());
    let known: &[(&str, &'static str, &str)] = if is_number { &NUMBERS } else { &TEXTS };
    let mut found = known.iter().filter(|(phrase, ..)| text.contains(phrase));
    let (_, shown, said) = found.next()?;
    let alone = found.all(|(_, other, _)| other == shown);
    let named = name.split(['_', '-']).any(|word| word.starts_with(said)) || name.ends_with(said);
    (alone && !named).then_some(*shown)
}

/// The values that a description of the parameter lists.
pub(super) fn values<'a>(name: &str, description: &'a str) -> Option<Values<'a>> {
    let text = looked_at(description, LOOKED_AT_FOR_VALUES);
    // Positions in lower case are positions in the text only where no letter changes its length.
    let lower = text.to_ascii_lowercase();
    let mut untold = None;
    for opening in OPENINGS {
        for (at, _) in lower.match_indices(opening).take(MOST_PLACES) {
            let end = at + opening.len();
            let is_word = |c: char| c.is_alphanumeric();
            if lower[..at].ends_with(is_word) || lower[end..].starts_with(is_word) {
                continue;
            }
            match announced(&text[end..]) {
                Some(Values::Untold) => untold = Some(Values::Untold),
                // "A number, or can be …": that is not all it can be.
                Some(Values::All(values)) if lower[..at].trim_end().ends_with(" or") => {
                    return Some(Values::Some(values));
                }
                Some(told) => return Some(told),
                None => {}
            }
        }
    }
    unannounced(name, text).or(untold)
}

/// Whether a parameter of this name takes one of some words, whatever is said of it.
pub(super) fn is_choice(name: &str) -> bool {
    CHOOSE.contains(&name.to_lowercase().as_str())
}

/// What the text of a tool says of a parameter, in a line that begins with its name and what is set in below it.
pub(super) fn documented<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let text = looked_at(text, LOOKED_AT_FOR_VALUES);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let bare = line.trim_start().trim_start_matches(['-', '*', '•', '`', ' ']);
        let Some(rest) = bare.strip_prefix(name) else { continue };
        let rest = without_remark(rest.trim_start_matches(['`', '*'])).trim_start_matches(['`', '*', ' ']);
        let Some(said) = rest.strip_prefix([':', '-', '–', '—']) else { continue };
        let from = start + line.len() - said.len();
        let below = text[at..].split_inclusive('\n').take_while(|below| indent(below) > indent(line));
        return Some(&text[from..at + below.map(str::len).sum::<usize>()]);
    }
    None
}

/// A list behind the words that announce one.
fn announced(text: &str) -> Option<Values<'_>> {
    let mut rest = text.trim_start();
    let mut complete = true;
    for word in BEFORE_VALUES {
        if let Some(after) = rest.strip_prefix(word) {
            complete &= !word.starts_with("include");
            rest = after.trim_start();
        }
    }
    let colon = rest.strip_prefix(':');
    let rest = colon.unwrap_or(rest).trim_start();
    let list = match bulleted(rest) {
        Some(list) => list,
        // Bare words count only behind a colon: otherwise they are a sentence.
        None => list(rest.trim_start_matches(['[', '(']), colon.is_some())?,
    };
    told(text, list, complete)
}

/// What a list comes to, with what is said behind it.
fn told<'a>(text: &'a str, list: List<'a>, complete: bool) -> Option<Values<'a>> {
    let behind = looked_at(list.rest, TAKEN_BACK);
    let end = (text.len() - list.rest.len() + behind.len()).min(text.len());
    let lower = text[..end].to_lowercase();
    if OPEN_ENDED.iter().any(|open| lower.contains(open)) {
        return None;
    }
    Some(match (list.values.len(), list.ends) {
        (0 | 1, _) => return None,
        (many, _) if many > MOST_VALUES => Values::Untold,
        (_, false) => Values::Untold,
        (..) if complete => Values::All(list.values),
        _ => Values::Some(list.values),
    })
}

/// A list of values in quotes at the beginning of a description or behind its first words; of a parameter whose name is for it, also
/// bare ones in parentheses. What has a dot in it names something elsewhere.
fn unannounced<'a>(name: &str, text: &'a str) -> Option<Values<'a>> {
    let first = |before: &&str| text.find(*before).map(|at| at + before.len());
    let start = if text.starts_with(QUOTES) { 0 } else { BEFORE_LIST.iter().filter_map(first).min()? };
    let rest = &text[start..];
    let kind = || {
        let lower = name.to_lowercase();
        KINDS.iter().any(|kind| lower.ends_with(kind))
    };
    let list = match rest.starts_with(['\'', '"']) {
        true => list(rest, false)?,
        false if text[..start].ends_with('(') && kind() => list(rest, true)?,
        false => return None,
    };
    let upto = text.len() - list.rest.len() + looked_at(list.rest, TAKEN_BACK).len();
    let lower = text[..upto].to_lowercase();
    let sure = list.ends && list.values.iter().all(|value| !value.contains('.'));
    if !sure || UNSURE.iter().any(|word| lower.contains(word)) {
        return None;
    }
    told(text, list, true).filter(|told| *told != Values::Untold)
}

fn looked_at(description: &str, most: usize) -> &str {
    let end = description.char_indices().map(|(at, _)| at).nth(most).unwrap_or(description.len());
    &description[..end]
}

const QUOTES: [char; 3] = ['\'', '"', '`'];

/// Values, what comes behind the last of them, and whether the list ends there.
struct List<'a> {
    values: Vec<&'a str>,
    rest: &'a str,
    ends: bool,
}

/// A list in one sentence at the beginning of a text.
fn list(text: &str, bare_allowed: bool) -> Option<List<'_>> {
    let mut values = Vec::new();
    let mut rest = text;
    loop {
        let Some((found, after)) = value(rest, bare_allowed) else {
            // Of bare words that go on as something else one cannot say that they are values.
            let quoted = !bare_allowed || text.starts_with(QUOTES);
            return Some(List { values, rest, ends: false }).filter(|list| list.values.len() > 1 && quoted);
        };
        values.push(found);
        let after = without_remark(after);
        if ends(after) || values.len() > MOST_VALUES {
            return Some(List { values, rest: after, ends: true });
        }
        match separated(after) {
            Some(next) => rest = next,
            None if bare_allowed && !text.starts_with(QUOTES) => return None,
            None => return Some(List { values, rest: after, ends: false }),
        }
    }
}

/// A list with a value at the beginning of each item, and what is said of it behind.
fn bulleted(text: &str) -> Option<List<'_>> {
    let item = |line: &'_ str| {
        let bare = line.trim_start();
        let number = bare.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = || number.strip_prefix(['.', ')']).filter(|_| number.len() < bare.len());
        let rest = bare.strip_prefix(['-', '*', '•']).or_else(numbered)?;
        rest.strip_prefix(' ').map(|rest| line.len() - rest.trim_start().len())
    };
    item(text.lines().next()?)?;
    let (mut values, mut at) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        if let Some(start) = item(line) {
            let (found, after) = value(line[start..].trim_start_matches("**"), true)?;
            let after = without_remark(after.trim_start_matches("**")).trim();
            (after.is_empty() || after.starts_with([':', '-', '–', '—', '=', ',', ';', '('])).then_some(())?;
            values.push(found);
        } else if line.trim().is_empty() || line.trim_end().ends_with(':') {
            break;
        }
        at += line.len();
    }
    // What was cut off may have been more of it.
    let ends = text.len() < LOOKED_AT_FOR_VALUES - 200 || at < text.len();
    Some(List { values, rest: &text[at..], ends })
}

fn value(text: &str, bare_allowed: bool) -> Option<(&str, &str)> {
    let quote = text.chars().next()?;
    let (value, after) = if QUOTES.contains(&quote) {
        // Doc strings have two of them.
        let doubled = text[1..].starts_with(quote);
        let inside = text.trim_start_matches('`');
        if doubled && quote == '`' {
            let (value, after) = inside.split_once("``")?;
            (value.trim_matches(QUOTES), after)
        } else {
            text[1..].split_once(quote)?
        }
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

/// What comes after a separator; lines end anywhere.
fn separated(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let (text, comma) = match text.strip_prefix([',', '|', '/']) {
        Some(next) => (next.trim_start(), true),
        None => (text, false),
    };
    let word = ["or", "and"].iter().find_map(|word| {
        let next = text.strip_prefix(word)?;
        next.starts_with(|c: char| c.is_whitespace() || QUOTES.contains(&c)).then(|| next.trim_start())
    });
    word.or_else(|| comma.then_some(text))
}

fn ends(text: &str) -> bool {
    let bare = text.trim_start_matches(' ');
    let next = text.trim_start().trim_start_matches(',').trim_start();
    let next_line = bare.trim_start_matches('\r').starts_with('\n') && separated(text).is_none();
    bare.is_empty()
        || bare.starts_with(['.', ')', ']', ';'])
        || next_line
        || BEHIND_LIST.iter().any(|behind| next.starts_with(behind))
}

#[cfg(test)]
mod tests {
    use super::{Values, documented, unit, values};

    fn of(name: &str, text: &str) -> Option<String> {
        Some(match values(name, text)? {
            Values::All(values) => values.join(" "),
            Values::Some(values) => format!("{} …", values.join(" ")),
            Values::Untold => "~".to_owned(),
        })
    }

    #[test]
    fn values_are_taken_where_all_are_listed() {
        let told = [
            ("What to do. One of: create, update, delete.", "create update delete"),
            ("Sort order: must be 'asc' (upwards) or 'desc' (downwards)", "asc desc"),
            ("Options: `a-1`|`b.2`", "a-1 b.2"),
            ("Action to perform - \"create\", \"list\", or \"delete\".", "create list delete"),
            ("Type of address ('v4' or 'v6')", "v4 v6"),
            ("Position: 'above' (before it), or 'below' (after it)", "above below"),
            (
                "Operation to perform: get-one, list-all, or put-one. Choose \"get-one\" to read.",
                "get-one list-all put-one",
            ),
            ("Must be one of \"add\", \"update\",\nor \"delete\".", "add update delete"),
            ("What to do. One of:\n- \"grant\": Share it.\n  With one.\n- \"revoke\": No more.", "grant revoke"),
            ("Valid values:\n   - create: Make one\n   - patch: Change it\n\nMore of it", "create patch"),
            ("Can be: `GET` or `POST` and the default is `POST`. It is ignored if there is another.", "GET POST"),
            ("How it is asked. Either `GET` or `POST`. Default is `POST`.", "GET POST"),
            ("\"create\", \"update\" or \"apply\".", "create update apply"),
        ];
        for (text, shown) in told {
            assert_eq!(of("what", text).as_deref(), Some(shown), "{text}");
        }
        assert_eq!(of("resource_type", "Type of resource (cluster, node, pod)").as_deref(), Some("cluster node pod"));
        assert_eq!(of("size", "The size (width, height)"), None);
    }

    #[test]
    fn what_is_told_in_part_is_said_to_be() {
        assert_eq!(of("kind", "Valid values include: calls, deals, notes.").as_deref(), Some("calls deals notes …"));
        let many = (0..40).map(|number| format!("value{number}")).collect::<Vec<_>>().join(", ");
        assert_eq!(of("kind", &format!("One of: {many}.")).as_deref(), Some("~"));
        assert_eq!(of("revision", "A number or can be `Latest` and `Newest`").as_deref(), Some("Latest Newest …"));
        assert_eq!(of("kind", "Can be `a`, or `b` in some of the cases").as_deref(), Some("~"));
    }

    #[test]
    fn nothing_is_taken_where_one_would_have_to_guess() {
        for text in [
            "What to look for. Common values: 'read', 'update'.",
            "The head (`sha` or `head_sha`)",
            "JSON text with what to group by ('NAME', 'PERIOD')",
            "Full type: 'base.request' or 'chain.agent'",
            "Can be used to filter, sort or group",
            "Can be \"a\" or \"b\", e.g. \"a\"",
            "one of: red, green, etc.",
            "Must be one of: the names you see there, or nothing",
            "one of the following formats",
            "one of: only",
            "The one who is one of",
            "Provide either text or regex, not both.",
        ] {
            assert_eq!(of("what", text), None, "{text}");
        }
    }

    #[test]
    fn the_text_of_a_tool_tells_of_its_parameters() {
        let text = "Manages links.\n\nArgs:\n    operation: What to do (\"add\", \"remove\")\n    place (int): Where\n        it is";
        assert_eq!(documented(text, "operation"), Some(" What to do (\"add\", \"remove\")\n"));
        assert_eq!(documented(text, "place"), Some(" Where\n        it is"));
        assert_eq!(documented(text, "links"), None);
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
