//! Alerts on their way out: one after the other, to each way at once, so that a slow one holds up no watching.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::metrics::Metrics;
use crate::ports::{AlertNotice, AlertWay};

/// Alerts that wait. There are 20 or 40 in an hour.
const WAITING_MAX: usize = 64;

/// For one alert, tries and pauses together. A way has limits of its own.
const DELIVERY_MAX: Duration = Duration::from_secs(120);

/// For what is still to be delivered when the gateway ends.
const LAST_WAIT: Duration = Duration::from_secs(5);

pub(super) struct Deliveries {
    notices: mpsc::Sender<AlertNotice>,
    task: JoinHandle<()>,
    metrics: Arc<Metrics>,
}

impl Deliveries {
    pub fn start(
        ways: Vec<Arc<dyn AlertWay>>,
        told: Arc<dyn Fn(String) + Send + Sync>,
        metrics: Arc<Metrics>,
    ) -> Self {
        let (notices, mut waiting) = mpsc::channel::<AlertNotice>(WAITING_MAX);
        let counts = Arc::clone(&metrics);
        let task = tokio::spawn(async move {
            while let Some(notice) = waiting.recv().await {
                let notice = Arc::new(notice);
                join_all(ways.iter().map(|way| deliver(way, &notice, &told, &counts))).await;
            }
        });
        Self { notices, task, metrics }
    }

    /// Nobody waits for it.
    pub fn send(&self, notice: AlertNotice) {
        if self.notices.try_send(notice).is_err() {
            self.metrics.alerted("all", "dropped");
        }
    }

    pub async fn finish(self) {
        let Self { notices, mut task, .. } = self;
        drop(notices);
        if tokio::time::timeout(LAST_WAIT, &mut task).await.is_err() {
            task.abort();
        }
    }
}

async fn deliver(
    way: &Arc<dyn AlertWay>,
    notice: &Arc<AlertNotice>,
    told: &Arc<dyn Fn(String) + Send + Sync>,
    metrics: &Metrics,
) {
    let telling = tokio::time::timeout(DELIVERY_MAX, way.tell(Arc::clone(notice))).await;
    let why = match telling {
        Ok(Ok(())) => return metrics.alerted(way.name(), "ok"),
        Ok(Err(why)) => why,
        Err(_) => format!("no answer within {} s", DELIVERY_MAX.as_secs()),
    };
    metrics.alerted(way.name(), "failed");
    told(format!(
        "warning: couldn't send an alert to the {}: {why}\nhint: `gristmill alerts test` tries it again; `gristmill anomalies` lists what was found",
        way.name()
    ));
}
