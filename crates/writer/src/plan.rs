//! What a program will do: which tools it calls with what, and what it makes of their answers.

use serde_json::Value;

use crate::arguments::Argument;
use crate::fields::Field;
use crate::kinds::{Parameter, ParameterKind};
use crate::operations::{Operation, Then};
use crate::reading::Problem;
use crate::shape::{Next, Shape};

/// A page size that is asked for where a tool lets us.
const PAGE_ROWS_MAX: f64 = 10_000.0;

/// One call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// As `server.tool`.
    pub full_name: String,
    pub module: String,
    pub function: String,
    pub arguments: Vec<Argument>,
}

/// Everything that a program does.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub call: Call,
    pub load: Load,
    pub operation: Operation,
    pub link: Option<Link>,
    pub assumptions: Vec<String>,
}

/// How the rows of an answer are got.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// The answer as it is; nothing of its rows is needed.
    Answer,
    /// The number of all rows, which the answer has in a field.
    Total(String),
    Rows(RowsLoad),
}

/// All rows, or an error.
#[derive(Clone, Debug, PartialEq)]
pub struct RowsLoad {
    /// The field that holds them; none if the answer is the list.
    pub member: Option<String>,
    pub next: Option<Next>,
    /// A field that says that rows are missing.
    pub truncated: Option<String>,
    /// A field that says how many there are.
    pub total: Option<String>,
    /// As many rows as this may be a part only.
    pub limit: Option<u64>,
}

/// A second tool, called once for each row of the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub call: Call,
    /// The field of the row, and the parameter that takes it.
    pub field: String,
    pub parameter: String,
    /// What is taken of its answer.
    pub picks: Vec<Field>,
}

/// Decides how much of the answer is needed, and asks for as much as the tool gives at once.
pub fn load(
    shape: Option<&Shape>,
    parameters: &[Parameter],
    operation: &Operation,
    arguments: &mut Vec<Argument>,
    assumptions: &mut Vec<String>,
) -> Result<Load, Problem> {
    let Some(shape) = shape else { return Ok(Load::Answer) };
    let Some(rows) = &shape.rows else { return Ok(Load::Answer) };
    let is_paging = |parameter: &&Parameter| matches!(parameter.kind, ParameterKind::Paging(_));
    let is_paged = parameters.iter().any(|parameter| is_paging(&parameter));
    let may_be_part = is_paged || shape.truncated.is_some() || shape.next.is_some();
    let is_given = |parameter: &Parameter| arguments.iter().any(|argument| argument.name == parameter.name);
    let names_page = parameters.iter().filter(is_paging).any(is_given);
    let is_whole_list = matches!(&operation.then, Then::List(fields) if fields.is_empty());
    let shows_all = (operation.then == Then::Answer || is_whole_list) && operation.filters.is_empty();
    match &operation.then {
        Then::Pick(_) => return Ok(Load::Answer),
        // What the sentence names is all that is wanted.
        _ if names_page && shows_all => return Ok(Load::Answer),
        _ if names_page => return Err(Problem::TwoQuestions),
        Then::Answer if shape.next.is_none() => return Ok(Load::Answer),
        // The answer says itself whether there is more.
        Then::List(_) if shows_all && shape.next.is_none() && may_be_part => return Ok(Load::Answer),
        Then::Count { group: None } if operation.filters.is_empty() && may_be_part => {
            if let Some(total) = &shape.total {
                assumptions.push(format!("I took `{total}` of the answer as the number of all rows."));
                return Ok(Load::Total(total.clone()));
            }
        }
        Then::Answer | Then::List(_) | Then::Count { .. } | Then::Aggregate { .. } | Then::Top { .. } => {}
    }
    let limit = largest_page(parameters, arguments);
    let is_complete =
        shape.next.is_some() || shape.total.is_some() || shape.truncated.is_some() || limit.is_some();
    if is_paged && !is_complete {
        return Err(Problem::Paged);
    }
    Ok(Load::Rows(RowsLoad {
        member: rows.member.clone(),
        next: shape.next.clone(),
        truncated: shape.truncated.clone(),
        total: shape.total.clone().filter(|_| shape.next.is_none()),
        limit: limit.filter(|_| shape.next.is_none() && shape.truncated.is_none() && shape.total.is_none()),
    }))
}

/// Asks for the largest page that the tool gives.
fn largest_page(parameters: &[Parameter], arguments: &mut Vec<Argument>) -> Option<u64> {
    const SIZES: &[&str] = &["limit", "page_size", "pagesize", "per_page", "max_results"];
    let parameter =
        parameters.iter().find(|parameter| SIZES.contains(&parameter.name.to_lowercase().as_str()))?;
    let ParameterKind::Paging(range) = parameter.kind else { return None };
    if range.max > PAGE_ROWS_MAX || range.max < 1.0 {
        return None;
    }
    let size = range.max as u64;
    arguments.push(Argument { name: parameter.name.clone(), value: Value::from(size) });
    Some(size)
}
