//! Plans of dry runs in `gristmill approvals`: shown with every write, and approved or denied as a whole.

use std::process::ExitCode;

use anyhow::anyhow;
use gristmill_gateway::domain::policy::Answered;
use gristmill_gateway::domain::{counted, utc_text};
use gristmill_gateway::ids::Caller;
use gristmill_gateway::store::{PlanRecord, PlanState, Store};
use serde_json::{Value, json};

use super::{Failure, Outcome};
use crate::audit_log;
use crate::data_store;
use crate::hints::hint;
use crate::local_time::{TimeArguments, from_unix_ms};
use crate::table::{Column, Table};
use crate::terminal::one_line;
use crate::upstreams::Configured;

/// Those that can be approved or denied, the newest first.
pub async fn open_plans(store: &Store) -> Result<Vec<PlanRecord>, Failure> {
    store.list_plans().await.map_err(data_store::failure)
}

pub fn print(plans: &[PlanRecord], times: TimeArguments) {
    if plans.is_empty() {
        return;
    }
    let mut table = Table::new([
        Column::left("PLAN"),
        Column::left("STATUS"),
        Column::left("MADE"),
        Column::left("EXPIRES"),
        Column::wrapping("BY"),
    ]);
    for plan in plans {
        table.row([
            plan.id.clone(),
            plan.state.as_str().to_owned(),
            times.second(from_unix_ms(plan.created_ms)),
            times.second(from_unix_ms(plan.expires_ms)),
            one_line(&plan.caller),
        ]);
        write_lines(plan).for_each(|line| table.note(line));
    }
    table.print();
    hint("`gristmill approvals allow ID` lets a plan run once, with these writes and no others");
}

/// A plan on lines of its own.
pub fn show_one(plan: &PlanRecord, times: TimeArguments) {
    let writes = counted(plan.writes.len(), "write");
    println!("{}  {}  plan with {writes}", plan.id, times.second(from_unix_ms(plan.created_ms)));
    println!("  by {}, until {}", one_line(&plan.caller), times.second(from_unix_ms(plan.expires_ms)));
    write_lines(plan).for_each(|line| println!("{line}"));
}

fn write_lines(plan: &PlanRecord) -> impl Iterator<Item = String> {
    plan.writes.iter().enumerate().map(|(number, write)| {
        let line = format!("{} {} ({})", write.name(), write.shown_arguments(), write.effect);
        format!("  {}. {}", number + 1, one_line(&line))
    })
}

/// Everything that the plan would do: the arguments whole, and the program.
pub fn as_value(plan: &PlanRecord) -> Value {
    json!({
        "id": plan.id,
        "status": plan.state.as_str(),
        "asked": utc_text(from_unix_ms(plan.created_ms)),
        "expires": utc_text(from_unix_ms(plan.expires_ms)),
        "by": plan.caller,
        "program": plan.program,
        "writes": plan.writes,
    })
}

/// Approves a plan for its one run, or denies it.
pub async fn answer(
    configured: &Configured,
    store: &Store,
    plan: &PlanRecord,
    answered: Answered,
) -> Outcome {
    let is_approved = match answered {
        Answered::Once => true,
        Answered::No | Answered::Timeout | Answered::Nobody => false,
        Answered::Session | Answered::Always => {
            return Err(Failure::Usage(anyhow!(
                "`{}` is a plan, which runs once; leave out --session and --always",
                plan.id
            )));
        }
    };
    if is_approved && plan.state == PlanState::Approved {
        println!("the plan {} is approved already", plan.id);
        return Ok(ExitCode::SUCCESS);
    }
    if !store.answer_plan(&plan.id, is_approved).await.map_err(data_store::failure)? {
        return Err(Failure::Usage(anyhow!("the plan `{}` has run, or was denied already", plan.id)));
    }
    for event in plan.approval_events(&Caller::local(), is_approved, "terminal") {
        audit_log::note(configured, event);
    }
    let writes = counted(plan.writes.len(), "write");
    match is_approved {
        true => println!(
            "approved the plan {} with {writes}; ask your agent to run it, or use `gristmill run --plan {0}`",
            plan.id
        ),
        false => println!("denied the plan {}", plan.id),
    }
    Ok(ExitCode::SUCCESS)
}
