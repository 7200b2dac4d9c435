//! Questions to the user behind the caller, and who answers them: those that the policy asks before a
//! call is sent, and those that a server asks while one of its tools runs. A server's words are shown as
//! such, and nothing of ours is in them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::box_future::BoxFuture;

/// Long enough to look something up or to log in somewhere. Meanwhile a call, a worker and a place
/// among the running are taken.
pub(crate) const QUESTION_WAIT_MAX: Duration = Duration::from_secs(10 * 60);

/// A question to the user behind the caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The server that asks or is to be asked, as configured.
    pub server: String,
    /// In the words of whoever asks.
    pub message: String,
    pub asked: QuestionKind,
}

/// What is wanted of the user.
#[derive(Clone, Debug, PartialEq)]
pub enum QuestionKind {
    /// A form to fill in.
    Form {
        /// The JSON schema of the answer, as the server wrote it.
        schema: Value,
    },
    /// Whether a call may be sent: the policy asks. The answer has a field `answer`, one of
    /// [`APPROVAL_ANSWERS`].
    Approval,
    /// Whether the writes of a plan may be made. The answer has a field `answer`, one of [`PLAN_ANSWERS`].
    Plan,
    /// To go to a page.
    Url {
        /// Where to, `http` or `https`.
        url: String,
        /// By which the server knows this visit.
        id: String,
    },
}

/// What can be answered to a question of the policy's, with words for each.
pub const APPROVAL_ANSWERS: [(&str, &str); 4] =
    [("session", "Yes, for this session"), ("once", "Yes, once"), ("always", "Yes, always"), ("no", "No")];

/// What can be answered about a plan, in the same way.
pub const PLAN_ANSWERS: [(&str, &str); 2] = [("once", "Yes, run it once"), ("no", "No")];

/// What the user says.
#[derive(Clone, Debug, PartialEq)]
pub enum QuestionAnswer {
    /// Yes; for a form, with what was filled in.
    Accept(Option<Value>),
    Decline,
    /// Nothing: the question was put away.
    Cancel,
}

/// By which way somebody answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnswerWay {
    /// In the client, which shows the question.
    #[default]
    Client,
    /// On the terminal that the program was started from.
    Terminal,
    /// Nobody is asked: whoever typed the command has said yes.
    Command,
    /// With `gristmill approvals`, in another process.
    Approvals,
    /// By a link that a webhook told.
    Link,
    /// In the dashboard.
    Dashboard,
}

impl AnswerWay {
    /// As it is recorded.
    pub fn as_str(self) -> &'static str {
        match self {
            AnswerWay::Client => "client",
            AnswerWay::Terminal => "terminal",
            AnswerWay::Command => "command",
            AnswerWay::Approvals => "approvals",
            AnswerWay::Link => "link",
            AnswerWay::Dashboard => "dashboard",
        }
    }
}

/// Whoever puts questions to the user.
pub trait Ask: Send + Sync {
    /// Asks, and waits for the answer. Dropping the future takes the question back.
    fn ask(&self, question: Question) -> BoxFuture<'static, QuestionAnswer>;

    /// Whether questions of this kind can be answered at all.
    fn can_answer(&self, kind: &QuestionKind) -> bool;

    /// Where the user answers.
    fn way(&self) -> AnswerWay {
        AnswerWay::Client
    }
}

/// Whoever waits for an answer and has a clock that can stand still meanwhile.
pub trait Pause: Send + Sync {
    /// Until this is dropped; `None` if it has stood still often enough.
    fn pause(&self) -> Option<Box<dyn Send>>;
}

/// What stands between whoever asks and whoever answers.
pub trait Screen: Send + Sync {
    /// A question as it may be shown.
    fn question(&self, question: Question) -> BoxFuture<'static, Question>;

    /// An answer as whoever asked may have it.
    fn answer(&self, answer: QuestionAnswer) -> BoxFuture<'static, QuestionAnswer>;
}

/// Who answers questions; or nobody does.
#[derive(Clone, Default)]
pub struct Asker {
    ask: Option<Arc<dyn Ask>>,
    /// The clock of whoever waits, for answers that come by another way.
    pause: Option<Arc<dyn Pause>>,
    /// What questions and answers pass on their way.
    screen: Option<Arc<dyn Screen>>,
}

impl Asker {
    pub fn new(ask: Arc<dyn Ask>) -> Self {
        Self { ask: Some(ask), pause: None, screen: None }
    }

    pub const fn none() -> Self {
        Self { ask: None, pause: None, screen: None }
    }

    /// The same, with this clock.
    pub fn with_pause(self, pause: Arc<dyn Pause>) -> Self {
        Self { pause: Some(pause), ..self }
    }

    /// The same, behind this screen.
    pub fn with_screen(self, screen: Arc<dyn Screen>) -> Self {
        Self { screen: Some(screen), ..self }
    }

    /// Has the clock stand still, if there is one, while somebody answers by another way.
    pub fn pause(&self) -> Option<Box<dyn Send>> {
        self.pause.as_ref()?.pause()
    }

    /// Whether there is somebody.
    pub fn is_some(&self) -> bool {
        self.ask.is_some()
    }

    /// Whether questions of this kind are answered.
    pub fn can_answer(&self, kind: &QuestionKind) -> bool {
        self.ask.as_ref().is_some_and(|ask| ask.can_answer(kind))
    }

    /// Where the user answers, if anybody does.
    pub fn way(&self) -> AnswerWay {
        self.ask.as_ref().map(|ask| ask.way()).unwrap_or_default()
    }

    /// The answer; after ten minutes without one the question is put away. `None`: nobody is there, or
    /// cannot answer this kind of question.
    pub async fn ask(&self, question: Question) -> Option<QuestionAnswer> {
        let ask = self.ask.as_ref().filter(|ask| ask.can_answer(&question.asked))?;
        let question = match &self.screen {
            Some(screen) => screen.question(question).await,
            None => question,
        };
        let answer = tokio::time::timeout(QUESTION_WAIT_MAX, ask.ask(question)).await;
        let answer = answer.unwrap_or(QuestionAnswer::Cancel);
        Some(match &self.screen {
            Some(screen) => screen.answer(answer).await,
            None => answer,
        })
    }

    /// Whether both lead to the same place. Each execution has a place of its own.
    pub fn is_same_as(&self, other: &Self) -> bool {
        match (&self.ask, &other.ask) {
            (Some(ours), Some(theirs)) => Arc::ptr_eq(ours, theirs),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

impl std::fmt::Debug for Asker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Asker")
    }
}

/// Whoever answers: two calls are the same call.
impl PartialEq for Asker {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}
