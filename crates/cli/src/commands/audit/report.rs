//! `gristmill audit report`: violations, counted.

use gristmill_gateway::audit::{AuditReport, Count, Place};
use gristmill_gateway::domain::{counted_grouped, grouped};

use crate::hints::hint;
use crate::table::{Column, Table};
use crate::terminal::one_line;

pub fn print(report: &AuditReport) {
    let counted =
        |count: u64, what: &str| counted_grouped(usize::try_from(count).unwrap_or(usize::MAX), what);
    println!(
        "{} in {} and {}",
        counted(report.violations, "violation"),
        counted(report.executions, "execution"),
        counted(report.calls, "call")
    );
    let counts = [
        ("KIND", &report.by_kind),
        ("CALLER", &report.by_caller),
        ("SESSION", &report.by_session),
        ("TOOL", &report.by_tool),
        ("DAY", &report.by_day),
    ];
    for (heading, counts) in counts.into_iter().filter(|(_, counts)| !counts.is_empty()) {
        println!();
        table_of(heading, counts).print();
    }
    if report.places.is_empty() {
        return;
    }
    println!();
    places(&report.places).print();
    if let Some(execution) = report.places.iter().find_map(|place| place.execution.as_deref()) {
        hint(&format!("`gristmill show {}` shows the program", one_line(execution)));
    }
}

fn table_of(heading: &'static str, counts: &[Count]) -> Table {
    let mut table = Table::new([Column::left(heading), Column::right("COUNT")]);
    counts.iter().for_each(|count| table.row([one_line(&count.name), grouped(count.count)]));
    table
}

fn places(places: &[Place]) -> Table {
    let columns = ["EVENT", "TIME", "VIOLATION", "EXECUTION", "LINE"];
    let mut table = Table::new(columns.map(Column::left));
    for place in places {
        table.row([
            place.number.to_string(),
            one_line(&place.at),
            one_line(&place.kind),
            place.execution.as_deref().map(one_line).unwrap_or_default(),
            place.line.map(|line| line.to_string()).unwrap_or_default(),
        ]);
    }
    table
}
