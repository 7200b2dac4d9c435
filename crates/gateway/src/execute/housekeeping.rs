//! What is done behind an execution: its process ended, its folders removed, the next ones made ready. The
//! answer comes first: on few cores, a fork and the end of a process take as long as everything that is left to do
//! for it.

use std::sync::Arc;
use std::time::Duration;

use gristmill_protocol::EngineId;
use parking_lot::Mutex;

use super::Belongings;
use crate::pool::{Pool, ScratchFolders, Worker};

/// How long an answer has the cores to itself.
const ANSWER_FIRST: Duration = Duration::from_millis(2);

/// What an execution leaves. Its process is held, and ends with this value.
pub(super) struct Remains {
    pub worker: Worker,
    pub belongings: Belongings,
}

/// Cheap to clone.
#[derive(Clone)]
pub(super) struct Housekeeping {
    runtime: tokio::runtime::Handle,
    scratch: Arc<ScratchFolders>,
    /// Folders kept ready; also how many processes may wait to be ended.
    ready: usize,
    due: Arc<Mutex<Due>>,
}

#[derive(Default)]
struct Due {
    remains: Vec<Remains>,
    /// One for each engine that is short of a worker.
    pools: Vec<(EngineId, Arc<Pool>)>,
    is_scheduled: bool,
}

impl Housekeeping {
    pub fn new(runtime: tokio::runtime::Handle, scratch: Arc<ScratchFolders>, ready: usize) -> Self {
        Self { runtime, scratch, ready, due: Arc::default() }
    }

    /// Takes what an execution leaves, and has this engine's next worker forked, when its answer is out; at once
    /// if there is much to do already.
    pub fn after(&self, engine: EngineId, pool: &Arc<Pool>, remains: Option<Remains>) {
        let is_much = {
            let mut due = self.due.lock();
            due.remains.extend(remains);
            if due.pools.iter().all(|(known, _)| *known != engine) {
                due.pools.push((engine, Arc::clone(pool)));
            }
            let is_much = due.remains.len() > self.ready;
            if due.is_scheduled && !is_much {
                return;
            }
            due.is_scheduled = true;
            is_much
        };
        let keeping = self.clone();
        if is_much {
            self.runtime.spawn_blocking(move || keeping.carry_out());
            return;
        }
        self.runtime.spawn(async move {
            tokio::time::sleep(ANSWER_FIRST).await;
            let runtime = keeping.runtime.clone();
            runtime.spawn_blocking(move || keeping.carry_out());
        });
    }

    /// Does now what is due. Blocks on the disk.
    pub fn carry_out(&self) {
        let Due { remains, pools, .. } = std::mem::take(&mut *self.due.lock());
        let (workers, belongings): (Vec<_>, Vec<_>) =
            remains.into_iter().map(|remains| (remains.worker, remains.belongings)).unzip();
        // The folders go after the process that could write into them.
        drop(workers);
        for (_, pool) in pools {
            pool.refill();
        }
        drop(belongings);
        self.scratch.make_ahead(self.ready);
    }

    /// Ends what is left, and makes nothing ready any more.
    pub fn close(&self) {
        let due = std::mem::take(&mut *self.due.lock());
        drop(due);
    }
}
