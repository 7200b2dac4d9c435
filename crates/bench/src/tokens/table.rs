//! The figures as a table for people.

use std::fmt::Write;

use gristmill_gateway::domain::grouped;

use super::figures::{AgainstSearch, CONTEXT_MAX, Costs, Figures};
use super::job::Group;

/// The whole table, with groups, the total and the goals.
pub fn of(figures: &Figures) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{:<20} {:>12} {:>12} {:>10} {:>9} {:>10} {:>9}  {:>9}",
        "tokens", "direct", "tool search", "code", "saved", "vs search", "fresh", "turns"
    );
    for group in Group::ALL {
        let jobs: Vec<_> = figures.of_group(group).collect();
        if jobs.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{}", group.name());
        for job in jobs {
            let note = match (job.costs.direct.peak > CONTEXT_MAX, job.costs.searched.peak > CONTEXT_MAX) {
                (true, true) => "  neither direct way fits",
                (true, false) => "  direct does not fit",
                (false, _) => "",
            };
            let _ = writeln!(text, "{}{note}", line(&format!("  {}", job.name), &job.costs));
            if let Some(single) = job.single {
                let with_calls = Costs { code: single, ..job.costs };
                let _ = writeln!(text, "{}", line("    with call_tool", &with_calls));
            }
            if let Some(after_use) = job.after_use {
                let with_use = Costs { code: after_use, ..job.costs };
                let _ = writeln!(text, "{}", line("    after use", &with_use));
            }
        }
        let _ = writeln!(text, "{}", line("  together", &figures.sum(Some(group))));
    }
    let _ = writeln!(text, "\n{}", line("all jobs", &figures.sum(None)));
    let _ = writeln!(text, "{}", line("  in TypeScript", &figures.sum(None).in_typescript()));
    let after_use = figures.after_use();
    if let Some(after_use) = &after_use {
        let _ = writeln!(text, "{}", line("  after use", &after_use.sum(None)));
    }
    let _ = writeln!(
        text,
        "\nEvery turn pays for its whole context; `fresh` is what is saved if every token is paid once only.\n\
         A way does not fit if a turn needs more than {} tokens. The rules: docs/token-benchmark.md",
        grouped(CONTEXT_MAX)
    );
    let against = write_goals(figures, &mut text);
    if let Some(after_use) = &after_use {
        text.push_str("\nAfter every job was done once:");
        write_goals(after_use, &mut text);
    }
    if against.is_some_and(|against| against.dearer > 0) {
        text.push_str(
            "\nFor one small call a client's own tool search takes less than a program: if it has one and single calls \
             are all you do, use that.\n",
        );
    }
    text
}

fn write_goals(figures: &Figures, text: &mut String) -> Option<AgainstSearch> {
    let goals = figures.goals();
    if !goals.is_empty() {
        text.push('\n');
    }
    for goal in &goals {
        let _ = writeln!(text, "{}", goal.line());
    }
    let against = figures.against_search().filter(|_| figures.is_whole);
    if let Some(against) = &against {
        let _ = writeln!(text, "{}", against.line());
    }
    against
}

fn line(name: &str, costs: &Costs) -> String {
    let turns = format!("{}/{}/{}", costs.direct.turns, costs.searched.turns, costs.code.turns);
    format!(
        "{name:<20} {:>12} {:>12} {:>10} {:>7.1} % {:>8.1} % {:>7.1} %  {turns:>9}",
        grouped(costs.direct.paid),
        grouped(costs.searched.paid),
        grouped(costs.code.paid),
        costs.saved(),
        costs.saved_against_search(),
        costs.saved_fresh(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::figures;
    use super::*;

    #[test]
    fn losses_and_what_does_not_fit_are_in_the_table() {
        let text = of(&figures());
        assert!(text.contains("-110.0 %"), "{text}");
        assert!(text.contains("neither direct way fits") && text.contains("direct does not fit"), "{text}");
        assert!(text.contains("with call_tool") && text.contains("all jobs"), "{text}");
        assert!(text.contains("  in TypeScript") && text.contains("60,200"), "{text}");
        assert!(text.contains("    after use") && text.contains("14,925"), "{text}");
        assert!(text.contains("After every job was done once:\nsaved on"), "{text}");
        assert!(text.contains("tool search: 2 of 5 jobs take more"), "{text}");
        assert!(text.contains("a client's own tool search takes less"), "{text}");
    }
}
