//! One ask under way: what every stage uses, and what it leaves behind.

use std::sync::Arc;
use std::time::Duration;

use gristmill_checks::Finding;
use gristmill_domain::Level;
use gristmill_domain::skills::NameError;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::event::{AskEnding, AskEvent, Asked, AskedProgram, Preview, Spent};
use super::limits::TOLD_MAX;
use super::request::AskRequest;
use crate::answer::Answer;
use crate::ids::ExecutionId;
use crate::ports::{Price, TokensUsed};
use crate::report::Report;
use crate::service::{Service, World};

pub(super) struct Course {
    pub world: Arc<World>,
    pub service: Service,
    pub request: AskRequest,
    /// The task as a model may read it.
    pub sentence: String,
    /// Where yes and no come from.
    pub consents: mpsc::Receiver<bool>,
    events: mpsc::Sender<AskEvent>,
    until: Instant,
    pub attempts: u32,
    pub spent: Spent,
    pub made: Vec<String>,
    pub reasons: Vec<String>,
    pub failure: Option<String>,
    pub bad_name: Option<NameError>,
    pub nearest: Vec<String>,
    pub last: Last,
}

/// Of the last program.
#[derive(Default)]
pub(super) struct Last {
    pub program: Option<AskedProgram>,
    pub findings: Vec<Finding>,
    pub preview: Option<Preview>,
    pub execution: Option<ExecutionId>,
    pub report: Option<Arc<Report>>,
    pub answer: Option<Arc<Answer>>,
}

impl Course {
    pub fn new(
        world: Arc<World>,
        service: Service,
        request: AskRequest,
        (events, consents): (mpsc::Sender<AskEvent>, mpsc::Receiver<bool>),
    ) -> Self {
        Self {
            until: Instant::now() + request.limits.total_time,
            sentence: String::new(),
            spent: Spent { price: Some(0.0), ..Spent::default() },
            attempts: 0,
            made: Vec::new(),
            reasons: Vec::new(),
            failure: None,
            bad_name: None,
            nearest: Vec::new(),
            last: Last::default(),
            world,
            service,
            request,
            consents,
            events,
        }
    }

    /// Tells it as soon as there is room. Whoever doesn't look misses it.
    pub async fn tell(&self, event: AskEvent) {
        let _ = self.events.send(event).await;
    }

    pub fn events(&self) -> mpsc::Sender<AskEvent> {
        self.events.clone()
    }

    /// When writing and checking must be done.
    pub fn until(&self) -> Instant {
        self.until
    }

    /// Time in which nobody works on it.
    pub fn add_time(&mut self, waited: Duration) {
        self.until += waited;
    }

    /// What ran out, if something did.
    pub fn used_up(&self) -> Option<String> {
        let limits = &self.request.limits;
        let tokens = self.spent.tokens.input + self.spent.tokens.output;
        if tokens >= limits.total_tokens {
            return Some(format!("{tokens} tokens were used, and {} are the most", limits.total_tokens));
        }
        let seconds = limits.total_time.as_secs();
        (Instant::now() >= self.until).then(|| format!("it took longer than {seconds} s"))
    }

    /// Adds what one answer took. What it cost; `None` if nobody knows.
    pub fn spend(&mut self, tokens: TokensUsed, price: Option<Price>) -> Option<f64> {
        self.spent.tokens.input += tokens.input;
        self.spent.tokens.output += tokens.output;
        let million = |tokens: u64| tokens as f64 / 1e6;
        let cost =
            price.map(|price| million(tokens.input) * price.input + million(tokens.output) * price.output);
        self.spent.price = self.spent.price.zip(cost).map(|(before, cost)| before + cost);
        cost
    }

    pub fn note_made(&mut self, made: Vec<String>) {
        let room = TOLD_MAX.saturating_sub(self.made.len());
        self.made.extend(made.into_iter().take(room));
    }

    /// The level that the program runs at.
    pub fn level(&self) -> Level {
        let limits = self.request.program_limits.as_ref();
        limits.map_or(self.world.core.limits.level(), |limits| limits.level())
    }

    pub fn end(self, ending: AskEnding) -> Asked {
        let Last { program, findings, preview, execution, report, answer } = self.last;
        Asked {
            ending,
            sentence: self.sentence,
            program,
            findings,
            preview,
            execution,
            report,
            answer,
            attempts: self.attempts,
            spent: self.spent,
            made: self.made,
            reasons: self.reasons,
            failure: self.failure,
            bad_name: self.bad_name,
            nearest: self.nearest,
        }
    }
}
