//! Words out of identifiers and prose, and the nearest of several spellings.

/// The words of an identifier or a sentence, in lower case: split at anything that is not a letter or digit, and
/// inside at changes of case (`getHTTPServer` → get, http, server) and between letters and digits.
pub fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each(text, |word| words.push(word.to_owned()));
    words
}

/// As [`split`], without a string for each word: an index reads a million of them.
pub fn each(text: &str, mut each: impl FnMut(&str)) {
    let mut word = String::new();
    let mut before = ' ';
    let mut chars = text.chars();
    while let Some(here) = chars.next() {
        let next_lower = || chars.clone().next().is_some_and(char::is_lowercase);
        if !word.is_empty() && (!here.is_alphanumeric() || breaks(before, here, next_lower)) {
            each(&word);
            word.clear();
        }
        if here.is_alphanumeric() {
            if here.is_ascii() { word.push(here.to_ascii_lowercase()) } else { word.extend(here.to_lowercase()) }
        }
        before = here;
    }
    if !word.is_empty() {
        each(&word);
    }
}

/// Whether a new word starts between two letters or digits.
fn breaks(before: char, here: char, next_lower: impl FnOnce() -> bool) -> bool {
    let camel = before.is_lowercase() && here.is_uppercase();
    let digits = before.is_numeric() != here.is_numeric();
    camel || digits || (before.is_uppercase() && here.is_uppercase() && next_lower())
}

/// Letters of a spelling that are compared.
const COMPARED: usize = 128;

/// The candidate nearest to `wanted`, if any is near enough to have been meant. What is longer than anything that is
/// compared is near nothing.
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = wanted.chars().take(COMPARED + 1).count();
    if length > COMPARED {
        return None;
    }
    let limit = (length / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (distance(wanted, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many letters must be added, dropped, changed or swapped with a neighbour (Damerau–Levenshtein).
pub fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(COMPARED).collect();
    let b: Vec<char> = b.chars().take(COMPARED).collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = change.min(last[j] + 1).min(row[j - 1] + 1);
            let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if swapped {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn spellings_are_compared_up_to_a_length() {
        let (long, longer) = ("x".repeat(128), "x".repeat(129));
        assert_eq!(nearest(&long, [longer.as_str()]), Some(longer.as_str()));
        assert_eq!(nearest(&longer, [longer.as_str()]), None);
        assert_eq!(distance(&longer, &format!("{long}yyyy")), 0);
    }
}
