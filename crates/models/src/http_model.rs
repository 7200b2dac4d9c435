//! A model of a provider: asks it, and asks again where that is worth it.

use std::sync::Arc;

use gristmill_gateway::ports::{
    BoxFuture, Ending, Model, ModelFailure, ModelName, Price, Prompt, WritingWatch, Written,
};
use gristmill_mcp::http_client::Client;
use gristmill_mcp::secret::Secret;
use tokio::time::Instant;

use crate::attempt::Attempt;
use crate::dialect::Ask;
use crate::endpoint::Endpoint;
use crate::key::Key;
use crate::learned::Learned;
use crate::limits::{CORRECTIONS_MAX, Rules};
use crate::pace::Pace;
use crate::parameters::Parameters;
use crate::retry_after::pause;
use crate::trouble::Trouble;

/// See the module.
pub(crate) struct HttpModel {
    pub client: Client,
    pub endpoint: Endpoint,
    pub key: Key,
    pub price: Option<Price>,
    pub temperature: Option<f64>,
    /// Of the configuration; a prompt may want less.
    pub output_tokens_max: Option<u32>,
    /// What models of this provider take as a rule.
    pub usual: Parameters,
    pub learned: Arc<Learned>,
    pub rules: Rules,
    pub pace: Arc<dyn Pace>,
}

impl Model for HttpModel {
    fn name(&self) -> ModelName {
        let provider = self.endpoint.provider_name();
        ModelName { provider, model: self.endpoint.model.clone() }
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
            let until = Instant::now() + self.rules.total;
            match tokio::time::timeout_at(until, self.answer(prompt, watch, until)).await {
                Ok(answered) => answered,
                Err(_) => Err(ModelFailure::Late {
                    provider: self.endpoint.provider_name(),
                    seconds: self.rules.total.as_secs(),
                }),
            }
        })
    }
}

impl HttpModel {
    async fn answer(
        &self,
        prompt: &Prompt,
        watch: &dyn WritingWatch,
        until: Instant,
    ) -> Result<Written, ModelFailure> {
        let key = self.resolved_key().await?;
        let known = self.known().await;
        let mut parameters = known;
        let (mut tries, mut corrections) = (0, 0);
        loop {
            let trouble = match self.attempt(prompt, watch, key.as_ref(), parameters).await {
                Ok(written) => {
                    // Only what led to an answer is worth remembering.
                    if parameters != known {
                        self.remember(parameters).await;
                    }
                    return Ok(written);
                }
                Err(trouble) => trouble,
            };
            match trouble {
                Trouble::Final(failure) => return Err(failure),
                Trouble::Declined => {
                    return Ok(Written { text: String::new(), tokens: None, ending: Ending::Refused });
                }
                Trouble::Corrected { parameters: corrected, failure } => {
                    corrections += 1;
                    if corrections > CORRECTIONS_MAX {
                        return Err(failure);
                    }
                    parameters = corrected;
                }
                Trouble::Again { failure, asked } => {
                    tries += 1;
                    let length = pause(&self.rules, tries, asked, self.pace.chance());
                    // A pause that the time doesn't suffice for is not worth waiting for.
                    if tries >= self.rules.tries_max || Instant::now() + length >= until {
                        return Err(failure);
                    }
                    watch.again(&format!("{failure}; try {} of {}", tries + 1, self.rules.tries_max));
                    self.pace.pause(length).await;
                }
            }
        }
    }

    async fn attempt(
        &self,
        prompt: &Prompt,
        watch: &dyn WritingWatch,
        key: Option<&Secret>,
        parameters: Parameters,
    ) -> Result<Written, Trouble> {
        let wanted = prompt.output_tokens_max;
        let ask = Ask {
            model: &self.endpoint.model,
            prompt,
            output_tokens_max: self.output_tokens_max.map_or(wanted, |max| max.min(wanted)),
            temperature: self.temperature,
            parameters,
        };
        let attempt = Attempt {
            client: &self.client,
            endpoint: &self.endpoint,
            key,
            key_remedy: &self.key.remedy(),
            rules: &self.rules,
            pace: &*self.pace,
            watch,
        };
        attempt.run(&ask).await
    }

    async fn resolved_key(&self) -> Result<Option<Secret>, ModelFailure> {
        self.key.resolve().await.map_err(|error| {
            let provider = self.endpoint.provider_name();
            ModelFailure::Denied { provider, reason: format!("there is none: {error}") }
        })
    }

    /// What the model takes, as far as anybody knows. Reading it waits for the disk.
    async fn known(&self) -> Parameters {
        let (learned, id) = (Arc::clone(&self.learned), self.endpoint.id());
        let known = tokio::task::spawn_blocking(move || learned.of(&id)).await;
        known.ok().flatten().unwrap_or(self.usual)
    }

    async fn remember(&self, parameters: Parameters) {
        let (learned, id) = (Arc::clone(&self.learned), self.endpoint.id());
        // If it can't be remembered, it is learned again.
        let _ = tokio::task::spawn_blocking(move || learned.note(&id, parameters)).await;
    }
}
