//! Arithmetic: a small recursive parser for expressions. No names but the listed functions and constants, no
//! assignment, no way to run anything.

use toolfold_core::Fuel;

use crate::problem::{Problem, told};

/// Of a function or a constant; longer ones are not known anyway.
const LONGEST_NAME: usize = 60;
/// How deep parentheses and signs may nest before the stack would be in danger.
const DEEPEST: usize = 100;

pub(crate) const FUNCTIONS: &str =
    "sqrt, abs, round, floor, ceil, exp, ln, log2, log10, sin, cos, tan, asin, acos, atan, min, max";

/// The value of an expression, or a sentence about what is wrong with it.
pub(crate) fn calculate(expression: &str, fuel: &Fuel) -> Result<f64, Problem> {
    let mut parser = Parser { text: expression, place: 0, depth: 0, fuel };
    let value = parser.sum()?;
    if let Some(c) = parser.peek() {
        return Err(parser.wrong(&format!("{c:?} was not expected")));
    }
    if value.is_nan() {
        return Err(told!("The result is not a number: a root or logarithm of a negative number, or zero by zero."));
    }
    if value.is_infinite() {
        return Err(told!("The result is infinite: something is divided by zero or grows too large."));
    }
    Ok(value)
}

struct Parser<'a> {
    text: &'a str,
    place: usize,
    depth: usize,
    fuel: &'a Fuel,
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<f64, Problem> {
        let mut value = self.product()?;
        loop {
            value = match self.peek() {
                Some('+') => value + self.after_sign(Self::product)?,
                Some('-' | '−') => value - self.after_sign(Self::product)?,
                _ => return Ok(value),
            };
        }
    }

    fn product(&mut self) -> Result<f64, Problem> {
        let mut value = self.signed()?;
        loop {
            value = match self.peek() {
                // ** is a power, handled where powers are.
                Some('*' | '×') => value * self.after_sign(Self::signed)?,
                Some('/' | '÷') => value / self.after_sign(Self::signed)?,
                Some('%') => value % self.after_sign(Self::signed)?,
                _ => return Ok(value),
            };
        }
    }

    fn signed(&mut self) -> Result<f64, Problem> {
        self.deeper()?;
        let value = match self.peek() {
            Some('-' | '−') => -self.after_sign(Self::signed)?,
            Some('+') => self.after_sign(Self::signed)?,
            _ => self.power()?,
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Binds tighter than a sign before it and looser than one after it: -2^2 is -4, 2^-1 is 0.5.
    fn power(&mut self) -> Result<f64, Problem> {
        let base = self.atom()?;
        self.peek();
        if self.text[self.place..].starts_with("**") {
            self.place += 1;
            return Ok(base.powf(self.after_sign(Self::signed)?));
        }
        match self.peek() {
            Some('^') => Ok(base.powf(self.after_sign(Self::signed)?)),
            _ => Ok(base),
        }
    }

    fn atom(&mut self) -> Result<f64, Problem> {
        match self.peek() {
            Some('(') => {
                let value = self.after_sign(Self::sum)?;
                self.expect(')')?;
                Ok(value)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() => self.name(),
            Some(c) => Err(self.wrong(&format!("{c:?} was not expected"))),
            None => Err(self.wrong("it ends too early")),
        }
    }

    fn number(&mut self) -> Result<f64, Problem> {
        let rest = &self.text[self.place..];
        let digits = rest.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(rest.len());
        let length = digits + exponent(&rest[digits..]);
        self.fuel.burn_for(length, 8)?;
        let number = rest[..length].replace('_', "");
        let value = number.parse().map_err(|_| {
            self.wrong(&format!("{} is not a number", number.chars().take(LONGEST_NAME).collect::<String>()))
        })?;
        self.place += length;
        Ok(value)
    }

    fn name(&mut self) -> Result<f64, Problem> {
        let rest = &self.text[self.place..];
        let length = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        self.fuel.burn_for(length, 8)?;
        let name: String = rest[..length].chars().take(LONGEST_NAME).flat_map(char::to_lowercase).collect();
        self.place += length;
        if self.peek() != Some('(') {
            return match name.as_str() {
                "pi" | "π" => Ok(std::f64::consts::PI),
                "e" => Ok(std::f64::consts::E),
                _ => Err(self.wrong(&format!("{name} is not known; there are pi, e and the functions {FUNCTIONS}"))),
            };
        }
        let mut arguments = vec![self.after_sign(Self::sum)?];
        while self.peek() == Some(',') {
            arguments.push(self.after_sign(Self::sum)?);
        }
        self.expect(')')?;
        apply(&name, &arguments).ok_or_else(|| {
            self.wrong(&format!("{name} of {} values is not known; there are {FUNCTIONS}", arguments.len()))
        })
    }

    /// Steps over the character at hand and goes on with `next`.
    fn after_sign(&mut self, next: fn(&mut Self) -> Result<f64, Problem>) -> Result<f64, Problem> {
        self.place += self.peek().map_or(0, char::len_utf8);
        self.deeper()?;
        let value = next(self);
        self.depth -= 1;
        value
    }

    fn expect(&mut self, wanted: char) -> Result<(), Problem> {
        if self.peek() == Some(wanted) {
            self.place += wanted.len_utf8();
            return Ok(());
        }
        Err(self.wrong(&format!("a {wanted:?} is missing")))
    }

    fn deeper(&mut self) -> Result<(), Problem> {
        self.fuel.burn(4)?;
        self.depth += 1;
        if self.depth > DEEPEST { Err(self.wrong("it nests too deeply")) } else { Ok(()) }
    }

    /// The next character that is not a blank.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.place..];
        self.place += rest.len() - rest.trim_start().len();
        self.text[self.place..].chars().next()
    }

    fn wrong(&self, what: &str) -> Problem {
        let place = self.text[..self.place].chars().count() + 1;
        told!("`expression` cannot be calculated: at character {place}, {what}.")
    }
}

/// The length of an exponent such as e-3 at the start of the text.
fn exponent(text: &str) -> usize {
    let Some(rest) = text.strip_prefix(['e', 'E']) else { return 0 };
    let sign = usize::from(rest.starts_with(['+', '-']));
    let digits = rest[sign..].chars().take_while(char::is_ascii_digit).count();
    if digits == 0 { 0 } else { 1 + sign + digits }
}

fn apply(name: &str, values: &[f64]) -> Option<f64> {
    if let "min" | "max" = name {
        let better = if name == "min" { f64::min } else { f64::max };
        return values.iter().copied().reduce(better);
    }
    let [x] = *values else { return None };
    Some(match name {
        "sqrt" => x.sqrt(),
        "abs" => x.abs(),
        "round" => x.round(),
        "floor" => x.floor(),
        "ceil" => x.ceil(),
        "exp" => x.exp(),
        "ln" => x.ln(),
        "log2" => x.log2(),
        "log10" | "log" => x.log10(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tan" => x.tan(),
        "asin" => x.asin(),
        "acos" => x.acos(),
        "atan" => x.atan(),
        _ => return None,
    })
}
