//! Questions during one execution: the program's clock stands still while a person thinks, but not
//! for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::ports::{AnswerWay, Ask, Asker, BoxFuture, Pause, Question, QuestionAnswer, QuestionKind};
use crate::time_limit::TimeLimit;

/// Questions of one execution. More are no conversation, and each holds the clock.
const QUESTIONS_MAX: usize = 64;

/// The asker of one execution, which holds its time limit. Not the same as that of any other.
pub(super) fn asker_of_execution(asker: &Asker, limit: &TimeLimit) -> Asker {
    let is_some = asker.is_some();
    let (asker, limit) = (asker.clone(), limit.clone());
    let asking = Arc::new(Asking { asker, limit, asked: AtomicUsize::new(0), is_unanswered: Arc::default() });
    let asker = if is_some { Asker::new(Arc::clone(&asking) as Arc<dyn Ask>) } else { Asker::none() };
    asker.with_pause(asking)
}

struct Asking {
    asker: Asker,
    limit: TimeLimit,
    asked: AtomicUsize,
    /// Whether nobody answered once: nobody is waited for any more beyond the program's own time.
    is_unanswered: Arc<AtomicBool>,
}

impl Pause for Asking {
    fn pause(&self) -> Option<Box<dyn Send>> {
        let is_held = self.asked.fetch_add(1, Ordering::Relaxed) < QUESTIONS_MAX;
        is_held.then(|| Box::new(self.limit.hold()) as Box<dyn Send>)
    }
}

impl Ask for Asking {
    fn ask(&self, question: Question) -> BoxFuture<'static, QuestionAnswer> {
        if self.asked.fetch_add(1, Ordering::Relaxed) >= QUESTIONS_MAX {
            return Box::pin(async { QuestionAnswer::Cancel });
        }
        let (asker, limit) = (self.asker.clone(), self.limit.clone());
        let is_unanswered = Arc::clone(&self.is_unanswered);
        Box::pin(async move {
            let _held = (!is_unanswered.load(Ordering::Relaxed)).then(|| limit.hold());
            let answer = asker.ask(question).await.unwrap_or(QuestionAnswer::Cancel);
            is_unanswered.fetch_or(answer == QuestionAnswer::Cancel, Ordering::Relaxed);
            answer
        })
    }

    fn can_answer(&self, kind: &QuestionKind) -> bool {
        self.asker.can_answer(kind)
    }

    fn way(&self) -> AnswerWay {
        self.asker.way()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::Instant;

    const MINUTE: Duration = Duration::from_secs(60);

    /// Answers after so long.
    struct Person(Duration);

    impl Ask for Person {
        fn ask(&self, _question: Question) -> BoxFuture<'static, QuestionAnswer> {
            let thinks = self.0;
            Box::pin(async move {
                tokio::time::sleep(thinks).await;
                QuestionAnswer::Decline
            })
        }

        fn can_answer(&self, kind: &QuestionKind) -> bool {
            matches!(kind, QuestionKind::Form { .. })
        }
    }

    fn question(asked: QuestionKind) -> Question {
        Question { server: "crm".to_owned(), message: "Really?".to_owned(), asked }
    }

    fn form() -> Question {
        question(QuestionKind::Form { schema: serde_json::json!({}) })
    }

    fn asker(thinks: Duration, limit: &TimeLimit) -> Asker {
        asker_of_execution(&Asker::new(Arc::new(Person(thinks))), limit)
    }

    #[tokio::test(start_paused = true)]
    async fn the_clock_stands_still_while_a_person_thinks() {
        let limit = TimeLimit::new(MINUTE);
        let asker = asker(5 * MINUTE, &limit);
        let began = Instant::now();
        let ended = async {
            limit.passed().await;
            began.elapsed().as_secs()
        };
        let (answer, ended) = tokio::join!(asker.ask(form()), ended);
        assert_eq!((answer, ended), (Some(QuestionAnswer::Decline), 6 * 60));
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_nobody_answers_is_put_away_and_the_clock_goes_on() {
        let limit = TimeLimit::new(MINUTE);
        let asker = asker(60 * MINUTE, &limit);
        let began = Instant::now();
        assert_eq!(asker.ask(form()).await, Some(QuestionAnswer::Cancel));
        limit.passed().await;
        assert_eq!(began.elapsed().as_secs(), 11 * 60);
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_question_that_nobody_answered_the_clock_waits_for_nobody() {
        let limit = TimeLimit::new(MINUTE);
        let asker = asker(60 * MINUTE, &limit);
        assert_eq!(asker.ask(form()).await, Some(QuestionAnswer::Cancel));
        let began = Instant::now();
        tokio::select! {
            _ = asker.ask(form()) => panic!("its time is up before"),
            () = limit.passed() => {}
        }
        assert_eq!(began.elapsed(), MINUTE);
    }

    #[tokio::test(start_paused = true)]
    async fn questions_without_end_do_not_hold_the_clock_for_ever() {
        let limit = TimeLimit::new(MINUTE);
        let asker = asker(MINUTE, &limit);
        for _ in 0..QUESTIONS_MAX {
            assert_eq!(asker.ask(form()).await, Some(QuestionAnswer::Decline));
        }
        let began = Instant::now();
        assert_eq!(asker.ask(form()).await, Some(QuestionAnswer::Cancel));
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test]
    async fn nobody_is_asked_who_is_not_there_or_cannot_answer() {
        let limit = TimeLimit::new(MINUTE);
        assert_eq!(asker_of_execution(&Asker::none(), &limit).ask(form()).await, None);
        let page = QuestionKind::Url { url: "https://example.com/".to_owned(), id: "1".to_owned() };
        assert_eq!(asker(MINUTE, &limit).ask(question(page)).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_clock_stands_still_for_an_answer_that_comes_by_another_way() {
        let limit = TimeLimit::new(MINUTE);
        let asker = asker_of_execution(&Asker::none(), &limit);
        let began = Instant::now();
        let held = asker.pause();
        assert!(held.is_some());
        tokio::time::sleep(5 * MINUTE).await;
        drop(held);
        limit.passed().await;
        assert_eq!(began.elapsed().as_secs(), 6 * 60);
        assert_eq!((0..QUESTIONS_MAX).filter(|_| asker.pause().is_some()).count(), QUESTIONS_MAX - 1);
    }

    #[tokio::test]
    async fn each_execution_has_an_asker_of_its_own() {
        let caller = Asker::new(Arc::new(Person(MINUTE)));
        let limit = TimeLimit::new(MINUTE);
        let (one, other) = (asker_of_execution(&caller, &limit), asker_of_execution(&caller, &limit));
        assert!(one.is_same_as(&one.clone()) && !one.is_same_as(&other));
    }
}
