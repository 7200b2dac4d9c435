//! Dry runs and plans in the life of an execution: what a dry run held becomes a plan, and an approved plan
//! becomes what runs.

use gristmill_domain::{Code, Limits, counted};

use super::start::{PlaceChoice, StartRequest};
use crate::ids::Caller;
use crate::plans::{PlanProgram, Plans};
use crate::ports::{Asker, Writes};
use crate::report::{DryRunReport, Refusal, Report};
use crate::request::{ExecuteRequest, WorkspaceChoice};
use crate::session::SessionChoice;

/// Makes a start that names a plan that of the plan's program, once a person has said yes. Dry runs and plans
/// work in no session: what is in one could change between the two.
pub(super) async fn take_plan(
    plans: Option<&Plans>,
    limits: &Limits,
    mut start: StartRequest,
    asker: &Asker,
) -> Result<StartRequest, Refusal> {
    if start.plan.is_none() && !start.request.dry_run {
        return Ok(start);
    }
    let works_alone = match &start.place {
        PlaceChoice::AsRequested => start.request.workspace == WorkspaceChoice::ThrowAway,
        PlaceChoice::Held(_) => false,
        PlaceChoice::Session { session, keep_variables, .. } => {
            !keep_variables && !matches!(session, SessionChoice::Named(_))
        }
    };
    if !works_alone {
        return Err(Refusal::new(
            Code::BadRequest,
            "a dry run and its plan work in an empty workspace and in no session; nothing ran",
            "leave out the session and the workspace; pass what the program needs in its context",
        ));
    }
    if start.request.dry_run {
        if start.plan.is_some() {
            let message = "a plan is run, not dry-run; nothing ran";
            return Err(Refusal::new(Code::BadRequest, message, "leave out `dry_run` or `plan`"));
        }
        start.place = PlaceChoice::AsRequested;
        return Ok(start);
    }
    if let PlaceChoice::Session { session, .. } = &mut start.place {
        *session = SessionChoice::Alone;
    }
    let Some(id) = start.plan.take() else { return Ok(start) };
    let Some(plans) = plans else {
        let message = "this gateway keeps no plans; nothing ran";
        return Err(Refusal::new(Code::BadRequest, message, "run the program itself"));
    };
    start.request = plans.take(&start.caller, &id, asker, start.request, limits).await?;
    Ok(start)
}

/// A dry run under way.
pub(super) struct DryRun {
    writes: Writes,
    program: PlanProgram,
}

impl DryRun {
    /// `None` for an ordinary program.
    pub fn begin(request: &mut ExecuteRequest, default: &Limits) -> Option<Self> {
        if !request.dry_run {
            return None;
        }
        let writes = Writes::held();
        request.capabilities.writes = writes.clone();
        Some(Self { writes, program: PlanProgram::of(request, default) })
    }

    /// Keeps a plan of what was held, and says how to go on.
    pub async fn end(self, plans: Option<&Plans>, caller: &Caller, report: &mut Report) {
        let (Writes::Held(held), Some(dry_run)) = (self.writes, &mut report.dry_run) else { return };
        let (writes, unlisted) = held.listed();
        if dry_run.count() == 0 {
            report.notes.push(match &report.error {
                Some(error) => failed_before_writing(error.line),
                None => "dry run: it would write nothing, so there is no plan to approve".to_owned(),
            });
            return;
        }
        if let Some(error) = &report.error {
            report.notes.push(unfinished(error.line));
            return;
        }
        if unlisted > 0 {
            let all = counted(dry_run.count(), "write");
            report.notes.push(format!(
                "dry run: {all} were held, too many or too large for a plan; do the work in several programs"
            ));
            return;
        }
        let Some(plans) = plans else { return };
        match plans.keep(caller, self.program, writes).await {
            Ok(kept) => {
                *dry_run =
                    DryRunReport { plan: Some(kept.id), expires: Some(kept.expires), ..dry_run.clone() };
            }
            Err(error) => report.notes.push(format!("dry run: no plan was kept: {error}")),
        }
    }
}

/// Nobody knows what else it would have done.
fn failed_before_writing(line: Option<u64>) -> String {
    let at = place_text(line);
    format!(
        "dry run: the program failed{at} before it was done, so there is no plan; up to there it wrote nothing"
    )
}

/// A program that failed after it wrote has often looked into an answer that it did not get.
fn unfinished(line: Option<u64>) -> String {
    let at = place_text(line);
    format!(
        "dry run: the program failed{at}, so no plan is kept; a held write has no answer, and it may need one there. The writes up to there are listed"
    )
}

fn place_text(line: Option<u64>) -> String {
    line.map(|line| format!(" at line {line}")).unwrap_or_default()
}
