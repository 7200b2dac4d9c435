//! The functions that an expression can call.

use super::evaluate::{kind_of, moment_of, number, order, truth};
use crate::moment::{self, DAY, SECOND};
use crate::outcome::Problem;
use crate::values::Cell;

/// Letters that one text may come to by joining and replacing, so that no row can eat the memory.
const TEXT_BYTES_MAX: usize = 1024 * 1024;

macro_rules! functions {
    ($($variant:ident $names:expr, $least:expr, $most:expr;)*) => {
        /// A function by its name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Function { $($variant),* }

        impl Function {
            const ALL: &'static [(Function, &'static [&'static str], usize, usize)] =
                &[$((Function::$variant, &$names, $least, $most)),*];
        }
    };
}

functions! {
    If ["if", "iif"], 3, 3;
    Coalesce ["coalesce", "ifnull"], 1, 100;
    IsNull ["is_null", "isnull"], 1, 1;
    Lower ["lower"], 1, 1;
    Upper ["upper"], 1, 1;
    Trim ["trim", "strip"], 1, 1;
    Length ["len", "length"], 1, 1;
    Concat ["concat"], 1, 100;
    Substring ["substr", "substring"], 2, 3;
    Replace ["replace"], 3, 3;
    Contains ["contains"], 2, 2;
    Starts ["starts", "starts_with", "startswith"], 2, 2;
    Ends ["ends", "ends_with", "endswith"], 2, 2;
    Absolute ["abs"], 1, 1;
    Round ["round"], 1, 2;
    Floor ["floor"], 1, 1;
    Ceiling ["ceil", "ceiling"], 1, 1;
    SquareRoot ["sqrt"], 1, 1;
    Logarithm ["ln", "log"], 1, 1;
    Exponential ["exp"], 1, 1;
    Least ["least", "min"], 1, 100;
    Greatest ["greatest", "max"], 1, 100;
    Text ["text", "string", "str"], 1, 1;
    ToNumber ["number", "float"], 1, 1;
    ToInteger ["integer", "int"], 1, 1;
    ToDate ["date"], 1, 1;
    Year ["year"], 1, 1;
    Quarter ["quarter"], 1, 1;
    Month ["month"], 1, 1;
    Day ["day"], 1, 1;
    Weekday ["weekday"], 1, 1;
    Hour ["hour"], 1, 1;
    Minute ["minute"], 1, 1;
    Second ["second"], 1, 1;
    DaysBetween ["days_between", "date_diff", "datediff"], 2, 2;
}

impl Function {
    pub(super) fn parse(name: &str) -> Result<Self, Problem> {
        let lower = name.to_ascii_lowercase();
        let found = Self::ALL.iter().find(|(_, names, _, _)| names.contains(&lower.as_str()));
        found.map(|(function, ..)| *function).ok_or_else(|| {
            Problem::unknown(
                "function",
                name,
                Self::ALL.iter().filter_map(|(_, names, _, _)| names.first().copied()),
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
        let found = Self::ALL.iter().find(|(function, ..)| *function == self);
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
        Function::If => return if truth(&argument(0)?)? == Some(true) { argument(1) } else { argument(2) },
        Function::Coalesce => {
            for index in 0..count {
                let cell = argument(index)?;
                if cell != Cell::Missing {
                    return Ok(cell);
                }
            }
            return Ok(Cell::Missing);
        }
        Function::Concat => {
            let mut text = String::new();
            for index in 0..count {
                text.push_str(&argument(index)?.text().unwrap_or_default());
            }
            return bounded(text);
        }
        Function::Least | Function::Greatest => return extreme(function, count, argument),
        Function::IsNull => return Ok(Cell::Boolean(argument(0)? == Cell::Missing)),
        _ => {}
    }
    let first = argument(0)?;
    if first == Cell::Missing {
        return Ok(Cell::Missing);
    }
    let second = if count > 1 { argument(1)? } else { Cell::Missing };
    let third = if count > 2 { argument(2)? } else { Cell::Missing };
    one(function, &first, &second, &third)
}

fn one(function: Function, first: &Cell, second: &Cell, third: &Cell) -> Result<Cell, Problem> {
    let name = function.signature().0;
    match function {
        Function::Lower
        | Function::Upper
        | Function::Trim
        | Function::Length
        | Function::Substring
        | Function::Replace => texts(function, text_of(first, name)?, second, third),
        Function::Contains | Function::Starts | Function::Ends => {
            if *second == Cell::Missing {
                return Ok(Cell::Boolean(false));
            }
            let (text, part) = (text_of(first, name)?, text_of(second, name)?);
            Ok(Cell::Boolean(match function {
                Function::Starts => text.starts_with(part),
                Function::Ends => text.ends_with(part),
                _ => text.contains(part),
            }))
        }
        Function::Absolute | Function::Round | Function::Floor | Function::Ceiling => {
            rounded(function, first, second)
        }
        Function::SquareRoot => Ok(Cell::Number(number_of(first, name)?.sqrt())),
        Function::Logarithm => Ok(Cell::Number(number_of(first, name)?.ln())),
        Function::Exponential => Ok(Cell::Number(number_of(first, name)?.exp())),
        Function::Text => Ok(first.text().map_or(Cell::Missing, Cell::Text)),
        Function::ToNumber | Function::ToInteger => Ok(converted(function, first)),
        Function::ToDate => Ok(Cell::Date(moment_or_problem(first, name)?.div_euclid(DAY))),
        Function::DaysBetween => {
            if *second == Cell::Missing {
                return Ok(Cell::Missing);
            }
            let days = |cell| moment_or_problem(cell, name).map(|micros| micros.div_euclid(DAY));
            Ok(Cell::Integer(days(second)? - days(first)?))
        }
        _ => Ok(Cell::Integer(part_of_date(function, moment_or_problem(first, name)?))),
    }
}

fn texts(function: Function, text: &str, second: &Cell, third: &Cell) -> Result<Cell, Problem> {
    Ok(match function {
        Function::Lower => Cell::Text(text.to_lowercase()),
        Function::Upper => Cell::Text(text.to_uppercase()),
        Function::Trim => Cell::Text(text.trim().to_owned()),
        Function::Length => Cell::Integer(i64::try_from(text.chars().count()).unwrap_or(i64::MAX)),
        Function::Replace => {
            let (Cell::Text(from), Cell::Text(to)) = (second, third) else {
                return Err(Problem::new("replace(text, from, to) takes three texts"));
            };
            if from.is_empty() {
                return Ok(Cell::Text(text.to_owned()));
            }
            return bounded(text.replace(from.as_str(), to));
        }
        _ => {
            let whole = |cell: &Cell| match cell {
                Cell::Integer(value) => usize::try_from(*value).ok(),
                _ => None,
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

fn rounded(function: Function, first: &Cell, second: &Cell) -> Result<Cell, Problem> {
    if let Cell::Integer(value) = first
        && (function != Function::Round || *second == Cell::Missing)
    {
        let whole = if function == Function::Absolute { value.checked_abs() } else { Some(*value) };
        return Ok(whole.map_or(Cell::Number(number(first).unwrap_or(f64::NAN).abs()), Cell::Integer));
    }
    let value = number_of(first, function.signature().0)?;
    Ok(Cell::Number(match function {
        Function::Absolute => value.abs(),
        Function::Floor => value.floor(),
        Function::Ceiling => value.ceil(),
        _ => {
            let places = if *second == Cell::Missing { 0.0 } else { number_of(second, "round")? };
            round_to(value, places)
        }
    }))
}

/// To so many places behind the point; halves go away from zero.
pub(crate) fn round_to(value: f64, places: f64) -> f64 {
    let factor = 10_f64.powf(places.clamp(-300.0, 300.0).trunc());
    let scaled = value * factor;
    if scaled.is_finite() && factor > 0.0 { scaled.round() / factor } else { value }
}

fn converted(function: Function, cell: &Cell) -> Cell {
    let value = match cell {
        Cell::Text(text) => {
            if let (Function::ToInteger, Ok(whole)) = (function, text.trim().parse::<i64>()) {
                return Cell::Integer(whole);
            }
            text.trim().parse::<f64>().ok()
        }
        Cell::Boolean(value) => Some(f64::from(u8::from(*value))),
        Cell::Integer(value) if function == Function::ToInteger => return Cell::Integer(*value),
        Cell::Missing | Cell::Integer(_) | Cell::Number(_) | Cell::Date(_) | Cell::Datetime(_) => {
            number(cell)
        }
    };
    match value {
        Some(value) if function == Function::ToNumber => Cell::Number(value),
        Some(value) if value.abs() < 9.2e18 => Cell::Integer(value.trunc() as i64),
        Some(_) | None => Cell::Missing,
    }
}

fn part_of_date(function: Function, micros: i64) -> i64 {
    let days = micros.div_euclid(DAY);
    let date = moment::day_of(days);
    let seconds = micros.rem_euclid(DAY) / SECOND;
    match function {
        Function::Year => date.year,
        Function::Quarter => (date.month + 2) / 3,
        Function::Month => date.month,
        Function::Day => date.day,
        Function::Weekday => moment::weekday_of(days),
        Function::Hour => seconds / 3600,
        Function::Minute => seconds / 60 % 60,
        _ => seconds % 60,
    }
}

fn extreme(
    function: Function,
    count: usize,
    argument: &mut dyn FnMut(usize) -> Result<Cell, Problem>,
) -> Result<Cell, Problem> {
    let mut best = Cell::Missing;
    for index in 0..count {
        let cell = argument(index)?;
        let wanted =
            if function == Function::Least { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater };
        if best == Cell::Missing || order(&cell, &best)? == Some(wanted) {
            best = cell;
        }
    }
    Ok(best)
}

fn text_of<'a>(cell: &'a Cell, function: &str) -> Result<&'a str, Problem> {
    match cell {
        Cell::Text(text) => Ok(text),
        other => Err(Problem::new(format!("{function}(...) takes a text, not {}", kind_of(other)))
            .hint("use text(...) around it")),
    }
}

fn number_of(cell: &Cell, function: &str) -> Result<f64, Problem> {
    number(cell).ok_or_else(|| {
        Problem::new(format!("{function}(...) takes a number, not {}", kind_of(cell)))
            .hint("use number(...) around it")
    })
}

fn moment_or_problem(cell: &Cell, function: &str) -> Result<i64, Problem> {
    moment_of(cell).ok_or_else(|| {
        let found = cell.text().unwrap_or_default();
        Problem::new(format!("{function}(...) takes a date, not {:?}", crate::values::short(&found)))
            .hint("dates are written 2026-07-28 or 2026-07-28T09:30:00Z")
    })
}

fn bounded(text: String) -> Result<Cell, Problem> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Problem::new(format!("a text came to more than {TEXT_BYTES_MAX} bytes")));
    }
    Ok(Cell::Text(text))
}
