//! A model that says what a test tells it to.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gristmill_gateway::ports::{
    BoxFuture, Ending, Model, ModelFailure, ModelName, Price, Prompt, TokensUsed, WritingWatch, Written,
};

/// Answers in the order of its script, and remembers what it was asked. At the end of its script it can't be reached.
///
/// ```
/// # use gristmill_testkit::ScriptedModel;
/// let model = ScriptedModel::new("a").says("```python\nresult = 1\n```").says("no");
/// ```
pub struct ScriptedModel {
    name: String,
    price: Option<Price>,
    answers: Mutex<VecDeque<Result<Written, ModelFailure>>>,
    heard: Mutex<Vec<Prompt>>,
}

impl ScriptedModel {
    /// With nothing to say yet.
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), price: None, answers: Mutex::default(), heard: Mutex::default() }
    }

    /// What its tokens cost.
    pub fn costs(self, price: Price) -> Self {
        Self { price: Some(price), ..self }
    }

    /// Says this next, of 100 tokens in and 10 out.
    pub fn says(self, text: &str) -> Self {
        let tokens = Some(TokensUsed { input: 100, output: 10 });
        self.then(Ok(Written { text: text.to_owned(), tokens, ending: Ending::Finished }))
    }

    /// Says a Python program next.
    pub fn writes(self, code: &str) -> Self {
        self.says(&format!("```python\n{code}\n```"))
    }

    /// Ends so next.
    pub fn then(self, answer: Result<Written, ModelFailure>) -> Self {
        locked(&self.answers).push_back(answer);
        self
    }

    /// What it was asked, in order.
    pub fn heard(&self) -> Vec<Prompt> {
        locked(&self.heard).clone()
    }

    fn next(&self, prompt: &Prompt) -> Result<Written, ModelFailure> {
        locked(&self.heard).push(prompt.clone());
        let nothing_left = || {
            Err(ModelFailure::Unreachable {
                provider: "scripted".to_owned(),
                reason: "its script is at its end".to_owned(),
            })
        };
        locked(&self.answers).pop_front().unwrap_or_else(nothing_left)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Model for ScriptedModel {
    fn name(&self) -> ModelName {
        ModelName { provider: "scripted".to_owned(), model: self.name.clone() }
    }

    fn price(&self) -> Option<Price> {
        self.price
    }

    fn write<'a>(
        &'a self,
        prompt: &'a Prompt,
        watch: &'a dyn WritingWatch,
    ) -> BoxFuture<'a, Result<Written, ModelFailure>> {
        Box::pin(async move {
            let answer = self.next(prompt);
            if let Ok(written) = &answer {
                for piece in written.text.split_inclusive('\n') {
                    watch.piece(piece);
                }
            }
            answer
        })
    }
}
