//! Plans as TypeScript.

use crate::Language;
use crate::early::{Aggregate, Operator};
use crate::emit::{LINKED_MAX, PAGES_MAX, PART_ONLY, TOO_MANY_PAGES, TOO_MANY_ROWS, local_name, object};
use crate::fields::Field;
use crate::lexicon::Direction;
use crate::literal::{literal, quoted};
use crate::operations::{Filter, Then};
use crate::plan::{Call, Link, Load, Plan, RowsLoad};

const TYPESCRIPT: Language = Language::TypeScript;

/// The whole program; its result is the default export.
pub fn code(plan: &Plan) -> String {
    let mut lines = vec![import(&plan.call, None)];
    lines.extend(plan.link.iter().map(|link| import(&link.call, Some(&plan.call))));
    lines.push(String::new());
    let call = local_name(&plan.call, None);
    match &plan.load {
        Load::Answer | Load::Total(_) => {
            let arguments = object(TYPESCRIPT, &plan.call.arguments, &[]);
            lines.push(format!("const answer: any = await {call}({arguments});"));
        }
        Load::Rows(rows) => load_rows(plan, rows, &call, &mut lines),
    }
    filter(&plan.operation.filters, &mut lines);
    match (&plan.link, &plan.load) {
        (Some(link), _) => link_lines(link, &plan.call, &mut lines),
        (None, Load::Answer) => {
            lines.push(format!("const result: any = {};", of_answer(&plan.operation.then)))
        }
        (None, Load::Total(total)) => lines.push(format!("const result: any = answer[{}];", text(total))),
        (None, Load::Rows(_)) => of_rows(&plan.operation.then, &mut lines),
    }
    lines.push("export default result;".to_owned());
    lines.join("\n") + "\n"
}

fn import(call: &Call, other: Option<&Call>) -> String {
    let name = local_name(call, other);
    let renamed = if name == call.function { String::new() } else { format!(" as {name}") };
    format!("import {{ {}{renamed} }} from \"./servers/{}\";", call.function, call.module)
}

fn text(name: &str) -> String {
    quoted(TYPESCRIPT, name)
}

fn load_rows(plan: &Plan, rows: &RowsLoad, call: &str, lines: &mut Vec<String>) {
    let member = rows.member.as_ref().map_or_else(String::new, |member| format!("[{}]", text(member)));
    let arguments = object(TYPESCRIPT, &plan.call.arguments, &[]);
    let Some(next) = &rows.next else {
        lines.push(format!("const answer: any = await {call}({arguments});"));
        lines.push(format!("let rows: any[] = answer{member};"));
        guard(rows, lines);
        return;
    };
    let (field, parameter) = (text(&next.field), text(&next.parameter));
    lines.extend([
        "let rows: any[] = [];".to_owned(),
        format!("const given: any = {arguments};"),
        "let next_page: any = true;".to_owned(),
        format!("for (let page = 0; page < {PAGES_MAX} && next_page != null; page++) {{"),
        format!("  const answer: any = await {call}(given);"),
        format!("  rows = rows.concat(answer{member});"),
        format!("  next_page = answer[{field}];"),
        format!("  given[{parameter}] = next_page;"),
        "}".to_owned(),
        format!("if (next_page != null) throw new Error({});", text(TOO_MANY_PAGES)),
    ]);
}

/// An answer that is only a part is no answer.
fn guard(rows: &RowsLoad, lines: &mut Vec<String>) {
    let mut conditions = Vec::new();
    conditions.extend(rows.truncated.as_ref().map(|field| format!("answer[{}]", text(field))));
    conditions.extend(rows.total.as_ref().map(|field| format!("rows.length < answer[{}]", text(field))));
    conditions.extend(rows.limit.map(|limit| format!("rows.length >= {limit}")));
    if !conditions.is_empty() {
        lines.push(format!("if ({}) throw new Error({});", conditions.join(" || "), text(PART_ONLY)));
    }
}

fn filter(filters: &[Filter], lines: &mut Vec<String>) {
    if filters.is_empty() {
        return;
    }
    let conditions: Vec<String> = filters.iter().map(condition).collect();
    lines.push(format!("rows = rows.filter((row: any) => {});", conditions.join(" && ")));
}

fn condition(filter: &Filter) -> String {
    let operator = match filter.operator {
        Operator::Above => ">",
        Operator::Below => "<",
        Operator::AtLeast => ">=",
        Operator::AtMost => "<=",
        Operator::Equals => "===",
    };
    let compared =
        format!("row[{}] {operator} {}", text(&filter.field.name), literal(TYPESCRIPT, &filter.value));
    match filter.field.always {
        true => compared,
        false => format!("row[{}] != null && {compared}", text(&filter.field.name)),
    }
}

fn member(of: &str, field: &Field) -> String {
    match field.always {
        true => format!("{of}[{}]", text(&field.name)),
        false => format!("({of}[{}] ?? null)", text(&field.name)),
    }
}

/// One field, or several as an object.
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
        Then::Answer | Then::Pick(_) => lines.push("const result: any = rows;".to_owned()),
        Then::List(fields) if fields.is_empty() => lines.push("const result: any = rows;".to_owned()),
        Then::List(fields) => {
            lines.push(format!("const result: any = rows.map((row: any) => ({}));", members("row", fields)));
        }
        Then::Count { group: None } => lines.push("const result: any = rows.length;".to_owned()),
        Then::Count { group: Some(group) } => lines.extend([
            "const result: any = new Map();".to_owned(),
            "for (const row of rows) {".to_owned(),
            format!("  const key = {};", key(group)),
            "  result.set(key, (result.get(key) ?? 0) + 1);".to_owned(),
            "}".to_owned(),
        ]),
        Then::Aggregate { kind, field, group: None } => {
            lines.push(format!(
                "const values: any[] = {}.map((row: any) => row[{}]);",
                with(field),
                text(&field.name)
            ));
            lines.push(format!("const result: any = {};", aggregate(*kind)));
        }
        Then::Aggregate { kind, field, group: Some(group) } => lines.extend([
            "const groups: any = new Map();".to_owned(),
            format!("for (const row of {}) {{", with(field)),
            format!("  const key = {};", key(group)),
            format!("  groups.set(key, (groups.get(key) ?? []).concat([row[{}]]));", text(&field.name)),
            "}".to_owned(),
            "const result: any = new Map();".to_owned(),
            format!("for (const [key, values] of groups) result.set(key, {});", aggregate(*kind)),
        ]),
        Then::Top { count, field, direction } => {
            let (first, second) = if *direction == Direction::Up { ("b", "a") } else { ("a", "b") };
            let by = text(&field.name);
            lines.push(format!(
                "const ordered: any[] = [...{}].sort((a: any, b: any) => {first}[{by}] - {second}[{by}]);",
                with(field)
            ));
            lines.push(match count {
                Some(count) => format!("const result: any = ordered.slice(0, {count});"),
                None => "const result: any = ordered[0] ?? null;".to_owned(),
            });
        }
    }
}

fn key(group: &Field) -> String {
    match group.always {
        true => member("row", group),
        false => format!("row[{}] || \"(none)\"", text(&group.name)),
    }
}

/// The rows that have the field.
fn with(field: &Field) -> String {
    match field.always {
        true => "rows".to_owned(),
        false => format!("rows.filter((row: any) => row[{}] != null)", text(&field.name)),
    }
}

fn aggregate(kind: Aggregate) -> &'static str {
    match kind {
        Aggregate::Sum => "values.reduce((a: any, b: any) => a + b, 0)",
        Aggregate::Mean => {
            "values.length ? values.reduce((a: any, b: any) => a + b, 0) / values.length : null"
        }
        Aggregate::Max => "values.length ? values.reduce((a: any, b: any) => (b > a ? b : a)) : null",
        Aggregate::Min => "values.length ? values.reduce((a: any, b: any) => (b < a ? b : a)) : null",
    }
}

fn link_lines(link: &Link, other: &Call, lines: &mut Vec<String>) {
    let call = local_name(&link.call, Some(other));
    let from = format!("row[{}]", text(&link.field));
    let arguments = object(TYPESCRIPT, &link.call.arguments, &[(link.parameter.as_str(), from.clone())]);
    let picks: Vec<String> =
        link.picks.iter().map(|field| format!("{}: {}", text(&field.name), member("each", field))).collect();
    lines.extend([
        format!("if (rows.length > {LINKED_MAX}) throw new Error({});", text(TOO_MANY_ROWS)),
        "const result: any[] = [];".to_owned(),
        "for (const row of rows) {".to_owned(),
        format!("  const each: any = await {call}({arguments});"),
        format!("  result.push({{{}: {from}, {}}});", text(&link.field), picks.join(", ")),
        "}".to_owned(),
    ]);
}
