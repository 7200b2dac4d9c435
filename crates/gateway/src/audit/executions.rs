//! What is said of an execution: that it began, how it ended, and what it tried that it may not.

use gristmill_checks::Guardrails;
use gristmill_domain::{Code, Level};
use gristmill_protocol::EngineId;

use crate::audit::Audit;
use crate::ids::{Caller, ExecutionId};
use crate::ports::{AuditEvent, AuditKind, Finding, Writes};
use crate::report::{Broke, DryRunReport, Report};
use crate::store::StoreError;

/// Lines of calls that are named; a program that makes more says no more by them.
const LINES_MAX: usize = 50;

/// Findings of one program that are noted; those for which it was refused come first.
const FINDINGS_MAX: usize = 20;

/// An execution that runs. Its final event is written before its answer goes out.
pub struct AuditedExecution {
    audit: Audit,
    caller: Caller,
    id: ExecutionId,
    level: Level,
}

impl Audit {
    /// Notes that a program runs: its code by digest. Written with its beginning in the history, or soon.
    pub fn begin(
        &self,
        caller: &Caller,
        id: &ExecutionId,
        (engine, code): (EngineId, &str),
        level: Level,
        writes: &Writes,
    ) -> AuditedExecution {
        let event = AuditEvent::new(AuditKind::ExecutionBegun)
            .by(caller)
            .some("dry_run", writes.is_dry_run().then_some(true))
            .some("only_reads", writes.is_refused().then_some(true))
            .some_name("plan", writes.plan())
            .name("level", level.as_str())
            .name("language", engine.name())
            .name("code_digest", &self.digest(code.as_bytes()))
            .value("code_bytes", &code.len())
            .value("code_lines", &code.lines().count())
            .opening(id);
        self.note_soon(event);
        AuditedExecution { audit: self.clone(), caller: caller.clone(), id: id.clone(), level }
    }

    /// Notes that nothing ran.
    pub fn refused(&self, caller: &Caller, id: &ExecutionId, code: Code) {
        let caller = caller.clone().in_execution(id.clone(), caller.session.clone());
        self.note_now(AuditEvent::new(AuditKind::ExecutionRefused).by(&caller).value("code", &code));
    }
}

impl AuditedExecution {
    /// It runs, and nothing else is written about it.
    pub fn write_beginning(&self) {
        self.audit.write_later();
    }

    /// Its final event and what led to it, with every call before it. Afterwards they are on the disk; if
    /// that cannot be, they wait until it can.
    pub async fn end(self, report: &Report, guardrails: &Guardrails) -> Result<(), StoreError> {
        self.note_end(report, guardrails).settle().await
    }

    /// The same, to be written with whatever is next.
    pub fn note_end(self, report: &Report, guardrails: &Guardrails) -> Audit {
        let Self { audit, mut caller, id, level } = self;
        if let (None, Some(session)) = (&caller.session, &report.session) {
            caller.session = crate::ids::SessionId::read(&session.id);
        }
        for finding in findings(&caller, report, |finding| guardrails.refuses(level, finding)) {
            audit.note_soon(finding);
        }
        for violation in violations(&caller, report) {
            audit.note_soon(violation);
        }
        audit.note_soon(final_event(&caller, report).closing(&id));
        audit
    }
}

fn final_event(caller: &Caller, report: &Report) -> AuditEvent {
    let code = report.error.as_ref().map(|error| error.code);
    let outcome = match (report.success, code) {
        (true, _) => "ok",
        (false, Some(Code::Cancelled)) => "cancelled",
        (false, _) => "failed",
    };
    let failed = report.tools_called.iter().filter(|call| !call.ok).count();
    let mut lines: Vec<u64> = report.tools_called.iter().filter_map(|call| call.line).collect();
    lines.sort_unstable();
    lines.dedup();
    lines.truncate(LINES_MAX);
    let limits: Vec<&str> = report.limits_hit.iter().map(|hit| hit.name).collect();
    AuditEvent::new(AuditKind::ExecutionEnded)
        .by(caller)
        .name("outcome", outcome)
        .some("dry_run", report.dry_run.as_ref().map(|_| true))
        .some("held", report.dry_run.as_ref().map(DryRunReport::count))
        .some_name("plan", report.plan.as_ref().map(|plan| plan.id.as_str()))
        .some_name("node", report.node.as_deref())
        .some("code", code)
        .some("line", report.error.as_ref().and_then(|error| error.line))
        .value("took_ms", &((report.total_time_ms * 1_000.0).round() / 1_000.0))
        .value("cpu_ms", &((report.cpu_time_ms * 1_000.0).round() / 1_000.0))
        .value("calls", &report.tools_called.len())
        .value("calls_failed", &failed)
        .some("call_lines", (!lines.is_empty()).then_some(lines))
        .some("limits_hit", (!limits.is_empty()).then_some(limits))
}

/// What a check said of the program, by rule and line: never its words.
fn findings(
    caller: &Caller,
    report: &Report,
    refuses: impl Fn(&gristmill_checks::Finding) -> bool,
) -> Vec<AuditEvent> {
    let mut found: Vec<(bool, &gristmill_checks::Finding)> =
        report.findings.iter().map(|finding| (refuses(finding), finding)).collect();
    found.sort_by_key(|(refused, _)| !refused);
    let event = |(refused, finding): &(bool, &gristmill_checks::Finding)| {
        let (rule, severity) = (finding.rule.id(), finding.severity.as_str());
        AuditEvent::finding(caller, &Finding { rule, severity, line: Some(finding.line), refused: *refused })
    };
    found.iter().take(FINDINGS_MAX).map(event).collect()
}

/// Limits that refused something, system calls that are not permitted, broken protocols and crashes.
fn violations(caller: &Caller, report: &Report) -> Vec<AuditEvent> {
    let line = report.error.as_ref().and_then(|error| error.line);
    let violation = |what: &str, detail: &str| AuditEvent::violation(caller, what, detail, line);
    let mut found: Vec<AuditEvent> =
        report.limits_hit.iter().map(|hit| violation("limit", hit.name)).collect();
    found.extend(report.broke.map(|broke| match broke {
        Broke::SystemCalls => violation("system_call", "SIGSYS"),
        Broke::Protocol => violation("protocol", "the worker broke it"),
        Broke::Process(signal) => violation("killed", &format!("signal {signal}")),
    }));
    let crashed = report.error.as_ref().is_some_and(|error| error.code == Code::EngineCrash);
    found.extend(crashed.then(|| violation("crash", Code::EngineCrash.as_str())));
    found
}
