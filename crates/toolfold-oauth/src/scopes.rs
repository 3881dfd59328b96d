//! Sets of scopes, in the order in which they were first asked for.

/// Both, without what is in the first already.
pub fn union(one: &[String], other: &[String]) -> Vec<String> {
    let mut all = one.to_vec();
    for scope in other {
        if !all.contains(scope) {
            all.push(scope.clone());
        }
    }
    all
}

pub(crate) fn split(text: &str) -> Vec<String> {
    union(&[], &text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
}
