//! Waiting for an execution on behalf of one request: its progress goes to the client, its questions
//! too, and a request that is taken back stops the program if it started it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use gristmill_gateway::Report;
use gristmill_gateway::answer::Answer;
use gristmill_gateway::service::{Follower, PendingQuestion, Progress};
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext, RoleServer};
use tokio::time::Instant;

use super::caller::Requester;
use super::questions;

/// Progress is reported at most this often.
const REPORT_PAUSE: Duration = Duration::from_millis(250);
/// And at least this often, so that clients do not give up on a program that is busy.
const REPORT_AGAIN: Duration = Duration::from_secs(1);

/// How the waiting ended.
pub(super) enum Attended {
    /// With the execution: how that went, and what is said about it.
    Ended(Arc<Report>, Arc<Answer>),
    /// The client must answer these first.
    Asking(Vec<PendingQuestion>),
    Running(Progress),
}

#[derive(Clone, Copy)]
pub(super) struct Waiting {
    pub until: Option<Instant>,
    /// Whether the execution ends with the request.
    pub is_ours: bool,
}

pub(super) async fn attend(
    follower: &mut Follower,
    context: &RequestContext<RoleServer>,
    requester: &Requester,
    waiting: Waiting,
) -> Attended {
    let mut reporter = ProgressReporter::new(context);
    let mut asked = HashSet::new();
    let mut answers = FuturesUnordered::new();
    let mut is_taken_back = false;
    loop {
        let progress = follower.look();
        if let (Some(report), Some(answer)) = (&progress.report, &progress.answer) {
            return Attended::Ended(Arc::clone(report), Arc::clone(answer));
        }
        if requester.is_modern && !progress.questions.is_empty() {
            return Attended::Asking(progress.questions);
        }
        for pending in &progress.questions {
            if asked.insert(pending.number) {
                answers.push(questions::ask(context.peer.clone(), pending.clone()));
            }
        }
        // A client whose user is being asked waits: asked again, the user would wonder.
        let may_stop = answers.is_empty();
        if may_stop && waiting.until.is_some_and(|until| Instant::now() >= until) {
            return Attended::Running(progress);
        }
        reporter.report(&progress).await;
        tokio::select! {
            () = follower.changed() => reporter.something_happened(),
            Some((number, answer)) = answers.next() => {
                follower.answer(number, answer);
            }
            () = context.ct.cancelled(), if !is_taken_back => {
                if !waiting.is_ours {
                    return Attended::Running(follower.look());
                }
                is_taken_back = true;
                follower.cancel();
            }
            () = until(waiting.until), if may_stop => {}
            () = reporter.due() => {}
        }
    }
}

/// Puts what an execution asks before a client that takes requests, until it ends.
pub(super) async fn ask_client(mut follower: Follower, peer: Peer<RoleServer>) {
    let mut asked = HashSet::new();
    loop {
        let progress = follower.look();
        if progress.report.is_some() {
            return;
        }
        let Some(pending) = progress.questions.into_iter().find(|pending| asked.insert(pending.number))
        else {
            follower.changed().await;
            continue;
        };
        let (number, answer) = questions::ask(peer.clone(), pending).await;
        follower.answer(number, answer);
    }
}

async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Notifies a client that has asked for progress.
struct ProgressReporter {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    last: Instant,
    is_news: bool,
}

impl ProgressReporter {
    fn new(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self { to: token.map(|token| (context.peer.clone(), token)), last: Instant::now(), is_news: false }
    }

    fn something_happened(&mut self) {
        self.is_news = true;
    }

    fn next(&self) -> Instant {
        self.last + if self.is_news { REPORT_PAUSE } else { REPORT_AGAIN }
    }

    async fn due(&self) {
        match self.to {
            Some(_) => tokio::time::sleep_until(self.next()).await,
            None => std::future::pending().await,
        }
    }

    async fn report(&mut self, progress: &Progress) {
        let now = Instant::now();
        let Some((peer, token)) = self.to.as_ref().filter(|_| now >= self.next()) else { return };
        let calls = match progress.calls_begun {
            0 => String::new(),
            begun => format!(", {} of {begun} tool calls answered", progress.calls_answered),
        };
        let doing = if progress.doing.is_empty() { String::new() } else { format!(", {}", progress.doing) };
        // Seconds grow, which is all that the protocol asks of progress.
        let seconds = progress.elapsed.as_secs_f64();
        let notification = ProgressNotificationParam::new(token.clone(), seconds)
            .with_message(format!("running for {seconds:.1} s{calls}{doing}"));
        // A client that cannot hear it may still want the answer.
        let _ = peer.notify_progress(notification).await;
        (self.last, self.is_news) = (now, false);
    }
}
