//! An expression's value in one row.
//!
//! A missing operand makes arithmetic missing. Comparing is two-valued as in conditions: missing equals
//! missing, differs from everything else, and is neither less nor greater.

use std::cell::Cell as Counter;
use std::cmp::Ordering;

use super::operands::{kind_of, number, order, truth};
use super::{Expression, Operator, functions};
use crate::outcome::{Notes, Problem};
use crate::table::Table;
use crate::timestamp;
use crate::values::{Cell, Values};

/// The columns that an expression reads.
pub(super) struct Evaluation<'a> {
    /// By name. There are few: looking at each is faster than hashing.
    columns: Vec<(&'a str, &'a Values)>,
    divisions_by_zero: Counter<usize>,
    dates_by_letters: Counter<usize>,
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(expression: &'a Expression, table: &'a Table) -> Result<Self, Problem> {
        let mut columns = Vec::new();
        collect(expression, table, &mut columns)?;
        Ok(Self { columns, divisions_by_zero: Counter::new(0), dates_by_letters: Counter::new(0) })
    }

    pub(super) fn add_notes(&self, notes: &mut Notes) {
        let count = self.divisions_by_zero.get();
        if count > 0 {
            notes.add(format!("{count} divisions by zero: the results are missing"));
        }
        let count = self.dates_by_letters.get();
        if count > 0 {
            notes.add(format!("{count} comparisons of a date with text that isn't an ISO date were made as text; write dates as 2026-07-28 or 2026-07-28T09:30:00Z"));
        }
    }

    pub(super) fn cell(&self, expression: &Expression, row: usize) -> Result<Cell, Problem> {
        match expression {
            Expression::Literal(cell) => Ok(cell.clone()),
            Expression::Field(field) => {
                let column = self.columns.iter().find(|(name, _)| name == field);
                Ok(column.map_or(Cell::Missing, |(_, values)| values.cell(row)))
            }
            Expression::Negative(inner) => negative(self.cell(inner, row)?),
            Expression::Not(inner) => {
                Ok(truth(&self.cell(inner, row)?)?.map_or(Cell::Missing, |value| Cell::Boolean(!value)))
            }
            Expression::IsMissing(inner) => Ok(Cell::Boolean(self.cell(inner, row)? == Cell::Missing)),
            Expression::OneOf(inner, items) => {
                let own = self.cell(inner, row)?;
                for item in items {
                    if self.is_equal(&own, &self.cell(item, row)?)? {
                        return Ok(Cell::Boolean(true));
                    }
                }
                Ok(Cell::Boolean(false))
            }
            Expression::Binary(operator, left, right) => self.binary(*operator, left, right, row),
            Expression::Call(function, arguments) => {
                functions::call(*function, arguments.len(), &mut |index| match arguments.get(index) {
                    Some(argument) => self.cell(argument, row),
                    None => Ok(Cell::Missing),
                })
            }
        }
    }

    fn binary(
        &self,
        operator: Operator,
        left: &Expression,
        right: &Expression,
        row: usize,
    ) -> Result<Cell, Problem> {
        let first = self.cell(left, row)?;
        match operator {
            Operator::And if truth(&first)? == Some(false) => return Ok(Cell::Boolean(false)),
            Operator::Or if truth(&first)? == Some(true) => return Ok(Cell::Boolean(true)),
            Operator::And | Operator::Or => {
                let second = truth(&self.cell(right, row)?)?;
                let decides = operator == Operator::Or;
                return Ok(match second {
                    Some(value) if value == decides => Cell::Boolean(value),
                    Some(value) if first != Cell::Missing => Cell::Boolean(value),
                    Some(_) | None => Cell::Missing,
                });
            }
            Operator::Equal | Operator::NotEqual | Operator::Less | Operator::LessOrEqual => {}
            Operator::Greater | Operator::GreaterOrEqual | Operator::Add | Operator::Subtract => {}
            Operator::Multiply | Operator::Divide | Operator::Remainder | Operator::Power => {}
        }
        let second = self.cell(right, row)?;
        match operator {
            Operator::Equal => Ok(Cell::Boolean(self.is_equal(&first, &second)?)),
            Operator::NotEqual => Ok(Cell::Boolean(!self.is_equal(&first, &second)?)),
            Operator::Less => Ok(Cell::Boolean(self.order(&first, &second)? == Some(Ordering::Less))),
            Operator::LessOrEqual => {
                Ok(Cell::Boolean(self.order(&first, &second)?.is_some_and(Ordering::is_le)))
            }
            Operator::Greater => Ok(Cell::Boolean(self.order(&first, &second)? == Some(Ordering::Greater))),
            Operator::GreaterOrEqual => {
                Ok(Cell::Boolean(self.order(&first, &second)?.is_some_and(Ordering::is_ge)))
            }
            Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide => {
                self.arithmetic(operator, &first, &second)
            }
            Operator::Remainder | Operator::Power | Operator::And | Operator::Or => {
                self.arithmetic(operator, &first, &second)
            }
        }
    }

    fn is_equal(&self, left: &Cell, right: &Cell) -> Result<bool, Problem> {
        if *left == Cell::Missing || *right == Cell::Missing {
            return Ok(left == right);
        }
        Ok(self.order(left, right)? == Some(Ordering::Equal))
    }

    /// Two cells in order, and counted where a date met a text that is none.
    fn order(&self, left: &Cell, right: &Cell) -> Result<Option<Ordering>, Problem> {
        if let (Cell::Text(first), Cell::Text(second)) = (left, right)
            && timestamp::parse(first).is_some() != timestamp::parse(second).is_some()
        {
            self.dates_by_letters.set(self.dates_by_letters.get() + 1);
        }
        order(left, right)
    }

    fn arithmetic(&self, operator: Operator, left: &Cell, right: &Cell) -> Result<Cell, Problem> {
        if *left == Cell::Missing || *right == Cell::Missing {
            return Ok(Cell::Missing);
        }
        if let (Operator::Add, Cell::Text(left), Cell::Text(right)) = (operator, left, right) {
            return Ok(Cell::Text(format!("{left}{right}")));
        }
        if let (Cell::Integer(left), Cell::Integer(right)) = (left, right)
            && let Some(whole) = whole(operator, *left, *right)
        {
            return Ok(Cell::Integer(whole));
        }
        let (Some(first), Some(second)) = (number(left), number(right)) else {
            let hint = if matches!(left, Cell::Text(_)) || matches!(right, Cell::Text(_)) {
                "use number(field) for numbers in text, concat(a, b) to join texts"
            } else {
                "use year(date), days_between(a, b) and the like to calculate with dates"
            };
            return Err(Problem::new(format!(
                "the expression calculates with {} and {}",
                kind_of(left),
                kind_of(right)
            ))
            .hint(hint));
        };
        if second == 0.0 && matches!(operator, Operator::Divide | Operator::Remainder) {
            self.divisions_by_zero.set(self.divisions_by_zero.get() + 1);
            return Ok(Cell::Missing);
        }
        Ok(Cell::Number(match operator {
            Operator::Add => first + second,
            Operator::Subtract => first - second,
            Operator::Multiply => first * second,
            Operator::Divide => first / second,
            Operator::Remainder => first - second * (first / second).floor(),
            Operator::Power => first.powf(second),
            Operator::Or | Operator::And | Operator::Equal | Operator::NotEqual => f64::NAN,
            Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => f64::NAN,
        }))
    }
}

/// Whole numbers stay whole where they can; what 64 bits cannot hold becomes a number.
fn whole(operator: Operator, left: i64, right: i64) -> Option<i64> {
    match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        // As in Python, the remainder has the sign of the divisor.
        Operator::Remainder => left
            .checked_rem(right)
            .map(|rest| if rest != 0 && (rest < 0) != (right < 0) { rest + right } else { rest }),
        Operator::Power => left.checked_pow(u32::try_from(right).ok()?),
        Operator::Divide | Operator::Or | Operator::And | Operator::Equal | Operator::NotEqual => None,
        Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => None,
    }
}

fn negative(cell: Cell) -> Result<Cell, Problem> {
    match cell {
        Cell::Missing => Ok(Cell::Missing),
        Cell::Integer(value) => {
            Ok(value.checked_neg().map_or(Cell::Number(-(i64::MIN as f64)), Cell::Integer))
        }
        Cell::Number(value) => Ok(Cell::Number(-value)),
        Cell::Boolean(_) | Cell::Text(_) | Cell::Date(_) | Cell::Datetime(_) => {
            Err(Problem::new(format!("the expression can't negate {}", kind_of(&cell))))
        }
    }
}

fn collect<'a>(
    expression: &'a Expression,
    table: &'a Table,
    columns: &mut Vec<(&'a str, &'a Values)>,
) -> Result<(), Problem> {
    match expression {
        Expression::Literal(_) => Ok(()),
        Expression::Field(field) => {
            if !columns.iter().any(|(name, _)| name == field) {
                columns.push((field, table.column(field)?.values()));
            }
            Ok(())
        }
        Expression::Negative(inner) | Expression::Not(inner) | Expression::IsMissing(inner) => {
            collect(inner, table, columns)
        }
        Expression::Binary(_, left, right) => {
            collect(left, table, columns)?;
            collect(right, table, columns)
        }
        Expression::OneOf(inner, items) => {
            collect(inner, table, columns)?;
            items.iter().try_for_each(|item| collect(item, table, columns))
        }
        Expression::Call(_, arguments) => {
            arguments.iter().try_for_each(|argument| collect(argument, table, columns))
        }
    }
}
