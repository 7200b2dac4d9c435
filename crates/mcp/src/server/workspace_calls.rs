//! `write_workspace_file`, `read_workspace_file` and `list_workspace_files`: a session's files without
//! a program. A program may run in the session meanwhile.

use gristmill_gateway::domain::{Code, one_line, visible};
use gristmill_gateway::session::{
    Encoding, FileError, FileKind, Listing, NewSession, Patience, SessionError, Whose, WorkspaceFiles,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value, json};

use super::answer::Answer;
use super::caller::Requester;
use super::{Connection, GatewayServer};

/// What a model reads at once if nothing else is said: about as much as any other answer of ours.
const READ_DEFAULT: u64 = 32 * 1024;
/// More than any client passes on.
const READ_MAX: u64 = 1024 * 1024;
/// Files of one listing.
const LISTED_MAX: usize = 200;

#[derive(Deserialize)]
struct WriteArguments {
    path: String,
    content: String,
    #[serde(default)]
    encoding: Written,
    #[serde(default)]
    session: Option<String>,
}

#[derive(Deserialize)]
struct ReadArguments {
    path: String,
    #[serde(default)]
    offset: Option<Number>,
    #[serde(default)]
    limit: Option<Number>,
    #[serde(default)]
    encoding: Written,
    #[serde(default)]
    session: Option<String>,
}

#[derive(Deserialize)]
struct ListArguments {
    #[serde(default)]
    pattern: Option<String>,
    #[serde(default)]
    session: Option<String>,
}

/// How a content is written in an argument.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Written {
    #[default]
    Text,
    Base64,
}

impl From<Written> for Encoding {
    fn from(written: Written) -> Self {
        match written {
            Written::Text => Encoding::Text,
            Written::Base64 => Encoding::Base64,
        }
    }
}

impl GatewayServer {
    pub(super) async fn write_file(&self, arguments: Map<String, Value>, requester: &Requester) -> Answer {
        let written = async {
            let WriteArguments { path, content, encoding, session } = read_arguments(arguments)?;
            let (files, made) = self.files_to_write(session, requester).await?;
            let done = with_files(files, path, move |files, path| {
                let content = Encoding::from(encoding).decode(content)?;
                files.write(path, &content)
            });
            let (path, written) = match done.await {
                Ok(done) => done,
                Err(refused) => {
                    self.unmake(made, requester).await;
                    return Err(refused);
                }
            };
            let shown = visible(&path);
            let mut text = format!("Wrote {shown}, {}.", bytes_text(written.size));
            let mut structured = json!({"path": shown, "bytes": written.size});
            if let Some(session) = made {
                text.push_str(&format!(" Session: {session}"));
                structured["session"] = json!(session);
            }
            Ok::<_, Answer>(Answer { text, structured, is_error: false })
        };
        written.await.unwrap_or_else(|refused| refused)
    }

    pub(super) async fn read_file(&self, arguments: Map<String, Value>, requester: &Requester) -> Answer {
        let read = async {
            let ReadArguments { path, offset, limit, encoding, session } = read_arguments(arguments)?;
            let offset = number("offset", offset.as_ref(), 0, u64::MAX >> 1)?.unwrap_or(0);
            let limit = number("limit", limit.as_ref(), 1, READ_MAX)?.unwrap_or(READ_DEFAULT);
            let encoding = Encoding::from(encoding);
            let Some(files) = self.files_to_read(session, requester).await? else {
                return Err(no_file(&path));
            };
            let (path, part) =
                with_files(files, path, move |files, path| files.read(path, offset, limit, encoding)).await?;
            let content = part.content.into_text();
            let mut structured = json!({
                "path": visible(&path),
                "content": content,
                "encoding": encoding.as_str(),
                "bytes": part.size,
            });
            let mut text = content;
            if let Some(next) = part.next_offset {
                structured["next_offset"] = json!(next);
                text.push_str(&format!("\n[cut at byte {next} of {}; go on with offset {next}]", part.size));
            }
            Ok::<_, Answer>(Answer { text, structured, is_error: false })
        };
        read.await.unwrap_or_else(|refused| refused)
    }

    pub(super) async fn list_files(&self, arguments: Map<String, Value>, requester: &Requester) -> Answer {
        let listed = async {
            let ListArguments { pattern, session } = read_arguments(arguments)?;
            let listing = match self.files_to_read(session, requester).await? {
                None => Listing::default(),
                Some(files) => {
                    let path = String::new();
                    with_files(files, path, move |files, _| files.list(pattern.as_deref(), LISTED_MAX))
                        .await?
                        .1
                }
            };
            Ok::<_, Answer>(of_listing(&listing))
        };
        listed.await.unwrap_or_else(|refused| refused)
    }

    /// The files of the session that is meant, and its handle if it was made just now.
    async fn files_to_write(
        &self,
        session: Option<String>,
        requester: &Requester,
    ) -> Result<(WorkspaceFiles, Option<String>), Answer> {
        let (sessions, owner) = (self.parts.executions.sessions(), &requester.owner);
        let whose = Whose::Of(owner.clone());
        let (session, made) = match (session, self.connection) {
            (Some(session), _) => {
                let found = sessions.files(&whose, &session).await;
                if matches!(found, Err(SessionError::Missing { .. })) {
                    let held = sessions.enter_or_create(owner, &session, Patience::default()).await;
                    held.map_err(|error| no_session(&error))?.leave().await;
                }
                (session, None)
            }
            (None, Connection::Pipes) => {
                let found = sessions.of_connection(owner, &self.session).await;
                let (id, is_new) = found.map_err(|error| no_session(&error))?;
                (id.to_string(), is_new.then(|| id.to_string()))
            }
            (None, Connection::Http) => {
                let held = sessions.create(owner, NewSession::default()).await;
                let id = held.map_err(|error| no_session(&error))?.id().to_string();
                (id.clone(), Some(id))
            }
        };
        let files = sessions.files(&whose, &session).await.map_err(|error| no_session(&error))?;
        Ok((files, made))
    }

    /// A session that was made for a file that was refused would be empty for ever.
    async fn unmake(&self, made: Option<String>, requester: &Requester) {
        if let Some(session) = made {
            let whose = Whose::Of(requester.owner.clone());
            let _ = self.parts.executions.sessions().end(&whose, &session, Patience::Refuse).await;
        }
    }

    /// The files of the session that is meant; `None` if there is none yet.
    pub(super) async fn files_to_read(
        &self,
        session: Option<String>,
        requester: &Requester,
    ) -> Result<Option<WorkspaceFiles>, Answer> {
        let whose = Whose::Of(requester.owner.clone());
        let sessions = self.parts.executions.sessions();
        let found = match (session, self.connection) {
            (Some(session), _) => sessions.files(&whose, &session).await.map(Some),
            (None, Connection::Pipes) => match self.session.id().await {
                None => return Ok(None),
                Some(id) => match sessions.files(&whose, id.as_str()).await {
                    // It was ended: the next one begins with the next file.
                    Err(SessionError::Missing { .. }) => Ok(None),
                    found => found.map(Some),
                },
            },
            (None, Connection::Http) => {
                let hint = "it is the name that was given, or the handle that was answered";
                let message = "say which session: pass its `session`";
                return Err(Answer::refused(Code::BadRequest, message, Some(hint)));
            }
        };
        found.map_err(|error| {
            let hint = match matches!(error, SessionError::Missing { .. }) {
                true => "check the name: reading begins no session, and those that are idle for long end",
                false => error.hint(),
            };
            Answer::refused(error.code(), &error.to_string(), Some(hint))
        })
    }
}

fn read_arguments<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Answer> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Answer::refused(Code::BadRequest, &format!("the arguments: {error}"), None))
}

fn number(name: &str, asked: Option<&Number>, least: u64, most: u64) -> Result<Option<u64>, Answer> {
    let Some(asked) = asked else { return Ok(None) };
    asked.as_u64().filter(|asked| (least..=most).contains(asked)).map(Some).ok_or_else(|| {
        let asked = one_line(&asked.to_string(), 24);
        Answer::refused(Code::BadRequest, &format!("{name} is {asked}; it can be {least} to {most}"), None)
    })
}

/// A session that has nothing in it yet has no file of this path either.
pub(super) fn no_file(path: &str) -> Answer {
    refused(&FileError::Missing { path: one_line(path, 120) })
}

/// Does something with files, where nobody waits for the disk.
pub(super) async fn with_files<T: Send + 'static>(
    files: WorkspaceFiles,
    path: String,
    work: impl FnOnce(&WorkspaceFiles, &str) -> Result<T, FileError> + Send + 'static,
) -> Result<(String, T), Answer> {
    let done = tokio::task::spawn_blocking(move || work(&files, &path).map(|done| (path, done)));
    match done.await {
        Ok(outcome) => outcome.map_err(|error| refused(&error)),
        Err(error) => Err(Answer::refused(Code::Workspace, &error.to_string(), None)),
    }
}

fn no_session(error: &SessionError) -> Answer {
    Answer::refused(error.code(), &error.to_string(), Some(error.hint()))
}

fn refused(error: &FileError) -> Answer {
    let (code, hint) = match error {
        FileError::Missing { .. } | FileError::IsFolder { .. } | FileError::NotFolder { .. } => {
            (Code::BadRequest, Some("list_workspace_files shows what there is"))
        }
        FileError::NotText { .. } => (Code::BadRequest, Some("pass `encoding`: \"base64\"")),
        FileError::BadPath { .. }
        | FileError::BadPattern
        | FileError::Link { .. }
        | FileError::Special { .. }
        | FileError::NotBase64 { .. } => (Code::BadRequest, None),
        FileError::Limit(_) | FileError::System { .. } => (Code::Workspace, None),
    };
    // A caller cannot raise limits: that is for whoever runs the gateway.
    let text = error.to_string();
    let message = text.split_once(", or raise `").map_or(text.as_str(), |(message, _)| message);
    Answer::refused(code, message, hint)
}

/// Exact, since a model may read on from there.
fn bytes_text(count: u64) -> String {
    format!("{count} byte{}", if count == 1 { "" } else { "s" })
}

fn of_listing(listing: &Listing) -> Answer {
    let file = |file: &gristmill_gateway::session::ListedFile| match file.kind {
        FileKind::File => {
            (visible(&file.path), format!("{} ({})", visible(&file.path), bytes_text(file.size)))
        }
        FileKind::EmptyFolder => {
            let path = format!("{}/", visible(&file.path));
            (path.clone(), path)
        }
        FileKind::Other => (visible(&file.path), format!("{} (not a plain file)", visible(&file.path))),
    };
    let lines: Vec<String> = listing.files.iter().map(|entry| file(entry).1).collect();
    let files: Vec<Value> =
        listing.files.iter().map(|entry| json!({"path": file(entry).0, "bytes": entry.size})).collect();
    let mut text = if lines.is_empty() { "No files.".to_owned() } else { lines.join("\n") };
    let mut structured = json!({"files": files, "total": listing.total});
    let more = listing.total > listing.files.len();
    if more || listing.is_cut {
        let of = if listing.is_cut { "more than " } else { "" };
        let note = format!(
            "{} of {of}{} files; a narrower pattern shows others",
            listing.files.len(),
            listing.total
        );
        text.push_str(&format!("\n[{note}]"));
        structured["more"] = json!(note);
    }
    Answer { text, structured, is_error: false }
}
