//! Course: a program that is ready, through its run to all that is known of it afterwards. One whose node is lost may
//! run again on another.

use std::sync::Arc;
use std::time::Instant;

use gristmill_protocol::Outcome;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::drive::{Run, drive};
use super::elsewhere::{self, RUNS_AGAIN_MAX};
use super::ending::{Ending, Finished};
use super::prepare::Prepared;
use super::privacy_call::ProgramPrivacy;
use super::tool_call::Reachable;
use super::variables::{Left, ended_by};
use super::{Belongings, Core, Event, Interpreter, Ready};
use crate::analysis::ProgramAnalyses;
use crate::pool::{Room, Worker};
use crate::ports::NotBroughtHome;
use crate::spans::say;

pub(super) async fn follow(
    core: &Core,
    ready: Ready,
    events: mpsc::Sender<Event>,
    cancelled: CancellationToken,
    asked: Instant,
) -> (Finished, Option<Left>) {
    let Ready { prepared, interpreter, found, .. } = ready;
    let Interpreter { mut worker, belongings, .. } = interpreter;
    let mut reachable = reachable(core, &prepared, &belongings, &worker);
    let mut notes = Vec::new();
    let started = Instant::now();
    let mut runs_again = 0;
    let run = loop {
        let outside = (&events, &cancelled);
        let mut run = drive(&reachable, &prepared, &mut worker, &belongings.folders, outside).await;
        // A program is done when its files are here: a node that is lost before has lost the program.
        if brings_files(&prepared, &run.ending) {
            match worker.bring_home().await {
                Ok(()) => {}
                Err(NotBroughtHome::NodeLost) => run.ending = Ending::NodeLost { node: node_of(&worker) },
                Err(NotBroughtHome::Failed(why)) => {
                    notes.push(format!("what the program left in /workspace isn't kept: {why}"));
                }
            }
        }
        let is_harmless = matches!(run.ending, Ending::NodeLost { .. }) && !run.has_changed;
        if runs_again >= RUNS_AGAIN_MAX {
            break run;
        }
        runs_again += 1;
        let again = tokio::select! {
            biased;
            () = cancelled.cancelled() => None,
            again = again(core, is_harmless, &prepared, &belongings) => again,
        };
        let Some(next) = again else { break run };
        notes.push(format!(
            "the node {} was lost; the program had changed nothing, and ran again from its beginning on {}",
            node_of(&worker),
            node_of(&next)
        ));
        // Who follows it sees the second run alone, as the report does.
        tokio::select! {
            biased;
            () = cancelled.cancelled() => {}
            _ = events.send(Event::RunsAgain) => {}
        }
        worker = next;
        reachable.analyses = Arc::new(analyses_of(core, &prepared, &belongings, &worker));
    };
    let ran_for = started.elapsed();
    let may_stay = prepared.lease.as_ref().is_some_and(|lease| lease.room() == Room::Yes)
        && matches!(run.ending, Ending::Done(Outcome::Returned(_)))
        && run.is_answered;
    let Run { ending, standing, stdout, stderr, stats, mut tools_called, calls_began, tokens, .. } = run;
    let large_result = run.large_result.finish();
    let tools = Arc::clone(&belongings.given.tools);
    let (limits, cpu) = (prepared.limits, prepared.cpu);
    let node = worker.node().map(str::to_owned);
    let interpreter = Interpreter { worker, belongings, memory_bytes: stats.memory_peak_bytes };
    let interpreter = match may_stay {
        true => Some(interpreter),
        false => {
            core.end(interpreter, prepared.leftovers);
            None
        }
    };
    drop(prepared.place);
    let ended_by = ended_by(&ending, cpu.ended_by);
    let left = prepared.lease.map(|lease| Left { lease, interpreter, found, ended_by });
    say(|span| {
        span.record("program_bytes", prepared.frame.len())
            .record("output_bytes", stdout.len() + stderr.len())
            .record("calls", tools_called.len())
            .record("ending", ending.in_a_word());
    });
    let took = asked.elapsed();
    // Last: the next program has this one's place by now.
    let call_tokens = tokens.settle(&mut tools_called, tools).await;
    let finished = Finished {
        ending,
        engine: prepared.engine,
        node,
        notes,
        standing,
        large_result,
        limits,
        cpu,
        stdout,
        stderr,
        stats,
        tools_called,
        calls_began,
        call_tokens,
        ran_for,
        took,
    };
    (finished, left)
}

fn reachable(core: &Core, prepared: &Prepared, belongings: &Belongings, worker: &Worker) -> Reachable {
    let capabilities = &prepared.capabilities;
    Reachable {
        caller: Arc::new(capabilities.caller.clone()),
        tools: Arc::clone(&belongings.given.tools),
        skills: Arc::clone(&prepared.skills),
        analyses: Arc::new(analyses_of(core, prepared, belongings, worker)),
        stats: capabilities.stats.clone(),
        writes: capabilities.writes.clone(),
        privacy: ProgramPrivacy::new(capabilities.privacy.clone(), prepared.limits.level()),
    }
}

fn analyses_of(
    core: &Core,
    prepared: &Prepared,
    belongings: &Belongings,
    worker: &Worker,
) -> ProgramAnalyses {
    ProgramAnalyses {
        analyses: core.analyses.clone(),
        limits: prepared.limits.clone(),
        // The workspace is the first of its folders.
        workspace: belongings.folders.first().and_then(|folder| folder.try_clone().ok()),
        elsewhere: worker.remote(),
        results: prepared.capabilities.analysis_inputs.clone(),
        scratch: core.scratch_folder().to_owned(),
    }
}

/// Another worker for a program whose node is lost, if it can run again without doing anything twice.
async fn again(
    core: &Core,
    is_harmless: bool,
    prepared: &Prepared,
    belongings: &Belongings,
) -> Option<Worker> {
    let elsewhere = prepared.elsewhere.as_ref().filter(|_| is_harmless)?;
    elsewhere::worker(core, elsewhere, (&prepared.frame, belongings)).await.ok()
}

fn node_of(worker: &Worker) -> String {
    worker.node().unwrap_or_default().to_owned()
}

/// Whether a program's node has files that it left.
fn brings_files(prepared: &Prepared, ending: &Ending) -> bool {
    let comes_back = prepared.elsewhere.as_ref().is_some_and(|elsewhere| elsewhere.workspace_comes_back);
    comes_back && !matches!(ending, Ending::NodeLost { .. })
}
