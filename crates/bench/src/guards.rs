//! What policy, audit and static checks cost together, and what privacy costs.

use std::sync::Arc;

use gristmill_gateway::audit::{Audit, AuditSettings};
use gristmill_gateway::domain::policy::{Budgets, Condition, Decision, Policy, PolicySettings, Rule};
use gristmill_gateway::domain::{Level, PrivacyMode};
use gristmill_gateway::privacy::{Privacy, PrivacySettings, Vault};
use gristmill_gateway::store::Store;
use gristmill_gateway::upstream::{Guard, GuardSettings};

use super::calculator::{SERVER, TOOL};
use super::row::Row;
use super::sides::{Fitting, Side, Turns, Work};
use super::temporary::Temporary;

const ENDLESS: &str = "… 95 % confidence interval";

pub async fn rows(turns: usize) -> anyhow::Result<Vec<Row>> {
    let (off, on) = (Side::start(|_| Ok(())).await?, Side::start(guarded).await?);
    let calls = both(Work::Calls, turns / 3, &off, &on).await?;
    let executions = both(Work::Execution, turns, &off, &on).await?;
    on.end().await;
    let parts_of_a_call = [
        part("… of which the policy alone", Work::Calls, turns / 3, &off, policed).await?,
        part("… of which the audit alone", Work::Calls, turns / 3, &off, audited).await?,
        part("… with no guards on either side", Work::Calls, turns / 3, &off, |_| Ok(())).await?,
    ];
    let parts_of_an_execution = [
        part("… of which the checks alone", Work::Execution, turns / 3, &off, checked).await?,
        part("… of which the audit alone", Work::Execution, turns / 3, &off, audited).await?,
    ];
    let private = Side::start(private).await?;
    let private_calls = both(Work::Calls, turns / 10, &off, &private).await?;
    let private_executions = both(Work::Execution, turns, &off, &private).await?;
    off.end().await;
    private.end().await;
    let mut rows = vec![
        calls.plain("a call from a program, guards off (on), median of turns"),
        Row::at_most("added by policy, audit and checks to a call", calls.added_us(), 30.0, "us"),
        Row::plain(ENDLESS, calls.range_us()),
    ];
    rows.extend(parts_of_a_call);
    rows.extend([
        executions.plain("an execution without calls, guards off (on), p50"),
        Row::at_most("added by policy, audit and checks to an execution", executions.added_us(), 300.0, "us"),
        Row::plain(ENDLESS, executions.range_us()),
    ]);
    rows.extend(parts_of_an_execution);
    rows.extend([
        private_calls.plain("a call, privacy off (boundary), median of turns"),
        Row::plain("added by privacy to a call", format!("{:.1} us", private_calls.added_us())),
        private_executions.plain("an execution without calls, privacy off (boundary), p50"),
        Row::plain("added by privacy to an execution", format!("{:.1} us", private_executions.added_us())),
    ]);
    Ok(rows)
}

async fn both(work: Work, turns: usize, off: &Side, on: &Side) -> anyhow::Result<Turns> {
    Turns::measure(turns, move || off.time(work), move || on.time(work)).await
}

/// Where the time of the guards goes: one of them alone, with where the median would be; or none of them, which tells
/// what the measurement is good for.
async fn part(
    name: &str,
    work: Work,
    turns: usize,
    off: &Side,
    fit: impl FnOnce(Fitting<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<Row> {
    let alone = Side::start(fit).await?;
    let measured = both(work, turns, off, &alone).await?;
    alone.end().await;
    let added = format!("{:.1} us", measured.added_us());
    Ok(Row::plain(format!("{name} ({})", measured.range_us()), added))
}

fn checked(fitting: Fitting<'_>) -> anyhow::Result<()> {
    fitting.settings.checks_programs = true;
    Ok(())
}

fn policed(fitting: Fitting<'_>) -> anyhow::Result<()> {
    fitting.startup.guard = Some(guard(fitting.folder, fitting.store)?);
    Ok(())
}

fn audited(fitting: Fitting<'_>) -> anyhow::Result<()> {
    let audit = Audit::open(fitting.store, AuditSettings::default())?;
    fitting.startup.observer = Some(audit.observer());
    fitting.data.audit = Some(audit);
    Ok(())
}

fn guarded(fitting: Fitting<'_>) -> anyhow::Result<()> {
    fitting.settings.checks_programs = true;
    fitting.startup.guard = Some(guard(fitting.folder, fitting.store)?);
    audited(fitting)
}

/// Personal data is kept from the program.
fn private(fitting: Fitting<'_>) -> anyhow::Result<()> {
    let wanted = PrivacySettings { mode: PrivacyMode::Boundary, ..PrivacySettings::of(Level::Production) };
    let privacy = Privacy::new(wanted, Vault::open(Some(fitting.store.clone()), None)?)?;
    fitting.startup.privacy = Some(privacy.clone());
    fitting.settings.privacy = Some(privacy);
    Ok(())
}

/// The default preset behind some rules as people write them; the call passes all of them.
fn guard(folder: &Temporary, store: &Store) -> anyhow::Result<Arc<Guard>> {
    let named = |server: &str, tool: &str, decision| Rule {
        server: Some(server.to_owned()),
        tool: Some(tool.to_owned()),
        ..Rule::deciding(decision)
    };
    let rules = [
        named("crm", "delete_*", Decision::Deny),
        named("mail", "send_*", Decision::Ask),
        Rule { token: Some("ci-*".to_owned()), ..named("*", "*", Decision::Deny) },
        Rule {
            conditions: vec![Condition::read("expression", "*__*")?],
            ..named(SERVER, TOOL, Decision::Deny)
        },
        Rule {
            server: Some(SERVER.to_owned()),
            budgets: Budgets { calls_per_minute: Some(1_000_000), ..Budgets::default() },
            ..Rule::default()
        },
    ];
    let user = rules.into_iter().map(|rule| (rule, "the benchmark".to_owned())).collect();
    let policy = Policy::new(PolicySettings { user, ..PolicySettings::default() });
    Ok(Arc::new(Guard::new(GuardSettings {
        policy,
        level: Level::Production,
        data: Some(folder.0.clone()),
        store: Some(store.clone()),
        marks: None,
        notify: None,
    })))
}
