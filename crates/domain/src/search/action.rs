//! What is to be done: whether a query asks for something or wants it changed, and which of the two a tool does.
//!
//! Neither words nor vectors tell "who reacted to the message" from "add a reaction to the message": both have the
//! same things in them. Verbs do. A tool says what it does by the verb of its name, or else of its description; a query
//! by how it begins. Where both are known and contradict each other, the tool counts less. Nothing is found or lost by
//! that.

use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt};

use super::fields::first_sentence;
use super::words::{QUERY_WORDS_MAX, runs, spaced, words_of_run};
use crate::catalogue::{Server, Tool};
use crate::short_text::first_bytes;

/// Names of servers are short.
const SERVER_BYTES_MAX: usize = 200;

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Reads,
    /// Makes something, or makes it different.
    Changes,
    /// Takes something away, or ends it.
    Deletes,
    /// Anything else that isn't reading, such as sending and clicking, or changes of every kind.
    Acts,
}

/// What a query wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Action(Action),
    /// It names a thing and no verb, such as `running pods`: mostly to see it.
    Thing,
    Unclear,
}

impl Wish {
    /// How much less a tool counts that does this, from 0 to 1.
    pub fn against(self, action: Option<Action>) -> f32 {
        use Action::{Acts, Changes, Deletes, Reads};
        let Some(action) = action else { return 0.0 };
        match (self, action) {
            (Self::Unclear, _) | (Self::Thing, Reads) => 0.0,
            (Self::Thing, Changes | Deletes | Acts) => 0.15,
            (Self::Action(Reads), Changes | Deletes | Acts) => 0.5,
            (Self::Action(Changes | Deletes | Acts), Reads) => 0.25,
            (Self::Action(Changes), Deletes) | (Self::Action(Deletes), Changes) => 0.25,
            (Self::Action(Reads), Reads)
            | (Self::Action(Changes), Changes | Acts)
            | (Self::Action(Deletes), Deletes | Acts)
            | (Self::Action(Acts), Changes | Deletes | Acts) => 0.0,
        }
    }
}

/// Verbs by what they do to things. One that could be in two lists is in the first of them that fits.
const READS: &str = "analyse analyze browse calculate check compare compute count describe detect determine diagnose \
    diff discover display download enumerate estimate examine explain explore export fetch find get identify inspect \
    investigate know list locate look lookup monitor peek poll preview print query read retrieve search see show \
    summarise summarize tail trace validate verify view whoami";
const CHANGES: &str = "accept add adjust alter amend answer append approve archive assign attach begin book build \
    change clone close comment compose configure copy correct create customize declare decline define disable downgrade \
    draft draw duplicate edit enable enroll extend file fix fork format generate hide import insert introduce invite \
    launch leave lock log make mark merge modify move mute new note open override overwrite patch pin plan post propose \
    protect publish put raise reassign reconfigure record register reject remember rename reopen reorder replace reply \
    request reschedule resize resolve respond restore revert rewrite rotate save schedule set start store submit \
    subscribe swap switch sync toggle transition unarchive unlock unmute unpin unprotect unpublish unresolve update \
    upgrade upload watch write";
const DELETES: &str = "abort cancel clear delete deregister destroy detach discard dismiss drop empty end erase \
    exclude exit forget kill prune purge quit remove retract revoke stop terminate trash unapprove unassign unfollow \
    uninstall unlink unset unstar unsubscribe unwatch wipe withdraw";
/// In a tool's name, too, these say that it doesn't read.
const ACTS: &str = "apply broadcast call click connect deploy drag fill grant hover install invoke join pause press \
    promote push reboot reconnect restart resume retry rollback scale scroll select send star swipe tap trigger type";
/// A tool of such a name may well be what a question needs: `run_query`, `crawl`.
const ACTS_IN_A_QUERY: &str = "acknowledge allocate allow annotate ask backup become bind block bookmark break bring \
    bump bundle cache chat choose color colour combine commit compile compress continue convert crawl crop cut decrease \
    decrypt delegate divide emulate encrypt enter escalate execute expose extract finish fire flip forward give go \
    group hand highlight hit hold hook host increase index jump keep key label land let lift lower map migrate mount \
    navigate notify optimize page paint perform permit phone pick ping play point prepare pretend pull rank rate rebase \
    rebuild redo refresh release repair repeat restyle roll route run say scan score serve share sign silence simulate \
    snooze sort speak spin split squash stage stash tag take tear tell test throw tick train transcribe transfer transform \
    translate triage trim tune turn unblock undo unpack unstage untick use visit vote wait wake zip zoom";

/// In a tool's name any of these tells of changes, wherever it stands, unless a reading verb comes first.
const ANY_CHANGE: &str = "write manage save upsert apply sync";

/// Nouns as often as verbs: in a tool's name they count at its beginning only.
const ALSO_NOUNS: &str = "answer book build call check comment copy diff draft end export file fork format group index \
    label log map new note open page plan play post query rate record release reply request run score search set share \
    sort start store tag test trace view watch";

/// At the beginning of a query they are verbs only before a word such as `the`: `record the call`, not `record types`.
const NOUNS_FIRST: &str = "archive book build cache call clone draft export file fork format group host index label \
    log map note open page phone plan point post print query rate record release request roll scale schedule score \
    share sign sort split star start store tag test trace train transfer trigger upgrade view watch";

/// Verbs of so little meaning that one further on in a query says nothing.
const FAINT: &str = "empty give go keep let take use";

/// What a query may begin with and be the same without: those of more words first.
const OPENINGS: [&str; 45] = [
    "what is the best way to",
    "is there a way to",
    "a tool that can",
    "i d like to",
    "i would like to",
    "is it possible to",
    "need a tool to",
    "the best way to",
    "a tool for",
    "a tool to",
    "a way to",
    "be able to",
    "help me to",
    "how can i",
    "how can we",
    "how do i",
    "how do we",
    "i need to",
    "i want to",
    "tool that can",
    "we need to",
    "we want to",
    "which tool can",
    "able to",
    "can you",
    "could you",
    "go and",
    "help me",
    "how to",
    "let me",
    "let s",
    "let us",
    "tool for",
    "tool to",
    "tools to",
    "try to",
    "will you",
    "would you",
    "also",
    "first",
    "just",
    "now",
    "please",
    "quickly",
    "then",
];

/// A question, whatever its verb.
const QUESTIONS: &str = "what which who whom whose where when why how is are am do does did has had was were";

/// A question, unless another verb follows: `if the deployment fails, notify me`.
const CONDITIONS: &str = "any can could would should will have if whether";

/// A thing is wanted that isn't there yet, or the end of one: no question.
const NOT_YET: &str = "a an another new no without";

/// Things that are there as soon as somebody asks for them: `a list of branches`.
const READINGS: &str = "list summary overview page count report breakdown copy look number total";

/// Before a thing that is there.
const DETERMINERS: &str = "the all every each these those this that my our their his her its some both";

/// What comes before one of these is a verb, known or not: `squash the commits`, `creating a ticket`.
const AFTER_ANY_VERB: &str = "a an the my our your their his her its it them me us";

/// What comes before one of these is a verb if it may be one: `record all calls`, but `sales this month`.
const AFTER_KNOWN_VERB: &str = "this that these those all every each up out off down away back over";

/// Two words that are one verb, or no verb at all.
const PAIRS: [(&str, &str, Wish); 28] = [
    ("get", "rid", Wish::Action(Action::Deletes)),
    ("take", "away", Wish::Action(Action::Deletes)),
    ("take", "back", Wish::Action(Action::Deletes)),
    ("take", "off", Wish::Action(Action::Deletes)),
    ("take", "down", Wish::Action(Action::Deletes)),
    ("take", "out", Wish::Action(Action::Deletes)),
    ("throw", "away", Wish::Action(Action::Deletes)),
    ("throw", "out", Wish::Action(Action::Deletes)),
    ("tear", "down", Wish::Action(Action::Deletes)),
    ("shut", "down", Wish::Action(Action::Deletes)),
    ("no", "more", Wish::Action(Action::Deletes)),
    ("no", "longer", Wish::Action(Action::Deletes)),
    ("turn", "off", Wish::Action(Action::Changes)),
    ("turn", "on", Wish::Action(Action::Changes)),
    ("set", "up", Wish::Action(Action::Changes)),
    ("spin", "up", Wish::Action(Action::Changes)),
    ("sign", "up", Wish::Action(Action::Changes)),
    ("look", "after", Wish::Action(Action::Acts)),
    ("read", "aloud", Wish::Action(Action::Acts)),
    ("let", "know", Wish::Action(Action::Acts)),
    ("give", "me", Wish::Action(Action::Reads)),
    ("tell", "me", Wish::Action(Action::Reads)),
    ("check", "out", Wish::Action(Action::Changes)),
    ("check", "off", Wish::Action(Action::Changes)),
    ("pull", "request", Wish::Thing),
    ("pull", "requests", Wish::Thing),
    ("merge", "request", Wish::Thing),
    ("merge", "requests", Wish::Thing),
];

/// What is known of a verb.
#[derive(Clone, Copy)]
struct Verb {
    action: Action,
    /// As the verb of a tool.
    of_tools: Option<Action>,
    is_also_noun: bool,
    is_noun_first: bool,
    is_faint: bool,
}

static VERBS: LazyLock<HashMap<&'static str, Verb>> = LazyLock::new(|| {
    let groups = [
        (READS, Action::Reads, Some(Action::Reads)),
        (CHANGES, Action::Changes, Some(Action::Changes)),
        (DELETES, Action::Deletes, Some(Action::Deletes)),
        (ACTS, Action::Acts, Some(Action::Acts)),
        (ACTS_IN_A_QUERY, Action::Acts, None),
    ];
    let mut verbs: HashMap<&str, Verb> = HashMap::new();
    for (words, action, of_tools) in groups {
        let verb = Verb { action, of_tools, is_also_noun: false, is_noun_first: false, is_faint: false };
        verbs.extend(words.split(' ').map(|word| (word, verb)));
    }
    let mut mark = |words: &'static str, mark: fn(&mut Verb)| {
        words.split(' ').filter_map(|word| verbs.get_mut(word).map(mark)).for_each(drop);
    };
    mark(ALSO_NOUNS, |verb| verb.is_also_noun = true);
    mark(NOUNS_FIRST, |verb| verb.is_noun_first = true);
    mark(FAINT, |verb| verb.is_faint = true);
    verbs
});

/// What a tool does, as far as it says so.
pub(super) fn of_tool(server: &Server, tool: &Tool) -> Option<Action> {
    let of_server = spaced(first_bytes(&server.offer.name, SERVER_BYTES_MAX));
    let name = spaced(&tool.definition.name);
    let words: Vec<&str> = name.split(' ').filter(|word| !has(&of_server, word)).collect();
    let verb = words.iter().enumerate().find_map(|(at, word)| {
        let verb = VERBS.get(word)?;
        // `list_open_alerts`, `open_sessions`.
        let is_noun = at > 0 && verb.is_also_noun || matches!(*word, "open" | "log");
        (!is_noun).then_some(verb)
    });
    match verb {
        // `get_sync_status` reads.
        Some(Verb { action: Action::Reads, .. }) => Some(Action::Reads),
        _ if words.iter().any(|word| has(ANY_CHANGE, word)) => Some(Action::Acts),
        Some(verb) => verb.of_tools,
        None => of_description(tool.definition.description.as_deref()?),
    }
}

/// By its first word, such as `Retrieves`.
fn of_description(description: &str) -> Option<Action> {
    let (summary, _) = first_sentence(description);
    let word = lower_words(runs(summary).next()?).into_iter().next()?;
    let endings = [("", ""), ("es", ""), ("s", ""), ("ies", "y")];
    let mut forms = endings
        .iter()
        .filter_map(|(ending, instead)| Some(format!("{}{instead}", word.strip_suffix(ending)?)));
    forms.find_map(|form| VERBS.get(form.as_str()))?.of_tools
}

/// What a query wants; names of servers in front of it say nothing about that.
pub(super) fn of_query(text: &str, is_of_server: impl Fn(&str) -> bool) -> Wish {
    let mut words = lower_words(text);
    words.truncate(QUERY_WORDS_MAX);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words = without_openings(&words, is_of_server);
    let Some((first, rest)) = words.split_first() else { return Wish::Unclear };
    let second = rest.first().copied().unwrap_or_default();
    if let Some((_, _, wish)) = PAIRS.iter().find(|(one, other, _)| one == first && *other == second) {
        return *wish;
    }
    let is_other_verb_further_on = rest.iter().any(|word| is_clear_verb(word));
    let is_verb = has(AFTER_ANY_VERB, second);
    match VERBS.get(first) {
        _ if has(QUESTIONS, first) => Wish::Action(Action::Reads),
        _ if has(CONDITIONS, first) && is_other_verb_further_on => Wish::Unclear,
        _ if has(CONDITIONS, first) => Wish::Action(Action::Reads),
        _ if has(NOT_YET, first) && has(READINGS, second) => Wish::Unclear,
        _ if has(NOT_YET, first) => Wish::Action(Action::Acts),
        _ if matches!(*first, "open" | "only") => Wish::Unclear,
        Some(verb) if verb.is_noun_first && !is_verb && !has(AFTER_KNOWN_VERB, second) => Wish::Unclear,
        // `search and update contacts` wants both.
        Some(verb) if has_other_verb(rest, verb.action) => Wish::Unclear,
        Some(verb) => Wish::Action(verb.action),
        None if has(DETERMINERS, first) => Wish::Thing,
        None if is_verb => Wish::Action(of_ing_form(first).unwrap_or(Action::Acts)),
        None if has(AFTER_KNOWN_VERB, second) => of_ing_form(first).map_or(Wish::Unclear, Wish::Action),
        None if is_other_verb_further_on => Wish::Unclear,
        None => Wish::Thing,
    }
}

/// Whether it's a verb wherever it stands, and no reading one.
fn is_clear_verb(word: &str) -> bool {
    VERBS.get(word).is_some_and(|verb| {
        let may_be_noun = verb.is_also_noun || verb.is_noun_first;
        verb.action != Action::Reads && !may_be_noun && !verb.is_faint
    })
}

/// Whether a verb of something else follows on an `and`.
fn has_other_verb(rest: &[&str], action: Action) -> bool {
    rest.windows(2).any(|pair| {
        let other = VERBS.get(pair[1]).filter(|_| has("and or then", pair[0]));
        other.is_some_and(|verb| verb.action != action)
    })
}

/// Without what is said before the point; something is left.
fn without_openings<'a, 'w>(mut words: &'a [&'w str], is_of_server: impl Fn(&str) -> bool) -> &'a [&'w str] {
    while let [first, rest @ ..] = words
        && !rest.is_empty()
    {
        if let Some(count) = opening(words) {
            words = &words[count..];
            continue;
        }
        let is_adverb = first.len() > 4 && first.ends_with("ly");
        if VERBS.contains_key(first) || !(is_adverb || is_of_server(first)) {
            break;
        }
        words = rest;
    }
    words
}

/// How many words the longest opening has that more words follow.
fn opening(words: &[&str]) -> Option<usize> {
    OPENINGS.iter().find_map(|opening| {
        let count = opening.split(' ').count();
        let is_said = count < words.len() && opening.split(' ').eq(words[..count].iter().copied());
        is_said.then_some(count)
    })
}

/// Of `creating`, `adding` and `stopping`.
fn of_ing_form(word: &str) -> Option<Action> {
    let stem = word.strip_suffix("ing").filter(|stem| stem.len() >= 3)?;
    let mut letters = stem.chars().rev();
    let is_doubled = letters.next() == letters.next();
    let single = if is_doubled { stem.get(..stem.len() - 1)? } else { stem };
    let forms = [stem.to_owned(), format!("{stem}e"), single.to_owned()];
    forms.iter().find_map(|form| VERBS.get(form.as_str())).map(|verb| verb.action)
}

fn lower_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in runs(text) {
        words_of_run(run, |word| words.push(word.to_owned()));
    }
    words
}

/// Whether a list with spaces in between has this word.
fn has(words: &str, wanted: &str) -> bool {
    !wanted.is_empty() && words.split(' ').any(|word| word == wanted)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::catalogue::{Catalogue, ServerOffer, ToolDefinition};
    use Action::{Acts, Changes, Deletes, Reads};

    fn wish(text: &str) -> Wish {
        of_query(text, |word| word == "github" || word == "jira")
    }

    fn check(texts: &[&str], expected: Wish) {
        for text in texts {
            assert_eq!(wish(text), expected, "{text}");
        }
    }

    #[test]
    fn a_question_and_a_verb_of_reading_ask_for_something() {
        let texts = [
            "please show me my open tickets",
            "can you please list the files",
            "I'd like to know who is on call",
            "what should I set the timeout to",
            "give me the weather",
            "how do I find the owner of a file",
        ];
        check(&texts, Wish::Action(Reads));
    }

    #[test]
    fn other_verbs_want_something_done() {
        let changes =
            ["create an issue", "github create issue", "creating a jira ticket", "let's book a meeting room"];
        check(&changes, Wish::Action(Changes));
        check(&["file a bug", "set up a webhook", "turn off the lights"], Wish::Action(Changes));
        let deletes = [
            "how do I delete a dashboard",
            "is there a way to delete a branch",
            "get rid of the old pods",
            "no longer notify me",
        ];
        check(&deletes, Wish::Action(Deletes));
        check(&["tool to send an email", "squash the commits", "apply the manifest"], Wish::Action(Acts));
    }

    #[test]
    fn a_thing_without_a_verb_is_mostly_to_be_seen() {
        let things = [
            "merge requests waiting for me",
            "pull requests of mine",
            "running pods",
            "the latest commit",
            "weather in Paris",
        ];
        check(&things, Wish::Thing);
    }

    #[test]
    fn two_verbs_of_different_kinds_say_nothing() {
        check(&["search and update contacts", "find the branch then delete it"], Wish::Unclear);
        check(&["find and list the branches", "get issues and comments"], Wish::Action(Reads));
    }

    #[test]
    fn a_phrase_that_only_looks_like_a_command_says_nothing() {
        let phrases = [
            "sales this month",
            "errors over the last day",
            "a list of open pull requests",
            "only the failed jobs",
            "any way to delete a branch",
            "if the deployment fails notify me",
        ];
        check(&phrases, Wish::Unclear);
        check(&["tell me who is on call", "can I see the invoice"], Wish::Action(Reads));
        check(&["tell the team that it's done"], Wish::Action(Acts));
        check(&["check out the feature branch", "record all calls"], Wish::Action(Changes));
    }

    #[test]
    fn what_may_be_a_noun_or_comes_late_says_nothing() {
        check(
            &["", "jira ticket create", "slack message send", "file contents", "open alerts in Atlas"],
            Wish::Unclear,
        );
    }

    #[test]
    fn a_tool_does_what_its_name_or_its_first_word_says() {
        let done = |name: &str, description: &str| {
            let schema = json!({"type": "object"});
            let tool = json!({"name": name, "description": description, "inputSchema": schema});
            let raw = serde_json::value::to_raw_value(&tool).expect("JSON");
            let tools = vec![Arc::new(ToolDefinition::parse(&raw).expect("a definition"))];
            let offer = ServerOffer { name: "open-shop".to_owned(), tools, ..ServerOffer::default() };
            let catalogue = Catalogue::new(vec![offer]);
            of_tool(&catalogue.servers[0], &catalogue.servers[0].tools[0])
        };
        let check = |name: &str, description: &str, expected: Option<Action>| {
            assert_eq!(done(name, description), expected, "{name}: {description}");
        };
        check("list_comments", "", Some(Reads));
        check("issue_comment_get", "", Some(Reads));
        check("createIssue", "Gets it.", Some(Changes));
        check("remove-label", "", Some(Deletes));
        check("shop_manage_orders", "", Some(Acts));
        check("browser_click", "", Some(Acts));
        check("get_sync_status", "", Some(Reads));
        check("sync_status", "", Some(Acts));
        check("run_query", "", None);
        check("orders", "Retrieves orders.", Some(Reads));
        check("orders", "Modifies orders.", Some(Changes));
        check("orders", "Orders of a customer", None);
        check("open_orders", "", None);
    }

    #[test]
    fn each_verb_is_in_one_list_and_each_exception_is_a_verb() {
        let all = [READS, CHANGES, DELETES, ACTS, ACTS_IN_A_QUERY].join(" ");
        assert_eq!(all.split(' ').count(), VERBS.len());
        let exceptions = [ALSO_NOUNS, NOUNS_FIRST, FAINT].join(" ");
        let unknown: Vec<&str> = exceptions.split(' ').filter(|word| !VERBS.contains_key(word)).collect();
        assert_eq!(unknown, Vec::<&str>::new());
        assert!(OPENINGS.is_sorted_by_key(|opening| std::cmp::Reverse(opening.split(' ').count())));
    }
}
