//! Sessions and their files.

use axum::extract::Path;
use axum::response::Response;
use gristmill_dashboard::pages::{self, FileLine, OpenFile, Session, SessionLine, Sessions, StateLine};
use gristmill_dashboard::routes;
use gristmill_gateway::history::ExecutionQuery;
use gristmill_gateway::session::{Content, Encoding, FileKind, Patience, SessionInfo, Whose};
use http::StatusCode;

use super::execution_lines::lines;
use super::notices::Done;
use super::visit::{Visit, done, moment, now, owner_in_words};

/// The owner of this gateway sees everyone's.
const WHOSE: Whose = Whose::Everyones;

/// Sessions, files and executions in a list.
const SESSIONS_MAX: usize = 200;
const FILES_MAX: usize = 500;
const EXECUTIONS_MAX: usize = 20;

/// What is shown of a file.
const FILE_BYTES_MAX: u64 = 64 << 10;

pub(super) async fn sessions(visit: Visit) -> Response {
    let Some(sessions) = visit.parts().gateway.sessions() else {
        return visit.not_kept("This gateway keeps no sessions").await;
    };
    let Ok(all) = sessions.list(&WHOSE).await else { return visit.unreadable().await };
    let sessions = all.iter().take(SESSIONS_MAX).map(|info| line(&visit, info)).collect();
    visit.page(pages::sessions, Sessions { sessions }).await
}

fn line(visit: &Visit, info: &SessionInfo) -> SessionLine {
    let level = info.level.unwrap_or_else(|| visit.parts().gateway.limits().level());
    SessionLine {
        handle: info.id.as_str().into(),
        name: info.name.as_deref().map(Into::into),
        owner: owner_in_words(&info.owner.0),
        level: level.as_str().into(),
        created: moment(info.created),
        last_used: moment(info.used),
        expires: None,
        executions: info.executions,
        files: info.files,
        file_bytes: info.bytes,
        marks: Vec::new(),
    }
}

pub(super) async fn session(visit: Visit, Path(handle): Path<String>) -> Response {
    let missing = "There's no session with this handle";
    let Some(sessions) = visit.parts().gateway.sessions() else { return visit.not_kept(missing).await };
    let Ok(info) = sessions.info(&WHOSE, &handle).await else {
        return visit.problem(StatusCode::NOT_FOUND, missing, "It may have been idle for too long.").await;
    };
    let id = info.id.to_string();
    let path = visit.query.filled("file").map(str::to_owned);
    let (mut files, mut open) = (Vec::new(), None);
    if let Ok(workspace) = sessions.files(&WHOSE, &id).await {
        let looked = tokio::task::spawn_blocking(move || {
            let listed = workspace.list(None, FILES_MAX).map(|listing| listing.files).unwrap_or_default();
            let opened = path.map(|path| open_file(&workspace, &path));
            (listed, opened)
        });
        let (listed, opened) = looked.await.unwrap_or_default();
        let listed = listed.iter().filter(|file| file.kind == FileKind::File);
        files = listed
            .map(|file| FileLine {
                path: file.path.as_str().into(),
                bytes: file.size,
                changed: moment(file.changed),
            })
            .collect();
        open = opened.flatten();
    }
    let query = ExecutionQuery { session: Some(id), ..ExecutionQuery::default() };
    let executions = match visit.history() {
        Some(history) => history.page(query, EXECUTIONS_MAX).await.unwrap_or_default().lines,
        None => Vec::new(),
    };
    let view = Session {
        line: line(&visit, &info),
        files,
        open,
        state: info.keys.iter().map(|key| StateLine { key: key.as_str().into() }).collect(),
        executions: lines(&executions, now()),
    };
    visit.page(pages::session, view).await
}

fn open_file(files: &gristmill_gateway::session::WorkspaceFiles, path: &str) -> Option<OpenFile> {
    let read = |encoding| files.read(path, 0, FILE_BYTES_MAX, encoding).ok();
    let part = read(Encoding::Text).or_else(|| read(Encoding::Base64))?;
    let text = match part.content {
        Content::Text(text) => Some(text.into()),
        Content::Bytes(_) => None,
    };
    Some(OpenFile { path: path.into(), bytes: part.size, text })
}

pub(super) async fn delete(visit: Visit, Path(handle): Path<String>) -> Response {
    let Some(sessions) = visit.parts().gateway.sessions() else {
        return visit.not_kept("This gateway keeps no sessions").await;
    };
    match sessions.end(&WHOSE, &handle, Patience::Refuse).await {
        Ok(_) => done(routes::SESSIONS, Done::SessionDeleted),
        Err(_) => done(&routes::fill(routes::SESSION, &[&handle]), Done::SessionBusy),
    }
}
