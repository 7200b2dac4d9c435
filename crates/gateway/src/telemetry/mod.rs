//! Telemetry: figures of what runs for whoever scrapes them, and the watch that looks for what is unusual.
//!
//! Told of the end of every execution and of every request at the door of the servers. Figures are atomics.
//! The watch gets its events over a bounded queue and works in a task of its own.
//!
//! Walls: nobody waits here, and what finds no room in the queue is counted. Labels and events hold names of
//! servers, tools and callers, codes, numbers and hashes; nothing of what programs and tools say.

mod busiest;
mod calls;
mod deliveries;
mod executions;
mod lead;
mod metrics;
mod notices;
mod watcher;

use std::sync::Arc;
use std::time::Duration;

use gristmill_watch::alerts::AlertSettings;
use tokio::sync::{mpsc, oneshot};

use crate::ports::{AlertWay, CallObserver};
use crate::store::{Store, WatchEvent};
use calls::Observed;
use metrics::Metrics;
use watcher::{Message, Watcher};

pub use executions::Measured;
pub(crate) use metrics::Gauges;
pub use notices::test_notice;

/// Events on their way to the watch. It takes some microseconds for each.
const EVENTS_MAX: usize = 4_096;

/// How the watch looks at events, and whom it tells.
pub struct WatchSettings {
    pub watch: gristmill_watch::Settings,
    pub alerts: AlertSettings,
    /// Every alert goes to each of them.
    pub ways: Vec<Arc<dyn AlertWay>>,
    /// Who hears of alerts that could not be delivered.
    pub told: Arc<dyn Fn(String) + Send + Sync>,
}

/// See the module. Cheap to clone; the watch ends with the last clone.
#[derive(Clone)]
pub struct Telemetry {
    inner: Arc<Inner>,
}

struct Inner {
    metrics: Arc<Metrics>,
    /// `None` if nothing is watched.
    events: Option<mpsc::Sender<Message>>,
}

impl Telemetry {
    /// Counts, and watches nothing.
    pub fn counting() -> Self {
        Self { inner: Arc::new(Inner { metrics: Arc::new(Metrics::new()), events: None }) }
    }

    /// Counts, and watches; what is found goes into this database. Of all gateways of a data folder one
    /// watches, and the others send it their events. Needs a tokio runtime.
    pub fn watching(store: Store, settings: WatchSettings) -> Self {
        let metrics = Arc::new(Metrics::new());
        let (sender, events) = mpsc::channel(EVENTS_MAX);
        let watcher = Watcher::new(store, settings, Arc::clone(&metrics), events);
        tokio::spawn(watcher.run());
        Self { inner: Arc::new(Inner { metrics, events: Some(sender) }) }
    }

    /// Hears of every request that reaches a server, and tells `audit` of it, too.
    pub fn observer(&self, audit: Option<Arc<dyn CallObserver>>) -> Arc<dyn CallObserver> {
        Arc::new(Observed { telemetry: self.clone(), audit })
    }

    /// The figures as OpenMetrics text, with those of this moment.
    pub(crate) fn metrics_text(&self, gauges: &Gauges) -> String {
        self.inner.metrics.text(gauges, self.events_waiting())
    }

    /// An analysis has ended that no program made.
    pub(crate) fn analyzed(&self, is_ok: bool, took: Duration) {
        self.inner.metrics.analyzed(if is_ok { "ok" } else { "failed" }, took);
    }

    fn metrics(&self) -> &Metrics {
        &self.inner.metrics
    }

    fn is_watching(&self) -> bool {
        self.inner.events.is_some()
    }

    fn tell(&self, event: WatchEvent) {
        let Some(events) = &self.inner.events else { return };
        if events.try_send(Message::Happened(event)).is_err() {
            self.inner.metrics.watch_events_dropped.inc();
        }
    }

    /// Events that the watch has not taken yet.
    pub fn events_waiting(&self) -> usize {
        self.inner.events.as_ref().map_or(0, |events| events.max_capacity() - events.capacity())
    }

    /// What the watch has learned is on the disk afterwards, and alerts that were decided on are out.
    pub(crate) async fn close(&self) {
        let Some(events) = &self.inner.events else { return };
        let (done, is_done) = oneshot::channel();
        if events.send(Message::Close(done)).await.is_ok() {
            // One that is gone has nothing left to write.
            let _ = is_done.await;
        }
    }
}

#[cfg(test)]
mod tests;
