//! Every figure, and how they are written. docs/metrics.md has them all.
//!
//! Walls: each label is one of a fixed set of words, but for names of servers and tools, of which `busiest`
//! bounds the number.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gristmill_domain::Code;
use gristmill_domain::policy::Decided;
use gristmill_watch::Anomaly;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::busiest::Busiest;
use crate::pool::ZygoteChanges;
use crate::report::{Report, TokenAccount};

type Label = (&'static str, &'static str);
type Counters<const N: usize> = Family<[Label; N], Counter>;

/// From a millisecond to ten minutes.
const SECONDS: [f64; 14] =
    [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0, 120.0, 600.0];

/// From 16 MiB to 4 GiB.
const BYTES: [f64; 9] = [
    16_777_216.0,
    33_554_432.0,
    67_108_864.0,
    134_217_728.0,
    268_435_456.0,
    536_870_912.0,
    1_073_741_824.0,
    2_147_483_648.0,
    4_294_967_296.0,
];

/// What is counted at the moment it is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauges {
    pub running: usize,
    pub queued: usize,
    pub workers_waiting: usize,
    pub interpreters_kept: usize,
    pub zygote_ready: bool,
    pub zygote_changes: ZygoteChanges,
    /// Events of the audit that are not on the disk yet.
    pub audit_waiting: usize,
    /// How long the oldest of them has waited.
    pub audit_lag: Duration,
    /// Personal data that was found since the gateway began, by kind.
    pub privacy_found: BTreeMap<String, u64>,
}

/// See the module.
pub(super) struct Metrics {
    registry: Registry,
    executions: Counters<3>,
    errors: Counters<1>,
    stages: Family<[Label; 1], Histogram>,
    seconds: Histogram,
    cpu: Histogram,
    memory: Histogram,
    tokens: Counters<1>,
    analyses: Counters<1>,
    analysis_seconds: Histogram,
    limits: Counters<1>,
    findings: Counters<1>,
    pub tools: Busiest,
    call_errors: Counters<1>,
    decisions: Counters<2>,
    pub restored: Counter,
    privacy_found: Family<[(&'static str, String); 1], Counter>,
    pub watch_events_dropped: Counter,
    anomalies: Counters<2>,
    alerts: Counters<2>,
    now: Now,
}

/// Set when figures are read.
#[derive(Default)]
struct Now {
    running: Gauge,
    queued: Gauge,
    workers_waiting: Gauge,
    interpreters_kept: Gauge,
    zygote_ready: Gauge,
    zygotes_lost: Counter,
    zygotes_renewed: Counter,
    audit_waiting: Gauge,
    audit_lag: Gauge<f64, AtomicU64>,
    watch_waiting: Gauge,
    resident_bytes: Gauge,
}

/// One execution, in the words of labels.
pub(super) struct ExecutionLabels {
    pub outcome: &'static str,
    pub language: &'static str,
    pub caller: &'static str,
}

impl Metrics {
    pub fn new() -> Self {
        let mut whole = Registry::default();
        let mut now = Now::default();
        now.register_process(&mut whole);
        let registry = whole.sub_registry_with_prefix("gristmill");
        now.register(registry);
        let tools = Busiest::new(registry);
        let mut metrics = Self {
            registry: Registry::default(),
            executions: Family::default(),
            errors: Family::default(),
            stages: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            seconds: Histogram::new(SECONDS),
            cpu: Histogram::new(SECONDS),
            memory: Histogram::new(BYTES),
            tokens: Family::default(),
            analyses: Family::default(),
            analysis_seconds: Histogram::new(SECONDS),
            limits: Family::default(),
            findings: Family::default(),
            tools,
            call_errors: Family::default(),
            decisions: Family::default(),
            restored: Counter::default(),
            privacy_found: Family::default(),
            watch_events_dropped: Counter::default(),
            anomalies: Family::default(),
            alerts: Family::default(),
            now,
        };
        metrics.register(registry);
        metrics.registry = whole;
        metrics
    }

    fn register(&self, registry: &mut Registry) {
        let executions = "Executions, by how they ended, their language and who asked";
        registry.register("executions", executions, self.executions.clone());
        registry.register("execution_errors", "Failed executions, by error code", self.errors.clone());
        let stages = "Time in each stage: place, admit, prepare, check, checkout, program, record";
        registry.register("execution_stage_seconds", stages, self.stages.clone());
        registry.register("execution_seconds", "Time from request to report", self.seconds.clone());
        registry.register("execution_cpu_seconds", "CPU time of programs", self.cpu.clone());
        registry.register("execution_memory_bytes", "Peak memory of programs", self.memory.clone());
        let tokens = "Tokens: inside (of calls), returned, program, saved, lost";
        registry.register("tokens", tokens, self.tokens.clone());
        registry.register("analyses", "Analyses outside of programs", self.analyses.clone());
        let analyses = "Time of analyses outside of programs";
        registry.register("analysis_seconds", analyses, self.analysis_seconds.clone());
        registry.register("limits_hit", "Limits that refused something, by name", self.limits.clone());
        registry.register("findings", "Findings of the checks of programs, by rule", self.findings.clone());
        registry.register("call_errors", "Failed calls of tools, by error code", self.call_errors.clone());
        let decisions = "Decisions of the policy, and what a person answered";
        registry.register("policy_decisions", decisions, self.decisions.clone());
        let restored = "Arguments in which personal data took the place of tokens";
        registry.register("privacy_restored", restored, self.restored.clone());
        let found = "Values of personal data that were found, by kind";
        registry.register("privacy_found", found, self.privacy_found.clone());
        let dropped = "Events that found no room on their way to the watch";
        registry.register("watch_events_dropped", dropped, self.watch_events_dropped.clone());
        registry.register("anomalies", "Findings of the watch", self.anomalies.clone());
        registry.register(
            "alerts",
            "Alerts, by where they went and whether they arrived",
            self.alerts.clone(),
        );
    }

    /// All of them, as OpenMetrics text.
    pub fn text(&self, gauges: &Gauges, watch_waiting: usize) -> String {
        self.now.set(gauges, watch_waiting);
        for (kind, count) in &gauges.privacy_found {
            // Counted where it is found, and never less than before.
            let counter = self.privacy_found.get_or_create_owned(&[("kind", kind.clone())]);
            counter.inner().store(*count, Ordering::Relaxed);
        }
        self.tools.reorder_if_due();
        let mut text = String::new();
        // To write to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    pub fn executed(&self, labels: &ExecutionLabels, report: &Report) {
        let ExecutionLabels { outcome, language, caller } = *labels;
        let labels = [("outcome", outcome), ("language", language), ("caller", caller)];
        self.executions.get_or_create(&labels).inc();
        if let Some(error) = &report.error {
            self.errors.get_or_create(&[("code", error.code.as_str())]).inc();
        }
        for hit in &report.limits_hit {
            self.limits.get_or_create(&[("limit", hit.name)]).inc();
        }
        for finding in &report.findings {
            self.findings.get_or_create(&[("rule", finding.rule.id())]).inc();
        }
        if let Some(tokens) = &report.tokens {
            self.count_tokens(tokens);
        }
    }

    /// Of one that ran.
    pub fn ran(&self, report: &Report, recorded_seconds: f64) {
        // The program's own time without the way to it, and the record with the answer that is made for it.
        let stages = report.timing.stages().iter().filter(|stage| !["run", "answer"].contains(&stage.name));
        let stages = stages.map(|stage| (stage.name, stage.took.as_secs_f64()));
        let others = [("program", report.execution_time_ms / 1_000.0), ("record", recorded_seconds)];
        for (stage, seconds) in stages.chain(others) {
            self.stages.get_or_create(&[("stage", stage)]).observe(seconds);
        }
        self.seconds.observe(report.total_time_ms / 1_000.0);
        self.cpu.observe(report.cpu_time_ms / 1_000.0);
        self.memory.observe(report.memory_peak_bytes as f64);
    }

    fn count_tokens(&self, account: &TokenAccount) {
        let saved = account.saved();
        let (gain, loss) = if saved > 0 { (saved.unsigned_abs(), 0) } else { (0, saved.unsigned_abs()) };
        let counted = [
            ("inside", account.inside),
            ("returned", account.returned),
            ("program", account.program),
            ("saved", gain),
            ("lost", loss),
        ];
        for (kind, tokens) in counted {
            self.tokens.get_or_create(&[("kind", kind)]).inc_by(tokens);
        }
    }

    pub fn analyzed(&self, outcome: &'static str, took: Duration) {
        self.analyses.get_or_create(&[("outcome", outcome)]).inc();
        self.analysis_seconds.observe(took.as_secs_f64());
    }

    pub fn call_failed(&self, code: Code) {
        self.call_errors.get_or_create(&[("code", code.as_str())]).inc();
    }

    pub fn decided(&self, decided: &Decided) {
        let answer = decided.answer.map_or("none", |answer| answer.as_str());
        self.decisions.get_or_create(&[("decision", decided.decision.as_str()), ("answer", answer)]).inc();
    }

    pub fn found(&self, anomaly: &Anomaly) {
        let labels = [("kind", anomaly.kind.name()), ("severity", anomaly.severity.name())];
        self.anomalies.get_or_create(&labels).inc();
    }

    pub fn alerted(&self, to: &'static str, outcome: &'static str) {
        self.alerts.get_or_create(&[("to", to), ("outcome", outcome)]).inc();
    }
}

impl Now {
    fn register_process(&mut self, registry: &mut Registry) {
        let memory = "Memory of the gateway's process";
        registry.register("process_resident_memory_bytes", memory, self.resident_bytes.clone());
    }

    fn register(&mut self, registry: &mut Registry) {
        registry.register(
            "executions_running",
            "Executions under way, waiting ones too",
            self.running.clone(),
        );
        let queued = "Executions that wait for a place among the running";
        registry.register("executions_queued", queued, self.queued.clone());
        registry.register("workers_waiting", "Warm workers that wait", self.workers_waiting.clone());
        let kept = "Interpreters that sessions keep";
        registry.register("interpreters_kept", kept, self.interpreters_kept.clone());
        registry.register("zygote_ready", "Whether workers can be had", self.zygote_ready.clone());
        let lost = "Zygotes that ended by themselves or never came up, and were started again";
        registry.register("zygotes_lost", lost, self.zygotes_lost.clone());
        let renewed = "Zygotes that were replaced by fresh ones as planned";
        registry.register("zygotes_renewed", renewed, self.zygotes_renewed.clone());
        let waiting = "Events of the audit that aren't on the disk yet";
        registry.register("audit_events_waiting", waiting, self.audit_waiting.clone());
        let lag = "How long the oldest event of the audit has waited for the disk";
        registry.register("audit_lag_seconds", lag, self.audit_lag.clone());
        let waiting = "Events on their way to the watch";
        registry.register("watch_events_waiting", waiting, self.watch_waiting.clone());
    }

    fn set(&self, gauges: &Gauges, watch_waiting: usize) {
        let whole = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.running.set(whole(gauges.running));
        self.queued.set(whole(gauges.queued));
        self.workers_waiting.set(whole(gauges.workers_waiting));
        self.interpreters_kept.set(whole(gauges.interpreters_kept));
        self.zygote_ready.set(i64::from(gauges.zygote_ready));
        // Counted in the pools, and never less than before.
        self.zygotes_lost.inner().store(gauges.zygote_changes.lost, Ordering::Relaxed);
        self.zygotes_renewed.inner().store(gauges.zygote_changes.renewed, Ordering::Relaxed);
        self.audit_waiting.set(whole(gauges.audit_waiting));
        self.audit_lag.set(gauges.audit_lag.as_secs_f64());
        self.watch_waiting.set(whole(watch_waiting));
        self.resident_bytes.set(whole(resident_bytes()));
    }
}

/// Of this process; 0 where the system does not tell.
fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or_default().saturating_mul(rustix::param::page_size())
}
