//! Which parameters a model takes. Models of one provider differ, and nothing says so but their errors.

use crate::complaint::Complaint;
use crate::dialect::Dialect;

/// What Chat Completions calls the longest answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputLimit {
    /// The older name, which other servers know.
    MaxTokens,
    /// The one that OpenAI's reasoning models insist on.
    MaxCompletionTokens,
}

impl OutputLimit {
    pub fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::MaxTokens => Self::MaxCompletionTokens,
            Self::MaxCompletionTokens => Self::MaxTokens,
        }
    }
}

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parameters {
    pub output_limit: OutputLimit,
    pub takes_temperature: bool,
    /// Without them Chat Completions doesn't say how many tokens were used.
    pub takes_stream_options: bool,
}

impl Parameters {
    /// Everything is taken, until somebody complains.
    pub fn new(output_limit: OutputLimit) -> Self {
        Self { output_limit, takes_temperature: true, takes_stream_options: true }
    }

    /// Without what a complaint is about; `None` if it is about nothing that was sent. The longest answer goes
    /// by the other name.
    pub fn corrected(self, dialect: Dialect, sends_temperature: bool, complaint: &Complaint) -> Option<Self> {
        let is_chat = dialect == Dialect::Chat;
        if sends_temperature && self.takes_temperature && complaint.rejects("temperature") {
            return Some(Self { takes_temperature: false, ..self });
        }
        if is_chat && self.takes_stream_options && complaint.rejects("stream_options") {
            return Some(Self { takes_stream_options: false, ..self });
        }
        if is_chat && complaint.rejects(self.output_limit.name()) {
            return Some(Self { output_limit: self.output_limit.other(), ..self });
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_teach_what_a_model_takes() {
        let all = Parameters::new(OutputLimit::MaxTokens);
        let corrected = |parameters: Parameters, body: &str| {
            parameters.corrected(Dialect::Chat, true, &Complaint::in_body(body))
        };
        let completion = Parameters { output_limit: OutputLimit::MaxCompletionTokens, ..all };
        let openai = r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}"#;
        assert_eq!(corrected(all, openai), Some(completion));
        let old = r#"{"error":{"message":"Unrecognized request argument supplied: max_completion_tokens"}}"#;
        assert_eq!(corrected(completion, old), Some(all));
        let fixed = r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model.","param":"temperature","code":"unsupported_value"}}"#;
        let cold = Some(Parameters { takes_temperature: false, ..all });
        assert_eq!(corrected(all, fixed), cold);
        assert_eq!(corrected(all, r#"{"error":{"message":"`temperature` may only be set to 1"}}"#), cold);
        let strict =
            r#"{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}"#;
        assert_eq!(corrected(all, strict), Some(Parameters { takes_stream_options: false, ..all }));
    }

    #[test]
    fn a_value_that_is_too_large_is_no_parameter_that_is_not_taken() {
        let all = Parameters::new(OutputLimit::MaxTokens);
        for other in [
            r#"{"error":{"message":"max_tokens is too large: 999999. This model supports at most 16384 completion tokens.","param":"max_tokens","code":"invalid_value"}}"#,
            r#"{"error":{"message":"Unsupported parameter: 'tools'","param":"tools","code":"unsupported_parameter"}}"#,
            "",
        ] {
            assert_eq!(all.corrected(Dialect::Chat, true, &Complaint::in_body(other)), None, "{other}");
        }
        let about_temperature = Complaint::in_body(r#"{"error":{"message":"temperature is not supported"}}"#);
        assert_eq!(all.corrected(Dialect::Chat, false, &about_temperature), None);
        let taken = all.corrected(Dialect::Messages, true, &about_temperature);
        assert_eq!(taken, Some(Parameters { takes_temperature: false, ..all }));
    }
}
