//! The functions that an expression can call.

use std::cmp::Ordering;

use super::operands::{kind_of, number, order, timestamp_of, truth};
use crate::outcome::Problem;
use crate::timestamp::{self, DAY, SECOND};
use crate::values::Cell;

/// Letters that one text may come to by joining and replacing, so that no row can eat the memory.
const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// A function by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    If,
    Coalesce,
    IsNull,
    Concat,
    Least,
    Greatest,
    Text(TextFunction),
    Search(Search),
    Rounding(Rounding),
    Real(Real),
    Conversion(Conversion),
    ToDate,
    DatePart(DatePart),
    DaysBetween,
}

/// Functions of one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextFunction {
    Lower,
    Upper,
    Trim,
    Length,
    Substring,
    Replace,
}

/// Where a text has another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Search {
    Contains,
    Starts,
    Ends,
}

/// Functions under which whole numbers stay whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounding {
    Absolute,
    Round,
    Floor,
    Ceiling,
}

/// Functions of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Real {
    SquareRoot,
    Logarithm,
    Exponential,
}

/// From one kind to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conversion {
    Text,
    Number,
    Integer,
}

/// Parts of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DatePart {
    Year,
    Quarter,
    Month,
    Day,
    Weekday,
    Hour,
    Minute,
    Second,
}

/// A function, its name and other spellings, and the least and the most values that it takes.
type Known = (Function, &'static [&'static str], usize, usize);

const ALL: [Known; 35] = [
    (Function::If, &["if", "iif"], 3, 3),
    (Function::Coalesce, &["coalesce", "ifnull"], 1, 100),
    (Function::IsNull, &["is_null", "isnull"], 1, 1),
    (Function::Concat, &["concat"], 1, 100),
    (Function::Least, &["least", "min"], 1, 100),
    (Function::Greatest, &["greatest", "max"], 1, 100),
    (Function::Text(TextFunction::Lower), &["lower"], 1, 1),
    (Function::Text(TextFunction::Upper), &["upper"], 1, 1),
    (Function::Text(TextFunction::Trim), &["trim", "strip"], 1, 1),
    (Function::Text(TextFunction::Length), &["len", "length"], 1, 1),
    (Function::Text(TextFunction::Substring), &["substr", "substring"], 2, 3),
    (Function::Text(TextFunction::Replace), &["replace"], 3, 3),
    (Function::Search(Search::Contains), &["contains"], 2, 2),
    (Function::Search(Search::Starts), &["starts", "starts_with", "startswith"], 2, 2),
    (Function::Search(Search::Ends), &["ends", "ends_with", "endswith"], 2, 2),
    (Function::Rounding(Rounding::Absolute), &["abs"], 1, 1),
    (Function::Rounding(Rounding::Round), &["round"], 1, 2),
    (Function::Rounding(Rounding::Floor), &["floor"], 1, 1),
    (Function::Rounding(Rounding::Ceiling), &["ceil", "ceiling"], 1, 1),
    (Function::Real(Real::SquareRoot), &["sqrt"], 1, 1),
    (Function::Real(Real::Logarithm), &["ln", "log"], 1, 1),
    (Function::Real(Real::Exponential), &["exp"], 1, 1),
    (Function::Conversion(Conversion::Text), &["text", "string", "str"], 1, 1),
    (Function::Conversion(Conversion::Number), &["number", "float"], 1, 1),
    (Function::Conversion(Conversion::Integer), &["integer", "int"], 1, 1),
    (Function::ToDate, &["date"], 1, 1),
    (Function::DatePart(DatePart::Year), &["year"], 1, 1),
    (Function::DatePart(DatePart::Quarter), &["quarter"], 1, 1),
    (Function::DatePart(DatePart::Month), &["month"], 1, 1),
    (Function::DatePart(DatePart::Day), &["day"], 1, 1),
    (Function::DatePart(DatePart::Weekday), &["weekday"], 1, 1),
    (Function::DatePart(DatePart::Hour), &["hour"], 1, 1),
    (Function::DatePart(DatePart::Minute), &["minute"], 1, 1),
    (Function::DatePart(DatePart::Second), &["second"], 1, 1),
    (Function::DaysBetween, &["days_between", "date_diff", "datediff"], 2, 2),
];

impl Function {
    pub(super) fn parse(name: &str) -> Result<Self, Problem> {
        let lower = name.to_ascii_lowercase();
        let found = ALL.iter().find(|(_, names, _, _)| names.contains(&lower.as_str()));
        found.map(|(function, ..)| *function).ok_or_else(|| {
            Problem::unknown(
                "function",
                name,
                ALL.iter().filter_map(|(_, names, _, _)| names.first().copied()),
            )
        })
    }

    pub(super) fn check_count(self, count: usize) -> Result<(), Problem> {
        let (name, least, most) = self.signature();
        if (least..=most).contains(&count) {
            return Ok(());
        }
        let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
        Err(Problem::new(format!("{name}(...) takes {wanted} values, not {count}")))
    }

    fn signature(self) -> (&'static str, usize, usize) {
        let found = ALL.iter().find(|(function, ..)| *function == self);
        found.map_or(("?", 0, 0), |(_, names, least, most)| {
            (names.first().copied().unwrap_or_default(), *least, *most)
        })
    }
}

/// Calls a function; `argument` gives the value of each of its arguments when it is needed.
pub(super) fn call(
    function: Function,
    count: usize,
    argument: &mut dyn FnMut(usize) -> Result<Cell, Problem>,
) -> Result<Cell, Problem> {
    match function {
        Function::If if truth(&argument(0)?)? == Some(true) => argument(1),
        Function::If => argument(2),
        Function::Coalesce => {
            for index in 0..count {
                let cell = argument(index)?;
                if cell != Cell::Missing {
                    return Ok(cell);
                }
            }
            Ok(Cell::Missing)
        }
        Function::Concat => {
            let mut text = String::new();
            for index in 0..count {
                text.push_str(&argument(index)?.text().unwrap_or_default());
            }
            bounded(text)
        }
        Function::Least => extreme(Ordering::Less, count, argument),
        Function::Greatest => extreme(Ordering::Greater, count, argument),
        Function::IsNull => Ok(Cell::Boolean(argument(0)? == Cell::Missing)),
        Function::Text(_) | Function::Search(_) | Function::Rounding(_) | Function::Real(_) => {
            strict(function, count, argument)
        }
        Function::Conversion(_) | Function::ToDate | Function::DatePart(_) | Function::DaysBetween => {
            strict(function, count, argument)
        }
    }
}

/// Functions of which a missing first value makes a missing one.
fn strict(
    function: Function,
    count: usize,
    argument: &mut dyn FnMut(usize) -> Result<Cell, Problem>,
) -> Result<Cell, Problem> {
    let first = argument(0)?;
    if first == Cell::Missing {
        return Ok(Cell::Missing);
    }
    let second = if count > 1 { argument(1)? } else { Cell::Missing };
    let third = if count > 2 { argument(2)? } else { Cell::Missing };
    let name = function.signature().0;
    match function {
        Function::Text(function) => texts(function, text_of(&first, name)?, &second, &third),
        Function::Search(_) if second == Cell::Missing => Ok(Cell::Boolean(false)),
        Function::Search(search) => {
            let (text, part) = (text_of(&first, name)?, text_of(&second, name)?);
            Ok(Cell::Boolean(match search {
                Search::Contains => text.contains(part),
                Search::Starts => text.starts_with(part),
                Search::Ends => text.ends_with(part),
            }))
        }
        Function::Rounding(rounding) => rounded(rounding, &first, &second, name),
        Function::Real(real) => {
            let value = number_of(&first, name)?;
            Ok(Cell::Number(match real {
                Real::SquareRoot => value.sqrt(),
                Real::Logarithm => value.ln(),
                Real::Exponential => value.exp(),
            }))
        }
        Function::Conversion(conversion) => Ok(converted(conversion, &first)),
        Function::ToDate => Ok(Cell::Date(timestamp_or_problem(&first, name)?.div_euclid(DAY))),
        Function::DatePart(part) => {
            Ok(Cell::Integer(part_of_date(part, timestamp_or_problem(&first, name)?)))
        }
        Function::DaysBetween if second == Cell::Missing => Ok(Cell::Missing),
        Function::DaysBetween => {
            let days = |cell| timestamp_or_problem(cell, name).map(|micros| micros.div_euclid(DAY));
            Ok(Cell::Integer(days(&second)? - days(&first)?))
        }
        Function::If
        | Function::Coalesce
        | Function::IsNull
        | Function::Concat
        | Function::Least
        | Function::Greatest => Ok(first),
    }
}

fn texts(function: TextFunction, text: &str, second: &Cell, third: &Cell) -> Result<Cell, Problem> {
    Ok(match function {
        TextFunction::Lower => Cell::Text(text.to_lowercase()),
        TextFunction::Upper => Cell::Text(text.to_uppercase()),
        TextFunction::Trim => Cell::Text(text.trim().to_owned()),
        TextFunction::Length => Cell::Integer(i64::try_from(text.chars().count()).unwrap_or(i64::MAX)),
        TextFunction::Replace => {
            let (Cell::Text(from), Cell::Text(to)) = (second, third) else {
                return Err(Problem::new("replace(text, from, to) takes three text values"));
            };
            if from.is_empty() {
                return Ok(Cell::Text(text.to_owned()));
            }
            return bounded(text.replace(from.as_str(), to));
        }
        TextFunction::Substring => {
            let whole = |cell: &Cell| {
                if let Cell::Integer(value) = cell { usize::try_from(*value).ok() } else { None }
            };
            let Some(start) = whole(second) else {
                return Err(Problem::new(
                    "substr(text, start, length) takes whole numbers that are not negative",
                ));
            };
            let length = whole(third).unwrap_or(usize::MAX);
            Cell::Text(text.chars().skip(start).take(length).collect())
        }
    })
}

fn rounded(rounding: Rounding, first: &Cell, second: &Cell, name: &str) -> Result<Cell, Problem> {
    if let Cell::Integer(value) = first
        && (rounding != Rounding::Round || *second == Cell::Missing)
    {
        let whole = if rounding == Rounding::Absolute { value.checked_abs() } else { Some(*value) };
        return Ok(whole.map_or(Cell::Number(number(first).unwrap_or(f64::NAN).abs()), Cell::Integer));
    }
    let value = number_of(first, name)?;
    Ok(Cell::Number(match rounding {
        Rounding::Absolute => value.abs(),
        Rounding::Floor => value.floor(),
        Rounding::Ceiling => value.ceil(),
        Rounding::Round => {
            let places = if *second == Cell::Missing { 0.0 } else { number_of(second, name)? };
            round_to(value, places)
        }
    }))
}

/// To so many places behind the point; halves go away from zero.
fn round_to(value: f64, places: f64) -> f64 {
    let factor = 10_f64.powf(places.clamp(-300.0, 300.0).trunc());
    let scaled = value * factor;
    if scaled.is_finite() && factor > 0.0 { scaled.round() / factor } else { value }
}

fn converted(conversion: Conversion, cell: &Cell) -> Cell {
    match conversion {
        Conversion::Text => cell.text().map_or(Cell::Missing, Cell::Text),
        Conversion::Number => loose_number(cell).map_or(Cell::Missing, Cell::Number),
        Conversion::Integer => match cell {
            Cell::Integer(whole) => Cell::Integer(*whole),
            Cell::Text(text) if text.trim().parse::<i64>().is_ok() => {
                text.trim().parse().map_or(Cell::Missing, Cell::Integer)
            }
            Cell::Missing
            | Cell::Boolean(_)
            | Cell::Number(_)
            | Cell::Text(_)
            | Cell::Date(_)
            | Cell::Datetime(_) => {
                let whole = loose_number(cell).filter(|value| value.abs() < 9.2e18);
                whole.map_or(Cell::Missing, |value| Cell::Integer(value.trunc() as i64))
            }
        },
    }
}

fn loose_number(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Text(text) => text.trim().parse().ok(),
        Cell::Boolean(value) => Some(f64::from(u8::from(*value))),
        Cell::Missing | Cell::Integer(_) | Cell::Number(_) | Cell::Date(_) | Cell::Datetime(_) => {
            number(cell)
        }
    }
}

fn part_of_date(part: DatePart, micros: i64) -> i64 {
    let days = micros.div_euclid(DAY);
    let date = timestamp::day_of(days);
    let seconds = micros.rem_euclid(DAY) / SECOND;
    match part {
        DatePart::Year => date.year,
        DatePart::Quarter => (date.month + 2) / 3,
        DatePart::Month => date.month,
        DatePart::Day => date.day,
        DatePart::Weekday => timestamp::weekday_of(days),
        DatePart::Hour => seconds / 3600,
        DatePart::Minute => seconds / 60 % 60,
        DatePart::Second => seconds % 60,
    }
}

fn extreme(
    wanted: Ordering,
    count: usize,
    argument: &mut dyn FnMut(usize) -> Result<Cell, Problem>,
) -> Result<Cell, Problem> {
    let mut best = Cell::Missing;
    for index in 0..count {
        let cell = argument(index)?;
        if best == Cell::Missing || order(&cell, &best)? == Some(wanted) {
            best = cell;
        }
    }
    Ok(best)
}

fn text_of<'a>(cell: &'a Cell, function: &str) -> Result<&'a str, Problem> {
    match cell {
        Cell::Text(text) => Ok(text),
        other => Err(Problem::new(format!("{function}(...) takes text, not {}", kind_of(other)))
            .hint("wrap it in text(...)")),
    }
}

fn number_of(cell: &Cell, function: &str) -> Result<f64, Problem> {
    number(cell).ok_or_else(|| {
        Problem::new(format!("{function}(...) takes a number, not {}", kind_of(cell)))
            .hint("wrap it in number(...)")
    })
}

fn timestamp_or_problem(cell: &Cell, function: &str) -> Result<i64, Problem> {
    timestamp_of(cell).ok_or_else(|| {
        let found = cell.text().unwrap_or_default();
        Problem::new(format!("{function}(...) takes a date, not {:?}", crate::values::short(&found)))
            .hint("write dates as 2026-07-28 or 2026-07-28T09:30:00Z")
    })
}

fn bounded(text: String) -> Result<Cell, Problem> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Problem::new(format!("a text value is larger than {TEXT_BYTES_MAX} bytes")));
    }
    Ok(Cell::Text(text))
}
