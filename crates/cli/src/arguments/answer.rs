//! Flags that bound an answer, as a model gets it.

use std::ops::RangeInclusive;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gristmill_gateway::answer::{AnswerBudget, TOKENS_MAX, TOKENS_MIN};
use gristmill_gateway::domain::shape::Strategy;

/// What an answer can be told to take.
pub const ANSWER_TOKENS: RangeInclusive<u64> = TOKENS_MIN as u64..=TOKENS_MAX as u64;

#[derive(Args, Clone, Default)]
pub struct AnswerArguments {
    /// Print the answer a model would get, condensed to this many tokens
    #[arg(long = "max-tokens", alias = "max-output-tokens", value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(ANSWER_TOKENS))]
    pub max_output_tokens: Option<u64>,

    /// How to condense what's too large
    #[arg(long, requires = "max_output_tokens", value_parser = strategy_parser())]
    pub shape: Option<Strategy>,
}

impl AnswerArguments {
    /// What an answer may take, if it is bounded.
    pub fn budget(&self) -> Option<AnswerBudget> {
        let tokens_max = usize::try_from(self.max_output_tokens?).unwrap_or(TOKENS_MAX);
        Some(AnswerBudget { tokens_max, strategy: self.shape.unwrap_or(Strategy::Auto) })
    }
}

pub fn strategy_parser() -> impl TypedValueParser<Value = Strategy> {
    PossibleValuesParser::new(Strategy::ALL.map(Strategy::as_str)).try_map(|text| text.parse::<Strategy>())
}
