//! Policy: whether this caller may have this sent, and whom to ask if that is not certain.

use gristmill_domain::catalogue::{Server, ToolDefinition};
use gristmill_domain::policy::{Answered, Arguments, Asked, AskedKind, Decided, Decision, FLOW_RULE, Hints};
use gristmill_domain::{Code, Level, ToolAnswer, one_line};

use super::check::{Checked, Outgoing};
use super::passage::Passage;
use super::planned::{Planned, hold, planned};
use crate::ids::Caller;
use crate::ports::{Asker, Claim, ToolFailure};
use crate::upstream::guard::{Approvable, Guard, Heard};
use crate::upstream::seen::{Offered, Seen};
use crate::upstream::snapshot::Snapshot;

/// What the rules, a person or a plan make of a request.
pub(super) enum Permission {
    Send(Box<Permitted>),
    /// Nothing is sent: a dry run answers in its place.
    Held(ToolAnswer),
}

/// A request that may be sent, as far as rules go.
pub(super) struct Permitted {
    pub checked: Checked,
    /// Its place in an approved plan.
    claim: Option<Claim>,
}

/// Lets a request through, asks a person about it, or refuses it. Nothing was sent.
pub(super) async fn permit(
    guard: Option<&Guard>,
    caller: &Caller,
    checked: Checked,
    passage: &mut Passage,
) -> Result<Permission, ToolFailure> {
    let claim = match planned(&checked, is_read(&checked))? {
        Planned::No => None,
        Planned::Approved(claim) => Some(claim),
        Planned::Hold(held) => {
            let foreseen = foreseen(guard, caller, &checked).await;
            passage.decided(foreseen.clone());
            if foreseen.decision == Decision::Deny {
                return Err(refusal(caller, &checked, &foreseen, None, None));
            }
            passage.held();
            return Ok(Permission::Held(hold(&checked, held, &foreseen)));
        }
    };
    let Some(guard) = guard else {
        passage.decided(Decided::without_policy());
        return Ok(Permission::Send(Box::new(Permitted { checked, claim })));
    };
    let flow = guard.flow(caller, &checked.server.settings).await;
    let call = approvable(caller, &checked);
    let foreseen = guard.decide(caller, &asked(guard.level(), caller, &checked));
    let mut decided = guard.count_day(foreseen).await;
    decided = guard.stricter(&call, decided, flow);
    let (mut id, mut reason) = (None, None);
    if decided.decision == Decision::Ask && claim.is_some() && *decided.rule != *FLOW_RULE {
        // Its person said yes to the whole plan, but not to what was read meanwhile.
        decided.answer = Some(Answered::Once);
    } else if decided.decision == Decision::Ask {
        // Until somebody answers it counts as asked, and as unanswered if it is taken back.
        passage.decided(decided.clone());
        let heard = guard.answer(&call, &decided).await;
        decided.answer = Some(heard.answered);
        Heard { id, reason, .. } = heard;
    }
    passage.decided(decided.clone());
    match decided.is_permitted() {
        true => Ok(Permission::Send(Box::new(Permitted { checked, claim }))),
        false => Err(refusal(caller, &checked, &decided, id, reason)),
    }
}

/// What the rules say of a tool for a caller, whatever its arguments. Nothing is counted and nobody asked.
pub(super) fn decision_about(
    guard: Option<&Guard>,
    caller: &Caller,
    server: &str,
    tool: &ToolDefinition,
) -> Decision {
    let Some(guard) = guard else { return Decision::Allow };
    guard.foresee(&asked_about(guard, caller, server, tool)).decision
}

/// Whether a caller is denied something of a server, whatever is in its requests.
pub(super) fn denies_always(
    guard: Option<&Guard>,
    caller: &Caller,
    server: &str,
    offered: Offered<'_>,
) -> bool {
    let Some(guard) = guard else { return false };
    match offered {
        Offered::Tool(tool) => guard.denies_always(&asked_about(guard, caller, server, tool)),
        Offered::Resource(uri) => {
            guard.denies_always(&asked_for(guard, caller, server, (AskedKind::Resource, uri)))
        }
        Offered::ResourceTemplate(template) => {
            guard.denies_template_always(&asked_for(guard, caller, server, (AskedKind::Resource, template)))
        }
        Offered::Prompt(name) => {
            guard.denies_always(&asked_for(guard, caller, server, (AskedKind::Prompt, name)))
        }
    }
}

/// A call of a tool, whatever its arguments.
fn asked_about<'a>(
    guard: &Guard,
    caller: &'a Caller,
    server: &'a str,
    tool: &'a ToolDefinition,
) -> Asked<'a> {
    let call = (AskedKind::Tool, tool.name.as_str(), Arguments::none());
    asked_of(guard.level(), caller, server, call, Hints::of(tool))
}

/// A request for a resource or a prompt, whatever its arguments.
fn asked_for<'a>(
    guard: &Guard,
    caller: &'a Caller,
    server: &'a str,
    (kind, name): (AskedKind, &'a str),
) -> Asked<'a> {
    asked_of(guard.level(), caller, server, (kind, name, Arguments::none()), Hints::default())
}

/// What a caller is shown: everything but what is always denied to it.
pub(super) fn seen(guard: Option<&Guard>, caller: &Caller, snapshot: &Snapshot) -> Seen {
    let Some(who) = guard.and_then(|guard| guard.who_is_shown_less(caller)) else { return Seen::default() };
    let is_denied =
        |server: &Server, offered: Offered<'_>| denies_always(guard, caller, &server.offer.name, offered);
    snapshot.seen.of(who, || Seen::of(caller, snapshot.catalogue(), is_denied))
}

/// What would be decided about a request that is not going to be sent. Nobody is asked.
async fn foreseen(guard: Option<&Guard>, caller: &Caller, checked: &Checked) -> Decided {
    let Some(guard) = guard else { return Decided::without_policy() };
    let flow = guard.flow(caller, &checked.server.settings).await;
    let decided = guard.foresee(&asked(guard.level(), caller, checked));
    guard.stricter(&approvable(caller, checked), decided, flow)
}

fn approvable<'a>(caller: &'a Caller, checked: &'a Checked) -> Approvable<'a> {
    let (kind, _, arguments, asker) = parts(&checked.outgoing, &NOBODY);
    let arguments = if kind == AskedKind::Resource { arguments } else { checked.shown() };
    Approvable { caller, server: checked.server.name(), tool: checked.shown_name(), arguments, asker }
}

impl Permitted {
    /// From here on the server may have it.
    pub fn sending(&self) {
        if let Some(claim) = &self.claim {
            claim.made();
        }
    }

    /// What did not leave us can be tried again.
    pub fn sent(&self, has_left: bool) {
        if let Some(claim) = self.claim.as_ref().filter(|_| !has_left) {
            claim.not_made();
        }
    }
}

/// Whether a request changes nothing, as far as its server says.
fn is_read(checked: &Checked) -> bool {
    match &checked.outgoing {
        Outgoing::Tool { definition, .. } => definition.read_only == Some(true),
        Outgoing::Resource(_) | Outgoing::Prompt { .. } => true,
    }
}

fn asked<'a>(level: Level, caller: &'a Caller, checked: &'a Checked) -> Asked<'a> {
    let (kind, name, text, _) = parts(&checked.outgoing, &NOBODY);
    let (arguments, hints) = match &checked.outgoing {
        Outgoing::Tool { definition, arguments, .. } => {
            (Arguments::of_value(arguments), Hints::of(definition))
        }
        Outgoing::Resource(_) | Outgoing::Prompt { .. } => (Arguments::of(text), Hints::default()),
    };
    asked_of(level, caller, checked.server.name(), (kind, name, arguments), hints)
}

fn asked_of<'a>(
    level: Level,
    caller: &'a Caller,
    server: &'a str,
    (kind, name, arguments): (AskedKind, &'a str, Arguments<'a>),
    hints: Hints,
) -> Asked<'a> {
    let session = caller.session_name.as_deref();
    Asked {
        kind,
        server,
        name,
        hints,
        arguments,
        token: caller.token.as_ref().map(|token| token.name.as_str()),
        token_limits: caller.token.as_ref().and_then(|token| token.limits.as_deref()),
        client: caller.client.as_ref().map(|client| client.name.as_str()),
        session: session.or_else(|| caller.session.as_ref().map(|session| session.as_str())),
        // A program may run at a stricter level than its gateway.
        level: caller.level.map_or(level, |of_program| of_program.max(level)),
    }
}

static NOBODY: Asker = Asker::none();

/// What a rule looks at, and who can be asked about it. Resources have nobody to ask.
fn parts<'a>(outgoing: &'a Outgoing, nobody: &'a Asker) -> (AskedKind, &'a str, &'a str, &'a Asker) {
    match outgoing {
        Outgoing::Tool { definition, call, .. } => {
            (AskedKind::Tool, &definition.name, &call.arguments, &call.asker)
        }
        Outgoing::Resource(uri) => (AskedKind::Resource, uri, "{}", nobody),
        Outgoing::Prompt { name, arguments, asker } => (AskedKind::Prompt, name, arguments, asker),
    }
}

/// What the program is told: what it may not do, why, and what it or its user can do instead.
fn refusal(
    caller: &Caller,
    checked: &Checked,
    decided: &Decided,
    id: Option<String>,
    reason: Option<String>,
) -> ToolFailure {
    let name = checked.shown_name();
    let what = one_line(&format!("{}.{name}", checked.server.name()), 200);
    let Decided { why, rule, answer, .. } = decided;
    let (code, message) = match answer {
        None if why.starts_with("limited to ") => {
            (Code::PolicyBudget, format!("{what} is {why} (rule `{rule}`)"))
        }
        None if &**rule == FLOW_RULE => (
            Code::PolicyDenied,
            format!(
                "{what} isn't allowed: {why} (rule `{rule}`). Don't send the data another way: finish without it, and give the user what you would have sent"
            ),
        ),
        None => {
            let token = caller.token.as_ref();
            let as_token =
                token.map(|token| format!(" --as {}", one_line(&token.name, 80))).unwrap_or_default();
            (
                Code::PolicyDenied,
                format!(
                    "{what} isn't allowed: {why} (rule `{rule}`). Use another tool, or tell the user; `gristmill policy test {what}{as_token}` shows them the rule"
                ),
            )
        }
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
            match reason {
                Some(reason) => format!(
                    "the user didn't allow {what}: \"{reason}\". Don't try it again unless that is settled; go by what they said, or ask them what to do instead"
                ),
                None => format!(
                    "the user didn't allow {what}. Don't try it again or in another way; ask the user what to do instead"
                ),
            },
        ),
    };
    ToolFailure::Refused { code, message }
}
