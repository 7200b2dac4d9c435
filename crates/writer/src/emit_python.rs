//! Plans as Python.

use crate::Language;
use crate::early::{Aggregate, Operator};
use crate::emit::{LINKED_MAX, PAGES_MAX, PART_ONLY, TOO_MANY_PAGES, TOO_MANY_ROWS, local_name, object};
use crate::fields::Field;
use crate::lexicon::Direction;
use crate::literal::{literal, quoted};
use crate::operations::{Filter, Then};
use crate::plan::{Call, Link, Load, Plan, RowsLoad};

const PYTHON: Language = Language::Python;

/// The whole program; its result is `result`.
pub fn code(plan: &Plan) -> String {
    let mut lines = vec![import(&plan.call, None)];
    lines.extend(plan.link.iter().map(|link| import(&link.call, Some(&plan.call))));
    lines.push(String::new());
    let call = local_name(&plan.call, None);
    match &plan.load {
        Load::Answer => {
            lines.push(format!("answer = await {call}({})", object(PYTHON, &plan.call.arguments, &[])))
        }
        Load::Total(_) => {
            lines.push(format!("answer = await {call}({})", object(PYTHON, &plan.call.arguments, &[])))
        }
        Load::Rows(rows) => load_rows(plan, rows, &call, &mut lines),
    }
    filter(&plan.operation.filters, &mut lines);
    match (&plan.link, &plan.load) {
        (Some(link), _) => link_lines(link, &plan.call, &mut lines),
        (None, Load::Answer) => lines.push(format!("result = {}", of_answer(&plan.operation.then))),
        (None, Load::Total(total)) => lines.push(format!("result = answer[{}]", text(total))),
        (None, Load::Rows(_)) => of_rows(&plan.operation.then, &mut lines),
    }
    lines.join("\n") + "\n"
}

fn import(call: &Call, other: Option<&Call>) -> String {
    let name = local_name(call, other);
    let renamed = if name == call.function { String::new() } else { format!(" as {name}") };
    format!("from servers.{} import {}{renamed}", call.module, call.function)
}

fn text(name: &str) -> String {
    quoted(PYTHON, name)
}

fn load_rows(plan: &Plan, rows: &RowsLoad, call: &str, lines: &mut Vec<String>) {
    let member = rows.member.as_ref().map_or_else(String::new, |member| format!("[{}]", text(member)));
    let arguments = object(PYTHON, &plan.call.arguments, &[]);
    let Some(next) = &rows.next else {
        lines.push(format!("answer = await {call}({arguments})"));
        lines.push(format!("rows = answer{member}"));
        guard(rows, lines);
        return;
    };
    let raise = format!("    raise RuntimeError({})", text(TOO_MANY_PAGES));
    lines.extend([
        "rows = []".to_owned(),
        format!("given = {arguments}"),
        format!("for _ in range({PAGES_MAX}):"),
        format!("    answer = await {call}(given)"),
        format!("    rows.extend(answer{member})"),
        format!("    if answer.get({}) is None:", text(&next.field)),
        "        break".to_owned(),
        format!("    given[{}] = answer[{}]", text(&next.parameter), text(&next.field)),
        "else:".to_owned(),
        raise,
    ]);
}

/// An answer that is only a part is no answer.
fn guard(rows: &RowsLoad, lines: &mut Vec<String>) {
    let mut conditions = Vec::new();
    conditions.extend(rows.truncated.as_ref().map(|field| format!("answer[{}]", text(field))));
    conditions.extend(rows.total.as_ref().map(|field| format!("len(rows) < answer[{}]", text(field))));
    conditions.extend(rows.limit.map(|limit| format!("len(rows) >= {limit}")));
    if !conditions.is_empty() {
        lines.push(format!("if {}:", conditions.join(" or ")));
        lines.push(format!("    raise RuntimeError({})", text(PART_ONLY)));
    }
}

fn filter(filters: &[Filter], lines: &mut Vec<String>) {
    if filters.is_empty() {
        return;
    }
    let conditions: Vec<String> = filters.iter().map(condition).collect();
    lines.push(format!("rows = [row for row in rows if {}]", conditions.join(" and ")));
}

fn condition(filter: &Filter) -> String {
    let operator = match filter.operator {
        Operator::Above => ">",
        Operator::Below => "<",
        Operator::AtLeast => ">=",
        Operator::AtMost => "<=",
        Operator::Equals => "==",
    };
    let compared = format!("row[{}] {operator} {}", text(&filter.field.name), literal(PYTHON, &filter.value));
    match filter.field.always {
        true => compared,
        false => format!("row.get({}) is not None and {compared}", text(&filter.field.name)),
    }
}

fn member(of: &str, field: &Field) -> String {
    match field.always {
        true => format!("{of}[{}]", text(&field.name)),
        false => format!("{of}.get({})", text(&field.name)),
    }
}

/// One field, or several as a dict.
fn members(of: &str, fields: &[Field]) -> String {
    match fields {
        [] => of.to_owned(),
        [field] => member(of, field),
        fields => {
            let members: Vec<String> =
                fields.iter().map(|field| format!("{}: {}", text(&field.name), member(of, field))).collect();
            format!("{{{}}}", members.join(", "))
        }
    }
}

fn of_answer(then: &Then) -> String {
    match then {
        Then::Pick(fields) => members("answer", fields),
        Then::Answer | Then::List(_) | Then::Count { .. } | Then::Aggregate { .. } | Then::Top { .. } => {
            "answer".to_owned()
        }
    }
}

fn of_rows(then: &Then, lines: &mut Vec<String>) {
    match then {
        Then::Answer | Then::Pick(_) => lines.push("result = rows".to_owned()),
        Then::List(fields) if fields.is_empty() => lines.push("result = rows".to_owned()),
        Then::List(fields) => lines.push(format!("result = [{} for row in rows]", members("row", fields))),
        Then::Count { group: None } => lines.push("result = len(rows)".to_owned()),
        Then::Count { group: Some(group) } => lines.extend([
            "groups = {}".to_owned(),
            "for row in rows:".to_owned(),
            format!("    key = {}", key(group)),
            "    groups[key] = groups.get(key, 0) + 1".to_owned(),
            "result = groups".to_owned(),
        ]),
        Then::Aggregate { kind, field, group: None } => {
            lines.push(format!("values = [row[{}] for row in {}]", text(&field.name), with(field)));
            lines.push(format!("result = {}", aggregate(*kind)));
        }
        Then::Aggregate { kind, field, group: Some(group) } => lines.extend([
            "groups = {}".to_owned(),
            format!("for row in {}:", with(field)),
            format!("    groups.setdefault({}, []).append(row[{}])", key(group), text(&field.name)),
            format!("result = {{key: {} for key, values in groups.items()}}", aggregate(*kind)),
        ]),
        Then::Top { count, field, direction } => {
            let reverse = if *direction == Direction::Up { ", reverse=True" } else { "" };
            let by = text(&field.name);
            lines.push(format!("ordered = sorted({}, key=lambda row: row[{by}]{reverse})", with(field)));
            lines.push(match count {
                Some(count) => format!("result = ordered[:{count}]"),
                None => "result = ordered[0] if ordered else None".to_owned(),
            });
        }
    }
}

fn key(group: &Field) -> String {
    match group.always {
        true => member("row", group),
        false => format!("{} or \"(none)\"", member("row", group)),
    }
}

/// The rows that have the field.
fn with(field: &Field) -> String {
    match field.always {
        true => "rows".to_owned(),
        false => format!("[row for row in rows if row.get({}) is not None]", text(&field.name)),
    }
}

fn aggregate(kind: Aggregate) -> &'static str {
    match kind {
        Aggregate::Sum => "sum(values)",
        Aggregate::Mean => "sum(values) / len(values) if values else None",
        Aggregate::Max => "max(values, default=None)",
        Aggregate::Min => "min(values, default=None)",
    }
}

fn link_lines(link: &Link, other: &Call, lines: &mut Vec<String>) {
    let call = local_name(&link.call, Some(other));
    let from = format!("row[{}]", text(&link.field));
    let arguments = object(PYTHON, &link.call.arguments, &[(link.parameter.as_str(), from.clone())]);
    let picks: Vec<String> =
        link.picks.iter().map(|field| format!("{}: {}", text(&field.name), member("each", field))).collect();
    lines.extend([
        format!("if len(rows) > {LINKED_MAX}:"),
        format!("    raise RuntimeError({})", text(TOO_MANY_ROWS)),
        "result = []".to_owned(),
        "for row in rows:".to_owned(),
        format!("    each = await {call}({arguments})"),
        format!("    result.append({{{}: {from}, {}}})", text(&link.field), picks.join(", ")),
    ]);
}
