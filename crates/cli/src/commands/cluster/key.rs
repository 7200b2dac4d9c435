//! `gristmill cluster key`: a new key for a state that gateways share.

use std::process::ExitCode;

use gristmill_replica::seal::Seal;

use super::super::{Failure, Outcome};

pub fn key() -> Outcome {
    let key = Seal::generate().map_err(|error| Failure::Internal(error.into()))?;
    println!("{}", *key);
    Ok(ExitCode::SUCCESS)
}
