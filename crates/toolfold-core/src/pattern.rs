//! Patterns of ids and names: `*` stands for anything, all else for itself, whatever its case.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// What must be there in this order, between the stars.
    parts: Vec<String>,
}

impl Pattern {
    pub fn new(text: &str) -> Self {
        Pattern { parts: text.trim().to_lowercase().split('*').map(str::to_owned).collect() }
    }

    /// Whether it fits whatever begins like this.
    pub fn covers(&self, beginning: &str) -> bool {
        let beginning = beginning.to_lowercase();
        match self.parts.as_slice() {
            [first, rest @ ..] if !rest.is_empty() && rest.iter().all(String::is_empty) => beginning.starts_with(first),
            _ => false,
        }
    }

    /// Whether it could fit something that begins like this.
    pub fn may_begin(&self, beginning: &str) -> bool {
        let beginning = beginning.to_lowercase();
        match self.parts.as_slice() {
            [whole] => whole.starts_with(&beginning),
            [first, ..] => first.starts_with(&beginning) || beginning.starts_with(first.as_str()),
            [] => false,
        }
    }

    pub fn matches(&self, id: &str) -> bool {
        let id = id.to_lowercase();
        let Some((first, rest)) = self.parts.split_first() else { return false };
        let Some((last, middle)) = rest.split_last() else { return id == *first };
        let Some(mut left) = id.strip_prefix(first.as_str()) else { return false };
        for part in middle {
            match left.find(part.as_str()) {
                Some(at) => left = &left[at + part.len()..],
                None => return false,
            }
        }
        left.ends_with(last.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn a_star_is_anything_and_the_rest_is_itself() {
        let matches = |pattern: &str, id: &str| Pattern::new(pattern).matches(id);
        assert!(matches("github.*", "github.create_issue"));
        assert!(matches("GitHub.Create_*", "github.create_issue"));
        assert!(matches("*.send_*mail*", "work.send_big_mail_now"));
        assert!(matches("a.b", "a.b"));
        assert!(matches("*", "a.b"));
        assert!(matches("a*a", "a.a"));
        assert!(!matches("a*a", "a"));
        assert!(!matches("github.*", "my.github.tool"));
        assert!(!matches("a.b", "a.bc"));
        assert!(!matches("a.*c*d", "a.dc"));
    }

    #[test]
    fn all_of_something_is_what_ends_in_a_star() {
        let covers = |pattern: &str, beginning: &str| Pattern::new(pattern).covers(beginning);
        assert!(covers("*", "hr.") && covers("hr.*", "HR.") && covers("h*", "hr.") && covers("**", "hr."));
        assert!(
            !covers("hr.read_*", "hr.") && !covers("*.read", "hr.") && !covers("hr.", "hr.") && !covers("ops.*", "hr.")
        );
        let may = |pattern: &str, beginning: &str| Pattern::new(pattern).may_begin(beginning);
        assert!(may("hr.read", "hr.") && may("*", "hr.") && may("h*d", "hr.") && may("hr.x*", "hr."));
        assert!(!may("ops.*", "hr.") && !may("hr", "hr."));
    }
}
