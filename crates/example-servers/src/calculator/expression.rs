//! Arithmetic expressions: one pass over the characters, bounded in length and depth.

use crate::unknown_name;

/// Characters of an expression.
pub const CHARS_MAX: usize = 2_000;

/// How deep parentheses, functions and powers may be nested.
const DEPTH_MAX: u32 = 64;

const FUNCTIONS: [&str; 13] =
    ["sqrt", "abs", "round", "floor", "ceil", "min", "max", "ln", "log10", "exp", "sin", "cos", "tan"];

/// The value of an expression, or what is wrong and at which character (from 1).
pub fn evaluate(text: &str) -> Result<f64, String> {
    let characters: Vec<char> = text.chars().collect();
    if characters.len() > CHARS_MAX {
        return Err(format!(
            "the expression has {} characters; at most {CHARS_MAX} are read",
            characters.len()
        ));
    }
    let mut reader = Reader { characters, at: 0, depth: 0 };
    let value = reader.sum()?;
    match reader.peek() {
        None => Ok(value),
        Some(')') => Err(reader.wrong("unmatched `)`")),
        Some(other) => Err(reader.wrong(&format!("expected an operator (+ - * / % ^), found `{other}`"))),
    }
}

struct Reader {
    characters: Vec<char>,
    at: usize,
    depth: u32,
}

impl Reader {
    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        loop {
            let at = self.at;
            value = match self.take(&['+', '-']) {
                Some('+') => value + self.product()?,
                Some(_) => value - self.product()?,
                None => return Ok(value),
            };
            self.finite(value, at)?;
        }
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.signed()?;
        loop {
            self.skip_blanks();
            let at = self.at;
            let Some(operator) = self.take(&['*', '/', '%']) else { return Ok(value) };
            let right = self.signed()?;
            value = match operator {
                '*' => value * right,
                _ if right == 0.0 => return Err(wrong_at(at, "division by zero")),
                '/' => value / right,
                _ => value % right,
            };
            self.finite(value, at)?;
        }
    }

    /// Signs bind weaker than powers: -2 ^ 2 is -4.
    fn signed(&mut self) -> Result<f64, String> {
        let mut negative = false;
        while let Some(sign) = self.take(&['+', '-']) {
            negative ^= sign == '-';
        }
        let value = self.power()?;
        Ok(if negative { -value } else { value })
    }

    fn power(&mut self) -> Result<f64, String> {
        let base = self.atom()?;
        self.skip_blanks();
        let at = self.at;
        if self.take(&['^']).is_none() {
            return Ok(base);
        }
        // To the right: 2 ^ 3 ^ 2 is 2 ^ 9.
        let exponent = self.nested(Self::signed)?;
        self.finite(base.powf(exponent), at)
    }

    fn atom(&mut self) -> Result<f64, String> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let value = self.nested(Self::sum)?;
                self.expect_closing()?;
                Ok(value)
            }
            Some(character) if character.is_ascii_digit() || character == '.' => self.number(),
            Some(character) if character.is_alphabetic() => self.name(),
            Some(other) => Err(self.wrong(&format!("expected a number, a function or `(`, found `{other}`"))),
            None => Err(self.wrong("the expression ends too early; a number is missing")),
        }
    }

    fn number(&mut self) -> Result<f64, String> {
        let start = self.at;
        self.skip_digits();
        if self.characters.get(self.at) == Some(&'.') {
            self.at += 1;
            self.skip_digits();
        }
        if matches!(self.characters.get(self.at), Some('e' | 'E')) {
            let signed = usize::from(matches!(self.characters.get(self.at + 1), Some('+' | '-')));
            if self.characters.get(self.at + 1 + signed).is_some_and(char::is_ascii_digit) {
                self.at += 1 + signed;
                self.skip_digits();
            }
        }
        let text: String = self.characters[start..self.at].iter().collect();
        let value = text.parse().map_err(|_| wrong_at(start, &format!("`{text}` is not a number")))?;
        self.finite(value, start)
    }

    fn name(&mut self) -> Result<f64, String> {
        let start = self.at;
        while self.characters.get(self.at).is_some_and(|c| c.is_alphanumeric() || *c == '_') {
            self.at += 1;
        }
        let name: String = self.characters[start..self.at].iter().collect();
        match name.as_str() {
            "pi" => return Ok(std::f64::consts::PI),
            "e" => return Ok(std::f64::consts::E),
            _ => {}
        }
        if !FUNCTIONS.contains(&name.as_str()) {
            let known = FUNCTIONS.into_iter().chain(["pi", "e"]);
            return Err(wrong_at(start, &unknown_name::unknown("function or constant", &name, known)));
        }
        if self.take(&['(']).is_none() {
            return Err(self.wrong(&format!("expected `(` after {name}")));
        }
        let mut arguments = vec![self.nested(Self::sum)?];
        while self.take(&[',']).is_some() {
            arguments.push(self.nested(Self::sum)?);
        }
        self.expect_closing()?;
        let value = apply(&name, &arguments).map_err(|problem| wrong_at(start, &problem))?;
        self.finite(value, start)
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<f64, String>) -> Result<f64, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.wrong(&format!("nested deeper than {DEPTH_MAX} levels")));
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn expect_closing(&mut self) -> Result<(), String> {
        match self.take(&[')']) {
            Some(_) => Ok(()),
            None => Err(self.wrong("expected `)`")),
        }
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let next = self.peek().filter(|character| wanted.contains(character))?;
        self.at += 1;
        Some(next)
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.characters.get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while self.characters.get(self.at).is_some_and(|character| character.is_whitespace()) {
            self.at += 1;
        }
    }

    fn skip_digits(&mut self) {
        while self.characters.get(self.at).is_some_and(char::is_ascii_digit) {
            self.at += 1;
        }
    }

    fn finite(&self, value: f64, at: usize) -> Result<f64, String> {
        match value {
            _ if value.is_nan() => Err(wrong_at(at, "the result is not a real number")),
            _ if value.is_infinite() => Err(wrong_at(at, "the result is too large")),
            value => Ok(value),
        }
    }

    fn wrong(&self, problem: &str) -> String {
        wrong_at(self.at, problem)
    }
}

fn wrong_at(at: usize, problem: &str) -> String {
    format!("at character {}: {problem}", at + 1)
}

fn apply(name: &str, arguments: &[f64]) -> Result<f64, String> {
    match (name, arguments) {
        ("min", numbers) => return Ok(numbers.iter().copied().fold(f64::INFINITY, f64::min)),
        ("max", numbers) => return Ok(numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        ("round", [x, digits]) if digits.fract() == 0.0 && (0.0..=15.0).contains(digits) => {
            let scale = 10f64.powf(*digits);
            return Ok((x * scale).round() / scale);
        }
        ("round", [_, _]) => return Err("round takes a whole number of digits, 0 to 15".to_owned()),
        (_, [_]) => {}
        (name, numbers) => return Err(format!("{name} takes one number, not {}", numbers.len())),
    }
    let x = arguments[0];
    match name {
        "sqrt" if x < 0.0 => Err("sqrt of a negative number".to_owned()),
        "ln" | "log10" if x <= 0.0 => Err(format!("{name} needs a number above zero")),
        "sqrt" => Ok(x.sqrt()),
        "abs" => Ok(x.abs()),
        "round" => Ok(x.round()),
        "floor" => Ok(x.floor()),
        "ceil" => Ok(x.ceil()),
        "ln" => Ok(x.ln()),
        "log10" => Ok(x.log10()),
        "exp" => Ok(x.exp()),
        "sin" => Ok(x.sin()),
        "cos" => Ok(x.cos()),
        _ => Ok(x.tan()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_come_to_what_they_should() {
        let check = |text: &str, expected: f64| assert_eq!(evaluate(text), Ok(expected), "{text}");
        check("1 + 2 * 3", 7.0);
        check("(1 + 2) * 3", 9.0);
        check("2 ^ 3 ^ 2", 512.0);
        check("-2 ^ 2", -4.0);
        check("2 ^ -1", 0.5);
        check("10 - 4 - 3", 3.0);
        check("17 % 5", 2.0);
        check("--3", 3.0);
        check("1.5e3 + .5", 1500.5);
        check(" 7 ", 7.0);
    }

    #[test]
    fn functions_and_constants_are_known() {
        let check = |text: &str, expected: f64| assert_eq!(evaluate(text), Ok(expected), "{text}");
        check("sqrt(16) + abs(-3)", 7.0);
        check("round(1.23456, 2)", 1.23);
        check("round(2.5)", 3.0);
        check("min(3, 1, 2) + max(4, 9)", 10.0);
        check("ln(e) + log10(1000) + exp(0)", 5.0);
        check("sin(0) + cos(0) + tan(0)", 1.0);
        check("round(pi * 1000)", 3142.0);
    }

    #[test]
    fn errors_say_what_and_where() {
        let check =
            |text: &str, expected: &str| assert_eq!(evaluate(text), Err(expected.to_owned()), "{text}");
        check("1 / 0", "at character 3: division by zero");
        check("2 +", "at character 4: the expression ends too early; a number is missing");
        check("(1 + 2", "at character 7: expected `)`");
        check("1 + 2)", "at character 6: unmatched `)`");
        check("2 x", "at character 3: expected an operator (+ - * / % ^), found `x`");
        check("2 + $", "at character 5: expected a number, a function or `(`, found `$`");
        check("sqrt(-1)", "at character 1: sqrt of a negative number");
        check("1 + sqrt 4", "at character 10: expected `(` after sqrt");
        check("(-8) ^ 0.5", "at character 6: the result is not a real number");
        check("9 ^ 999", "at character 3: the result is too large");
        check("abs(1, 2)", "at character 1: abs takes one number, not 2");
        check("1..2", "at character 3: expected an operator (+ - * / % ^), found `.`");
        check(".", "at character 1: `.` is not a number");
        assert!(evaluate("sqr(4)").is_err_and(|error| error.contains("did you mean `sqrt`?")));
    }

    #[test]
    fn deep_and_long_expressions_are_refused() {
        let deep = format!("{}1{}", "(".repeat(900), ")".repeat(900));
        assert_eq!(evaluate(&deep), Err("at character 66: nested deeper than 64 levels".to_owned()));
        assert!(
            evaluate(&"2^".repeat(900)).is_err_and(|error| error.ends_with("nested deeper than 64 levels"))
        );
        assert_eq!(evaluate(&format!("{}1", "-".repeat(1_999))), Ok(-1.0));
        assert!(evaluate(&"1".repeat(2_001)).is_err_and(|error| error.contains("at most 2000")));
    }
}
