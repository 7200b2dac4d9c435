//! A result that is too large for the outcome: its JSON comes in parts before the program ends, and is
//! stored whole.

use std::sync::Arc;

use gristmill_domain::{Code, format_bytes};
use gristmill_protocol::Completion;

use super::call_failure::failure;
use super::shape::{Shaped, large_result_error};
use super::state_call::Flood;
use crate::ports::{BoxFuture, GrowingResult, LargeResultFailure, LargeResults};
use crate::report::cut;

/// What a refusal calls it.
const NAME: &str = "result";

/// Parts of one result: far more than the guest makes.
const PARTS_MAX: u32 = 256;

const MESSAGE_CHARS_MAX: usize = 500;

type Appending = BoxFuture<'static, (u64, Result<Box<dyn GrowingResult>, LargeResultFailure>)>;

/// The large result of one execution, as far as it has come.
pub(super) struct LargeResultParts {
    store: Option<Arc<dyn LargeResults>>,
    bytes: u64,
    parts: u32,
    growing: Option<Box<dyn GrowingResult>>,
    appending: Option<Appending>,
    /// A part is missing: the rest is of no use.
    is_broken: bool,
}

impl LargeResultParts {
    pub fn new(store: Option<Arc<dyn LargeResults>>) -> Self {
        Self { store, bytes: 0, parts: 0, growing: None, appending: None, is_broken: false }
    }

    /// Takes a part; gives the answer where that is no. The guest waits for the answer to each part, so
    /// whoever doesn't is no guest of ours.
    pub fn take(&mut self, id: u64, part: String) -> Result<Option<Completion>, Flood> {
        self.parts += 1;
        if self.parts > PARTS_MAX || self.appending.is_some() {
            return Err(Flood);
        }
        self.bytes = self.bytes.saturating_add(part.len() as u64);
        let store = match &self.store {
            Some(store) if !self.is_broken && self.bytes <= store.bytes_max() => Arc::clone(store),
            Some(store) if !self.is_broken => {
                let most = format_bytes(store.bytes_max());
                return Ok(Some(self.refuse(id, &format!("the result is larger than {most}"))));
            }
            Some(_) => return Ok(Some(self.refuse(id, "a part of the result is missing"))),
            None => return Ok(Some(self.refuse(id, "this gateway stores no results"))),
        };
        let growing = self.growing.take();
        self.appending = Some(Box::pin(async move {
            let appended = async {
                let growing = match growing {
                    Some(growing) => growing,
                    None => store.begin().await?,
                };
                growing.append(part).await
            };
            (id, appended.await)
        }));
        Ok(None)
    }

    /// The answer to the part under way; waits for ever if there is none. Safe to drop and call again.
    pub async fn next(&mut self) -> Completion {
        let Some(appending) = &mut self.appending else { return std::future::pending().await };
        let (id, appended) = appending.await;
        self.appending = None;
        match appended {
            Ok(growing) => {
                self.growing = Some(growing);
                Completion { id, ok: true, payload: "null".to_owned() }
            }
            Err(LargeResultFailure(why)) => self.refuse(id, &why),
        }
    }

    /// What came, if every part did.
    pub fn finish(self) -> Option<Box<dyn GrowingResult>> {
        self.growing.filter(|_| !self.is_broken)
    }

    fn refuse(&mut self, id: u64, why: &str) -> Completion {
        self.is_broken = true;
        self.growing = None;
        failure(id, NAME, Code::ResultBytes, &cut(why, MESSAGE_CHARS_MAX), NAME)
    }
}

/// Stores the large result of a program that says that it has one.
pub(super) async fn settle(large: Option<Box<dyn GrowingResult>>, shaped: &mut Shaped) {
    if !shaped.has_large_result {
        return;
    }
    let kept = match large {
        Some(large) => large.keep().await,
        None => Err(LargeResultFailure("the result didn't arrive".to_owned())),
    };
    let report = &mut shaped.report;
    match kept {
        Ok(kept) => {
            report.result = Some(kept.condensed);
            report.large_result = Some(kept.stored);
        }
        Err(LargeResultFailure(why)) if report.error.is_none() => {
            report.success = false;
            report.error = Some(large_result_error(cut(&why, MESSAGE_CHARS_MAX)));
        }
        Err(LargeResultFailure(why)) => report.notes.push(cut(&why, MESSAGE_CHARS_MAX)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ports::{KeptResult, LargeResult};

    /// Holds what comes in memory, and stores nothing that has an `x`.
    struct InMemory;
    struct Text(String);

    impl LargeResults for InMemory {
        fn bytes_max(&self) -> u64 {
            10
        }

        fn begin(&self) -> BoxFuture<'static, Result<Box<dyn GrowingResult>, LargeResultFailure>> {
            Box::pin(async { Ok(Box::new(Text(String::new())) as Box<dyn GrowingResult>) })
        }
    }

    impl GrowingResult for Text {
        fn append(
            self: Box<Self>,
            part: String,
        ) -> BoxFuture<'static, Result<Box<dyn GrowingResult>, LargeResultFailure>> {
            Box::pin(async move {
                match part.contains('x') {
                    true => Err(LargeResultFailure("the disk is full".to_owned())),
                    false => Ok(Box::new(Text(self.0 + &part)) as Box<dyn GrowingResult>),
                }
            })
        }

        fn keep(self: Box<Self>) -> BoxFuture<'static, Result<KeptResult, LargeResultFailure>> {
            Box::pin(async move {
                let bytes = self.0.len() as u64;
                let stored =
                    LargeResult { handle: "h".to_owned(), path: "/results/h.json".to_owned(), bytes };
                Ok(KeptResult { stored, condensed: json!(self.0) })
            })
        }
    }

    async fn hand_over(parts: &[&str]) -> (Vec<bool>, Option<String>) {
        let mut large = LargeResultParts::new(Some(Arc::new(InMemory)));
        let mut answers = Vec::new();
        for part in parts {
            let answer = match large.take(7, (*part).to_owned()).expect("no flood") {
                Some(refusal) => refusal,
                None => large.next().await,
            };
            assert_eq!(answer.id, 7);
            answers.push(answer.ok);
        }
        let kept = match large.finish() {
            Some(growing) => growing.keep().await.ok().map(|kept| kept.condensed.to_string()),
            None => None,
        };
        (answers, kept)
    }

    #[tokio::test]
    async fn parts_become_one_result() {
        let (answers, kept) = hand_over(&["[1,", "2]"]).await;
        assert_eq!((answers, kept.as_deref()), (vec![true, true], Some("\"[1,2]\"")));
    }

    #[tokio::test]
    async fn nothing_is_left_of_a_result_that_misses_a_part() {
        for parts in [["[1,", "x", "2]"], ["[1,", "far too much to store", "2]"]] {
            assert_eq!(hand_over(&parts).await, (vec![true, false, false], None));
        }
    }

    #[tokio::test]
    async fn without_a_store_every_part_is_refused() {
        let mut large = LargeResultParts::new(None);
        let refusal = large.take(1, "[]".to_owned()).expect("no flood").expect("a refusal");
        assert!(!refusal.ok && refusal.payload.contains("stores no results"), "{}", refusal.payload);
        assert!(large.finish().is_none());
    }

    #[tokio::test]
    async fn whoever_does_not_wait_for_an_answer_is_no_guest() {
        let mut large = LargeResultParts::new(Some(Arc::new(InMemory)));
        assert!(large.take(1, "[".to_owned()).is_ok());
        assert!(large.take(2, "]".to_owned()).is_err());
    }
}
