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

/// One pair of gateways after another, each with processes and memory of its own: what a pair happens to be like,
/// which core its server is on and how its memory lies, would be told as a cost otherwise.
const PAIRS: usize = 6;

/// How a gateway is built.
type Fit = fn(Fitting<'_>) -> anyhow::Result<()>;

pub async fn rows(turns: usize) -> anyhow::Result<Vec<Row>> {
    let calls = pairs(Work::Calls, turns / 2, guarded).await?;
    let executions = pairs(Work::Execution, turns, guarded).await?;
    let mut rows = vec![
        calls.all.plain("a call from a program, guards off (on), median of turns"),
        Row::at_most("added by policy, audit and checks to a call", calls.all.added_us(), 30.0, "us"),
    ];
    rows.extend(calls.how_sure());
    rows.extend([
        part("… of which the policy alone", Work::Calls, turns / 3, policed).await?,
        part("… of which the audit alone", Work::Calls, turns / 3, audited).await?,
        part("… with no guards on either side", Work::Calls, turns / 3, unguarded).await?,
        executions.all.plain("an execution without calls, guards off (on), p50"),
        Row::at_most(
            "added by policy, audit and checks to an execution",
            executions.all.added_us(),
            300.0,
            "us",
        ),
    ]);
    rows.extend(executions.how_sure());
    rows.extend([
        part("… of which the checks alone", Work::Execution, turns / 3, checked).await?,
        part("… of which the audit alone", Work::Execution, turns / 3, audited).await?,
    ]);
    let calls = pairs(Work::Calls, turns / 10, private).await?.all;
    let executions = pairs(Work::Execution, turns, private).await?.all;
    rows.extend([
        calls.plain("a call, privacy off (boundary), median of turns"),
        Row::plain("added by privacy to a call", format!("{:.1} us", calls.added_us())),
        executions.plain("an execution without calls, privacy off (boundary), p50"),
        Row::plain("added by privacy to an execution", format!("{:.1} us", executions.added_us())),
    ]);
    Ok(rows)
}

/// What several pairs of gateways took.
#[derive(Default)]
struct Pairs {
    all: Turns,
    /// What was added in each of them.
    each_us: Vec<f64>,
}

impl Pairs {
    fn how_sure(&self) -> [Row; 2] {
        let each: Vec<String> = self.each_us.iter().map(|added| format!("{added:.0}")).collect();
        [
            Row::plain(ENDLESS, self.all.range_us()),
            Row::plain("… in each pair of gateways", format!("{} us", each.join(", "))),
        ]
    }
}

async fn pairs(work: Work, turns: usize, fit: Fit) -> anyhow::Result<Pairs> {
    let mut measured = Pairs::default();
    for pair in 0..PAIRS {
        // Each comes up first every other time.
        let (off, on) = match pair % 2 {
            0 => {
                let off = Side::start(unguarded).await?;
                (off, Side::start(fit).await?)
            }
            _ => {
                let on = Side::start(fit).await?;
                (Side::start(unguarded).await?, on)
            }
        };
        let turns = Turns::measure(turns / PAIRS, || off.time(work), || on.time(work)).await?;
        off.end().await;
        on.end().await;
        measured.each_us.push(turns.added_us());
        measured.all = measured.all.and(turns);
    }
    Ok(measured)
}

/// Where the time of the guards goes: one of them alone, with where the median would be; or none of them, which tells
/// what the measurement is good for.
async fn part(name: &str, work: Work, turns: usize, fit: Fit) -> anyhow::Result<Row> {
    let measured = pairs(work, turns, fit).await?.all;
    let added = format!("{:.1} us", measured.added_us());
    Ok(Row::plain(format!("{name} ({})", measured.range_us()), added))
}

fn unguarded(_: Fitting<'_>) -> anyhow::Result<()> {
    Ok(())
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
