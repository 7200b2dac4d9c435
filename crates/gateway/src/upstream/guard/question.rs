//! A person is asked about a call: through the client, on the terminal, by `gristmill approvals` or in the
//! dashboard.

use std::time::{Duration, Instant, SystemTime};

use gristmill_domain::one_line;
use gristmill_domain::policy::{Answered, Decided, shown_arguments};

use super::Guard;
use super::always_file::AlwaysApproval;
use super::answer_event::answer_event;
use super::remembered::AnswerKey;
use crate::at_length::at_length;
use crate::ids::{Caller, unguessable};
use crate::ports::{ApprovalNotice, Asker, QUESTION_WAIT_MAX, Question, QuestionAnswer, QuestionKind};
use crate::store::{ApprovalRecord, ApprovalState, Store};

/// How often another process's answer is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(300);

/// What a person is shown of a call's arguments.
const ARGUMENTS_CHARS_MAX: usize = 600;

/// Of an id, for people: there are never many.
const ID_CHARS: usize = 8;

/// How often it is looked whether somebody still has the page of approvals open, and how long nobody may: pages are
/// loaded again, and people go from one to another.
const PAGE_LOOKED_FOR_EVERY: Duration = Duration::from_millis(if cfg!(test) { 5 } else { 2_000 });
const PAGE_GONE_FOR: Duration = Duration::from_millis(if cfg!(test) { 100 } else { 20_000 });

/// What came of a question.
pub(in crate::upstream) struct Heard {
    pub answered: Answered,
    /// Under which it can still be answered, if nobody could be asked.
    pub id: Option<String>,
    /// Why a person said no, in their words.
    pub reason: Option<String>,
}

impl From<Answered> for Heard {
    fn from(answered: Answered) -> Self {
        Self { answered, id: None, reason: None }
    }
}

/// A call that a person is asked about.
pub(in crate::upstream) struct Approvable<'a> {
    pub caller: &'a Caller,
    pub server: &'a str,
    pub tool: &'a str,
    /// As JSON.
    pub arguments: &'a str,
    pub asker: &'a Asker,
}

impl Guard {
    /// What a person says, or has said before.
    pub(in crate::upstream) async fn answer(&self, call: &Approvable<'_>, decided: &Decided) -> Heard {
        let key = self.key(call, decided);
        if let Some(before) = self.answered_before(&key) {
            return before.into();
        }
        let record = record(call, &key, decided, self.store.as_ref());
        if let (Some(store), Some(record)) = (&self.store, &record)
            && let Ok(Some(granted)) = store.take_approval(record.clone()).await
        {
            return granted.into();
        }
        let can_ask = call.asker.can_answer(&QuestionKind::Approval);
        if !can_ask && !(record.is_some() && (self.notify.is_some() || self.is_page_open().await)) {
            return Heard { id: self.refuse_for_now(record).await, ..Answered::Nobody.into() };
        }
        let heard = self.ask(call, &key, decided, record).await;
        match heard.answered {
            // Nobody could be told: they can still answer later.
            Answered::Nobody => {
                let again = self::record(call, &key, decided, self.store.as_ref());
                return Heard { id: self.refuse_for_now(again).await, ..heard };
            }
            Answered::Session => self.remembered.allow_in_session(&key),
            Answered::Always => at_length(|| self.remembered.allow_always(&key)),
            Answered::Once | Answered::No | Answered::Timeout => {}
        }
        heard
    }

    /// Whether a person has said yes before, for the session or for good.
    pub(super) fn was_answered(&self, call: &Approvable<'_>, decided: &Decided) -> bool {
        self.answered_before(&self.key(call, decided)).is_some()
    }

    fn answered_before(&self, key: &AnswerKey) -> Option<Answered> {
        if self.remembered.is_allowed_in_session(key) {
            return Some(Answered::Session);
        }
        self.remembered.is_always_allowed(key).then_some(Answered::Always)
    }

    /// Without a session an answer is good for the same client as long as this gateway runs.
    fn key(&self, call: &Approvable<'_>, decided: &Decided) -> AnswerKey {
        let caller = call.caller;
        let client = caller.client.as_ref().map_or("", |client| &client.name);
        let scope = match &caller.session {
            Some(session) => session.to_string(),
            None => format!("{}/{client}", self.mark),
        };
        let what = AlwaysApproval {
            owner: caller.owner.0.clone(),
            rule: decided.rule.to_string(),
            server: call.server.to_owned(),
            tool: call.tool.to_owned(),
        };
        AnswerKey { what, scope }
    }

    /// Leaves the question for `gristmill approvals`.
    async fn refuse_for_now(&self, record: Option<ApprovalRecord>) -> Option<String> {
        let (store, record) = (self.store.as_ref()?, record?);
        let id = record.id.clone();
        store.add_approval(ApprovalRecord { state: ApprovalState::Refused, ..record }).await.ok()?;
        Some(id)
    }

    async fn ask(
        &self,
        call: &Approvable<'_>,
        key: &AnswerKey,
        decided: &Decided,
        record: Option<ApprovalRecord>,
    ) -> Heard {
        let notice = record.as_ref().map(notice);
        let waiting = match (&self.store, record) {
            (Some(store), Some(record)) => {
                let id = record.id.clone();
                store.add_approval(record).await.ok().map(|()| Waiting {
                    store,
                    id,
                    end: ApprovalState::Over,
                })
            }
            (_, _) => None,
        };
        let can_ask = call.asker.can_answer(&QuestionKind::Approval);
        let answered = tokio::select! {
            answered = self.ask_here(call, key, decided), if can_ask => answered,
            // Whoever answers elsewhere notes it there.
            answered = self.answered_elsewhere(key, waiting.as_ref()) => answered,
            answered = self.tell_elsewhere(call, notice.filter(|_| waiting.is_some())) => answered,
        };
        let mut reason = None;
        if let Some(mut waiting) = waiting {
            if answered == Answered::No {
                reason = waiting.reason().await;
            }
            waiting.end = match answered {
                Answered::Timeout | Answered::Nobody => ApprovalState::Over,
                // A single yes is used by the call that waits.
                Answered::Once => ApprovalState::Used,
                Answered::Session | Answered::Always | Answered::No => ApprovalState::Answered(answered),
            };
        }
        Heard { reason, ..answered.into() }
    }

    async fn ask_here(&self, call: &Approvable<'_>, key: &AnswerKey, decided: &Decided) -> Answered {
        let question = Question {
            server: call.server.to_owned(),
            message: words(call, decided),
            asked: QuestionKind::Approval,
        };
        let answered = read_answer(call.asker.ask(question).await);
        self.note_answer(call, key, answered);
        answered
    }

    /// Has people told who are not at the client. If they are the only ones who can answer, they have as long
    /// as anybody, and the program's clock stands still. Whoever has the page of approvals open sees it there, as
    /// long as it is open. If nobody is told and nobody looks, nobody answers.
    async fn tell_elsewhere(&self, call: &Approvable<'_>, notice: Option<ApprovalNotice>) -> Answered {
        let can_ask = call.asker.can_answer(&QuestionKind::Approval);
        let _paused = if can_ask { None } else { call.asker.pause() };
        let is_listed = notice.is_some();
        let told = async {
            match (&self.notify, notice) {
                (Some(notify), Some(notice)) if self.notices.take(&call.caller.owner) => {
                    notify.notify(notice).await
                }
                (_, _) => false,
            }
        };
        let over = tokio::time::sleep(QUESTION_WAIT_MAX);
        let is_told = told.await;
        match (can_ask, is_told) {
            (true, _) => std::future::pending().await,
            (false, true) => {
                over.await;
                Answered::Timeout
            }
            (false, false) if is_listed && self.is_page_open().await => tokio::select! {
                () = over => Answered::Timeout,
                () = self.page_closed() => Answered::Nobody,
            },
            (false, false) => Answered::Nobody,
        }
    }

    /// Whether somebody has the page of approvals open, of this gateway or of another on the same data folder.
    async fn is_page_open(&self) -> bool {
        match &self.store {
            Some(store) => store.are_approvals_watched().await.unwrap_or(false),
            None => false,
        }
    }

    async fn page_closed(&self) {
        let mut seen = Instant::now();
        while seen.elapsed() <= PAGE_GONE_FOR {
            tokio::time::sleep(PAGE_LOOKED_FOR_EVERY).await;
            if self.is_page_open().await {
                seen = Instant::now();
            }
        }
    }

    fn note_answer(&self, call: &Approvable<'_>, key: &AnswerKey, answered: Answered) {
        let event = answer_event(call.caller, &key.what, answered, call.asker.way(), None);
        if let (Some(store), Some(event)) = (&self.store, event) {
            store.note(event);
        }
    }

    /// Another question's answer may settle this one, and so may another process.
    async fn answered_elsewhere(&self, key: &AnswerKey, waiting: Option<&Waiting<'_>>) -> Answered {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            if let Some(answered) = self.answered_before(key) {
                return answered;
            }
            let Some(Waiting { store, id, .. }) = waiting else { continue };
            match store.approval_state(id).await {
                Ok(Some(ApprovalState::Answered(Answered::Once))) => {
                    if store.take_single_yes(id).await.unwrap_or(false) {
                        return Answered::Once;
                    }
                }
                Ok(Some(ApprovalState::Answered(answered))) => return answered,
                Ok(_) | Err(_) => {}
            }
        }
    }
}

/// A question in the table. However its call ends, it does not stay there as one that waits.
struct Waiting<'a> {
    store: &'a Store,
    id: String,
    end: ApprovalState,
}

impl Waiting<'_> {
    /// Why it was answered as it was, if that was said.
    async fn reason(&self) -> Option<String> {
        self.store.find_approval(&self.id).await.ok()??.reason
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.store.end_approval(&self.id, self.end);
    }
}

/// What people elsewhere are told: no more than those here are shown.
fn notice(record: &ApprovalRecord) -> ApprovalNotice {
    ApprovalNotice {
        id: record.id.clone(),
        what: one_line(&format!("{}.{}", record.server, record.tool), 200),
        why: one_line(&record.why, ARGUMENTS_CHARS_MAX),
        arguments: record.arguments.clone(),
        caller: one_line(&record.caller, 200),
        expires: SystemTime::now() + QUESTION_WAIT_MAX,
    }
}

fn read_answer(answer: Option<QuestionAnswer>) -> Answered {
    match answer {
        Some(QuestionAnswer::Accept(content)) => {
            let said = content.as_ref().and_then(|content| content.get("answer")?.as_str());
            match said {
                Some("once") => Answered::Once,
                Some("session") => Answered::Session,
                Some("always") => Answered::Always,
                // An answer that is none of those that were offered is no yes.
                Some(_) | None => Answered::No,
            }
        }
        Some(QuestionAnswer::Decline) => Answered::No,
        Some(QuestionAnswer::Cancel) => Answered::Timeout,
        None => Answered::Nobody,
    }
}

/// What a person reads: ours, but for the names and the arguments, which are on one line each.
fn words(call: &Approvable<'_>, decided: &Decided) -> String {
    let name = one_line(&format!("{}.{}", call.server, call.tool), 200);
    let arguments = shown_arguments(call.arguments, ARGUMENTS_CHARS_MAX);
    format!(
        "May {} call {name}?\nArguments: {arguments}\nAsked because {}.",
        call.caller.in_words(),
        decided.why
    )
}

fn record(
    call: &Approvable<'_>,
    key: &AnswerKey,
    decided: &Decided,
    store: Option<&Store>,
) -> Option<ApprovalRecord> {
    let mut id = unguessable::new().ok()?;
    id.truncate(ID_CHARS);
    Some(ApprovalRecord {
        id,
        owner: key.what.owner.clone(),
        caller: call.caller.in_words(),
        scope: key.scope.clone(),
        rule: key.what.rule.clone(),
        why: decided.why.to_string(),
        server: key.what.server.clone(),
        tool: key.what.tool.clone(),
        arguments: shown_arguments(call.arguments, ARGUMENTS_CHARS_MAX),
        digest: blake3::hash(call.arguments.as_bytes()).to_hex().to_string(),
        asked_ms: store?.now_ms(),
        state: ApprovalState::Waiting,
        reason: None,
        execution: call.caller.execution.as_ref().map(|id| id.as_str().to_owned()),
    })
}
