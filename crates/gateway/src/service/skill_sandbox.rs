//! Programs of ours that look at skills and test them. They go the same way as any other; only nobody
//! finds them while they run, since whoever saves a skill waits for them.

use std::sync::Arc;
use std::time::Instant;

use gristmill_domain::policy::Seen;
use gristmill_domain::{LimitName, Limits};

use super::entry::Entry;
use super::life::{self, Order, World};
use super::start::StartRequest;
use crate::execute::Purpose;
use crate::ids::Caller;
use crate::native_engine::EngineChoice;
use crate::ports::{BoxFuture, Needed, Tools};
use crate::report::Report;
use crate::request::ExecuteRequest;
use crate::skills::{SandboxProgram, SkillSandbox};

impl SkillSandbox for World {
    fn run(&self, program: SandboxProgram) -> BoxFuture<'static, Report> {
        let SandboxProgram { engine, code, context, wall_ms_max, skills, recorded, seen, writes } = program;
        let (caller, note) = match recorded {
            Some((caller, note)) => (caller, Some(note)),
            None => (Caller::local(), None),
        };
        let tightened = caller.level.and_then(|level| self.core.limits.tightened(level));
        let limits = limits_within(tightened.as_ref().unwrap_or(&self.core.limits), wall_ms_max);
        let limits = Some(limits);
        let mut request =
            ExecuteRequest { context: context.into(), limits, ..ExecuteRequest::of(engine, code) };
        request.capabilities.writes = writes;
        // A test runs where programs that import the skill do.
        let engine = note.is_some().then_some(EngineChoice::Auto);
        let start = StartRequest { engine, ..StartRequest::new(caller, request) };
        let order = Order::internal(start, Purpose::Internal(skills), note);
        let world = self.share();
        Box::pin(async move { run(world, order, seen).await })
    }

    fn only_natively(&self, modules: &[String]) -> Vec<String> {
        modules.iter().filter(|module| self.core.has_only_natively(module)).cloned().collect()
    }

    fn tools(&self) -> BoxFuture<'_, Arc<dyn Tools>> {
        self.core.tools.freeze(None, Needed::Every)
    }
}

async fn run(world: World, order: Order, seen: Seen) -> Report {
    let asked = Instant::now();
    let entry = match Entry::new(order.owner().clone()) {
        Ok(entry) => Arc::new(entry),
        Err(refusal) => return refusal.report(asked),
    };
    let _stop_with_us = entry.cancel_on_drop();
    // Its code may hold what whoever wrote it has read.
    let reading = world.marks.as_ref().map(|ledger| ledger.reading(&entry.id, Arc::new(seen)));
    let runtime = world.core.runtime.clone();
    // On a task of its own: whoever saves may be stopped, but what its test did is recorded.
    let ended = runtime.spawn(async move {
        let _reading = reading;
        life::carry_out(&entry, &world, order, asked).await.report()
    });
    ended.await.unwrap_or_else(|_| Report::failed_by_us("the gateway is closing"))
}

/// These limits, with no more time than this.
fn limits_within(limits: &Limits, ms_max: u64) -> Limits {
    let mut limits = limits.clone();
    let wall = limits.get(LimitName::WallTime).min(ms_max);
    // In its range: it only comes down.
    let _ = limits.set(LimitName::WallTime, wall);
    limits
}
