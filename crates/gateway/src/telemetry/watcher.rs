//! The task that takes events, has them looked at, and writes down what is found.

use std::sync::Arc;
use std::time::Duration;

use gristmill_watch::Anomaly;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::WatchSettings;
use super::deliveries::Deliveries;
use super::executions::unix_now_ms;
use super::lead::Lead;
use super::metrics::Metrics;
use super::notices;
use crate::store::{LastWritten, Store, WatchEvent};

/// How often other gateways' events are fetched, and what is over is told.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Looks that pass without asking the database while nobody seems to have written: the file system's clock is coarse.
const QUIET_LOOKS_MAX: u32 = 11;

/// How much of what was learned a killed gateway loses at most.
const SAVED_EVERY: Duration = Duration::from_secs(60);

/// Events that are looked at before what they came to is written.
const TOGETHER_MAX: usize = 256;

/// Events of other gateways that are fetched at once.
const FETCHED_MAX: usize = 1_000;

/// Events that wait to be sent to whoever watches.
const OUTGOING_MAX: usize = 4_096;

pub(super) enum Message {
    Happened(WatchEvent),
    Close(oneshot::Sender<()>),
}

/// See the module.
pub(super) struct Watcher {
    store: Store,
    settings: WatchSettings,
    metrics: Arc<Metrics>,
    messages: mpsc::Receiver<Message>,
    deliveries: Deliveries,
    /// `None` while another gateway watches.
    lead: Option<Lead>,
    /// For whoever watches.
    outgoing: Vec<WatchEvent>,
    found: Vec<Anomaly>,
    /// Since when something was learned that is not on the disk.
    unsaved: Option<Instant>,
    /// How the database was when other gateways' events were fetched, and looks since.
    fetched: (Option<LastWritten>, u32),
}

impl Watcher {
    pub fn new(
        store: Store,
        settings: WatchSettings,
        metrics: Arc<Metrics>,
        messages: mpsc::Receiver<Message>,
    ) -> Self {
        let deliveries =
            Deliveries::start(settings.ways.clone(), Arc::clone(&settings.told), Arc::clone(&metrics));
        let (lead, outgoing, found, unsaved, fetched) = Default::default();
        Self { store, settings, metrics, messages, deliveries, lead, outgoing, found, unsaved, fetched }
    }

    pub async fn run(mut self) {
        self.lead = Lead::take(&self.store, &self.settings).await;
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let done = loop {
            let message = tokio::select! {
                message = self.messages.recv() => message,
                _ = looks.tick() => {
                    self.look().await;
                    continue;
                }
            };
            match message {
                Some(Message::Happened(event)) => {
                    self.take(event);
                    if let Some(done) = self.take_those_that_wait() {
                        break Some(done);
                    }
                    self.settle().await;
                }
                Some(Message::Close(done)) => break Some(done),
                None => break None,
            }
        };
        self.finish().await;
        if let Some(done) = done {
            // Whoever closed may have gone.
            let _ = done.send(());
        }
    }

    /// What is there already, some of it; whether somebody closes.
    fn take_those_that_wait(&mut self) -> Option<oneshot::Sender<()>> {
        for _ in 0..TOGETHER_MAX {
            match self.messages.try_recv() {
                Ok(Message::Happened(event)) => self.take(event),
                Ok(Message::Close(done)) => return Some(done),
                Err(_) => return None,
            }
        }
        None
    }

    fn take(&mut self, event: WatchEvent) {
        match &mut self.lead {
            Some(lead) => {
                self.found.extend(lead.see(&event));
                self.unsaved.get_or_insert_with(Instant::now);
            }
            None if self.outgoing.len() < OUTGOING_MAX => self.outgoing.push(event),
            None => {
                self.metrics.watch_events_dropped.inc();
            }
        }
    }

    /// Every few seconds.
    async fn look(&mut self) {
        if self.lead.is_none() {
            self.lead = Lead::take(&self.store, &self.settings).await;
        }
        match &self.lead {
            None => self.send_outgoing().await,
            Some(_) => {
                let fetched = match self.has_news() {
                    true => self.store.take_watch_events(FETCHED_MAX).await,
                    false => Ok(Vec::new()),
                };
                let fetched = fetched.unwrap_or_else(|_| {
                    // The next look tries again.
                    self.fetched = (None, 0);
                    Vec::new()
                });
                let own = std::mem::take(&mut self.outgoing);
                fetched.into_iter().chain(own).for_each(|event| self.take(event));
            }
        }
        self.settle().await;
        if let Some(lead) = &mut self.lead {
            for alert in lead.tick(&self.settings, unix_now_ms()) {
                self.deliveries.send(notices::of(&alert));
                self.unsaved.get_or_insert_with(Instant::now);
            }
        }
        if self.unsaved.is_some_and(|since| since.elapsed() >= SAVED_EVERY) {
            self.save().await;
        }
    }

    /// Whether anybody may have written since the last fetch. A gateway that nobody uses wakes nobody else.
    fn has_news(&mut self) -> bool {
        let written = self.store.last_written();
        let (before, quiet) = self.fetched;
        let is_quiet = written.is_some() && written == before && quiet < QUIET_LOOKS_MAX;
        self.fetched = (written, if is_quiet { quiet + 1 } else { 0 });
        !is_quiet
    }

    /// Writes down what was found, and tells people.
    async fn settle(&mut self) {
        if self.found.is_empty() {
            return;
        }
        let found = std::mem::take(&mut self.found);
        let mut alerts = Vec::new();
        for anomaly in &found {
            self.metrics.found(anomaly);
            alerts.extend(self.lead.as_mut().and_then(|lead| lead.alert(&self.settings, anomaly)));
        }
        // One that can't be written is told all the same.
        let _ = self.store.add_anomalies(found).await;
        if !alerts.is_empty() {
            // Before they go out, or the next gateway could tell them again.
            self.save().await;
        }
        alerts.iter().for_each(|alert| self.deliveries.send(notices::of(alert)));
    }

    async fn send_outgoing(&mut self) {
        let events = std::mem::take(&mut self.outgoing);
        let count = events.len() as u64;
        if count > 0 && self.store.add_watch_events(events).await.is_err() {
            self.metrics.watch_events_dropped.inc_by(count);
        }
    }

    async fn save(&mut self) {
        if let Some(lead) = &self.lead
            && lead.save(&self.store).await.is_ok()
        {
            self.unsaved = None;
        }
    }

    async fn finish(mut self) {
        self.settle().await;
        self.send_outgoing().await;
        if self.unsaved.is_some() {
            self.save().await;
        }
        self.deliveries.finish().await;
    }
}
