//! A scripted provider, a model that asks it, and somebody who listens.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gristmill_gateway::domain::{ModelProvider, ModelSettings, OwnedVariable, VariableOwner};
use gristmill_gateway::ports::{
    BoxFuture, Model, ModelFailure, Prompt, Speaker, Turn, WritingWatch, Written,
};
use gristmill_mcp::SecretContext;
use gristmill_models::{Environment, Pace, Rules, choose_with};
use gristmill_testkit::{ModelDialect, ScriptedProvider, Step};

pub const KEY: &str = "sk-test-0123456789abcdef";

pub struct World {
    pub provider: ScriptedProvider,
    pub model: Arc<dyn Model>,
    pub pace: Arc<HeldPace>,
    pub listener: Arc<Listener>,
}

impl World {
    /// As most people ask.
    pub fn new(dialect: ModelDialect, steps: Vec<Step>) -> Self {
        Self::with(dialect, steps, |_, _| {})
    }

    /// With settings and rules of one's own.
    pub fn with(
        dialect: ModelDialect,
        steps: Vec<Step>,
        change: impl FnOnce(&mut ModelSettings, &mut Rules),
    ) -> Self {
        let provider = ScriptedProvider::start(dialect, steps);
        let mut settings = ModelSettings {
            provider: match dialect {
                ModelDialect::Responses => ModelProvider::OpenAi,
                ModelDialect::Chat => ModelProvider::OpenAiChat,
                ModelDialect::Messages => ModelProvider::Anthropic,
            },
            url: Some(provider.url()),
            model: Some("a-model".to_owned()),
            ..ModelSettings::default()
        };
        let mut rules = Rules::default();
        change(&mut settings, &mut rules);
        Self::of(provider, &settings, rules, None)
    }

    pub fn of(
        provider: ScriptedProvider,
        settings: &ModelSettings,
        rules: Rules,
        cache: Option<&Path>,
    ) -> Self {
        let pace = Arc::new(HeldPace::default());
        let variable = |name: &str| {
            let value = name.ends_with("_API_KEY").then(|| KEY.to_owned())?;
            Some(OwnedVariable { value, owner: VariableOwner::User })
        };
        let cache = cache.map(Path::to_owned);
        let environment = Environment { variable: &variable, secrets: SecretContext::default(), cache };
        let choice = choose_with(settings, &environment, rules, Arc::clone(&pace) as Arc<dyn Pace>);
        let model = choice.models().into_iter().next();
        let model = model.unwrap_or_else(|| panic!("no model: {:?}", choice.reasons()));
        Self { provider, model, pace, listener: Arc::default() }
    }

    pub async fn write(&self) -> Result<Written, ModelFailure> {
        self.model.write(&prompt(), &*self.listener).await
    }

    /// The words of a failure, which are for people.
    pub async fn failure(&self) -> String {
        self.write().await.expect_err("a failure").to_string()
    }

    pub fn asked(&self) -> usize {
        self.provider.asked().len()
    }
}

pub fn prompt() -> Prompt {
    let turn = Turn { speaker: Speaker::Us, text: "add 1 and 2".to_owned() };
    Prompt { system: "write a program".to_owned(), turns: vec![turn], output_tokens_max: 100 }
}

/// Hears an answer while it is written.
#[derive(Default)]
pub struct Listener {
    pub text: Mutex<String>,
    pub again: Mutex<Vec<String>>,
}

impl Listener {
    pub fn text(&self) -> String {
        self.text.lock().expect("no panic").clone()
    }

    pub fn again(&self) -> Vec<String> {
        self.again.lock().expect("no panic").clone()
    }
}

impl WritingWatch for Listener {
    fn piece(&self, text: &str) {
        self.text.lock().expect("no panic").push_str(text);
    }

    fn again(&self, reason: &str) {
        self.again.lock().expect("no panic").push(reason.to_owned());
        self.text.lock().expect("no panic").clear();
    }
}

/// Time that stands still, and chance that is always the same. Pauses are noted and over at once.
#[derive(Default)]
pub struct HeldPace {
    pauses: Mutex<Vec<Duration>>,
}

impl HeldPace {
    pub fn pauses(&self) -> Vec<Duration> {
        self.pauses.lock().expect("no panic").clone()
    }
}

impl Pace for HeldPace {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(784_111_777)
    }

    fn chance(&self) -> f64 {
        1.0
    }

    fn pause(&self, length: Duration) -> BoxFuture<'_, ()> {
        self.pauses.lock().expect("no panic").push(length);
        Box::pin(async {})
    }
}
