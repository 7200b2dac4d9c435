//! What a failed program had called, so that nothing is done twice.

use std::collections::HashMap;

use crate::report::ToolCalled;

/// Calls are named one by one up to this many; beyond it they are counted by name.
const CALLS_NAMED_MAX: usize = 12;
/// Different names among the counted ones.
const CALL_NAMES_MAX: usize = 30;
/// Words of a server about a call that failed.
const WHY_CHARS_MAX: usize = 160;

/// A line for each call, or for each tool. What the traceback tells is not told again.
pub(super) fn lines(called: &[ToolCalled], traceback: Option<&str>) -> Vec<String> {
    // What was refused before it left us has done nothing, and neither has an analysis.
    let called: Vec<&ToolCalled> = called.iter().filter(|call| call.sent).collect();
    if called.len() > CALLS_NAMED_MAX {
        return counted(&called);
    }
    let is_told = |why: &str| traceback.is_some_and(|traceback| traceback.contains(why.trim()));
    let outcome = |call: &ToolCalled| match (&call.error, call.ok) {
        (_, true) => "ok".to_owned(),
        (Some(why), false) if is_told(why) => "failed".to_owned(),
        (Some(why), false) => format!("failed: {}", gristmill_domain::one_line(why, WHY_CHARS_MAX)),
        (None, false) => "failed".to_owned(),
    };
    let line = |call: &&ToolCalled| {
        let at = call.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        format!("{}{at}: {}", call.name, outcome(call))
    };
    called.iter().map(line).collect()
}

fn counted(called: &[&ToolCalled]) -> Vec<String> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut counted: Vec<(&str, usize, usize)> = Vec::new();
    for call in called {
        let at = *places.entry(&call.name).or_insert_with(|| {
            counted.push((&call.name, 0, 0));
            counted.len() - 1
        });
        if call.ok { counted[at].1 += 1 } else { counted[at].2 += 1 }
    }
    let more = counted.len().saturating_sub(CALL_NAMES_MAX);
    let mut lines: Vec<String> = counted
        .iter()
        .take(CALL_NAMES_MAX)
        .map(|(name, ok, failed)| match failed {
            0 => format!("{name}: {ok} ok"),
            failed => format!("{name}: {ok} ok, {failed} failed"),
        })
        .collect();
    if more > 0 {
        lines.push(format!("and {more} more tools"));
    }
    lines
}
