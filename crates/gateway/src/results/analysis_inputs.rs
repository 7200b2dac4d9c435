//! An owner's results as inputs of the analyses of its programs.

use std::fs::File;

use super::Results;
use crate::ids::Owner;
use crate::ports::{AnalysisInputs, BoxFuture, InputFailure};

/// The results of one owner, and of nobody else.
pub struct ResultsOf {
    results: Results,
    owner: Owner,
}

impl ResultsOf {
    pub fn new(results: Results, owner: Owner) -> Self {
        Self { results, owner }
    }
}

impl AnalysisInputs for ResultsOf {
    fn open_result<'a>(&'a self, handle: &'a str) -> BoxFuture<'a, Result<Option<File>, InputFailure>> {
        Box::pin(async move {
            match self.results.open_file(&self.owner, handle).await {
                Ok(found) => Ok(found.map(|(_, file)| file)),
                Err(error) => Err(InputFailure(error.to_string())),
            }
        })
    }
}
