//! Children that analyze: forked when one is asked for, handed to whoever asked first.
//!
//! One is as good as another, so that a request which was taken back leaves its child to the next.

use tokio::sync::oneshot;

use super::{CheckoutError, Pool, Shared, Worker};

/// Where a child, or why there is none, is put.
pub(super) type AnalysisWaiter = oneshot::Sender<Result<Worker, CheckoutError>>;

impl Pool {
    /// A child that waits for one analysis.
    pub async fn checkout_analysis(&self) -> Result<Worker, CheckoutError> {
        self.wake();
        let timeout = self.shared.settings.checkout_timeout;
        match tokio::time::timeout(timeout, self.fork_analysis()).await {
            Ok(outcome) => outcome,
            Err(_) => Err(CheckoutError::TimedOut(timeout)),
        }
    }

    async fn fork_analysis(&self) -> Result<Worker, CheckoutError> {
        let mut status = self.status();
        loop {
            // Before the link is looked at: a zygote that comes up in between is noticed.
            status.mark_unchanged();
            if let Some(coming) = self.ask_for_analysis()? {
                let lost = || Err(CheckoutError::Unavailable("the zygote died; try again".to_owned()));
                return coming.await.unwrap_or_else(|_| lost());
            }
            tokio::select! {
                changed = status.changed() => {
                    if changed.is_err() {
                        return Err(closing());
                    }
                }
                () = self.shared.closing.cancelled() => return Err(closing()),
            }
        }
    }

    /// `None` while there is no zygote to ask.
    fn ask_for_analysis(
        &self,
    ) -> Result<Option<oneshot::Receiver<Result<Worker, CheckoutError>>>, CheckoutError> {
        let mut state = self.shared.lock();
        if state.closed {
            return Err(closing());
        }
        if let Some(failure) = &state.failure {
            return Err(CheckoutError::Unavailable(failure.clone()));
        }
        if !state.link.as_ref().is_some_and(|link| link.ask_for_analysis()) {
            return Ok(None);
        }
        let (waiter, coming) = oneshot::channel();
        state.analyses.push_back(waiter);
        Ok(Some(coming))
    }
}

fn closing() -> CheckoutError {
    CheckoutError::Unavailable("the gateway is closing".to_owned())
}

impl Shared {
    /// Hands it to the first that still waits. One that nobody wants ends here.
    pub(super) fn analysis_arrived(&self, worker: Worker) {
        self.tell_first(Ok(worker));
    }

    /// A child did not come to be, or did not come to wait.
    pub(super) fn analysis_failed(&self, message: &str) {
        let failure = format!("can't start a process for the analysis: {message}");
        self.tell_first(Err(CheckoutError::Unavailable(failure)));
    }

    fn tell_first(&self, mut outcome: Result<Worker, CheckoutError>) {
        loop {
            let Some(waiter) = self.lock().analyses.pop_front() else { return };
            match waiter.send(outcome) {
                Ok(()) => return,
                Err(unheard) => outcome = unheard,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use gristmill_protocol::{ChildKind, EngineId, ToZygote};
    use tokio::sync::mpsc::UnboundedReceiver;

    use super::super::zygote_link::ZygoteLink;
    use super::super::zygote_supervisor::welcome;
    use super::*;
    use crate::pool::{CgroupLimits, PoolSettings, State, WorkerCommand, ZygoteStatus};

    /// A pool whose zygote only takes orders.
    fn pool() -> (Pool, UnboundedReceiver<ToZygote>) {
        let (link, orders) = ZygoteLink::to_nobody();
        let shared = Shared {
            engine: EngineId::Python,
            command: WorkerCommand::new("/nonexistent"),
            cache: "/nonexistent".into(),
            scratch: "/nonexistent".into(),
            required: &[],
            without_namespaces: false,
            native: None,
            settings: PoolSettings { waiting: 0, ..PoolSettings::default() },
            cgroup_limits: CgroupLimits { memory_bytes: 0, processes: 0 },
            cgroup: parking_lot::Mutex::default(),
            state: parking_lot::Mutex::new(State { link: Some(link), ..State::default() }),
            arrived: tokio::sync::Notify::new(),
            renewal: tokio::sync::Notify::new(),
            closing: tokio_util::sync::CancellationToken::new(),
            status: tokio::sync::watch::Sender::new(ZygoteStatus::Starting),
        };
        (Pool { shared: std::sync::Arc::new(shared), task: parking_lot::Mutex::default() }, orders)
    }

    #[tokio::test]
    async fn a_fork_that_failed_is_told_to_the_one_that_asked_first() {
        let (pool, mut orders) = pool();
        let asked = pool.ask_for_analysis().unwrap().unwrap();
        let also = pool.ask_for_analysis().unwrap().unwrap();
        assert_eq!(orders.recv().await, Some(ToZygote::ForkAnalysis));
        drop(asked);
        pool.shared.analysis_failed("no room");
        let failure = also.await.unwrap().err().expect("a failure").to_string();
        assert!(failure.contains("no room"), "who is gone is passed over: {failure}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_child_that_never_greets_is_given_up() {
        let (pool, mut orders) = pool();
        let asked = pool.ask_for_analysis().unwrap().unwrap();
        assert_eq!(orders.recv().await, Some(ToZygote::ForkAnalysis));
        let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let (link, mut killed) = ZygoteLink::to_nobody();
        let exit = tokio::sync::watch::channel(None).1;
        let worker = Worker::new(3, ours.into(), None, exit, link).unwrap();
        welcome(worker, ChildKind::Analysis, std::sync::Arc::downgrade(&pool.shared)).await;
        let failure = asked.await.unwrap().err().expect("a failure").to_string();
        assert!(failure.contains("no hello in time"), "{failure}");
        assert_eq!(killed.recv().await, Some(ToZygote::Kill { id: 3 }));
    }

    #[tokio::test]
    async fn whoever_waits_hears_that_the_gateway_closes() {
        let (pool, _orders) = pool();
        let coming = pool.ask_for_analysis().unwrap().unwrap();
        pool.let_go();
        assert!(coming.await.is_err());
        assert!(matches!(pool.checkout_analysis().await, Err(CheckoutError::Unavailable(_))));
    }
}
