//! What the audit costs: for each call, many of which are written at once, and for each execution, whose
//! final event is on the disk before its answer goes out.

use std::time::{Duration, Instant};

use anyhow::anyhow;
use gristmill_gateway::audit::{Audit, AuditSettings};
use gristmill_gateway::checks::Guardrails;
use gristmill_gateway::domain::Level;
use gristmill_gateway::domain::policy::Seen;
use gristmill_gateway::ids::{Caller, ExecutionId};
use gristmill_gateway::ports::{CallEnd, CallFacts, CallObserver, RequestKind, Writes};
use gristmill_gateway::store::Store;
use gristmill_gateway::{CallTokens, Report};

use super::row::Row;
use super::temporary::Temporary;

/// Calls of each program.
const CALLS: u32 = 1_000;

/// Arguments as they usually are.
const ARGUMENTS: &str =
    r#"{"id": 4711, "fields": {"status": "open", "owner": "sales", "note": "call back"}}"#;

pub async fn rows() -> anyhow::Result<Vec<Row>> {
    let folder = Temporary::new()?;
    let store = Store::open(&folder.0)?;
    let audit = Audit::open(&store, AuditSettings::default())?;
    audit.serve().await?;
    // The first ones bring up the tables.
    executions(&audit, 20, 10).await?;
    let call = executions(&audit, 20, CALLS).await? / (20 * CALLS);
    let execution = executions(&audit, 200, 0).await? / 200;
    audit.close().await;
    store.close().await;
    let us = |time: Duration| time.as_secs_f64() * 1e6;
    Ok(vec![
        Row::at_most("added by the audit to a call, of 1,000 in a program", us(call), 30.0, "us"),
        Row::at_most("added by the audit to an execution", us(execution), 300.0, "us"),
    ])
}

/// So many executions with so many calls each: how long whoever runs them waits for the audit.
async fn executions(audit: &Audit, count: u32, calls: u32) -> anyhow::Result<Duration> {
    let report = report();
    let began = Instant::now();
    for _ in 0..count {
        let id = ExecutionId::new().map_err(|error| anyhow!("{error}"))?;
        let caller = Caller::local().in_execution(id.clone(), None);
        let execution = audit.begin(&caller, &id, "x = 1\n", Level::Production, &Writes::Sent);
        for _ in 0..calls {
            audit.passed(&call(audit, &caller));
        }
        execution.end(&report, &Guardrails::default()).await?;
    }
    Ok(began.elapsed())
}

fn call(audit: &Audit, caller: &Caller) -> CallFacts {
    CallFacts {
        caller: caller.clone(),
        kind: RequestKind::CallTool,
        server: Some("crm".to_owned()),
        name: "update_record".to_owned(),
        request_bytes: ARGUMENTS.len() as u64,
        restored: Vec::new(),
        arguments: CallObserver::arguments(audit, ARGUMENTS),
        decision: None,
        answer_bytes: 400,
        took: Duration::from_micros(300),
        end: CallEnd::Answered,
    }
}

/// Of a program that did what it was asked to.
fn report() -> Report {
    Report {
        success: true,
        result: None,
        large_result: None,
        stdout: String::new(),
        stderr: String::new(),
        error: None,
        execution_time_ms: 1.0,
        total_time_ms: 2.0,
        tools_called: Vec::new(),
        limits_hit: Vec::new(),
        findings: Vec::new(),
        dry_run: None,
        plan: None,
        notes: Vec::new(),
        memory_peak_bytes: 0,
        cpu_time_ms: 1.0,
        variables: None,
        session: None,
        tokens: None,
        call_tokens: CallTokens::default(),
        is_recorded: true,
        broke: None,
        seen: Seen::default(),
    }
}
