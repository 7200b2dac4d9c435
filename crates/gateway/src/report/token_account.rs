//! What an execution took of a model's context, and what the same calls made directly would have
//! taken. The one place where both are compared; docs/history.md explains it to users.
//!
//! *Directly* is a model that has the definitions of the tools that the program called, writes the
//! arguments of each call and reads each answer, every text once. *Through us* is a model that has the
//! definition of the tool that runs programs, writes the program with its variables, and reads what came
//! back. That each turn of a conversation pays again for all that came before is left out: it would make
//! more of what is saved.
//!
//! Walls: nothing in here counts or estimates; it adds up what others counted.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::{Report, ToolCalled};

/// The tokens of one execution, or of several together (o200k).
///
/// As JSON it has what follows from them, too: `saved` and, in words, `verdict`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenAccount {
    /// The program and its variables.
    pub program: u64,
    /// What came back of it, as far as the answer had room.
    pub returned: u64,
    /// The definition of the tool of ours that it was asked for with: 0 where no model has one before
    /// it, as on the command line; `None` where it was recorded before definitions were counted.
    pub own_definition: Option<u64>,
    /// Arguments and answers of the calls that left us, which no model had to read.
    pub inside: u64,
    /// Definitions of the tools that these calls went to, each once; `None` as above. Of a tool that
    /// does not say how it is defined, nothing.
    pub definitions: Option<u64>,
    /// What the program read of us: answers of `search_tools`, of analyses and about skills. A caller
    /// that has the definitions needs none of it, so it is on neither side.
    pub looked_up: Option<u64>,
    /// Whether some of this was too much to count one by one.
    pub estimated: bool,
}

/// How an execution compares with the same calls made directly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// So many tokens fewer went through a model.
    Saved(u64),
    /// Directly it would have taken so many tokens less.
    Nothing {
        /// May be 0.
        less: u64,
    },
    /// There is nothing to compare with.
    NoCall,
    /// It took more than the calls alone, and the definitions are not known.
    NotKnown,
}

/// What was counted of an execution outside of its calls.
pub(crate) struct CountedOutside {
    pub program: u64,
    pub returned: u64,
    pub own_definition: u64,
    pub estimated: bool,
}

impl TokenAccount {
    /// Of one execution that ended.
    pub(crate) fn of(report: &Report, outside: &CountedOutside) -> Self {
        let sent = report.tools_called.iter().filter(|call| call.sent);
        Self {
            program: outside.program,
            returned: outside.returned,
            own_definition: Some(outside.own_definition),
            inside: sent.map(call_tokens).fold(0, u64::saturating_add),
            definitions: Some(report.call_tokens.definitions),
            looked_up: Some(report.call_tokens.looked_up),
            estimated: outside.estimated || report.call_tokens.estimated,
        }
    }

    /// What the same calls made directly would have taken, as far as it is known.
    pub fn direct(&self) -> u64 {
        self.inside.saturating_add(self.definitions.unwrap_or_default())
    }

    /// What went through a model here.
    pub fn through_us(&self) -> u64 {
        self.program.saturating_add(self.returned).saturating_add(self.own_definition.unwrap_or_default())
    }

    /// The difference: negative where the program cost more than its calls. A program that called
    /// nothing counts with all that it took, so that a sum over many is never too good.
    pub fn saved(&self) -> i64 {
        let whole = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        whole(self.direct()).saturating_sub(whole(self.through_us()))
    }

    /// What there is to say about it.
    pub fn verdict(&self) -> Verdict {
        let saved = self.saved();
        match (self.inside, self.definitions) {
            // Even a call without arguments that answers with nothing has some tokens.
            (0, _) => Verdict::NoCall,
            (_, Some(_) | None) if saved > 0 => Verdict::Saved(saved.unsigned_abs()),
            (_, Some(_)) => Verdict::Nothing { less: saved.unsigned_abs() },
            (_, None) => Verdict::NotKnown,
        }
    }

    /// Whether what is saved is not exact: estimated, or without the definitions.
    pub fn is_about(&self) -> bool {
        self.estimated || self.definitions.is_none()
    }

    /// The same for a person or a model.
    pub fn words(&self) -> String {
        let about = if self.is_about() { "about " } else { "" };
        match self.verdict() {
            Verdict::Saved(tokens) => format!("saved {about}{tokens}"),
            Verdict::Nothing { less: 0 } => {
                "saved nothing: direct calls would have taken as many tokens".to_owned()
            }
            Verdict::Nothing { less } => {
                format!("saved nothing: direct calls would have taken {about}{less} fewer tokens")
            }
            Verdict::NoCall => "no call reached a tool: nothing to save".to_owned(),
            Verdict::NotKnown => "savings unknown: tool definitions weren't counted yet".to_owned(),
        }
    }
}

impl Serialize for TokenAccount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let saved = match self.verdict() {
            Verdict::NotKnown => None,
            Verdict::Saved(_) | Verdict::Nothing { .. } | Verdict::NoCall => Some(self.saved()),
        };
        let mut fields = serializer.serialize_struct("TokenAccount", 9)?;
        fields.serialize_field("program", &self.program)?;
        fields.serialize_field("returned", &self.returned)?;
        fields.serialize_field("own_definition", &self.own_definition)?;
        fields.serialize_field("inside", &self.inside)?;
        fields.serialize_field("definitions", &self.definitions)?;
        fields.serialize_field("looked_up", &self.looked_up)?;
        fields.serialize_field("saved", &saved)?;
        fields.serialize_field("verdict", &self.words())?;
        fields.serialize_field("estimated", &self.estimated)?;
        fields.end()
    }
}

fn call_tokens(call: &ToolCalled) -> u64 {
    call.argument_tokens.unwrap_or_default().saturating_add(call.answer_tokens.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gristmill_domain::Code;
    use serde_json::json;

    use super::*;
    use crate::report::CallTokens;

    fn account() -> TokenAccount {
        TokenAccount {
            program: 100,
            returned: 20,
            own_definition: Some(40),
            inside: 500,
            definitions: Some(60),
            looked_up: Some(7),
            estimated: false,
        }
    }

    #[test]
    fn what_is_saved_is_said_plainly_and_what_is_not_as_well() {
        let check = |account: TokenAccount, verdict: Verdict, words: &str| {
            assert_eq!((account.verdict(), account.words().as_str()), (verdict, words), "{account:?}");
        };
        check(account(), Verdict::Saved(400), "saved 400");
        let small = TokenAccount { inside: 12, definitions: Some(30), ..account() };
        check(
            small,
            Verdict::Nothing { less: 118 },
            "saved nothing: direct calls would have taken 118 fewer tokens",
        );
        assert_eq!(small.saved(), -118);
        check(
            TokenAccount { inside: 100, ..account() },
            Verdict::Nothing { less: 0 },
            "saved nothing: direct calls would have taken as many tokens",
        );
        let computed = TokenAccount { inside: 0, definitions: Some(0), ..account() };
        check(computed, Verdict::NoCall, "no call reached a tool: nothing to save");
        assert_eq!(computed.saved(), -160, "it counts in a sum");
        check(TokenAccount { estimated: true, ..account() }, Verdict::Saved(400), "saved about 400");
    }

    #[test]
    fn without_the_definitions_nothing_is_called_a_loss() {
        let before = TokenAccount { own_definition: None, definitions: None, looked_up: None, ..account() };
        assert_eq!((before.verdict(), before.words().as_str()), (Verdict::Saved(380), "saved about 380"));
        let small = TokenAccount { inside: 12, ..before };
        assert_eq!(small.verdict(), Verdict::NotKnown);
        assert_eq!(json!(small)["saved"], json!(null));
    }

    #[test]
    fn only_calls_that_left_us_are_on_the_direct_side() {
        let called = |sent: bool, tokens: u64| ToolCalled {
            sent,
            argument_tokens: Some(1),
            answer_tokens: Some(tokens),
            ..ToolCalled::unanswered("a.b", None, 2)
        };
        let refused = Report::refused(Code::Exception, String::new(), None, Duration::ZERO);
        let report = Report {
            tools_called: vec![called(true, 10), called(false, 1_000), called(true, 30)],
            call_tokens: CallTokens { definitions: 25, looked_up: 400, estimated: true },
            ..refused
        };
        let expected = TokenAccount {
            program: 8,
            returned: 3,
            own_definition: Some(5),
            inside: 42,
            definitions: Some(25),
            looked_up: Some(400),
            estimated: true,
        };
        let outside = CountedOutside { program: 8, returned: 3, own_definition: 5, estimated: false };
        let account = TokenAccount::of(&report, &outside);
        assert_eq!(account, expected);
        assert_eq!((account.direct(), account.through_us(), account.saved()), (67, 16, 51));
    }

    #[test]
    fn as_json_it_has_what_follows_from_the_figures() {
        let expected = json!({
            "program": 100, "returned": 20, "own_definition": 40, "inside": 500, "definitions": 60,
            "looked_up": 7, "saved": 400, "verdict": "saved 400", "estimated": false,
        });
        assert_eq!(json!(account()), expected);
    }

    #[test]
    fn figures_beyond_all_bounds_do_not_overflow() {
        let huge = TokenAccount { inside: u64::MAX, definitions: Some(u64::MAX), ..account() };
        assert_eq!(huge.saved(), i64::MAX - 160);
        let dear = TokenAccount { program: u64::MAX, returned: u64::MAX, inside: 1, ..account() };
        assert_eq!(dear.saved(), 61 - i64::MAX);
    }
}
