//! Policy: the rules in their order, what was allowed for good, and what would happen to a call.

use axum::extract::Path;
use axum::response::Response;
use gristmill_dashboard::pages::{self, AlwaysLine, Explained, Policy as View, Rule, Verdict, WhatIf};
use gristmill_dashboard::{Text, routes};
use gristmill_gateway::audit::AuditEvent;
use gristmill_gateway::domain::Level;
use gristmill_gateway::domain::catalogue::Resolved;
use gristmill_gateway::domain::policy::{
    Arguments, Asked, AskedKind, Decision, Explained as Line, Hints, Line as RuleLine, Outcome, Policy, Seen,
};

use gristmill_gateway::ports::{AnswerWay, AuditLog};

use super::notices::Done;
use super::visit::{Visit, done};

pub(super) async fn policy(visit: Visit) -> Response {
    let Some(policy) = &visit.parts().policy else {
        return visit.not_kept("This gateway has no policy").await;
    };
    let always = visit.parts().always.as_ref().and_then(|always| always.current().ok()).unwrap_or_default();
    let text = |name: &str| Text::from(visit.query.filled(name).unwrap_or_default());
    let what_if = WhatIf {
        tool: text("tool"),
        arguments: text("arguments"),
        level: text("level"),
        read_both: visit.query.filled("read_both").is_some(),
    };
    let view = View {
        rules: policy.lines().map(rule).collect(),
        always: always
            .iter()
            .map(|approval| AlwaysLine {
                id: format!("{}.{}", approval.server, approval.tool).into(),
                server: approval.server.as_str().into(),
                tool: approval.tool.as_str().into(),
                rule: approval.rule.as_str().into(),
            })
            .collect(),
        explained: (!what_if.tool.is_empty()).then(|| explained(&visit, policy, &what_if)),
        what_if,
    };
    visit.page(pages::policy, view).await
}

fn rule(line: &RuleLine) -> Rule {
    let budgets = line.budgets();
    let spans = [
        (budgets.calls_per_minute, "a minute"),
        (budgets.calls_per_execution, "a program"),
        (budgets.calls_per_day, "a day"),
    ];
    let most: Vec<String> =
        spans.into_iter().filter_map(|(max, span)| Some(format!("{} {span}", max?))).collect();
    Rule {
        name: (&*line.id).into(),
        verdict: line.rule.decision.map(verdict),
        matches: line.rule.words().into(),
        source: (&*line.origin).into(),
        budget: most.join(", ").into(),
    }
}

fn verdict(decision: Decision) -> Verdict {
    match decision {
        Decision::Allow => Verdict::Allow,
        Decision::Ask => Verdict::Ask,
        Decision::Deny => Verdict::Deny,
    }
}

/// What would happen to a call of the owner. Nothing is sent.
fn explained(visit: &Visit, policy: &Policy, what_if: &WhatIf) -> Explained {
    let level = what_if.level.raw().parse::<Level>().ok();
    let level = level.unwrap_or_else(|| visit.parts().gateway.limits().level());
    let (server, name, hints) = resolved(visit, what_if.tool.raw());
    let arguments = if what_if.arguments.is_empty() { "{}" } else { what_if.arguments.raw() };
    let asked = Asked {
        kind: AskedKind::Tool,
        server: &server,
        name: &name,
        hints: hints.unwrap_or_default(),
        arguments: Arguments::of(arguments),
        token: None,
        token_limits: None,
        client: None,
        session: None,
        level,
    };
    let flow = what_if.read_both.then(|| {
        let (mut seen, servers) = (Seen::default(), &visit.parts().servers);
        for marked in servers {
            seen.add(&Seen::from_server(&marked.name, &marked.marks));
        }
        let target = servers.iter().find(|it| it.name == server)?;
        policy.flow().decide(&seen, &server, &target.marks, level)
    });
    let (lines, decided) = policy.explain(&asked, flow.flatten());
    let mut steps: Vec<Text> = lines.iter().filter_map(step).collect();
    if hints.is_none() {
        steps.push("This tool isn't known, so rules can't go by what its server says about it".into());
    }
    steps.push(format!("{}, because {}", decided.decision, decided.why).into());
    Explained { verdict: verdict(decided.decision), rule: (&*decided.rule).into(), steps }
}

fn step(line: &Line) -> Option<Text> {
    let fits = match &line.outcome {
        Outcome::Decides => "decides".to_owned(),
        Outcome::Overruled(rule) => format!("fits, but {rule} is stricter"),
        Outcome::Counts => "counts the call".to_owned(),
        Outcome::No(why) => format!("doesn't fit: {why}"),
        Outcome::NotReached => return None,
    };
    Some(format!("{} {fits}", line.rule).into())
}

fn resolved(visit: &Visit, tool: &str) -> (String, String, Option<Hints>) {
    if let Some(upstreams) = &visit.parts().upstreams {
        let snapshot = upstreams.snapshot();
        match snapshot.lookup().resolve(tool) {
            Resolved::One(server, tool) => {
                let definition = &tool.definition;
                return (server.offer.name.clone(), definition.name.clone(), Some(Hints::of(definition)));
            }
            Resolved::Reserved(server, reserved) => {
                return (server.offer.name.clone(), reserved.name.clone(), None);
            }
            Resolved::Several(_) | Resolved::None(_) => {}
        }
    }
    let (server, name) = tool.split_once('.').unwrap_or(("", tool));
    (server.to_owned(), name.to_owned(), None)
}

/// Takes a yes for good back.
pub(super) async fn revoke(visit: Visit, Path(id): Path<String>) -> Response {
    let forgotten = id.split_once('.').and_then(|(server, tool)| {
        let always = visit.parts().always.as_ref()?;
        let forgotten = always.forget(server, tool).ok()?;
        if let (1.., Some(audit)) = (forgotten, visit.parts().gateway.audit()) {
            audit.note(AuditEvent::approval_forgotten(server, tool, AnswerWay::Dashboard.as_str()));
        }
        Some(forgotten)
    });
    done(routes::POLICY, if forgotten.is_some() { Done::AskedAgain } else { Done::NotStored })
}
