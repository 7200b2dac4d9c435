//! The programs of the jobs in TypeScript: the same work, so that neither language is measured alone.

use anyhow::Context;

use super::job::{Job, Look, Programs};

/// By the name of the job: its program, and the look at answers before it.
static PROGRAMS: [(&str, &str, Option<&str>); 30] = [
    (
        "assign-errors",
        include_str!("programs/assign-errors.ts"),
        Some(include_str!("programs/assign-errors.look.ts")),
    ),
    ("best-sellers", include_str!("programs/best-sellers.ts"), None),
    (
        "bug-to-ticket",
        include_str!("programs/bug-to-ticket.ts"),
        Some(include_str!("programs/bug-to-ticket.look.ts")),
    ),
    ("busiest-authors", include_str!("programs/busiest-authors.ts"), None),
    ("control-contact", include_str!("programs/control-contact.ts"), None),
    ("control-sum", include_str!("programs/control-sum.ts"), None),
    (
        "currency-reports",
        include_str!("programs/currency-reports.ts"),
        Some(include_str!("programs/currency-reports.look.ts")),
    ),
    ("customer-brief", include_str!("programs/customer-brief.ts"), None),
    (
        "double-contacts",
        include_str!("programs/double-contacts.ts"),
        Some(include_str!("programs/double-contacts.look.ts")),
    ),
    ("hottest-days", include_str!("programs/hottest-days.ts"), None),
    ("incident", include_str!("programs/incident.ts"), Some(include_str!("programs/incident.look.ts"))),
    (
        "latency-peaks",
        include_str!("programs/latency-peaks.ts"),
        Some(include_str!("programs/latency-peaks.look.ts")),
    ),
    ("marathon", include_str!("programs/marathon.ts"), None),
    ("noisy-pods", include_str!("programs/noisy-pods.ts"), None),
    ("note-on-lead", include_str!("programs/note-on-lead.ts"), None),
    ("one-ticket", include_str!("programs/one-ticket.ts"), None),
    ("order-totals", include_str!("programs/order-totals.ts"), None),
    (
        "overdue-deals",
        include_str!("programs/overdue-deals.ts"),
        Some(include_str!("programs/overdue-deals.look.ts")),
    ),
    ("plan-and-ideas", include_str!("programs/plan-and-ideas.ts"), None),
    ("pod-log", include_str!("programs/pod-log.ts"), Some(include_str!("programs/pod-log.look.ts"))),
    ("quiet-accounts", include_str!("programs/quiet-accounts.ts"), None),
    ("review-queue", include_str!("programs/review-queue.ts"), None),
    ("support-hours", include_str!("programs/support-hours.ts"), None),
    ("tickets-by-status", include_str!("programs/tickets-by-status.ts"), None),
    ("transcript-to-crm", include_str!("programs/transcript-to-crm.ts"), None),
    ("warmest-cities", include_str!("programs/warmest-cities.ts"), None),
    ("weather-now", include_str!("programs/weather-now.ts"), None),
    (
        "weekly-figures",
        include_str!("programs/weekly-figures.ts"),
        Some(include_str!("programs/weekly-figures.look.ts")),
    ),
    ("who-helps", include_str!("programs/who-helps.ts"), Some(include_str!("programs/who-helps.look.ts"))),
    ("won-leads", include_str!("programs/won-leads.ts"), None),
];

/// What a model that writes TypeScript would write for a job.
pub fn programs(job: &Job) -> anyhow::Result<Programs> {
    let &(_, program, look) = PROGRAMS
        .iter()
        .find(|(name, ..)| *name == job.name)
        .with_context(|| format!("{} has no program in TypeScript", job.name))?;
    let first_look = match (&job.first_look, look) {
        (Some(first), Some(look)) => Some(Look { program: look, ..*first }),
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => {
            anyhow::bail!("{} looks at its answers in one language only", job.name)
        }
    };
    Ok(Programs { first_look, program })
}

#[cfg(test)]
mod tests {
    use super::super::job;
    use super::*;

    #[test]
    fn every_job_is_also_done_in_typescript() {
        let all = job::all();
        assert_eq!(all.len(), PROGRAMS.len());
        for job in all {
            let made = programs(&job).expect("a program");
            assert!(made.program.contains("export default "), "{}", job.name);
            for program in
                [Some(made.program), made.first_look.map(|look| look.program)].into_iter().flatten()
            {
                assert!(program.starts_with("import { "), "{}: its language must be clear", job.name);
            }
        }
    }
}
