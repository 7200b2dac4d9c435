//! What became of a try that gave no answer: whether another one is worth it, and what people are told.

use std::time::Duration;

use gristmill_gateway::ports::ModelFailure;

use crate::complaint::Complaint;
use crate::parameters::Parameters;

/// One try failed.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// Asking again is of no use.
    Final(ModelFailure),
    /// Another try may do better, after a pause that the provider may have asked for.
    Again { failure: ModelFailure, asked: Option<Duration> },
    /// A parameter isn't taken; these may be.
    Corrected { parameters: Parameters, failure: ModelFailure },
    /// The provider declined what was asked.
    Declined,
}

/// What a complaint means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The key is wrong, may not use the model, or has no money left.
    Denied,
    /// No such model, deployment or address.
    Unknown,
    /// Later.
    Busy,
    /// It broke.
    Broken,
    /// It doesn't want to answer this.
    Declined,
    /// The request is wrong, or something we don't know.
    Other,
}

const DENIED: [&str; 6] = [
    "authentication_error",
    "permission_error",
    "invalid_api_key",
    "insufficient_quota",
    "billing_error",
    "billing_hard_limit_reached",
];
const UNKNOWN: [&str; 4] = ["not_found_error", "model_not_found", "deploymentnotfound", "resourcenotfound"];
const BUSY: [&str; 5] =
    ["rate_limit_error", "rate_limit_exceeded", "overloaded_error", "overloaded", "timeout_error"];
const BROKEN: [&str; 4] = ["server_error", "api_error", "internal_error", "internal_server_error"];
const DECLINED: [&str; 2] = ["content_filter", "content_policy_violation"];

impl Verdict {
    /// Of an answer's status and what its body says. Errors in the middle of a stream have no status.
    pub fn of(status: Option<u16>, complaint: &Complaint) -> Self {
        // Money that is used up comes as 429, and waiting does not bring it back.
        if complaint.is_any_of(&DENIED) || matches!(status, Some(401 | 403)) {
            return Self::Denied;
        }
        if complaint.is_any_of(&DECLINED) {
            return Self::Declined;
        }
        if complaint.is_any_of(&UNKNOWN) || matches!(status, Some(404 | 410)) {
            return Self::Unknown;
        }
        match status {
            Some(408 | 409 | 429 | 503 | 529) => Self::Busy,
            Some(500..=599) => Self::Broken,
            Some(_) => Self::Other,
            None if complaint.is_any_of(&BUSY) => Self::Busy,
            None if complaint.is_any_of(&BROKEN) => Self::Broken,
            None => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_judged_by_status_and_code() {
        let check = |status: Option<u16>, code: &str, expected: Verdict| {
            let complaint = Complaint::in_body(&format!("{{\"error\":{{\"code\":\"{code}\"}}}}"));
            assert_eq!(Verdict::of(status, &complaint), expected, "{status:?} {code}");
        };
        check(Some(401), "", Verdict::Denied);
        check(Some(403), "", Verdict::Denied);
        check(Some(429), "insufficient_quota", Verdict::Denied);
        check(Some(429), "rate_limit_exceeded", Verdict::Busy);
        check(Some(408), "", Verdict::Busy);
        check(Some(409), "", Verdict::Busy);
        check(Some(529), "overloaded_error", Verdict::Busy);
        check(Some(500), "", Verdict::Broken);
        check(Some(502), "", Verdict::Broken);
        check(Some(404), "", Verdict::Unknown);
        check(Some(400), "model_not_found", Verdict::Unknown);
        check(Some(400), "content_filter", Verdict::Declined);
        check(Some(400), "context_length_exceeded", Verdict::Other);
        check(None, "overloaded_error", Verdict::Busy);
        check(None, "server_error", Verdict::Broken);
        check(None, "invalid_api_key", Verdict::Denied);
        check(None, "", Verdict::Other);
    }
}
