//! A text that a simple regular expression matches: `^[a-z]{2}-\d+$` gives `aa-0`. For examples only, so what it does not
//! understand it gives up on.

const LONGEST: usize = 200;

/// `None` where the pattern uses more than literals, classes, groups, alternatives and repetition.
pub(super) fn matching(pattern: &str) -> Option<String> {
    let mut reader = Reader { rest: pattern.chars().collect::<Vec<_>>(), at: 0, depth: 0 };
    let text = reader.alternatives()?;
    (reader.at == reader.rest.len() && text.len() <= LONGEST).then_some(text)
}

struct Reader {
    rest: Vec<char>,
    at: usize,
    depth: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn take(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        self.at += usize::from(there);
        there
    }

    /// The first alternative is the example; the others are only read.
    fn alternatives(&mut self) -> Option<String> {
        self.depth += 1;
        if self.depth > 20 {
            return None;
        }
        let first = self.sequence()?;
        while self.take('|') {
            self.sequence()?;
        }
        self.depth -= 1;
        Some(first)
    }

    fn sequence(&mut self) -> Option<String> {
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|c| !matches!(c, '|' | ')')) {
            if matches!(c, '^' | '$') {
                self.at += 1;
                continue;
            }
            let unit = self.unit()?;
            let times = self.times()?;
            if text.len() + unit.len() * times > LONGEST {
                return None;
            }
            text.push_str(&unit.repeat(times));
        }
        Some(text)
    }

    fn unit(&mut self) -> Option<String> {
        match self.next()? {
            '(' => {
                if self.take('?') {
                    self.take(':').then_some(())?;
                }
                let inner = self.alternatives()?;
                self.take(')').then_some(inner)
            }
            '[' => self.class().map(String::from),
            '\\' => escaped(self.next()?).map(String::from),
            '.' => Some("a".to_owned()),
            '*' | '+' | '?' | '{' => None,
            c => Some(c.to_string()),
        }
    }

    /// A character of the class. Of a negated one: a letter or sign that it does not name.
    fn class(&mut self) -> Option<char> {
        let negated = self.take('^');
        let mut ranges: Vec<(char, char)> = Vec::new();
        loop {
            let c = match self.next()? {
                ']' if !ranges.is_empty() => break,
                '\\' => match self.next()? {
                    'w' => {
                        ranges.extend([('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')]);
                        continue;
                    }
                    other => escaped(other)?,
                },
                c => c,
            };
            let ranged = self.peek() == Some('-') && self.rest.get(self.at + 1).is_some_and(|next| *next != ']');
            let end = if ranged {
                self.at += 1;
                match self.next()? {
                    '\\' => escaped(self.next()?)?,
                    end => end,
                }
            } else {
                c
            };
            ranges.push((c, end));
        }
        let named = |c: char| ranges.iter().any(|(start, end)| (*start..=*end).contains(&c));
        let wanted = |c: &char| named(*c) != negated;
        "aA0_-".chars().find(wanted).or_else(|| ranges.first().map(|range| range.0).filter(wanted))
    }

    /// How often the unit is repeated, as seldom as may be but once where it may be.
    fn times(&mut self) -> Option<usize> {
        let times = match self.peek() {
            Some('?' | '*') => 0,
            Some('+') => 1,
            Some('{') => return self.counted(),
            _ => return Some(1),
        };
        self.at += 1;
        self.take('?');
        Some(times)
    }

    fn counted(&mut self) -> Option<usize> {
        let close = self.rest[self.at..].iter().position(|c| *c == '}')? + self.at;
        let inside: String = self.rest[self.at + 1..close].iter().collect();
        self.at = close + 1;
        self.take('?');
        inside.split(',').next()?.trim().parse().ok()
    }
}

fn escaped(c: char) -> Option<char> {
    match c {
        'd' => Some('0'),
        'w' => Some('a'),
        's' => Some(' '),
        'S' | 'D' => Some('a'),
        'n' => Some('\n'),
        't' => Some('\t'),
        c if c.is_alphanumeric() => None,
        c => Some(c),
    }
}
