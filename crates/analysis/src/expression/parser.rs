//! From the pieces of an expression to its meaning, by the usual order of operators.

use super::functions::Function;
use super::lexer::{Token, tokens};
use super::{Expression, Operator};
use crate::bounds::CONDITION_DEPTH_MAX;
use crate::outcome::Problem;
use crate::values::Cell;

pub(super) fn parse(text: &str) -> Result<Expression, Problem> {
    let mut parser = Parser { tokens: tokens(text)?, position: 0, depth: 0 };
    let expression = parser.binary(0)?;
    match parser.peek() {
        None => Ok(expression),
        Some(token) => Err(Problem::new(format!("unexpected {} in the expression", described(token)))
            .hint("is an operator or a bracket missing before it?")),
    }
}

/// Operators that stand between, by how strongly they bind: the last line most.
const LEVELS: [&[(&str, Operator)]; 5] = [
    &[("or", Operator::Or), ("||", Operator::Or)],
    &[("and", Operator::And), ("&&", Operator::And)],
    &[
        ("==", Operator::Equal),
        ("=", Operator::Equal),
        ("!=", Operator::NotEqual),
        ("<>", Operator::NotEqual),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("<", Operator::Less),
        (">", Operator::Greater),
    ],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)],
];
/// Operators side by side: each makes the expression one level deeper.
const OPERATORS_MAX: usize = CONDITION_DEPTH_MAX * 4;
/// The level of comparisons, below which `not` binds.
const COMPARISONS: usize = 2;

struct Parser {
    tokens: Vec<Token>,
    position: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.position)
    }

    /// Steps over a sign or a word if it is next.
    fn take(&mut self, wanted: &str) -> bool {
        let is_next = match self.peek() {
            Some(Token::Sign(sign)) => *sign == wanted,
            Some(Token::Name(name)) => name.eq_ignore_ascii_case(wanted),
            Some(Token::Integer(_) | Token::Number(_) | Token::Text(_) | Token::Quoted(_)) | None => false,
        };
        self.position += usize::from(is_next);
        is_next
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Problem>) -> Result<T, Problem> {
        self.depth += 1;
        // Each bracket costs one level for every kind of operator.
        if self.depth > CONDITION_DEPTH_MAX * (LEVELS.len() + 3) {
            return Err(
                Problem::new("the expression is nested too deeply").hint("split it into several columns")
            );
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn binary(&mut self, level: usize) -> Result<Expression, Problem> {
        let Some(operators) = LEVELS.get(level) else { return self.nested(Self::unary) };
        if level == COMPARISONS && self.take("not") {
            let inner = self.nested(|parser| parser.binary(level))?;
            return Ok(Expression::Not(Box::new(inner)));
        }
        let mut left = self.nested(|parser| parser.binary(level + 1))?;
        let mut chained = 0;
        loop {
            chained += 1;
            // The last turn finds no operator.
            if chained > OPERATORS_MAX + 1 {
                return Err(Problem::new("the expression has too many operators")
                    .hint("split it into several columns"));
            }
            if level == COMPARISONS
                && let Some(is_not) = self.take_in()
            {
                let items = self.nested(Self::items)?;
                left = Expression::OneOf(Box::new(left), items);
                if is_not {
                    left = Expression::Not(Box::new(left));
                }
                continue;
            }
            if level == COMPARISONS && self.take("is") {
                let is_not = self.take("not");
                if !self.take("null") {
                    return Err(Problem::new("expected \"null\" or \"not null\" after \"is\""));
                }
                left = Expression::IsMissing(Box::new(left));
                if is_not {
                    left = Expression::Not(Box::new(left));
                }
                continue;
            }
            let Some(operator) =
                operators.iter().find(|(sign, _)| self.take(sign)).map(|(_, operator)| *operator)
            else {
                return Ok(left);
            };
            let right = self.nested(|parser| parser.binary(level + 1))?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
        }
    }

    /// Steps over `in` or `not in` if it is next; whether it is the latter.
    fn take_in(&mut self) -> Option<bool> {
        let start = self.position;
        let is_not = self.take("not");
        if self.take("in") {
            return Some(is_not);
        }
        self.position = start;
        None
    }

    /// `(a, b)` or `[a, b]`.
    fn items(&mut self) -> Result<Vec<Expression>, Problem> {
        let end = if self.take("(") {
            ")"
        } else if self.take("[") {
            "]"
        } else {
            return Err(Problem::new("expected a list in brackets after \"in\"")
                .hint("example: kind in ('book', 'pen')"));
        };
        let mut items = Vec::new();
        if self.take(end) {
            return Ok(items);
        }
        loop {
            items.push(self.nested(|parser| parser.binary(0))?);
            if self.take(end) {
                return Ok(items);
            }
            if !self.take(",") {
                return Err(Problem::new("unclosed list after \"in\""));
            }
        }
    }

    fn unary(&mut self) -> Result<Expression, Problem> {
        if self.take("-") {
            return Ok(Expression::Negative(Box::new(self.nested(Self::unary)?)));
        }
        if self.take("+") {
            return self.nested(Self::unary);
        }
        if self.take("!") || self.take("not") {
            return Ok(Expression::Not(Box::new(self.nested(Self::unary)?)));
        }
        let base = self.operand()?;
        if self.take("**") {
            let exponent = self.nested(Self::unary)?;
            return Ok(Expression::Binary(Operator::Power, Box::new(base), Box::new(exponent)));
        }
        Ok(base)
    }

    fn operand(&mut self) -> Result<Expression, Problem> {
        if self.take("(") {
            let inner = self.nested(|parser| parser.binary(0))?;
            return if self.take(")") {
                Ok(inner)
            } else {
                Err(Problem::new("unclosed bracket in the expression"))
            };
        }
        let Some(token) = self.peek().cloned() else {
            return Err(
                Problem::new("the expression ends where a value is expected").hint("example: price * 2")
            );
        };
        self.position += 1;
        match token {
            Token::Integer(value) => Ok(Expression::Literal(Cell::Integer(value))),
            Token::Number(value) => Ok(Expression::Literal(Cell::Number(value))),
            Token::Text(value) => Ok(Expression::Literal(Cell::Text(value))),
            Token::Quoted(name) => Ok(Expression::Field(name)),
            Token::Name(name) => self.named(name),
            Token::Sign(sign) => {
                Err(Problem::new(format!("the expression has {sign:?} where a value is expected")))
            }
        }
    }

    fn named(&mut self, name: String) -> Result<Expression, Problem> {
        if self.take("(") {
            return self.call(&name);
        }
        Ok(match name.to_ascii_lowercase().as_str() {
            "true" => Expression::Literal(Cell::Boolean(true)),
            "false" => Expression::Literal(Cell::Boolean(false)),
            "null" | "none" => Expression::Literal(Cell::Missing),
            _ => Expression::Field(name),
        })
    }

    fn call(&mut self, name: &str) -> Result<Expression, Problem> {
        let function = Function::parse(name)?;
        let mut arguments = Vec::new();
        if !self.take(")") {
            loop {
                arguments.push(self.nested(|parser| parser.binary(0))?);
                if self.take(")") {
                    break;
                }
                if !self.take(",") {
                    return Err(Problem::new(format!("unclosed {name}(...) in the expression")));
                }
            }
        }
        function.check_count(arguments.len())?;
        Ok(Expression::Call(function, arguments))
    }
}

fn described(token: &Token) -> String {
    match token {
        Token::Integer(value) => value.to_string(),
        Token::Number(value) => value.to_string(),
        Token::Text(text) => format!("the text {text:?}"),
        Token::Name(name) | Token::Quoted(name) => format!("{name:?}"),
        Token::Sign(sign) => format!("{sign:?}"),
    }
}
