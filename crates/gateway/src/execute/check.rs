//! Check: what is wrong with the program for certain is told before a worker sees it, and what is suspicious in it is
//! noted.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use gristmill_checks::typescript::{self, TypeReport};
use gristmill_checks::{CheckReport, Finding, Guardrails, ReadProgram, Rule, ToolNames};
use gristmill_domain::catalogue::{Lookup, Server, Tool};
use gristmill_domain::validate::ArgumentCheck;
use gristmill_protocol::EngineId;
use tokio::task::JoinHandle;

use super::admit::Admitted;
use super::prepare::{CheckedFor, Prepared};
use super::refused::{AT_ONCE_BYTES_MAX, refusal};
use super::typed::{Typed, Typing};
use super::{Core, Lease, Purpose};
use crate::ports::Tools;
use crate::report::Refusal;
use crate::spans::say;
use crate::type_check::{PATIENT_TYPE_CHECK_BUDGET, TypeChecker, TypesChecked};

/// Programs of this size are read in their turn, while the worker walls itself in: that takes less time than waking
/// somebody up to read them and being woken up in turn.
const READ_AT_ONCE_BYTES_MAX: usize = 4 * 1024;

/// What is known of a program that may run.
#[derive(Default)]
pub(super) struct Checked {
    /// What is recorded about it.
    pub findings: Vec<Finding>,
    /// What its types say.
    pub typed: Typed,
}

/// What reading a program comes to.
pub(super) enum Reading {
    /// Nobody will look at what is found, or it is read otherwise.
    No,
    /// When it's its turn.
    Later,
    /// Beside what is prepared for it.
    UnderWay(JoinHandle<ReadProgram>),
}

impl Reading {
    /// Begins to, unless nobody will look at what is found. TypeScript is read when it becomes JavaScript.
    pub fn begin(core: &Core, admitted: &Admitted, purpose: &Purpose) -> Self {
        let is_python = admitted.engine != EngineId::TypeScript;
        if !core.checks_programs || !is_python || !matches!(purpose, Purpose::Asked(_)) {
            return Self::No;
        }
        if admitted.code.len() <= READ_AT_ONCE_BYTES_MAX {
            return Self::Later;
        }
        let guardrails = core.level_guardrails.of(admitted.engine, admitted.limits.level());
        let (code, guardrails) = (admitted.code.clone(), Arc::clone(guardrails));
        Self::UnderWay(core.runtime.spawn_blocking(move || ReadProgram::read(&code, &guardrails)))
    }
}

pub(super) async fn check(core: &Core, prepared: &Prepared, reading: Reading) -> Result<Checked, Refusal> {
    if !core.checks_programs || prepared.checked_for == CheckedFor::Nobody {
        return Ok(Checked::default());
    }
    let (tools, bytes) = (tools_of(prepared), prepared.code.len());
    let guardrails = core.level_guardrails.of(prepared.engine, prepared.limits.level());
    let typing = Typing::begin(core, prepared, tools.as_ref());
    // A check that fails altogether has found nothing: it is a help, and no wall.
    let report = match reading {
        Reading::Later => {
            let code = &prepared.code;
            match std::panic::catch_unwind(AssertUnwindSafe(|| ReadProgram::read(code, guardrails))) {
                Ok(read) => judged(read, tools.clone(), bytes).await,
                Err(_) => CheckReport::default(),
            }
        }
        Reading::UnderWay(reading) => match reading.await {
            Ok(read) => judged(read, tools.clone(), bytes).await,
            Err(_) => CheckReport::default(),
        },
        Reading::No => {
            let program = (prepared.engine, prepared.code.clone());
            checked(program, tools.clone(), Arc::clone(guardrails), None).await
        }
    };
    let report = match prepared.engine {
        // Which modules its environment has, only its interpreter knows.
        EngineId::Native => without_missing(report),
        EngineId::Python | EngineId::TypeScript => report,
    };
    let level = prepared.limits.level();
    let is_refused = report.findings.iter().any(|finding| core.guardrails.refuses(level, finding));
    let report = match typing.filter(|_| !is_refused) {
        Some(typing) => with_types(core, prepared, (tools, report), typing).await,
        None => report,
    };
    let typed = Typed::of(&report);
    let found = report.findings.len();
    let refused = report.findings.iter().find(|finding| core.guardrails.refuses(level, finding)).cloned();
    let is_recorded = |finding: &Finding| {
        // What is a name to this program may come from its context, or from an earlier one.
        finding.rule != Rule::UnknownName && core.guardrails.records(level, finding)
    };
    let findings: Vec<Finding> = report.findings.into_iter().filter(is_recorded).collect();
    say(|span| {
        span.record("checked_bytes", bytes).record("findings", found);
        if let Some(finding) = &refused {
            span.record("rule", finding.rule.id());
        }
    });
    match refused {
        None => Ok(Checked { findings, typed }),
        Some(finding) => Err(refusal(&finding, (prepared.engine, &prepared.filename), findings, level)),
    }
}

fn without_missing(mut report: CheckReport) -> CheckReport {
    report.findings.retain(|finding| finding.rule != Rule::MissingModule);
    report
}

/// The same report, with what its types say if that is known in time.
async fn with_types(
    core: &Core,
    prepared: &Prepared,
    (tools, report): (Option<Arc<dyn Tools>>, CheckReport),
    typing: Typing,
) -> CheckReport {
    let outcome = typing.outcome().await;
    say(|span| {
        span.record("types", outcome.as_str());
    });
    match outcome {
        TypesChecked::Done(types) if !types.errors.is_empty() => {
            let program = (prepared.engine, prepared.code.clone());
            let guardrails = core.level_guardrails.of(prepared.engine, prepared.limits.level());
            checked(program, tools, Arc::clone(guardrails), Some(types)).await
        }
        TypesChecked::Done(_) | TypesChecked::NotShown | TypesChecked::Late | TypesChecked::Failed => report,
    }
}

/// Whether the types of a program are checked, where there is a checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Types {
    Checked,
    Ignored,
}

/// What can be said about a program without running it, with these tools and a type checker that has time.
pub async fn check_program_with_types(
    engine: EngineId,
    code: &str,
    tools: Arc<dyn Tools>,
    guardrails: &Guardrails,
    checker: &Arc<TypeChecker>,
) -> CheckReport {
    let types = patient_types(engine, code, &tools, Some(checker)).await;
    check_in(engine, code, &Named(tools.as_ref()), guardrails, types.as_ref())
}

async fn patient_types(
    engine: EngineId,
    code: &str,
    tools: &Arc<dyn Tools>,
    checker: Option<&Arc<TypeChecker>>,
) -> Option<TypeReport> {
    let checker = checker.filter(|_| engine == EngineId::TypeScript)?;
    let checking = checker.check(code.to_owned(), Arc::clone(tools), PATIENT_TYPE_CHECK_BUDGET);
    match checking.await {
        TypesChecked::Done(report) => Some(report),
        TypesChecked::NotShown | TypesChecked::Late | TypesChecked::Failed => None,
    }
}

/// What can be said about a program without running it, with these tools.
pub fn check_program(
    engine: EngineId,
    code: &str,
    tools: &dyn Tools,
    guardrails: &Guardrails,
) -> CheckReport {
    check_in(engine, code, &Named(tools), guardrails, None)
}

fn check_in(
    engine: EngineId,
    code: &str,
    tools: &(dyn ToolNames + Sync),
    guardrails: &Guardrails,
    types: Option<&TypeReport>,
) -> CheckReport {
    match engine {
        EngineId::Python | EngineId::Native => gristmill_checks::check(code, tools, guardrails),
        EngineId::TypeScript => typescript::check_with_types(code, tools, guardrails, types),
    }
}

/// The check of a program that nobody runs.
pub(crate) async fn check_only(
    core: &Core,
    engine: EngineId,
    code: String,
    tools: Arc<dyn Tools>,
    types: Types,
) -> CheckReport {
    let checker = core.types.as_ref().filter(|_| types == Types::Checked);
    let types = patient_types(engine, &code, &tools, checker).await;
    let guardrails = core.level_guardrails.of(engine, core.limits.level());
    checked((engine, code), Some(tools), Arc::clone(guardrails), types).await
}

/// What a program makes of these tools, beside what was found in it already.
async fn judged(read: ReadProgram, tools: Option<Arc<dyn Tools>>, bytes: usize) -> CheckReport {
    let work = move || match &tools {
        Some(tools) => read.check(&Named(tools.as_ref())),
        None => read.check(&gristmill_checks::NoTools),
    };
    beside_if_long(bytes, work).await
}

async fn checked(
    (engine, code): (EngineId, String),
    tools: Option<Arc<dyn Tools>>,
    guardrails: Arc<Guardrails>,
    types: Option<TypeReport>,
) -> CheckReport {
    let bytes = code.len();
    let work = move || match &tools {
        Some(tools) => check_in(engine, &code, &Named(tools.as_ref()), &guardrails, types.as_ref()),
        None => check_in(engine, &code, &gristmill_checks::NoTools, &guardrails, types.as_ref()),
    };
    beside_if_long(bytes, work).await
}

async fn beside_if_long(bytes: usize, work: impl FnOnce() -> CheckReport + Send + 'static) -> CheckReport {
    match bytes <= AT_ONCE_BYTES_MAX {
        true => work(),
        false => tokio::task::spawn_blocking(work).await.unwrap_or_default(),
    }
}

/// The tools that the program will find.
fn tools_of(prepared: &Prepared) -> Option<Arc<dyn Tools>> {
    let kept = prepared.lease.as_ref().and_then(Lease::kept).map(|kept| &kept.belongings);
    prepared.home.belongings().or(kept).map(|belongings| Arc::clone(&belongings.given.tools))
}

struct Named<'a>(&'a dyn Tools);

impl ToolNames for Named<'_> {
    fn lookup(&self) -> Option<&Lookup> {
        self.0.lookup()
    }

    fn is_certainly_unknown(&self, server: Option<&str>, tool: Option<&str>) -> bool {
        self.0.is_certainly_unknown(server, tool)
    }

    fn argument_check(&self, server: &Server, tool: &Tool) -> Option<Arc<ArgumentCheck>> {
        self.0.argument_check(server, tool)
    }

    fn is_shown(&self, server: &Server, tool: &Tool) -> bool {
        self.0.is_shown(server, tool)
    }
}
