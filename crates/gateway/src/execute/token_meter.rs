//! Counts the tokens of what a program's calls send and get, beside the program: exactly, up to a
//! bound, and in proportion beyond it. At the end it asks what the definitions of the tools come to
//! that were really called.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::task::JoinHandle;

use crate::ports::Tools;
use crate::report::{CallTokens, ToolCalled};
use crate::tokens;

/// What is counted exactly in one execution. Each text is copied until it is counted, and a count
/// takes about as long as reading the text five times; where words have no end, ten times that.
const COUNTED_BYTES_MAX: usize = 4 << 20;

/// Below this a count takes less time than handing it to another thread.
const AT_ONCE_BYTES_MAX: usize = 512;

/// What a text is. Calls go by their place in the list of calls.
#[derive(Clone, Copy)]
pub(super) enum Of {
    Arguments(usize),
    Answer(usize),
    /// What a program reads of us and no server, such as the answer to a search.
    LookedUp,
}

#[derive(Default)]
pub(super) struct TokenMeter {
    is_on: bool,
    counted_bytes: usize,
    counts: Vec<Count>,
    /// Calls of tools, by their place in the list of calls.
    to_tools: Vec<usize>,
}

struct Count {
    of: Of,
    bytes: usize,
    /// How many of them are counted.
    counted_bytes: usize,
    tokens: Counting,
}

enum Counting {
    Done(usize),
    UnderWay(JoinHandle<usize>),
}

impl TokenMeter {
    pub fn new(is_on: bool) -> Self {
        Self { is_on, ..Self::default() }
    }

    /// Takes note of a call that goes to a tool, whose definition it is that counts.
    pub fn calls_tool(&mut self, place: usize) {
        if self.is_on {
            self.to_tools.push(place);
        }
    }

    /// Takes note of a text. Needs a tokio runtime.
    pub fn count(&mut self, of: Of, text: &str) {
        if !self.is_on {
            return;
        }
        let end = text.floor_char_boundary(COUNTED_BYTES_MAX - self.counted_bytes);
        let counted = &text[..end];
        self.counted_bytes += counted.len();
        let tokens = if counted.len() <= AT_ONCE_BYTES_MAX {
            Counting::Done(tokens::count(counted))
        } else {
            let copy = counted.to_owned();
            Counting::UnderWay(tokio::task::spawn_blocking(move || tokens::count(&copy)))
        };
        self.counts.push(Count { of, bytes: text.len(), counted_bytes: counted.len(), tokens });
    }

    /// Waits for every count, writes those of calls into the list, and gives the rest.
    pub async fn settle(self, called: &mut [ToolCalled], tools: Arc<dyn Tools>) -> CallTokens {
        let (definitions, estimated) = definitions(called_names(&self.to_tools, called), tools).await;
        let mut settled = CallTokens { definitions, estimated, ..CallTokens::default() };
        let mut counts = Vec::with_capacity(self.counts.len());
        let mut known = (0, 0);
        for count in self.counts {
            let tokens = match count.tokens {
                Counting::Done(tokens) => tokens,
                Counting::UnderWay(task) => task.await.unwrap_or_default(),
            };
            known = (known.0 + tokens, known.1 + count.counted_bytes);
            counts.push((count.of, count.bytes, count.counted_bytes, tokens));
        }
        for (of, bytes, counted_bytes, tokens) in counts {
            let tokens = match (counted_bytes == bytes, counted_bytes) {
                (true, _) => tokens,
                (false, 0) => in_proportion(known.0, bytes, known.1),
                (false, counted) => in_proportion(tokens, bytes, counted),
            };
            settled.estimated |= counted_bytes != bytes;
            let tokens = tokens as u64;
            match of {
                Of::Arguments(place) => note(called, place, |call| call.argument_tokens = Some(tokens)),
                Of::Answer(place) => note(called, place, |call| call.answer_tokens = Some(tokens)),
                Of::LookedUp => settled.looked_up += tokens,
            }
        }
        settled
    }
}

fn note(called: &mut [ToolCalled], place: usize, write: impl FnOnce(&mut ToolCalled)) {
    if let Some(call) = called.get_mut(place) {
        write(call);
    }
}

/// As the program named the tools that it reached.
fn called_names(to_tools: &[usize], called: &[ToolCalled]) -> BTreeSet<String> {
    let calls = to_tools.iter().filter_map(|place| called.get(*place));
    calls.filter(|call| call.sent).map(|call| call.name.clone()).collect()
}

/// Tokens of the definitions of these tools, each once however it was named, and whether they are an
/// estimate.
async fn definitions(names: BTreeSet<String>, tools: Arc<dyn Tools>) -> (u64, bool) {
    if names.is_empty() {
        return (0, false);
    }
    // The first call of a tool counts its definition, which can be long.
    let counting = tokio::task::spawn_blocking(move || {
        let known = names.iter().filter_map(|name| tools.definition_tokens(name));
        let by_tool: BTreeMap<_, _> =
            known.map(|one| (one.tool, (one.tokens as u64, one.estimated))).collect();
        by_tool
            .into_values()
            .fold((0, false), |(sum, any), (tokens, estimated)| (sum + tokens, any | estimated))
    });
    counting.await.unwrap_or_default()
}

fn in_proportion(tokens: usize, bytes: usize, counted_bytes: usize) -> usize {
    (tokens as f64 * bytes as f64 / counted_bytes.max(1) as f64).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Caller;
    use crate::ports::{
        BoxFuture, CallWatcher, DefinitionTokens, SkillOffer, ToolCall, ToolFailure, ToolSearch,
    };
    use crate::upstream::NoTools;
    use gristmill_domain::ToolAnswer;
    use gristmill_domain::catalogue::{Lookup, Server, Tool};
    use gristmill_domain::policy::Decision;
    use gristmill_domain::validate::ArgumentCheck;

    fn call() -> ToolCalled {
        ToolCalled::unanswered("a.b", None, 0)
    }

    fn no_tools() -> Arc<dyn Tools> {
        Arc::new(NoTools)
    }

    /// Tools whose definitions take as many tokens as their names have letters.
    struct Defined;

    impl Tools for Defined {
        fn call<'a>(
            &'a self,
            caller: &'a Caller,
            call: ToolCall,
        ) -> BoxFuture<'a, Result<ToolAnswer, ToolFailure>> {
            NoTools.call(caller, call)
        }

        fn read_resource<'a>(
            &'a self,
            caller: &'a Caller,
            uri: &'a str,
            watcher: CallWatcher,
        ) -> BoxFuture<'a, Result<ToolAnswer, ToolFailure>> {
            NoTools.read_resource(caller, uri, watcher)
        }

        fn search<'a>(
            &'a self,
            caller: &'a Caller,
            search: &'a ToolSearch,
            skills: &'a SkillOffer,
        ) -> BoxFuture<'a, Result<serde_json::Value, ToolFailure>> {
            NoTools.search(caller, search, skills)
        }

        fn lookup(&self) -> Option<&Lookup> {
            None
        }

        fn is_certainly_unknown(&self, _server: Option<&str>, _tool: Option<&str>) -> bool {
            false
        }

        fn argument_check(&self, server: &Server, tool: &Tool) -> Option<Arc<ArgumentCheck>> {
            NoTools.argument_check(server, tool)
        }

        fn decision_about(&self, caller: &Caller, server: &Server, tool: &Tool) -> Decision {
            NoTools.decision_about(caller, server, tool)
        }

        fn is_shown(&self, _server: &Server, _tool: &Tool) -> bool {
            true
        }

        fn holds_writes(&self) -> bool {
            NoTools.holds_writes()
        }

        fn tree(&self) -> Option<&std::path::Path> {
            None
        }

        fn definition_tokens(&self, name: &str) -> Option<DefinitionTokens> {
            let tool = name.strip_prefix("server.").unwrap_or(name);
            let (tool, tokens, estimated) = (tool.to_owned(), tool.len(), false);
            (tool != "unknown").then_some(DefinitionTokens { tool, tokens, estimated })
        }
    }

    #[tokio::test]
    async fn both_sides_of_each_call_are_counted() {
        let mut meter = TokenMeter::new(true);
        let long = "every word is one token here ".repeat(100);
        meter.count(Of::Arguments(0), r#"{"x":1}"#);
        meter.count(Of::Answer(1), &long);
        meter.count(Of::LookedUp, &long);
        let mut called = [call(), call()];
        let expected = tokens::count(&long) as u64;
        let settled = meter.settle(&mut called, no_tools()).await;
        assert_eq!(settled, CallTokens { looked_up: expected, ..CallTokens::default() });
        let counted = called.map(|call| (call.argument_tokens, call.answer_tokens));
        assert_eq!(counted, [(Some(tokens::count(r#"{"x":1}"#) as u64), None), (None, Some(expected))]);
    }

    #[tokio::test]
    async fn the_definition_of_a_tool_that_was_reached_counts_once() {
        let mut meter = TokenMeter::new(true);
        let named = |name: &str| ToolCalled { name: name.to_owned(), ..call() };
        let mut called = [
            named("four"),
            named("server.four"),
            named("unknown"),
            ToolCalled { sent: false, ..named("refused") },
            named("not a call of a tool"),
            named("seventeen"),
        ];
        for place in [0, 1, 2, 3, 5] {
            meter.calls_tool(place);
        }
        let settled = meter.settle(&mut called, Arc::new(Defined)).await;
        assert_eq!(settled, CallTokens { definitions: 4 + 9, ..CallTokens::default() });
    }

    #[tokio::test]
    async fn what_is_too_much_to_count_is_estimated() {
        let mut meter = TokenMeter::new(true);
        // All but a little of the bound is used up.
        meter.counted_bytes = COUNTED_BYTES_MAX - 600;
        let words = "word ".repeat(400);
        meter.count(Of::Answer(0), &words);
        meter.count(Of::Arguments(0), &words);
        let mut called = [call()];
        assert!(meter.settle(&mut called, no_tools()).await.estimated);
        let exact = tokens::count(&words) as f64;
        for tokens in [called[0].answer_tokens, called[0].argument_tokens] {
            let off = (tokens.unwrap() as f64 - exact).abs() / exact;
            assert!(off < 0.02, "{tokens:?} instead of {exact}");
        }
    }

    #[tokio::test]
    async fn nothing_is_counted_for_those_who_do_not_ask() {
        let mut meter = TokenMeter::new(false);
        meter.calls_tool(0);
        meter.count(Of::Answer(0), "words");
        let mut called = [call()];
        assert_eq!(meter.settle(&mut called, Arc::new(Defined)).await, CallTokens::default());
        assert_eq!(called[0], call());
    }
}
