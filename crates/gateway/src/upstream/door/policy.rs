//! Policy: whether this caller may have this sent, and whom to ask if that is not certain.

use gristmill_domain::policy::{Answered, Arguments, Asked, AskedKind, Decided, Decision, Hints};
use gristmill_domain::{Code, one_line};

use super::check::{Checked, Outgoing};
use super::passage::Passage;
use crate::ids::Caller;
use crate::ports::{Asker, ToolFailure};
use crate::upstream::guard::{Approvable, Guard};

/// A request that may be sent, as far as rules go.
pub(super) struct Permitted(pub Checked);

/// Lets a request through, asks a person about it, or refuses it. Nothing was sent.
pub(super) async fn permit(
    guard: Option<&Guard>,
    caller: &Caller,
    checked: Checked,
    passage: &mut Passage,
) -> Result<Permitted, ToolFailure> {
    let Some(guard) = guard else {
        passage.decided(Decided::without_policy());
        return Ok(Permitted(checked));
    };
    guard.ready().await;
    let mut decided = guard.decide(caller, &asked(guard, caller, &checked));
    let mut id = None;
    if decided.decision == Decision::Ask {
        let nobody = Asker::none();
        let (_, tool, arguments, asker) = parts(&checked.outgoing, &nobody);
        let call = Approvable { caller, server: checked.server.name(), tool, arguments, asker };
        // Until somebody answers it counts as asked, and as unanswered if it is taken back.
        passage.decided(decided.clone());
        let (answered, answerable) = guard.answer(&call, &decided).await;
        (decided.answer, id) = (Some(answered), answerable);
    }
    passage.decided(decided.clone());
    match decided.is_permitted() {
        true => Ok(Permitted(checked)),
        false => Err(refusal(&checked, &decided, id)),
    }
}

fn asked<'a>(guard: &Guard, caller: &'a Caller, checked: &'a Checked) -> Asked<'a> {
    let (kind, name, arguments, _) = parts(&checked.outgoing, &NOBODY);
    let hints = match &checked.outgoing {
        Outgoing::Tool { definition, .. } => Hints::of(definition),
        Outgoing::Resource(_) | Outgoing::Prompt { .. } => Hints::default(),
    };
    let session = caller.session_name.as_deref();
    Asked {
        kind,
        server: checked.server.name(),
        name,
        hints,
        arguments: Arguments::of(arguments),
        token: caller.token.as_ref().map(|token| token.name.as_str()),
        token_limits: caller.token.as_ref().and_then(|token| token.limits.as_deref()),
        client: caller.client.as_ref().map(|client| client.name.as_str()),
        session: session.or_else(|| caller.session.as_ref().map(|session| session.as_str())),
        // A program may run at a stricter level than its gateway.
        level: caller.level.map_or(guard.level(), |level| level.max(guard.level())),
    }
}

static NOBODY: Asker = Asker::none();

/// What a rule looks at, and who can be asked about it. Resources have nobody to ask.
fn parts<'a>(outgoing: &'a Outgoing, nobody: &'a Asker) -> (AskedKind, &'a str, &'a str, &'a Asker) {
    match outgoing {
        Outgoing::Tool { definition, call } => {
            (AskedKind::Tool, &definition.name, &call.arguments, &call.asker)
        }
        Outgoing::Resource(uri) => (AskedKind::Resource, uri, "{}", nobody),
        Outgoing::Prompt { name, arguments, asker } => (AskedKind::Prompt, name, arguments, asker),
    }
}

/// What the program is told: what it may not do, why, and what it or its user can do instead.
fn refusal(checked: &Checked, decided: &Decided, id: Option<String>) -> ToolFailure {
    let (_, name, _, _) = parts(&checked.outgoing, &NOBODY);
    let what = one_line(&format!("{}.{name}", checked.server.name()), 200);
    let Decided { why, rule, answer, .. } = decided;
    let (code, message) = match answer {
        None if why.starts_with("limited to ") => {
            (Code::PolicyBudget, format!("{what} is {why} (rule `{rule}`)"))
        }
        None => (
            Code::PolicyDenied,
            format!(
                "{what} isn't allowed: {why} (rule `{rule}`). Use another tool, or tell the user; `gristmill policy test {what}` shows them the rule"
            ),
        ),
        Some(Answered::Nobody) => (Code::ApprovalNeeded, {
            let how = match id {
                Some(id) => {
                    format!("They can allow it with `gristmill approvals allow {id}`; then call it again")
                }
                None => format!("They can allow it with `gristmill policy allow {what}`"),
            };
            format!(
                "{what} needs the user's approval, and nobody can be asked here: {why} (rule `{rule}`). {how}"
            )
        }),
        Some(Answered::Timeout) => (
            Code::ApprovalNeeded,
            format!(
                "{what} needs the user's approval, and nobody answered: {why}. Ask the user before you try again"
            ),
        ),
        Some(Answered::No | Answered::Once | Answered::Session | Answered::Always) => (
            Code::ApprovalNeeded,
            format!(
                "the user didn't allow {what}. Don't try it again or in another way; ask the user what to do instead"
            ),
        ),
    };
    ToolFailure::Refused { code, message }
}
