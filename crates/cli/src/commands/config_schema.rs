//! `gristmill config schema`: the JSON Schema of the configuration, for editors.

use std::process::ExitCode;

use gristmill_config::schema::schema;

use super::Outcome;

pub fn print() -> Outcome {
    println!("{:#}", schema());
    Ok(ExitCode::SUCCESS)
}
