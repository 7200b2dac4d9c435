//! Somebody who answers questions, and remembers them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use gristmill_gateway::ports::{Ask, Asker, BoxFuture, Question, QuestionAnswer, QuestionKind};
use tokio::sync::watch;

/// Clones are the same person.
#[derive(Clone)]
pub struct Person(Arc<Inside>);

struct Inside {
    /// `None`: never says a word.
    answer: Option<QuestionAnswer>,
    thinks: Duration,
    knows_pages: bool,
    asked: Mutex<Vec<Question>>,
    /// Questions on the table, and how many were taken away again.
    open: Arc<watch::Sender<(usize, usize)>>,
}

impl Person {
    fn of(answer: Option<QuestionAnswer>, thinks: Duration, knows_pages: bool) -> Self {
        let (asked, open) = (Mutex::default(), Arc::new(watch::Sender::new((0, 0))));
        Self(Arc::new(Inside { answer, thinks, knows_pages, asked, open }))
    }

    pub fn who_says(answer: QuestionAnswer) -> Self {
        Self::of(Some(answer), Duration::ZERO, true)
    }

    pub fn who_thinks(thinks: Duration, answer: QuestionAnswer) -> Self {
        Self::of(Some(answer), thinks, true)
    }

    pub fn who_is_silent() -> Self {
        Self::of(None, Duration::ZERO, true)
    }

    pub fn who_only_fills_in_forms(answer: QuestionAnswer) -> Self {
        Self::of(Some(answer), Duration::ZERO, false)
    }

    /// Where questions go: the same place for all of one execution.
    pub fn asker(&self) -> Asker {
        Asker::new(Arc::new(self.clone()))
    }

    pub fn asked(&self) -> Vec<Question> {
        self.0.asked.lock().expect("no panic").clone()
    }

    /// Waits until so many questions lie on the table.
    pub async fn has_open(&self, count: usize) {
        self.0.open.subscribe().wait_for(|(open, _)| *open == count).await.expect("a person");
    }

    /// Waits until so many were taken away unanswered.
    pub async fn has_lost(&self, count: usize) {
        self.0.open.subscribe().wait_for(|(_, lost)| *lost == count).await.expect("a person");
    }
}

/// On the table; taken away if it is dropped before it was answered.
struct OnTheTable {
    open: Arc<watch::Sender<(usize, usize)>>,
    is_answered: bool,
}

impl Drop for OnTheTable {
    fn drop(&mut self) {
        let lost = usize::from(!self.is_answered);
        self.open.send_modify(|(open, all_lost)| (*open, *all_lost) = (*open - 1, *all_lost + lost));
    }
}

impl Ask for Person {
    fn ask(&self, question: Question) -> BoxFuture<'static, QuestionAnswer> {
        let inside = Arc::clone(&self.0);
        Box::pin(async move {
            inside.asked.lock().expect("no panic").push(question);
            inside.open.send_modify(|(open, _)| *open += 1);
            let mut on_the_table = OnTheTable { open: Arc::clone(&inside.open), is_answered: false };
            let Some(answer) = inside.answer.clone() else { std::future::pending().await };
            tokio::time::sleep(inside.thinks).await;
            on_the_table.is_answered = true;
            answer
        })
    }

    fn can_answer(&self, kind: &QuestionKind) -> bool {
        self.0.knows_pages || matches!(kind, QuestionKind::Form { .. })
    }
}
