//! x
use super::Outcome;
use crate::arguments::Doctor;
pub async fn doctor(_arguments: Doctor) -> Outcome { Ok(crate::exit_codes::OK) }
