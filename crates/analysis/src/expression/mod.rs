//! The small language of computed columns: `price * quantity`, `if(age >= 18, 'adult', 'child')`.
//!
//! It reads fields and computes; it cannot loop, call out or grow without bound.

mod cells;
mod evaluate;
mod functions;
mod lexer;
mod operands;
mod parser;

use crate::bounds::EXPRESSION_BYTES_MAX;
use crate::outcome::{Notes, Problem};
use crate::table::Table;
use crate::values::{Cell, Values};

use cells::CellsBuilder;
use evaluate::Evaluation;
use functions::Function;

/// An expression that was understood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    Literal(Cell),
    Field(String),
    Negative(Box<Expression>),
    Not(Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    IsMissing(Box<Expression>),
    /// Whether it equals one of a list.
    OneOf(Box<Expression>, Vec<Expression>),
    Call(Function, Vec<Expression>),
}

/// What stands between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

impl Expression {
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        if text.len() > EXPRESSION_BYTES_MAX {
            return Err(Problem::new(format!(
                "the expression is {} bytes; the limit is {EXPRESSION_BYTES_MAX}",
                text.len()
            )));
        }
        parser::parse(text)
    }

    /// The fields that it reads, in the order in which they are named.
    pub(crate) fn fields(&self) -> Vec<&str> {
        match self {
            Expression::Literal(_) => Vec::new(),
            Expression::Field(field) => vec![field.as_str()],
            Expression::Negative(inner) | Expression::Not(inner) | Expression::IsMissing(inner) => {
                inner.fields()
            }
            Expression::Binary(_, left, right) => [left.fields(), right.fields()].concat(),
            Expression::OneOf(inner, others) => {
                others.iter().fold(inner.fields(), |fields, other| [fields, other.fields()].concat())
            }
            Expression::Call(_, inner) => inner.iter().flat_map(Expression::fields).collect(),
        }
    }

    /// Its value in every row.
    pub(crate) fn evaluate(&self, table: &Table, notes: &mut Notes) -> Result<Values, Problem> {
        let evaluation = Evaluation::new(self, table)?;
        let mut cells = CellsBuilder::default();
        let mut mixed = None;
        for row in 0..table.rows() {
            let cell = evaluation.cell(self, row).map_err(|problem| Problem {
                message: format!("row {}: {}", row + 1, problem.message),
                ..problem
            })?;
            // What fails in a later row is told rather than a mixture before it.
            if mixed.is_none() {
                mixed = cells.push(cell).err();
            }
        }
        evaluation.add_notes(notes);
        match mixed {
            Some(problem) => Err(problem),
            None => Ok(cells.finish()),
        }
    }

    /// In which rows it is true. A missing truth value is not true.
    pub(crate) fn holds(&self, table: &Table, notes: &mut Notes) -> Result<Vec<bool>, Problem> {
        match self.evaluate(table, notes)? {
            Values::Booleans(list) => Ok(list.into_iter().map(|value| value == Some(true)).collect()),
            Values::Null(count) => Ok(vec![false; count]),
            other => Err(Problem::new(format!(
                "a condition must be true or false, but this expression is {}",
                other.kind().as_str()
            ))
            .hint("compare something: price > 10 and kind == 'book'")),
        }
    }
}

/// Cells of one kind as a column; whole numbers and fractions together are numbers.
pub(crate) fn values_of(cells: impl IntoIterator<Item = Cell>) -> Result<Values, Problem> {
    let mut builder = CellsBuilder::default();
    cells.into_iter().try_for_each(|cell| builder.push(cell))?;
    Ok(builder.finish())
}
