//! Questions of servers to a person, whose client is on the model's side: what is personal in them is replaced
//! by tokens, and tokens in what is answered become values again where a rule lets them go to that server.

use std::sync::Arc;

use gristmill_domain::PrivacyMode;
use serde_json::Value;

use crate::ids::Caller;
use crate::ports::{BoxFuture, Question, QuestionAnswer, QuestionKind, Screen};
use crate::privacy::{Destination, Privacy, Source};
use crate::upstream::server::Server;

/// What a person is asked by no tool, but a rule may name it.
const TOOL: &str = "elicitation";

/// Of one call.
#[derive(Clone)]
pub(super) struct Screened {
    pub privacy: Privacy,
    pub caller: Caller,
    pub server: Arc<Server>,
}

impl Screen for Screened {
    fn question(&self, mut question: Question) -> BoxFuture<'static, Question> {
        let Self { privacy, caller, server } = self.clone();
        Box::pin(async move {
            let Some(veil) = privacy.veil_to(&caller, &server.settings) else { return question };
            let source = Source { server: Some(server.name()), ..Source::default() };
            let mut message = Value::String(std::mem::take(&mut question.message));
            veil.value(&mut message, source).await;
            question.message = message.as_str().unwrap_or_default().to_owned();
            match &mut question.asked {
                QuestionKind::Form { schema } => {
                    veil.value(schema, source).await;
                }
                // A page is reached by its address as it is.
                QuestionKind::Url { .. } | QuestionKind::Approval | QuestionKind::Plan => {}
            }
            question
        })
    }

    fn answer(&self, answer: QuestionAnswer) -> BoxFuture<'static, QuestionAnswer> {
        let Self { privacy, caller, server } = self.clone();
        Box::pin(async move {
            let QuestionAnswer::Accept(Some(Value::Object(content))) = answer else { return answer };
            let mut restored = content.clone();
            // Whoever answers may not have the value, whatever a program has.
            let mode = PrivacyMode::Boundary;
            let to =
                Destination { server: server.name(), tool: TOOL, schema: None, mode, by_rule_only: false };
            let content = match privacy.restore_arguments(&caller, &to, &mut restored).await {
                Ok(_) => restored,
                // A token that may not become a value goes as it is.
                Err(_) => content,
            };
            QuestionAnswer::Accept(Some(Value::Object(content)))
        })
    }
}
