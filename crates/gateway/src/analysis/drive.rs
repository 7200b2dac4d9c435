//! One analysis on a worker: the job goes in, an outcome comes back, the deadline stands beside it.
//!
//! The worker is hostile here: it may stall, lie or vanish. It has one thing to say; anything else ends
//! it.

use std::os::fd::AsFd;
use std::time::Duration;

use gristmill_domain::LimitName;
use gristmill_protocol::{ChildExit, FromWorker, Outcome, RunStats};

use super::job::Job;
use crate::pool::{Attention, LineError, LineEvent, Worker, WorkerEnd};
use crate::time_limit::TimeLimit;

/// How an analysis came to its end.
#[derive(Debug)]
pub(super) enum Ending {
    /// The worker said so.
    Done(Outcome, RunStats),
    WallTime,
    /// The worker is gone.
    Lost(Option<ChildExit>),
    /// The worker broke the protocol.
    Misbehaved(String),
}

/// Hands the job over and waits for its end. The worker is gone afterwards, and so it is when this
/// future is dropped. The job's message, with all of its data, is gone as soon as the worker has it.
pub(super) async fn drive(mut worker: Worker, job: &mut Job) -> Ending {
    let frame = std::mem::take(&mut job.frame);
    let deadline = TimeLimit::new(Duration::from_millis(job.limits.get(LimitName::WallTime)));
    let ending = {
        let descriptors: Vec<_> = job.files.iter().chain([&job.output]).map(AsFd::as_fd).collect();
        let run = async {
            let sent = worker.send(&frame, &descriptors).await;
            drop(frame);
            match sent {
                Ok(()) => listen(&mut worker).await,
                Err(error) => ending_of(error),
            }
        };
        tokio::select! {
            biased;
            () = deadline.passed() => Ending::WallTime,
            ending = run => ending,
        }
    };
    worker.kill();
    // However it ended: nobody may write to the output when it is measured.
    let exit = match worker.end().await {
        WorkerEnd::Told(end) | WorkerEnd::Overfilled(_, end) => Some(end.exit),
        WorkerEnd::NodeLost | WorkerEnd::Unknown => None,
    };
    match ending {
        Ending::Lost(_) => Ending::Lost(exit),
        ending @ (Ending::Done(..) | Ending::WallTime | Ending::Misbehaved(_)) => ending,
    }
}

async fn listen(worker: &mut Worker) -> Ending {
    let stray = |what: &str| Ending::Misbehaved(format!("{what} in an analysis"));
    loop {
        let message = match worker.next(Attention { to_messages: true, to_room: false }).await {
            Ok(LineEvent::Message(message)) => message,
            Ok(LineEvent::Room) => continue,
            Err(error) => return ending_of(error),
        };
        return match message {
            FromWorker::Done { outcome, stats } => Ending::Done(outcome, stats),
            FromWorker::Hello { .. } => stray("a second hello"),
            FromWorker::Output { .. } => stray("printed output"),
            FromWorker::Call { .. } | FromWorker::CancelCall { .. } => stray("a call"),
        };
    }
}

fn ending_of(error: LineError) -> Ending {
    match error {
        LineError::Gone => Ending::Lost(None),
        LineError::Frame(error) => Ending::Misbehaved(error.to_string()),
        LineError::OutOfTurn(what) => Ending::Misbehaved(what.to_owned()),
    }
}
