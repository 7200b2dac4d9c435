//! Figures of tools, for a bounded number of them: the busiest have a label of their own, the rest are `other`.
//!
//! The first tools that are called get labels. When figures are read, every ten minutes at most, a tool
//! without one takes the place of one with one that has less than half of its calls; that one's series end, and
//! it counts as `other` from then on. Counts for this are halved each time, so that the past fades.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Tools with a label of their own.
pub(super) const NAMED_MAX: usize = 200;

/// Tools whose calls are counted to find the busiest. More are `other` until some of these are forgotten.
const KNOWN_MAX: usize = 1_024;

const REORDERED_EVERY: Duration = Duration::from_secs(600);

/// What is said of tools without a label of their own.
const OTHER: &str = "other";

/// From a millisecond to a minute.
const SECONDS: [f64; 12] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0];

type CallLabels = [(&'static str, String); 3];
type ToolLabels = [(&'static str, String); 2];

/// How a call ended, as a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallLabel {
    Answered,
    Failed,
    Denied,
    Held,
    Canceled,
}

impl CallLabel {
    const ALL: [Self; 5] = [Self::Answered, Self::Failed, Self::Denied, Self::Held, Self::Canceled];

    fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Held => "held",
            Self::Canceled => "canceled",
        }
    }
}

/// See the module.
pub(super) struct Busiest {
    families: Families,
    tools: RwLock<HashMap<String, Arc<Tool>>>,
    other: Arc<Tool>,
    reordered: Mutex<Instant>,
}

struct Families {
    calls: Family<CallLabels, Counter>,
    seconds: Family<ToolLabels, Histogram>,
}

struct Tool {
    series: Arc<Series>,
    is_named: bool,
    /// Calls, the past ones counting less.
    recent: AtomicU64,
}

/// What is shown, under one label.
struct Series {
    labels: ToolLabels,
    calls: [OnceLock<Counter>; CallLabel::ALL.len()],
    seconds: Histogram,
}

impl Busiest {
    pub fn new(registry: &mut Registry) -> Self {
        let families = Families {
            calls: Family::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(SECONDS)),
        };
        registry.register("calls", "Calls of tools, by how they ended", families.calls.clone());
        let help = "Time of calls of tools, from the request to its end";
        registry.register("call_seconds", help, families.seconds.clone());
        let other = Tool {
            series: Arc::new(families.series(OTHER, OTHER)),
            is_named: false,
            recent: AtomicU64::new(0),
        };
        let (tools, reordered) = (RwLock::default(), Mutex::new(Instant::now()));
        Self { families, tools, other: Arc::new(other), reordered }
    }

    pub fn count(&self, server: &str, tool: &str, label: CallLabel, took: Duration) {
        let key = format!("{server}\n{tool}");
        let known = self.tools.read().get(&key).cloned();
        let known = known.unwrap_or_else(|| self.meet(key, server, tool));
        known.recent.fetch_add(1, Ordering::Relaxed);
        let series = &known.series;
        series.calls[label as usize].get_or_init(|| self.families.counter(&series.labels, label)).inc();
        series.seconds.observe(took.as_secs_f64());
    }

    /// A tool that is called for the first time.
    fn meet(&self, key: String, server: &str, tool: &str) -> Arc<Tool> {
        let mut tools = self.tools.write();
        if let Some(known) = tools.get(&key) {
            return Arc::clone(known);
        }
        if tools.len() >= KNOWN_MAX {
            return Arc::clone(&self.other);
        }
        let is_named = tools.values().filter(|tool| tool.is_named).count() < NAMED_MAX;
        let series = match is_named {
            true => Arc::new(self.families.series(server, tool)),
            false => Arc::clone(&self.other.series),
        };
        let met = Arc::new(Tool { series, is_named, recent: AtomicU64::new(0) });
        tools.insert(key, Arc::clone(&met));
        met
    }

    /// Gives labels to tools that are busier than others that have one, if that was not done lately.
    pub fn reorder_if_due(&self) {
        let mut reordered = self.reordered.lock();
        if reordered.elapsed() >= REORDERED_EVERY {
            *reordered = Instant::now();
            self.reorder();
        }
    }

    pub(super) fn reorder(&self) {
        let mut tools = self.tools.write();
        let recent = |tool: &Arc<Tool>| tool.recent.load(Ordering::Relaxed);
        let listed = |is_named: bool, tools: &HashMap<String, Arc<Tool>>| {
            let those = tools.iter().filter(|(_, tool)| tool.is_named == is_named);
            let mut those: Vec<(u64, String)> =
                those.map(|(key, tool)| (recent(tool), key.clone())).collect();
            those.sort_unstable();
            those
        };
        let idle = listed(true, &tools);
        let busy = listed(false, &tools);
        for ((fewer, loser), (more, winner)) in idle.into_iter().zip(busy.into_iter().rev()) {
            if more <= fewer.saturating_mul(2) {
                break;
            }
            if let Some(tool) = tools.get(&loser) {
                self.families.forget(&tool.series.labels);
            }
            let other = Arc::clone(&self.other.series);
            tools.insert(loser, Arc::new(Tool { series: other, is_named: false, recent: fewer.into() }));
            let (server, tool) = winner.split_once('\n').unwrap_or((&winner, ""));
            let series = Arc::new(self.families.series(server, tool));
            tools.insert(winner, Arc::new(Tool { series, is_named: true, recent: more.into() }));
        }
        for tool in tools.values() {
            tool.recent.store(recent(tool) / 2, Ordering::Relaxed);
        }
        tools.retain(|_, tool| tool.is_named || recent(tool) > 0);
    }
}

impl Families {
    fn series(&self, server: &str, tool: &str) -> Series {
        let labels = [("server", server.to_owned()), ("tool", tool.to_owned())];
        let seconds = self.seconds.get_or_create_owned(&labels);
        Series { labels, calls: Default::default(), seconds }
    }

    fn counter(&self, labels: &ToolLabels, label: CallLabel) -> Counter {
        self.calls.get_or_create_owned(&call_labels(labels, label))
    }

    fn forget(&self, labels: &ToolLabels) {
        self.seconds.remove(labels);
        for label in CallLabel::ALL {
            self.calls.remove(&call_labels(labels, label));
        }
    }
}

fn call_labels([server, tool]: &ToolLabels, label: CallLabel) -> CallLabels {
    [server.clone(), tool.clone(), ("outcome", label.as_str().to_owned())]
}
