//! Calls that a person is asked about, so that another process than the gateway's can answer.

use gristmill_domain::one_line;
use gristmill_domain::policy::Answered;
use rusqlite::{OptionalExtension, Row, params};

use super::approval_askers::Askers;
use super::{Reply, Store};
use crate::ports::QUESTION_WAIT_MAX;

/// What was asked longer ago is forgotten, whatever was answered.
const KEPT_MS: i64 = 24 * 60 * 60 * 1000;

/// Of one owner. A program that asks in a loop ends here: the oldest go.
const ROWS_MAX: i64 = 1_000;

/// Of why somebody said no.
const REASON_CHARS_MAX: usize = 200;

/// A call that a person is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalRecord {
    pub id: String,
    pub owner: String,
    /// Who asks, in words for a person.
    pub caller: String,
    /// How far an answer for the session reaches.
    pub scope: String,
    pub rule: String,
    pub why: String,
    pub server: String,
    pub tool: String,
    /// What a person sees of them, on one line.
    pub arguments: String,
    /// Of all of them.
    pub digest: String,
    pub asked_ms: i64,
    pub state: ApprovalState,
    /// Why a person said no, in their words.
    pub reason: Option<String>,
    /// The program that asks.
    pub execution: Option<String>,
}

impl ApprovalRecord {
    /// When the call waits no longer, in milliseconds since 1970.
    pub fn gives_up_ms(&self) -> i64 {
        self.asked_ms.saturating_add(i64::try_from(QUESTION_WAIT_MAX.as_millis()).unwrap_or(i64::MAX))
    }
}

/// What became of the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalState {
    /// The call waits for the answer.
    Waiting,
    /// The call was refused, because nobody could be asked.
    Refused,
    Answered(Answered),
    /// A yes for one call that was made since.
    Used,
    /// The call waits no longer.
    Over,
    /// The program that asked is gone, and the question with it. Never stored.
    Gone,
}

/// In the database: a single yes to a call that was refused, which waits for the next try. The one to a call that
/// waits is for that call alone.
const NEXT_TRY: &str = "next";

impl ApprovalState {
    /// For people, and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            ApprovalState::Waiting => "waiting",
            ApprovalState::Refused => "refused",
            ApprovalState::Answered(answered) => answered.as_str(),
            ApprovalState::Used => "used",
            ApprovalState::Over => "over",
            ApprovalState::Gone => "gone",
        }
    }

    fn read(text: &str) -> Self {
        if text == NEXT_TRY {
            return ApprovalState::Answered(Answered::Once);
        }
        let answers = [Answered::Once, Answered::Session, Answered::Always, Answered::No];
        let plain = [ApprovalState::Waiting, ApprovalState::Refused, ApprovalState::Used];
        let answered = answers.into_iter().map(ApprovalState::Answered);
        plain.into_iter().chain(answered).find(|state| state.as_str() == text).unwrap_or(ApprovalState::Over)
    }
}

const COLUMNS: &str = "id, owner, caller, scope, rule, why, server, tool, arguments, digest, asked_ms, state, reason, \
     execution";

impl Store {
    /// Puts a question where other processes see it.
    pub(crate) fn add_approval(&self, new: ApprovalRecord) -> Reply<()> {
        self.change(move |transaction| {
            transaction.execute("DELETE FROM approvals WHERE asked_ms < ?1", [new.asked_ms - KEPT_MS])?;
            // The same call that was refused before is the same question.
            transaction.execute(
                "DELETE FROM approvals WHERE owner = ?1 AND rule = ?2 AND server = ?3 AND tool = ?4 \
                 AND digest = ?5 AND state = 'refused'",
                params![new.owner, new.rule, new.server, new.tool, new.digest],
            )?;
            // Nobody's questions push out another's, and what is over goes before what waits.
            transaction.execute(
                "DELETE FROM approvals WHERE id IN (SELECT id FROM approvals WHERE owner = ?2 \
                 ORDER BY state = 'waiting' DESC, asked_ms DESC, rowid DESC LIMIT -1 OFFSET ?1)",
                params![ROWS_MAX - 1, new.owner],
            )?;
            transaction.execute(
                &format!("INSERT INTO approvals ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"),
                params![
                    new.id,
                    new.owner,
                    new.caller,
                    new.scope,
                    new.rule,
                    new.why,
                    new.server,
                    new.tool,
                    new.arguments,
                    new.digest,
                    new.asked_ms,
                    new.state.as_str(),
                    new.reason,
                    new.execution,
                ],
            )?;
            Ok(())
        })
    }

    /// What became of a question; `None` if it is not known any more.
    pub(crate) fn approval_state(&self, id: &str) -> Reply<Option<ApprovalState>> {
        let id = id.to_owned();
        self.run(move |connection| {
            let sql = "SELECT state FROM approvals WHERE id = ?1";
            let state: Option<String> = connection.query_row(sql, [id], |row| row.get(0)).optional()?;
            Ok(state.as_deref().map(ApprovalState::read))
        })
    }

    /// The yes for a single call that a waiting one was given elsewhere, which it uses up; `false` if another
    /// call was quicker.
    pub(crate) fn take_single_yes(&self, id: &str) -> Reply<bool> {
        let id = id.to_owned();
        self.change(move |transaction| {
            let sql = "UPDATE approvals SET state = 'used' WHERE id = ?1 AND state = 'once'";
            Ok(transaction.execute(sql, [id])? > 0)
        })
    }

    /// One question of the last day.
    pub fn find_approval(&self, id: &str) -> Reply<Option<ApprovalRecord>> {
        let (id, since, askers) = (id.to_owned(), self.now_ms() - KEPT_MS, Askers::of(self));
        self.run(move |connection| {
            let sql = format!("SELECT {COLUMNS} FROM approvals WHERE id = ?1 AND asked_ms >= ?2");
            let found = connection.query_row(&sql, params![id, since], record).optional()?;
            Ok(found.map(|record| askers.seen(record, connection)).transpose()?)
        })
    }

    /// The call waits no longer: it was answered, here or by another process, or taken back.
    pub(crate) fn end_approval(&self, id: &str, state: ApprovalState) {
        let (id, now) = (id.to_owned(), self.now_ms());
        self.later(move |connection| {
            connection.execute(
                "UPDATE approvals SET state = ?2, arguments = '', answered_ms = ?3 WHERE id = ?1 AND (state = 'waiting' \
                 OR (state = 'once' AND ?2 = 'used') OR (state IN ('once', 'session') AND ?2 = 'no'))",
                params![id, state.as_str(), now],
            )?;
            Ok(())
        });
    }

    /// A yes that was given for such a call before. One that is for a single call is for the same caller and the same
    /// arguments, and is used up. However old the question may be, a day is the end.
    pub(crate) fn take_approval(&self, wanted: ApprovalRecord) -> Reply<Option<Answered>> {
        let since = self.now_ms() - KEPT_MS;
        self.change(move |transaction| {
            let sql = "SELECT id, state FROM approvals WHERE owner = ?1 AND rule = ?2 AND server = ?3 AND tool = ?4 \
                 AND asked_ms >= ?7 AND ((state = 'session' AND scope = ?5) \
                 OR (state = 'next' AND digest = ?6 AND caller = ?8)) ORDER BY state DESC LIMIT 1";
            let ApprovalRecord { owner, rule, server, tool, scope, digest, caller, .. } = wanted;
            let found: Option<(String, String)> = transaction
                .query_row(sql, params![owner, rule, server, tool, scope, digest, since, caller], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .optional()?;
            let Some((id, state)) = found else { return Ok(None) };
            if state == Answered::Session.as_str() {
                return Ok(Some(Answered::Session));
            }
            transaction.execute("UPDATE approvals SET state = 'used' WHERE id = ?1", [id])?;
            Ok(Some(Answered::Once))
        })
    }

    /// The questions of the last day, the newest first.
    pub fn list_approvals(&self) -> Reply<Vec<ApprovalRecord>> {
        let (since, askers) = (self.now_ms() - KEPT_MS, Askers::of(self));
        self.run(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM approvals WHERE asked_ms >= ?1 ORDER BY asked_ms DESC, rowid DESC"
            );
            let mut query = connection.prepare(&sql)?;
            let found = query.query_map([since], record)?;
            Ok(found.map(|record| askers.seen(record?, connection)).collect::<Result<_, _>>()?)
        })
    }

    /// Answers a question that nobody has answered yet; `false` if somebody has, or it is over, or its program is gone.
    pub fn answer_approval(&self, id: &str, answered: Answered) -> Reply<bool> {
        self.answer_with(id, answered, None)
    }

    /// Says no to such a question, and why, which the program is told.
    pub fn deny_approval(&self, id: &str, reason: &str) -> Reply<bool> {
        let reason = one_line(reason.trim(), REASON_CHARS_MAX);
        self.answer_with(id, Answered::No, (!reason.is_empty()).then_some(reason))
    }

    fn answer_with(&self, id: &str, answered: Answered, reason: Option<String>) -> Reply<bool> {
        let (id, now, askers) = (id.to_owned(), self.now_ms(), Askers::of(self));
        self.change(move |transaction| {
            let sql = format!("SELECT {COLUMNS} FROM approvals WHERE id = ?1");
            let Some(asked) = transaction.query_row(&sql, [&id], record).optional()? else { return Ok(false) };
            let state = match (askers.seen(asked, transaction)?.state, answered) {
                (ApprovalState::Refused, Answered::Once) => NEXT_TRY,
                (ApprovalState::Refused | ApprovalState::Waiting, answered) => answered.as_str(),
                (
                    ApprovalState::Answered(_)
                    | ApprovalState::Used
                    | ApprovalState::Over
                    | ApprovalState::Gone,
                    _,
                ) => return Ok(false),
            };
            transaction.execute(
                "UPDATE approvals SET state = ?2, arguments = '', answered_ms = ?3, reason = ?4 WHERE id = ?1",
                params![id, state, now, reason],
            )?;
            Ok(true)
        })
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<ApprovalRecord> {
    Ok(ApprovalRecord {
        id: row.get(0)?,
        owner: row.get(1)?,
        caller: row.get(2)?,
        scope: row.get(3)?,
        rule: row.get(4)?,
        why: row.get(5)?,
        server: row.get(6)?,
        tool: row.get(7)?,
        arguments: row.get(8)?,
        digest: row.get(9)?,
        asked_ms: row.get(10)?,
        state: ApprovalState::read(&row.get::<_, String>(11)?),
        reason: row.get(12)?,
        execution: row.get(13)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(id: &str, state: ApprovalState, store: &Store) -> ApprovalRecord {
        let text = |text: &str| text.to_owned();
        ApprovalRecord {
            id: text(id),
            owner: text("local"),
            caller: text("you"),
            scope: text("session"),
            rule: text("destructive"),
            why: text("it destroys"),
            server: text("crm"),
            tool: text("delete"),
            arguments: text("{}"),
            digest: text("d"),
            asked_ms: store.now_ms(),
            state,
            reason: None,
            execution: None,
        }
    }

    #[tokio::test]
    async fn a_yes_for_one_call_is_good_for_one_and_for_exactly_that() {
        let store = Store::in_memory().unwrap();
        let refused = asked("a", ApprovalState::Refused, &store);
        store.add_approval(refused.clone()).await.unwrap();
        assert_eq!(store.take_approval(refused.clone()).await.unwrap(), None);
        assert!(store.answer_approval("a", Answered::Once).await.unwrap());
        assert!(!store.answer_approval("a", Answered::Always).await.unwrap(), "it was answered");
        let other = ApprovalRecord { digest: "e".to_owned(), ..refused.clone() };
        assert_eq!(store.take_approval(other).await.unwrap(), None);
        let elsewhere = ApprovalRecord { caller: "another client".to_owned(), ..refused.clone() };
        assert_eq!(store.take_approval(elsewhere).await.unwrap(), None);
        assert_eq!(store.take_approval(refused.clone()).await.unwrap(), Some(Answered::Once));
        assert_eq!(store.take_approval(refused).await.unwrap(), None);
        let left = store.list_approvals().await.unwrap();
        assert_eq!((left[0].state, left[0].arguments.as_str()), (ApprovalState::Used, ""));
    }

    #[tokio::test]
    async fn a_yes_for_the_session_is_for_that_session() {
        let store = Store::in_memory().unwrap();
        let waiting = asked("a", ApprovalState::Waiting, &store);
        store.add_approval(waiting.clone()).await.unwrap();
        assert_eq!(store.approval_state("a").await.unwrap(), Some(ApprovalState::Waiting));
        assert!(store.answer_approval("a", Answered::Session).await.unwrap());
        let other = ApprovalRecord { digest: "e".to_owned(), ..waiting.clone() };
        assert_eq!(store.take_approval(other.clone()).await.unwrap(), Some(Answered::Session));
        let elsewhere = ApprovalRecord { scope: "another".to_owned(), ..other };
        assert_eq!(store.take_approval(elsewhere).await.unwrap(), None);
    }

    #[tokio::test]
    async fn the_same_refused_call_is_one_question_and_there_is_an_end_to_them() {
        let store = Store::in_memory().unwrap();
        for number in 0..3 {
            store.add_approval(asked(&format!("{number}"), ApprovalState::Refused, &store)).await.unwrap();
        }
        assert_eq!(store.list_approvals().await.unwrap().len(), 1);
        for number in 0..ROWS_MAX + 5 {
            let waiting = asked(&format!("w{number}"), ApprovalState::Waiting, &store);
            store.add_approval(waiting).await.unwrap();
        }
        assert_eq!(store.list_approvals().await.unwrap().len() as i64, ROWS_MAX);
        let other =
            ApprovalRecord { owner: "http:b".to_owned(), ..asked("other", ApprovalState::Waiting, &store) };
        store.add_approval(other).await.unwrap();
        assert_eq!(store.list_approvals().await.unwrap().len() as i64, ROWS_MAX + 1, "nobody else's go");
    }

    #[tokio::test]
    async fn a_no_is_kept_with_its_reason_on_one_line() {
        let store = Store::in_memory().unwrap();
        for (id, reason, expected) in
            [("a", " not on\na Friday ", Some("not on a Friday")), ("b", " \n", None)]
        {
            store.add_approval(asked(id, ApprovalState::Waiting, &store)).await.unwrap();
            assert!(store.deny_approval(id, reason).await.unwrap());
            assert!(!store.deny_approval(id, "again").await.unwrap(), "it was answered");
            let kept = store.find_approval(id).await.unwrap().unwrap();
            assert_eq!(kept.state, ApprovalState::Answered(Answered::No));
            assert_eq!(kept.reason.as_deref(), expected);
        }
    }

    #[tokio::test]
    async fn a_single_yes_is_for_one_call_and_a_later_no_takes_it_back() {
        let store = Store::in_memory().unwrap();
        for id in ["one", "two"] {
            store.add_approval(asked(id, ApprovalState::Waiting, &store)).await.unwrap();
            assert!(store.answer_approval(id, Answered::Once).await.unwrap());
        }
        assert_eq!(
            store.take_approval(asked("next", ApprovalState::Waiting, &store)).await.unwrap(),
            None,
            "it is for the call that waits"
        );
        assert!(store.take_single_yes("one").await.unwrap());
        assert!(!store.take_single_yes("one").await.unwrap(), "another call was quicker");
        store.end_approval("two", ApprovalState::Answered(Answered::No));
        assert!(!store.take_single_yes("two").await.unwrap(), "the person at the client said no");
    }
}
