//! Playground: a program that the owner writes, run as every program is.

use axum::response::Response;
use gristmill_dashboard::pages::{self, Playground, PlaygroundRun, PlaygroundTool};
use gristmill_dashboard::{Text, routes};
use gristmill_gateway::domain::one_line;
use gristmill_gateway::ids::Owner;
use gristmill_gateway::service::PlaceChoice;
use gristmill_gateway::session::{Patience, SessionChoice, SessionInfo, Whose};
use gristmill_gateway::{ExecuteRequest, engine_for};
use http::StatusCode;

use super::executions::{find, start};
use super::visit::Visit;

/// Names that the editor completes, and sessions to choose from.
const TOOLS_MAX: usize = 500;
const SESSIONS_MAX: usize = 50;
const SUMMARY_CHARS: usize = 100;

const FIRST_PROGRAM: &str = "print(\"hello\")\nresult = sum(range(10))\n";

pub(super) async fn playground(visit: Visit) -> Response {
    let view = view(&visit).await;
    visit.page(pages::playground, view).await
}

/// The page with what the address asks for.
pub(super) async fn view(visit: &Visit) -> Playground {
    let run = match visit.query.filled("run") {
        Some(id) => find(visit, id).await,
        None => None,
    };
    let code = run.as_ref().and_then(|run| run.code.clone());
    let session = run.as_ref().and_then(|run| run.line.session.clone());
    let session = session.map(|session| session.name.unwrap_or(session.handle));
    Playground {
        code: code.unwrap_or_else(|| FIRST_PROGRAM.into()),
        languages: vec!["python".into(), "typescript".into()],
        language: "python".into(),
        sessions: sessions(visit).await,
        session: session.unwrap_or_default(),
        tools: tools(visit),
        task: visit.parts().code_writers.as_ref().map(|_| Text::default()),
        written: None,
        run: run.map(|execution| PlaygroundRun { execution }),
    }
}

async fn sessions(visit: &Visit) -> Vec<Text> {
    let Some(sessions) = visit.parts().gateway.sessions() else { return Vec::new() };
    let own = sessions.list(&Whose::Of(Owner::local())).await.unwrap_or_default();
    let shown = |info: &SessionInfo| info.name.as_deref().unwrap_or(info.id.as_str()).into();
    own.iter().take(SESSIONS_MAX).map(shown).collect()
}

fn tools(visit: &Visit) -> Vec<PlaygroundTool> {
    let Some(upstreams) = &visit.parts().upstreams else { return Vec::new() };
    let snapshot = upstreams.snapshot();
    let servers = snapshot.catalogue().servers.iter();
    let tools = servers.flat_map(|server| server.tools.iter().map(move |tool| (server, tool)));
    tools
        .take(TOOLS_MAX)
        .map(|(server, tool)| PlaygroundTool {
            name: format!("{}.{}", server.identifier, tool.identifier).into(),
            summary: one_line(tool.definition.description.as_deref().unwrap_or_default(), SUMMARY_CHARS)
                .into(),
        })
        .collect()
}

pub(super) async fn run(visit: Visit) -> Response {
    let code = visit.form.value("code").unwrap_or_default().replace("\r\n", "\n");
    let Ok(engine) = engine_for(visit.form.filled("language"), &code) else {
        let what = "This gateway doesn't run that language";
        return visit.problem(StatusCode::BAD_REQUEST, what, "It runs Python and TypeScript.").await;
    };
    let place = match visit.form.filled("session") {
        Some(session) => PlaceChoice::Session {
            session: SessionChoice::Named(session.to_owned()),
            patience: Patience::Refuse,
            keep_variables: false,
        },
        None => PlaceChoice::AsRequested,
    };
    start(&visit, ExecuteRequest::of(engine, code), place, |id| {
        routes::query(routes::PLAYGROUND, &[("run", id)])
    })
    .await
}
