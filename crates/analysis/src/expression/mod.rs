//! The small language of computed columns: `price * quantity`, `if(age >= 18, 'adult', 'child')`.
//!
//! It reads fields and computes; it cannot loop, call out or grow without bound.

mod evaluate;
mod functions;
mod lexer;
mod parser;

use crate::bounds::EXPRESSION_BYTES_MAX;
use crate::outcome::{Notes, Problem};
use crate::table::Table;
use crate::values::{Cell, Values};

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
                "an expression has {} letters; {EXPRESSION_BYTES_MAX} are the most",
                text.len()
            )));
        }
        parser::parse(text)
    }

    /// Its value in every row.
    pub(crate) fn evaluate(&self, table: &Table, notes: &mut Notes) -> Result<Values, Problem> {
        let evaluation = Evaluation::new(self, table)?;
        let mut cells = Vec::with_capacity(table.rows());
        for row in 0..table.rows() {
            let cell = evaluation.cell(self, row).map_err(|problem| Problem {
                message: format!("row {}: {}", row + 1, problem.message),
                ..problem
            })?;
            cells.push(cell);
        }
        evaluation.remark(notes);
        values_of(cells)
    }

    /// In which rows it is true. A missing truth value is not true.
    pub(crate) fn holds(&self, table: &Table, notes: &mut Notes) -> Result<Vec<bool>, Problem> {
        match self.evaluate(table, notes)? {
            Values::Booleans(list) => Ok(list.into_iter().map(|value| value == Some(true)).collect()),
            Values::Nothing(count) => Ok(vec![false; count]),
            other => Err(Problem::new(format!(
                "a condition has to be true or false; this expression gives {}",
                other.kind().as_str()
            ))
            .hint("compare something: price > 10 and kind == 'book'")),
        }
    }
}

/// Cells of one kind as a column; whole numbers and fractions together are numbers.
pub(crate) fn values_of(cells: Vec<Cell>) -> Result<Values, Problem> {
    let mut values = Values::Nothing(0);
    for cell in cells {
        values = match (values, cell) {
            (Values::Nothing(count), Cell::Missing) => Values::Nothing(count + 1),
            (Values::Nothing(count), cell) => begun(count, cell),
            (Values::Booleans(mut list), Cell::Boolean(value)) => {
                list.push(Some(value));
                Values::Booleans(list)
            }
            (Values::Integers(mut list), Cell::Integer(value)) => {
                list.push(Some(value));
                Values::Integers(list)
            }
            (Values::Integers(list), Cell::Number(value)) => {
                let mut list: Vec<Option<f64>> =
                    list.into_iter().map(|value| value.map(|value| value as f64)).collect();
                list.push(Some(value));
                Values::Numbers(list)
            }
            (Values::Numbers(mut list), Cell::Integer(value)) => {
                list.push(Some(value as f64));
                Values::Numbers(list)
            }
            (Values::Numbers(mut list), Cell::Number(value)) => {
                list.push(Some(value));
                Values::Numbers(list)
            }
            (Values::Texts(mut list), Cell::Text(value)) => {
                list.push(Some(value));
                Values::Texts(list)
            }
            (Values::Dates(mut list), Cell::Date(value)) => {
                list.push(Some(value));
                Values::Dates(list)
            }
            (Values::Datetimes(mut list), Cell::Datetime(value)) => {
                list.push(Some(value));
                Values::Datetimes(list)
            }
            (Values::Booleans(mut list), Cell::Missing) => {
                list.push(None);
                Values::Booleans(list)
            }
            (Values::Integers(mut list), Cell::Missing) => {
                list.push(None);
                Values::Integers(list)
            }
            (Values::Numbers(mut list), Cell::Missing) => {
                list.push(None);
                Values::Numbers(list)
            }
            (Values::Texts(mut list), Cell::Missing) => {
                list.push(None);
                Values::Texts(list)
            }
            (Values::Dates(mut list), Cell::Missing) => {
                list.push(None);
                Values::Dates(list)
            }
            (Values::Datetimes(mut list), Cell::Missing) => {
                list.push(None);
                Values::Datetimes(list)
            }
            (values, cell) => {
                let message = format!(
                    "row {}: the expression gives {} here and {} before: a column holds one kind",
                    values.len() + 1,
                    evaluate::kind_of(&cell),
                    values.kind().as_str()
                );
                return Err(Problem::new(message).hint("use text(...) or number(...) on one of the branches"));
            }
        };
    }
    Ok(values)
}

fn begun(missing: usize, cell: Cell) -> Values {
    fn after<T: Clone>(missing: usize, value: T) -> Vec<Option<T>> {
        let mut list = vec![None; missing];
        list.push(Some(value));
        list
    }
    match cell {
        Cell::Missing => Values::Nothing(missing + 1),
        Cell::Boolean(value) => Values::Booleans(after(missing, value)),
        Cell::Integer(value) => Values::Integers(after(missing, value)),
        Cell::Number(value) => Values::Numbers(after(missing, value)),
        Cell::Text(value) => Values::Texts(after(missing, value)),
        Cell::Date(value) => Values::Dates(after(missing, value)),
        Cell::Datetime(value) => Values::Datetimes(after(missing, value)),
    }
}
