//! x
use super::Outcome;
use crate::arguments::Demo;
pub async fn demo(_arguments: Demo) -> Outcome { Ok(crate::exit_codes::OK) }
