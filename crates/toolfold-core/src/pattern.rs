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
}
